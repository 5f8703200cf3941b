"""Lambda function `recall`: reads of the memory, its health, and the API's description."""

from tributary.edges.lambda_http import handler_for

handler = handler_for("recall")

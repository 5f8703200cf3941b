"""Lambda function `responder`: turns of the incident agent."""

from tributary.edges.lambda_http import handler_for

handler = handler_for("responder")

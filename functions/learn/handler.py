"""Lambda function `learn`: all writes of lessons."""

from tributary.edges.lambda_http import handler_for

handler = handler_for("learn")

"""Lambda function `authorizer`: says which agent a bearer token belongs to (REQUEST authorizer, simple response, format 2.0)."""

from tributary.edges.lambda_http import authorizer_handler

handler = authorizer_handler()

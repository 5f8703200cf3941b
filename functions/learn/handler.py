"""Lambda function `learn`: all writes of lessons, and the settling of what was kept as pending, as its queue says."""

from tributary.edges.lambda_http import handler_for

handler = handler_for("learn", settles=True)

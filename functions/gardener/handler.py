"""Lambda function `gardener`: does on a schedule what time, room and missing models left to do, in every tribe."""

from tributary.edges.lambda_http import gardener_handler

handler = gardener_handler()

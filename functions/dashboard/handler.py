"""Lambda function `dashboard`: the pages of the container, for accounts that have no service for containers."""

from tributary.edges.dashboard import lambda_handler

handler = lambda_handler()

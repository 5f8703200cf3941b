"""The dashboard: pages for people, made on the server, from a container or a Lambda function alike."""

from tributary.edges.dashboard.entry import container_app, lambda_handler, local_app

__all__ = ["container_app", "lambda_handler", "local_app"]

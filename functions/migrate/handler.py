"""Lambda function `migrate`: brings the schema up to this code's at deployment, and fails the deployment when it cannot."""

from tributary.edges.lambda_http import migrate_handler

handler = migrate_handler()

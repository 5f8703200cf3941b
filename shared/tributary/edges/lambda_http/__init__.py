"""HTTP as API Gateway and Lambda speak it: events in, responses out.

The submodules hold the rest of the face for the local gateway: `app.App`, `authorizer.authorize`, `routing.find`,
`problems.problem_reply`. They are not imported here, so that the authorizer stays as light as what it does.
"""

from tributary.edges.lambda_http.entry import authorizer_handler, gardener_handler, handler_for, migrate_handler, operator_handler

__all__ = ["authorizer_handler", "gardener_handler", "handler_for", "migrate_handler", "operator_handler"]

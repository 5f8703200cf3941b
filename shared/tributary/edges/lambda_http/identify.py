"""Who is calling, and may they: the two questions before every operation of a route with a role."""

from __future__ import annotations

from tributary.contract.routes import Route
from tributary.core.agent import Principal, Role
from tributary.core.errors import Unauthenticated
from tributary.edges.lambda_http.iam_callers import IamCallers
from tributary.edges.lambda_http.port import Event, OpenMemory
from tributary.edges.lambda_http.principal import UNDECIDED, bearer_token, context_of, from_context, iam_caller


def identify(event: Event, route: Route, memory: OpenMemory, iam_callers: IamCallers) -> Principal | None:
    """Returns the caller, None when nobody is known or the route is open.

    The authorizer's word is taken. Only where it could not decide, because the database was out of reach, the token is
    looked up here: that fails for the same reason, or works again before API Gateway forgets the authorizer's answer. Where
    API Gateway checked an AWS signature instead, the agent bound to its principal is the caller; raises Unauthenticated when
    none is.
    """
    if route.role is None:
        return None
    if (arn := iam_caller(event)) is not None:
        return iam_callers.of(arn)
    context = context_of(event)
    principal = from_context(context)
    if principal is None and UNDECIDED in context:
        token = bearer_token(event)
        principal = memory().authenticate(token) if token else None
    return principal


def allow(principal: Principal | None, route: Route, *, token_came: bool) -> None:
    """Raises Unauthenticated when a route with a role has no caller, Forbidden when the caller's role does not reach it."""
    if route.role is None:
        return
    if principal is None:
        raise Unauthenticated("the token that came is unknown, expired or revoked" if token_came else None)
    principal.require(Role(route.role))

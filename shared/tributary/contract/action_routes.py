"""Routes about durable actions: side effects that happen once."""

from __future__ import annotations

from tributary.contract import actions
from tributary.contract.curation_routes import PAGE
from tributary.contract.models import Request
from tributary.contract.route import QueryParameter, Route

_STATE = QueryParameter(
    name="state",
    description="Only actions that stand so.",
    schema={"type": "string", "enum": ["begun", "done", "failed", "in_doubt", "any"], "default": "any"},
)


def _held(verb: str, summary: str, request: type[Request], reply: type[actions.ActionReply | actions.CompletedReply]) -> Route:
    """Returns the route of a change by whoever holds the lease."""
    return Route(
        operation=f"{verb}_action",
        method="POST",
        path=f"/v1/actions/{{id}}/{verb}",
        function="learn",
        role="writer",
        summary=summary,
        request=request,
        reply=reply,
        id_of="act",
        keyed=True,
    )


ACTIONS: tuple[Route, ...] = (
    Route(
        operation="begin_action",
        method="POST",
        path="/v1/actions",
        function="learn",
        role="writer",
        summary="Ask to carry out a side effect that is to happen once",
        request=actions.BeginActionRequest,
        reply=actions.BegunReply,
        keyed=True,
    ),
    Route(
        operation="actions",
        method="GET",
        path="/v1/actions",
        function="recall",
        role="reader",
        summary="List actions, those in doubt first, then newest first",
        reply=actions.ActionsReply,
        query=(*PAGE, _STATE),
    ),
    Route(
        operation="action",
        method="GET",
        path="/v1/actions/{id}",
        function="recall",
        role="reader",
        summary="Show one action as it stands",
        reply=actions.ActionReply,
        id_of="act",
    ),
    _held("complete", "Say that the effect happened, and what came of it", actions.CompleteActionRequest, actions.CompletedReply),
    _held("fail", "Say that the effect did not happen, or that nobody can tell", actions.FailActionRequest, actions.ActionReply),
    _held("renew", "Go on: have the lease run anew from now on", actions.RenewActionRequest, actions.ActionReply),
    Route(
        operation="reconcile_action",
        method="POST",
        path="/v1/actions/{id}/reconcile",
        function="curate",
        role="curator",
        summary="End a doubt: the effect happened, or it did not",
        request=actions.ReconcileActionRequest,
        reply=actions.ActionReply,
        id_of="act",
        keyed=True,
    ),
)

"""One incident, as a tribe would have learned of it: what was seen, what did not help, the cause, the fix, an open question."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.core.lesson import Draft, Evidence, How, Kind, Source

RUN = "demo:checkout-503"
_TAGS = {"demo": "true", "service": "checkout"}


@dataclass(frozen=True, kw_only=True)
class Told:
    """A lesson of the incident, and whether the second witness tells it."""

    draft: Draft
    by_witness: bool = False


def _told(
    step: int,
    text: str,
    *,
    situation: str,
    kind: Kind,
    subject: str | None = None,
    rationale: str | None = None,
    by_witness: bool = False,
) -> Told:
    draft = Draft(
        text=text,
        situation=situation,
        source=Source(how=How.OBSERVED, ref=f"{RUN}#{step}"),
        kind=kind,
        subject=subject,
        tags=_TAGS,
        evidence=(Evidence(type="log", ref=f"{RUN}/log/{step}"),),
        rationale=rationale,
        confidence=0.8,
    )
    return Told(draft=draft, by_witness=by_witness)


INCIDENT: tuple[Told, ...] = (
    _told(
        1,
        "During the sale, checkout answered 503 while the payments database had every connection in use.",
        situation="checkout answers 503 under load",
        kind=Kind.OBSERVATION,
    ),
    _told(
        2,
        "Restarting the checkout pods did not help: the 503s were back within two minutes.",
        situation="checkout answers 503 under load",
        kind=Kind.REJECTED_HYPOTHESIS,
        rationale="the connections were taken again as soon as the pods were up",
    ),
    _told(
        3,
        "The connection pool of checkout holds 50 connections.",
        situation="sizing the connection pool of checkout",
        kind=Kind.ENTITY_FACT,
        subject="checkout connection pool",
    ),
    _told(
        4,
        "A retry without a pause in the mobile app sent each failed payment again at once and took every connection of the"
        " payments database.",
        situation="looking for the cause of 503s of checkout",
        kind=Kind.GOTCHA,
        rationale="the access log shows the same payment id up to 40 times a second",
    ),
    _told(
        5,
        "Limiting retries of the mobile app at the gateway to one in five seconds ended the 503s of checkout within a minute.",
        situation="checkout answers 503 under load",
        kind=Kind.RESOLUTION,
    ),
    _told(
        6,
        "The connection pool of checkout holds 20 connections.",
        situation="sizing the connection pool of checkout",
        kind=Kind.ENTITY_FACT,
        subject="checkout connection pool",
        rationale="it was lowered after the incident",
    ),
    _told(
        7,
        "A failover of the payments database takes 30 seconds.",
        situation="planning a failover of the payments database",
        kind=Kind.ENTITY_FACT,
        subject="payments database failover",
    ),
    _told(
        8,
        "A failover of the payments database takes 90 seconds.",
        situation="planning a failover of the payments database",
        kind=Kind.ENTITY_FACT,
        subject="payments database failover",
        by_witness=True,
    ),
)
"""As it is told, in order. The sixth replaces the third, its author's own; the eighth contradicts the seventh, another's."""

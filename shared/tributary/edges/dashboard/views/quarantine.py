"""Quarantine: what the screen held back, why, and a curator's word on it."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.contract.curation import HeldReply
from tributary.core.agent import Role
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.inert import Said, lesson_fields
from tributary.edges.dashboard.telling.reasons import Reason, explained
from tributary.edges.dashboard.visit import Visit

PAGE_SIZE = 10


@dataclass(frozen=True, kw_only=True)
class _Held:
    held: HeldReply
    reasons: tuple[Reason, ...]
    said: tuple[Said, ...]


def _list(visit: Visit) -> Shown:
    # A form that is refused leads back to the first page: what it was about may be gone from its own.
    before = "" if visit.refusal else visit.asked("before")
    page = next(visit.memory.curation.quarantine(page_size=PAGE_SIZE, before=before or None).pages())
    held = [_Held(held=one, reasons=explained(one.reasons), said=lesson_fields(one.lesson)) for one in page.items]
    return Shown(template="quarantine.html", values={"held": held, "page": page, "before": before})


def _release(visit: Visit) -> Sent:
    learned = visit.memory.curation.release(visit.part("id"), idempotency_key=visit.key)
    if learned.dispute is not None:
        return Sent(path=f"/disputes/{learned.dispute}", said="quarantine-disputed")
    return Sent(path="/quarantine", said=f"quarantine-{learned.outcome}")


def _retire(visit: Visit) -> Sent:
    visit.memory.retire(visit.part("id"), "injection", idempotency_key=visit.key)
    return Sent(path="/quarantine", said="quarantine-retired")


PAGES = (
    Page(path="/quarantine", title="Quarantine", answer=_list, role=Role.CURATOR),
    Page(path="/quarantine/{id}/release", method="POST", role=Role.CURATOR, answer=_release, back=_list),
    Page(path="/quarantine/{id}/retire", method="POST", role=Role.CURATOR, answer=_retire, back=_list),
)
SAID = {
    "quarantine-learned": "It was released, and is believed now.",
    "quarantine-superseded": "It was released, is believed now, and took the place of what it contradicts.",
    "quarantine-reinforced": "It was released: another lesson says the same, and is confirmed by it.",
    "quarantine-unchanged": "It was released: its author had said the same before.",
    "quarantine-disputed": "It was released, and contradicts what is believed: this dispute came of it.",
    "quarantine-pending": "It was released, and is judged soon: until then it is pending.",
    "quarantine-retired": "It is retired as an injection. The same is not believed when it comes again.",
}

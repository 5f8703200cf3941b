"""Steps about what is kept of it all: listings, history, counters, decisions and the review queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from tributary.client import BeliefChange, DiffPage, InvalidRequest, NotFound, NotSetUp
from tributary.client.receipts import Receipt
from tributary.contract.models import Status
from tributary.edges.cli.live.stage import Stage
from tributary.edges.cli.live.step import NotTried, Step, Unexpected, equal, holds

Item = TypeVar("Item")
_NEWEST = 200
"""So many items of a listing are looked through; what a run made is among the newest."""
_DISTIL_S = 25.0


def _newest(items: Iterable[Item]) -> Iterator[Item]:
    return islice(items, _NEWEST)


def _listed(what: str, wanted: str, ids: Iterable[str]) -> None:
    found = list(_newest(ids))
    holds(f"{wanted} among the {what}", wanted in found, f"{len(found)} other(s)")


def _disputes(stage: Stage) -> None:
    wanted = str(stage.taught["contradiction"].dispute)
    _listed("disputes", wanted, (one.id for one in stage.members["reader"].memory.curation.disputes()))


def _dispute(stage: Stage) -> None:
    port, claim = stage.taught["port"], stage.taught["contradiction"]
    found = stage.members["reader"].memory.curation.dispute(str(claim.dispute))
    equal("kind", "conflict", found.kind)
    equal("contender", claim.id, found.contender.id)
    equal("status of the contender", "disputed", found.contender.status)
    equal("what it contradicts:", [port.id], [one.id for one in found.about])
    equal("status of what it contradicts", "active", found.about[0].status)


def _challenges(stage: Stage) -> None:
    for one in _newest(stage.members["reader"].memory.curation.challenges()):
        equal("kind", "unsure", one.kind)


def _audit(stage: Stage) -> None:
    reader = stage.members["reader"]
    for entry in _newest(stage.curator.memory.curation.audit()):
        if entry.code == "forbidden" and entry.action == "learn" and entry.agent in (reader.name, reader.id):
            return
    raise Unexpected("the refusal of the reader in the audit", "no such entry")


def _lessons(stage: Stage) -> None:
    wanted: tuple[tuple[Status, str], ...] = (("active", "mirror"), ("retired", "archive"))
    for status, key in wanted:
        _listed(f"{status} lessons", stage.taught[key].id, _page(stage, status))


def _page(stage: Stage, status: Status) -> list[str]:
    """Returns the ids of the newest lessons that stand so."""

    def look() -> tuple[list[str], Receipt]:
        page = next(stage.members["reader"].memory.pages(status=status, page_size=100))
        return [one.id for one in page.lessons], page.receipt

    return stage.current(look)


def _lesson(stage: Stage) -> None:
    found = stage.lesson(stage.taught["mirror"].id)
    equal("status", "active", found.status)
    equal("author", stage.members["writer"].name, found.author)
    equal("subject", stage.about("mirror"), found.subject)


def _timeline(stage: Stage) -> None:
    found = stage.members["reader"].memory.timeline(stage.taught["port"].id)
    events = [one.event for one in found.events]
    for wanted in ("learned", "reinforced", "superseded"):
        holds(f"'{wanted}' in the timeline", wanted in events, ", ".join(events))
    equal("ticks, in their order:", sorted(one.tick for one in found.events), [one.tick for one in found.events])
    _listed("successors", stage.taught["contradiction"].id, (one.id for one in found.successors.lessons))


def _changes(stage: Stage) -> None:
    after = stage.began_at or 0
    ticks: set[int] = set()
    seen: set[str | None] = set()
    at = after
    for page in stage.members["reader"].memory.change_pages(after, follow=False):
        ticks |= {one.tick for one in page.changes}
        seen |= {one.lesson for one in page.changes}
        at = page.tick
    missing = sorted(set(range(after + 1, at + 1)) - ticks)
    holds(f"each tick from {after + 1} to {at}", not missing, f"no change at tick {', '.join(map(str, missing[:5]))}")
    latest = max(one.tick for one in stage.taught.values())
    holds(f"changes up to tick {latest}", at >= latest, at)
    holds("every lesson of this run", seen.issuperset(stage.lessons), f"{len(set(stage.lessons) - seen)} are missing")


def _diff(stage: Stage) -> None:
    memory = stage.members["reader"].memory
    old, new = stage.taught["port"], stage.taught["contradiction"]

    def look() -> tuple[DiffPage, Receipt]:
        page = next(memory.diff(old.tick, page_size=100).pages())
        return page, page.receipt

    page = stage.current(look)
    equal("tick that it begins at", old.tick, page.since.tick)
    found = {one.lesson.id: one for one in page.items}
    holds("the successor and the lesson that it replaced", {old.id, new.id} <= set(found), f"{len(found)} changes")
    equal("what became of the successor", ("began", "learned", [old.id]), _told(found[new.id]))
    equal("what became of the lesson that it replaced", ("ended", "superseded", []), _told(found[old.id]))
    try:
        next(memory.diff(new.tick, old.tick))
    except InvalidRequest as error:
        holds("a refusal that names `from`", "from" in str(error), error)
    else:
        holds("a refusal of moments that go backwards", False, "it was answered")


def _told(change: BeliefChange) -> tuple[str, str, list[str]]:
    return change.change, change.how, change.replaced


def _me(stage: Stage) -> None:
    writer = stage.members["writer"]
    found = writer.memory.whoami()
    equal("agent", writer.id, found.agent)
    equal("role", "writer", found.role)


def _mcp(stage: Stage) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepted = {"accept": "application/json, text/event-stream"}
    answer = stage.ask("POST", "/mcp", by=stage.members["reader"], body=body, headers=accepted)
    tools = [one.get("name") for one in answer.document.get("result", {}).get("tools", [])]
    holds("tribal_recall among a reader's tools", "tribal_recall" in tools, tools)
    holds("no tribal_learn among a reader's tools", "tribal_learn" not in tools, tools)


def _stats(stage: Stage) -> None:
    found = stage.curator.memory.stats()
    holds(f"a tick of {stage.began_at} or later", found.tick >= (stage.began_at or 0), found.tick)
    holds("active lessons", found.lessons.get("active", 0) > 0, found.lessons)
    holds("what each agent called, for a curator", found.by_agent is not None, found.by_agent)


def _status(stage: Stage) -> None:
    found = stage.members["reader"].memory.status()
    amiss = ", ".join(f"{one.check}: {one.cause or one.value}" for one in found.observations if one.state == "not_ok")
    holds("a memory that is usable", found.usable, amiss or "it is not")
    if amiss:
        stage.warnings.append(f"status names what is not ok: {amiss}")


def _costs(stage: Stage) -> None:
    found = stage.curator.memory.costs()
    equal("added up by", "day", found.by)
    equal("calls in all", sum(one.calls for one in found.rows), found.total.calls)


def _activity(stage: Stage) -> None:
    found = stage.curator.memory.activity(hours=2)
    equal("buckets", 2, len(found.buckets))
    holds("ticks of this run", sum(one.ticks for one in found.buckets) > 0, "none")
    holds("calls of models, for a curator", found.models is not None, found.models)
    equal("calls of models, for a reader", None, stage.members["reader"].memory.activity(hours=1).models)


def _evaluations(stage: Stage) -> None:
    found = stage.members["reader"].memory.evaluations(limit=2)
    holds(
        "the newest run of the evals first", [one.at for one in found] == sorted((one.at for one in found), reverse=True), found
    )


def _decisions(stage: Stage) -> None:
    port = stage.taught["port"]
    found = list(_newest(stage.curator.memory.curation.decisions(port.id)))
    _listed("decisions", port.decision, (one.id for one in found))


def _decision(stage: Stage) -> None:
    port = stage.taught["port"]
    found = stage.curator.memory.curation.decision(port.decision)
    equal("decision", port.decision, found.decision.id)
    equal("its lesson", port.id, found.lesson.id)


def _report(stage: Stage) -> None:
    for key, name in (("port", "review"), ("mirror", "second review")):
        decision = stage.taught[key].decision
        found = stage.members["writer"].memory.curation.report(decision, "harmful", note=f"verify-live {stage.word}")
        equal("decision", decision, found.decision)
        equal("queued", True, found.queued)
        stage.ids[name] = found.review


def _reviews(stage: Stage) -> None:
    found = {one.id: one for one in _newest(stage.curator.memory.curation.reviews())}
    _listed("open reviews", stage.ids["review"], found)
    equal("signal", "reported", found[stage.ids["review"]].signal)


def _accept_review(stage: Stage) -> None:
    found = stage.curator.memory.curation.accept_review(stage.ids["review"], golden=f"verify-live-{stage.word}")
    equal("state", "accepted", found.state)


def _reject_review(stage: Stage) -> None:
    found = stage.curator.memory.curation.reject_review(stage.ids["second review"], reason=f"verify-live {stage.word}")
    equal("state", "rejected", found.state)


def _distill(stage: Stage) -> None:
    transcript = (
        f"user: The deploy of {stage.about('worker')} fails.\n"
        "tool: 429 Too Many Requests; retry with the header X-Batch: true\n"
        f"assistant: With X-Batch: true the deploy of {stage.about('worker')} went through."
    )
    try:
        found = stage.members["writer"].memory.distill(transcript, deadline_s=_DISTIL_S)
    except NotSetUp:
        raise NotTried("the server has no model for distilling") from None
    holds("a model's name", bool(found.model), found.model)
    holds("every turn to be read", not found.unread, f"{len(found.unread)} stretch(es) unread")


def _evidence(stage: Stage) -> None:
    content = f"verify-live {stage.word}\n".encode()
    try:
        kept = stage.members["writer"].memory.attach(content, content_type="text/plain", name="verify-live.txt")
    except NotSetUp:
        raise NotTried("the server keeps no files") from None
    equal("type of the evidence", "file", kept.type)
    equal("bytes of the file", content, stage.members["reader"].memory.evidence(kept))


def _respond(stage: Stage) -> None:
    message = f"What is known about {stage.about('worker')}? Only recall, and answer."
    try:
        found = stage.members["writer"].memory.respond(message, deadline_s=_DISTIL_S)
    except NotSetUp:
        raise NotTried("the server has no model for the incident agent") from None
    except NotFound:
        raise NotTried("the deployment has no incident agent") from None
    holds("a recall before anything else", bool(found.receipts), "no receipt")
    equal("the query of the first recall", message, found.receipts[0].query)
    holds("an answer, or a reason", bool(found.text), found.text)


DISPUTED = (
    Step(name="audit", does=_audit, covers=("audit",), needs=("refused",)),
    Step(name="disputes", does=_disputes, covers=("disputes",), needs=("contradict",)),
    Step(name="dispute", does=_dispute, covers=("dispute",), needs=("contradict",)),
)
RECORDS = (
    Step(name="challenges", does=_challenges, covers=("challenges",), needs=("create-agents",)),
    Step(name="lessons", does=_lessons, covers=("lessons",), needs=("retire",)),
    Step(name="lesson", does=_lesson, covers=("lesson",), needs=("batch",)),
    Step(name="timeline", does=_timeline, covers=("timeline",), needs=("reinforce", "accept")),
    Step(name="changes", does=_changes, covers=("changes",), needs=("learn",)),
    Step(name="diff", does=_diff, covers=("diff",), needs=("accept",)),
    Step(name="me", does=_me, covers=("me",), needs=("create-agents",)),
    Step(name="mcp", does=_mcp, covers=("mcp",), needs=("create-agents",)),
    Step(name="stats", does=_stats, covers=("stats",), needs=("learn",)),
    Step(name="status", does=_status, covers=("status",), needs=("create-agents",)),
    Step(name="costs", does=_costs, covers=("costs",), needs=("admitted",)),
    Step(name="activity", does=_activity, covers=("activity",), needs=("learn", "create-agents")),
    Step(name="evaluations", does=_evaluations, covers=("evaluations",), needs=("create-agents",)),
    Step(name="decisions", does=_decisions, covers=("decisions",), needs=("learn",)),
    Step(name="decision", does=_decision, covers=("decision",), needs=("learn",)),
    Step(name="report", does=_report, covers=("report",), needs=("learn", "batch")),
    Step(name="reviews", does=_reviews, covers=("reviews",), needs=("report",)),
    Step(name="accept-review", does=_accept_review, covers=("accept_review",), needs=("report",)),
    Step(name="reject-review", does=_reject_review, covers=("reject_review",), needs=("report",)),
    Step(
        name="evidence",
        does=_evidence,
        covers=("announce_evidence", "put_evidence", "evidence"),
        needs=("create-agents",),
    ),
    Step(name="distill", does=_distill, covers=("distill",), needs=("create-agents",)),
    Step(name="respond", does=_respond, covers=("respond",), needs=("create-agents",)),
)

"""The replay: a tribe's own events taken in tick order, each decision derived anew from the state just before its tick."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID

from tests.history.deriving import BY_RECORD, OVERTURNED, Case, Deriver, Effects, committed
from tests.history.model import ACTIVE, DISPUTED, ERASED, MOVES, PENDING, QUARANTINED, Model, Standing
from tests.history.said import Said
from tests.history.tables import Row, Tables
from tests.history.violations import Rule, Violation
from tests.history.world import HELD_BACK, verdict
from tributary.core.agent import Principal, Role
from tributary.core.curation import Ending
from tributary.core.decision import VerdictKind
from tributary.core.lesson import Draft
from tributary.core.normal import content_hash, exact_text, subject_key
from tributary.core.policy import Policy
from tributary.learn.judging import EQUAL_CONTENT, SAID

NEARLY = 1e-4
"""By how much confidences may differ: what a run's seconds make of them is less."""
UNOPPOSED = "unopposed"
"""The cause for which a disputed lesson is pending again."""


@dataclass(kw_only=True)
class Replay:
    """After `run`, `model` holds the final state and every past one, and `violations` what does not hold."""

    tables: Tables
    said: Mapping[UUID, Said]
    agents: Mapping[UUID, Principal]
    policies: Mapping[int, Policy]
    model: Model = field(default_factory=Model)
    drafts: dict[UUID, Draft] = field(default_factory=dict)
    subjects: dict[UUID, str | None] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows = {row["lesson_id"]: row for row in self.tables.lesson}
        self._secret = bytes(self.tables.tribe["secret"])
        self._deriver = Deriver(model=self.model, rows=self._rows, drafts=self.drafts, secret=self._secret)
        self._decisions = {row["decision_id"]: row for row in self.tables.decision}
        self._opened: dict[UUID, list[Row]] = defaultdict(list)
        for row in self.tables.dispute:
            self._opened[row["decision_id"]].append(row)
        self._first_about = {row["dispute_id"]: row["lesson_id"] for row in self.tables.dispute_about}
        self._times: dict[int, datetime] = {0: self.tables.tribe["created_at"]}
        self._gone: set[str] = set()

    def run(self) -> Replay:
        ticked = {row["decision_id"] for row in self.tables.lesson_event}
        quiet = defaultdict(list)
        for row in self.tables.decision:
            if row["decision_id"] not in ticked:
                quiet[row["tick"]].append(row)
        for tick, found in groupby(self.tables.lesson_event, key=lambda row: int(row["tick"])):
            events = list(found)
            self._times[tick] = events[0]["at"]
            self._tick(tick, events)
            for row in quiet.pop(tick, ()):
                self._decision(row, tick, [])
        for tick, rows in quiet.items():
            self._violation(Rule.DERIVED, tick, f"{len(rows)} decision(s) of a tick that no event has")
        return self

    # -- one tick

    def _tick(self, tick: int, events: list[Row]) -> None:
        freed = [row for row in events if _is_let_go(row)]
        self.model.now = tick
        self._changed(tick, [row for row in events if not _is_let_go(row)])
        self._let_go(tick, events, freed)
        self.model.settle(tick)
        self._believed_together(tick, {row["lesson_id"] for row in events})

    def _let_go(self, tick: int, events: list[Row], freed: list[Row]) -> None:
        """What an agent's act left unopposed is pending again, at the very tick; what time ends lets go of nothing."""
        ended = [row for row in events if row["event"] in ("retired", "superseded", "erased")]
        wanted = self.model.unopposed(row["lesson_id"] for row in ended if row["details"].get("cause") != "lapsed")
        if Counter(row["lesson_id"] for row in freed) != Counter(wanted):
            self._violation(Rule.DERIVED, tick, f"let go of {_shown(_named(freed))}, not of {wanted}")
        if len({(row["decision_id"], row["agent_id"]) for row in events}) > 1:
            self._violation(Rule.TICKS, tick, "more than one change was made at it")
        self._moves(tick, freed)

    def _changed(self, tick: int, events: list[Row]) -> None:
        decisions = {row["decision_id"] for row in events} - {None}
        if len(decisions) > 1 or (decisions and None in {row["decision_id"] for row in events}):
            self._violation(Rule.TICKS, tick, "more than one change was made at it")
        if not decisions:
            self._undecided(tick, events)
        for decision_id in decisions:
            if (row := self._decisions.get(decision_id)) is None:
                self._violation(Rule.STATE, tick, f"an event names a decision that is not there: {decision_id}")
                self._moves(tick, events)
            else:
                self._decision(row, tick, [one for one in events if one["decision_id"] == decision_id])

    def _moves(self, tick: int, events: Sequence[Row], decision: Row | None = None) -> None:
        for row in events:
            known = self.model.lessons.get(row["lesson_id"])
            if known is None:
                author = decision["agent_id"] if decision else row["agent_id"]
                known = Standing(lesson_id=row["lesson_id"], agent_id=author, learned=tick)
                self.model.lessons[known.lesson_id] = known
            status = MOVES.get(row["event"])
            before = known.status
            if status is not None and not known.move(tick, status):
                self._violation(Rule.EVENTS, tick, f"{row['event']} of lesson {known.lesson_id}, which was {before}")
            if known.status != row["status"]:
                self._violation(Rule.EVENTS, tick, f"{row['event']} says {row['status']} of a lesson that is {known.status}")
            if row["event"] == "retired" and row["details"].get("cause") == "same_as_known":
                known.held = False  # it was let in, and another lesson stands for it
            if row["event"] == "superseded":
                known.successor = UUID(row["details"]["successor"])
            if row["event"] == "reinforced":
                agent = decision["agent_id"] if decision else row["agent_id"]
                if self.model.counts_for(agent, known.lesson_id):
                    self._violation(Rule.EVENTS, tick, "an agent was counted twice for one lesson")
                known.confirmed.setdefault(agent, tick)

    def _undecided(self, tick: int, events: list[Row]) -> None:
        """What changes beliefs without a decision: reinforce, retire, erase, and the endings of disputes that need no judge."""
        names = Counter(row["event"] for row in events)
        if not events:
            self._violation(Rule.EVENTS, tick, "nothing was done that lets go of a lesson")
            return
        first = events[0]
        if "dispute" in first["details"]:
            self._ended(tick, events, UUID(first["details"]["dispute"]), first["details"]["ending"])
            return
        sound = names in (Counter(reinforced=1), Counter(retired=1)) or set(names) == {"erased"}
        if not sound:
            self._violation(Rule.EVENTS, tick, f"no operation makes {dict(names)} without a decision")
        if first["event"] == "retired":
            self._retired(tick, first)
        elif first["event"] == "erased":
            self._all_erased(tick, {row["lesson_id"] for row in events})
        self._moves(tick, events)

    def _retired(self, tick: int, row: Row) -> None:
        known, cause = self.model.lessons.get(row["lesson_id"]), row["details"].get("cause")
        if known is None:
            return
        if self._role(row["agent_id"]) is Role.CURATOR:
            if cause != "outdated":
                known.reject(tick, cause)
        elif known.agent_id != row["agent_id"]:
            self._violation(Rule.EVENTS, tick, "a lesson was retired by somebody who is neither its author nor a curator")
        elif known.status == QUARANTINED or (known.status in (PENDING, DISPUTED) and known.confirmed):
            self._violation(Rule.EVENTS, tick, f"its author retired a {known.status} lesson, which is not his alone")

    def _all_erased(self, tick: int, erased: set[UUID]) -> None:
        words = {exact_text(self.drafts[one].text) for one in erased if one in self.drafts}
        wanted = {
            one for one, draft in self.drafts.items() if exact_text(draft.text) in words and self.model.status(one) != ERASED
        }
        if len(words) != 1 or erased != wanted:
            self._violation(Rule.ERASED, tick, f"{len(erased)} lessons were erased, not {len(wanted)}")
        self._gone |= words

    def _ended(self, tick: int, events: list[Row], dispute_id: UUID, ending: str) -> None:
        quarrel = self.model.quarrels.get(dispute_id)
        if quarrel is None or quarrel.closed is not None:
            self._violation(Rule.EVENTS, tick, f"a dispute was ended that was not open: {dispute_id}")
            self._moves(tick, events)
            return
        sides = {quarrel.contender, *quarrel.about}
        loses = {"rejected": {quarrel.contender}, "accepted": set(quarrel.about)}.get(ending, set())
        loses = {one for one in loses if self.model.status(one) in (ACTIVE, DISPUTED)}
        stays = {one for one in sides - loses if self.model.status(one) == ACTIVE}
        wanted = Counter([("retired", one) for one in loses] + [("cleared", one) for one in stays])
        self._moves(tick, events)
        if wanted != _named(events):
            self._violation(Rule.DERIVED, tick, f"{ending} of dispute {dispute_id} made {_shown(_named(events))}")
        for one in loses:
            self.model.lessons[one].reject(tick, "wrong")
        if quarrel.kind == "unsure" and ending == "both_stand":
            self.model.stand_together.update(frozenset((quarrel.contender, one)) for one in quarrel.about)
        elif quarrel.kind == "unsure":
            self.model.make_rivals(quarrel.contender, quarrel.about)
        quarrel.close(tick, ending, events[0]["agent_id"])

    # -- one decision

    def _decision(self, row: Row, tick: int, events: list[Row]) -> None:
        case = self._case(row, tick, events)
        if case is None:
            self._violation(Rule.DERIVED, tick, f"nobody asked for decision {row['decision_id']}")
            self._moves(tick, events, row)
            return
        alone = case.known is None and (row["outcome"] == PENDING or (row["outcome"] == QUARANTINED and case.caught))
        if not alone:  # what is kept unjudged, or held back by the screen, depends on no other lesson
            self._candidates(case, tick)
            self._rivals_on_record(case, tick)
        self._verdicts(case, tick)
        self._screened(case, tick)
        found = self._deriver.effects(case, self._writer(case), self._policy(row["at"]), self._instants(case))
        same = [one for one in found if one.outcome == row["outcome"] and one.events == case.events]
        if not same:
            wanted = " or ".join(f"{one.outcome} with {_shown(one.events)}" for one in found)
            came = f"{row['outcome']} with {_shown(case.events)}"
            stood = case.stands or "new"
            self._violation(Rule.DERIVED, tick, f"decision {row['decision_id']} on what was {stood} is {came}, not {wanted}")
        self._take_over(case, (same or found)[0], tick, events)

    def _take_over(self, case: Case, effects: Effects, tick: int, events: list[Row]) -> None:
        if case.lesson_id is not None:
            if case.stands is None:
                self._taken_in(case, effects, tick)
            self.drafts.setdefault(case.lesson_id, case.draft)
            self.subjects.setdefault(case.lesson_id, subject_key(case.draft.subject))
        self._moves(tick, events, case.decision)
        opened: dict[tuple[str, UUID | None], UUID] = {}
        for one in self._opened[case.decision["decision_id"]]:
            about = self._first_about.get(one["dispute_id"]) if one["kind"] == "unsure" else None
            opened[one["kind"], about] = one["dispute_id"]
        committed(self.model, case, effects, tick, opened)

    def _ended_silently(self, lesson_id: UUID | None, tick: int) -> Row:
        """Returns the end of a dispute that no event tells of: it was about nothing, and its contender stays disputed."""
        for one in self.tables.dispute:
            if (one["lesson_id"], one["closed_tick"]) == (lesson_id, tick) and one["closed_by"] is not None:
                return {"dispute": one["dispute_id"], "ending": one["ending"]}
        return {}

    def _taken_in(self, case: Case, effects: Effects, tick: int) -> None:
        """What a new lesson's row must say of it from the beginning."""
        row, most = self._rows[case.decision["lesson_id"]], effects.plan.confidence_at_most
        if row["admitted_as"] != self._writer(case).role:
            self._violation(Rule.STATE, tick, f"lesson {row['lesson_id']} came in as a {row['admitted_as']}'s")
        confidence = case.draft.confidence if most is None else min(case.draft.confidence, most)
        if abs(row["confidence"] - confidence) > NEARLY:
            self._violation(Rule.STATE, tick, f"lesson {row['lesson_id']} has {row['confidence']}, not {confidence}")

    def _case(self, row: Row, tick: int, events: list[Row]) -> Case | None:
        said = self.said.get(row["decision_id"])
        named: UUID = row["lesson_id"]
        about = [one["details"] for one in events if "ending" in one["details"]]
        ended: Row = about[0] if about else {}
        handed_over = [one["lesson_id"] for one in events if one["details"].get("cause") == "same_as_known"]
        if said is not None:
            lesson_id = None if named in self.model.lessons else named
            stands = None
            draft = said.draft or self._against(said)
        else:
            lesson_id = handed_over[0] if handed_over else named
            stands = self.model.status(lesson_id)
            draft = self.drafts.get(lesson_id)
        if draft is None:
            return None
        if stands == DISPUTED and not ended:
            ended = self._ended_silently(lesson_id, tick)
        return Case(
            decision=row,
            draft=draft,
            lesson_id=lesson_id,
            stands=stands,
            contests=said.contests if said else None,
            ending=Ending(ended["ending"]) if ended else None,
            resolved=UUID(f"{ended['dispute']}") if ended else None,
            events=_named(events),
        )

    def _against(self, said: Said) -> Draft | None:
        known = None if said.contests is None else self.model.lessons.get(said.contests)
        return None if known is None or said.claim is None else said.claim.against(self._deriver.lesson(known))

    def _writer(self, case: Case) -> Principal:
        """Returns the author with the role that it was decided for: a stored lesson was admitted before."""
        author = self.agents[case.decision["agent_id"]]
        return Principal(
            tribe_id=author.tribe_id,
            agent_id=author.agent_id,
            name=author.name,
            role=Role.CURATOR if case.resolved is not None else author.role,
        )

    def _role(self, agent_id: UUID) -> Role:
        return self.agents[agent_id].role

    def _policy(self, at: datetime) -> Policy:
        return self.policies.get(1 + sum(changed < at for changed in self.tables.policy_changes), Policy())

    def _instants(self, case: Case) -> list[datetime]:
        """Returns instants between reading and commit: the first, the last, and each at which a candidate's time was over."""
        first = self._times.get(case.decision["judged_tick"], self._times[0])
        last = case.decision["at"]
        ends = (self._rows[one["lesson_id"]]["valid_until"] for one in case.decision["candidates"])
        return [first, *sorted(end for end in ends if end is not None and first < end <= last), last]

    def _candidates(self, case: Case, tick: int) -> None:
        row = case.decision
        named = {one["lesson_id"]: one["status"] for one in row["candidates"]}
        for lesson_id, status in named.items():
            if self.model.status(lesson_id) != status:
                stood = self.model.status(lesson_id)
                self._violation(Rule.CANDIDATES, tick, f"{row['decision_id']} saw {lesson_id} as {status}, but it was {stood}")
        subject = subject_key(case.draft.subject)
        for one in self.model.lessons.values():
            if not one.believed or one.lesson_id in named or subject is None or self.subjects.get(one.lesson_id) != subject:
                continue
            if one.lesson_id != case.lesson_id and verdict(case.draft.text, self.drafts[one.lesson_id].text) == "conflicts":
                self._violation(Rule.CANDIDATES, tick, f"{row['decision_id']} contradicts {one.lesson_id} and did not see it")

    def _rivals_on_record(self, case: Case, tick: int) -> None:
        """What an earlier verdict, or whoever contested, made a rival of a stored lesson is taken back by a curator alone."""
        if case.stands is None or case.lesson_id is None:
            return
        said = {one["lesson_id"]: one["verdict"] for one in case.decision["verdicts"]}
        resolved = self.model.quarrels.get(case.resolved) if case.resolved is not None else None
        annulled = set(resolved.about) if resolved is not None and case.ending is Ending.BOTH_STAND else set()
        for one in self.model.opponents(case.lesson_id) - annulled:
            if said.get(one) != VerdictKind.CONFLICTS:
                self._violation(Rule.VERDICTS, tick, f"{said.get(one)} on {one}, a rival of {case.lesson_id} on record")

    def _verdicts(self, case: Case, tick: int) -> None:
        own = content_hash(case.draft, secret=self._secret)
        stored = case.stands is not None and case.lesson_id is not None
        on_record = self.model.rivals.get(case.lesson_id, set()) if stored and case.lesson_id is not None else set()
        for one in case.decision["verdicts"]:
            lesson_id = one["lesson_id"]
            other = self.drafts.get(lesson_id)
            if other is None:
                self._violation(Rule.VERDICTS, tick, f"on lesson {lesson_id}, which was not there")
            elif one["judge"] == SAID:
                wrong = one["verdict"] not in (VerdictKind.CONFLICTS, VerdictKind.UNRELATED)
                if wrong or (case.resolved is None and lesson_id not in case.against and lesson_id not in on_record):
                    self._violation(Rule.VERDICTS, tick, f"nobody said of {lesson_id} that it {one['verdict']}")
            elif one["judge"] == EQUAL_CONTENT or bytes(self._rows[lesson_id]["content_hash"]) == own:
                if one["verdict"] != VerdictKind.SAME or bytes(self._rows[lesson_id]["content_hash"]) != own:
                    self._violation(Rule.VERDICTS, tick, f"{one['verdict']} by content on {lesson_id}")
            elif one["verdict"] != verdict(case.draft.text, other.text) and self.model.status(lesson_id) != ERASED:
                self._violation(Rule.VERDICTS, tick, f"{one['verdict']} on {lesson_id}, not by the judge's rule")

    def _screened(self, case: Case, tick: int) -> None:
        row = case.decision
        caught = HELD_BACK in case.draft.text and not self._was_quarantined(case.lesson_id)  # a release is not screened again
        if case.caught != caught:
            self._violation(Rule.DERIVED, tick, f"the screen caught {row['screening']['reasons']} in {case.draft.text!r}")
        if (BY_RECORD in row["screening"]["reasons"]) != (row["outcome"] == QUARANTINED and not caught):
            self._violation(Rule.DERIVED, tick, f"{row['decision_id']} is {row['outcome']} for {row['screening']['reasons']}")
        if exact_text(case.draft.text) in self._gone:
            self._violation(Rule.ERASED, tick, f"decision {row['decision_id']} takes in words that were erased")
        said = self.said.get(row["decision_id"])
        if row["outcome"] == PENDING and case.known is None and case.stands is None and not (said and said.hurried):
            self._violation(Rule.DERIVED, tick, f"decision {row['decision_id']} is pending, though there was no hurry")

    def _was_quarantined(self, lesson_id: UUID | None) -> bool:
        known = self.model.lessons.get(lesson_id) if lesson_id else None
        return known is not None and any(status == QUARANTINED for _, status in known.past)

    # -- what must hold at every tick

    def _believed_together(self, tick: int, touched: set[UUID]) -> None:
        active = [one.lesson_id for one in self.model.lessons.values() if one.believed]
        for one in touched & set(active):
            for other in active:
                if other != one:
                    self._together(tick, one, other)

    def _together(self, tick: int, a: UUID, b: UUID) -> None:
        if b in self.model.rivals.get(a, ()):
            self._violation(Rule.RIVALS, tick, f"rivals {a} and {b}")
        if self._rows[a]["content_hash"] == self._rows[b]["content_hash"]:
            self._violation(Rule.CONTENT, tick, f"{a} and {b}")
        if self.subjects.get(a) is None or self.subjects.get(a) != self.subjects.get(b):
            return
        if verdict(self.drafts[a].text, self.drafts[b].text) != VerdictKind.CONFLICTS or self._over(tick, a, b):
            return
        if frozenset((a, b)) not in self.model.stand_together and not self.model.quarrelling(a, b, tick):
            self._violation(Rule.RIVALS, tick, f"{self.drafts[a].text!r} and {self.drafts[b].text!r}: {a} and {b}")

    def _over(self, tick: int, *lessons: UUID) -> bool:
        """Tells whether time has ended one of them: what is over contradicts nothing."""
        ends = (self._rows[one]["valid_until"] for one in lessons)
        return any(end is not None and end <= self._times[tick] for end in ends)

    def _violation(self, rule: Rule, tick: int, detail: str) -> None:
        self.violations.append(Violation(rule=rule, tick=tick, detail=detail))


def _is_let_go(row: Row) -> bool:
    return bool(row["event"] == "pended" and row["details"].get("cause") == UNOPPOSED)


def _named(events: Sequence[Row]) -> Counter[tuple[str, UUID]]:
    """Counts events by name and lesson; what clears a lesson of its rejection has a name of its own."""
    return Counter(
        (OVERTURNED if row["details"].get("cause") == OVERTURNED else row["event"], row["lesson_id"]) for row in events
    )


def _shown(events: Counter[tuple[str, UUID]]) -> str:
    return ", ".join(sorted(f"{name} {lesson_id}" for name, lesson_id in events.elements())) or "no event"

"""What the model may use: the memory, and live systems where they are set up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tributary.core import ids
from tributary.core.agent import Principal
from tributary.core.decision import Learned
from tributary.core.errors import TributaryError, Unavailable
from tributary.core.lesson import Draft, How, Kind, Source
from tributary.core.limits import RECEIPTS
from tributary.core.requests import Question, Recalled
from tributary.core.responding import is_allowed
from tributary.responder.absence import absences
from tributary.responder.acting import ActionLedger, Effect, NotHappened, act
from tributary.responder.rds import EFFECT_S, LOOKS, MUTATIONS, Arguments, Look, Mutation, Rds
from tributary.responder.turn import Acted, Searched
from tributary.service.responding import LiveSystems, Responding

Model = TypeVar("Model", bound=BaseModel)

MOST_RESULT_CHARACTERS = 8_000
_HITS = 5
_LEARN_S = 10.0


class MemoryFace(Protocol):
    """The part of `service.Memory` that an incident agent works with."""

    @property
    def responding(self) -> Responding: ...

    @property
    def actions(self) -> ActionLedger: ...

    def recall(self, principal: Principal, question: Question) -> Recalled: ...

    def learn(
        self,
        principal: Principal,
        draft: Draft,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> Learned: ...


class BadArguments(Exception):
    """A tool was given what its schema refuses; the message is told to the model."""


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RecallArguments(_Given):
    query: Annotated[str, Field(min_length=1, max_length=2_000)]


class RecallAsOfArguments(RecallArguments):
    as_of: int | str = Field(description="A tick, or a time such as 2026-03-01T12:00:00Z: what was believed then.")


class LearnArguments(_Given):
    text: Annotated[str, Field(min_length=1, max_length=2_000, description="One or two sentences that stand alone.")]
    situation: Annotated[str, Field(min_length=1, max_length=500, description="When it applies, in a few words.")]
    how: Literal["observed", "derived", "told"] = Field(description="How it is known.")
    kind: Literal["gotcha", "entity_fact", "observation", "runbook_fact", "resolution", "rejected_hypothesis"] = "gotcha"
    subject: Annotated[str, Field(max_length=200)] | None = None
    rationale: Annotated[str, Field(max_length=2_000)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.7


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`use(arguments)` returns what the model is told; raises TributaryError."""

    name: str
    purpose: str
    arguments: type[BaseModel]
    use: Callable[[BaseModel], Mapping[str, object]]

    def document(self) -> Mapping[str, object]:
        schema = self.arguments.model_json_schema()
        return {"name": self.name, "purpose": self.purpose, "arguments": {"properties": schema.get("properties", {})}}

    def checked(self, given: Mapping[str, object]) -> BaseModel:
        """Returns the arguments as the tool takes them; raises BadArguments naming the first that is wrong."""
        try:
            return self.arguments.model_validate_json(json.dumps(dict(given), allow_nan=False))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(map(str, first["loc"])) or "arguments"
            raise BadArguments(f"{self.name}: {place}: {first['msg']}") from None
        except (ValueError, TypeError, RecursionError):
            raise BadArguments(f"{self.name}: the arguments are no JSON object of finite numbers") from None


@dataclass(kw_only=True)
class Workbench:
    """The tools of one turn, and what came of using them. `left_s` tells what is left of the turn."""

    memory: MemoryFace
    principal: Principal
    incident: str
    turn: str
    left_s: Callable[[], float]
    searched: list[Searched] = field(default_factory=list)
    unsearched: list[str] = field(default_factory=list)
    """Why recalls gave no receipt at all: codes of errors."""
    learned: list[Learned] = field(default_factory=list)
    actions: list[Acted] = field(default_factory=list)

    def tools(self) -> Mapping[str, Tool]:
        """Returns every tool by its name."""
        return {tool.name: tool for tool in (*self._of_memory(), *self._of_live_systems())}

    def recall(self, query: str, *, as_of: int | datetime | None = None) -> Mapping[str, object]:
        """Returns what the tribe believes, or believed, as the model is told of it; keeps the receipt. Raises TributaryError."""
        try:
            recalled = self.memory.recall(self.principal, Question(query=query, limit=_HITS, as_of=as_of))
        except TributaryError as error:
            self.unsearched.append(error.code)
            raise
        self.searched.append(Searched(query=query, receipt=recalled.receipt))
        return _told(recalled)

    def _of_memory(self) -> Iterator[Tool]:
        yield Tool(
            name="recall",
            purpose="What the team's memory believes about a question.",
            arguments=RecallArguments,
            use=lambda given: self.recall(_as(RecallArguments, given).query),
        )
        yield Tool(
            name="recall_as_of",
            purpose="What it believed at an earlier instant.",
            arguments=RecallAsOfArguments,
            use=self._recall_as_of,
        )
        yield Tool(
            name="learn",
            purpose="Keep for the team what this incident showed. Only what was shown, no guess and no secret.",
            arguments=LearnArguments,
            use=self._learn,
        )

    def _of_live_systems(self) -> Iterator[Tool]:
        live = self.memory.responding.live
        if live is None:
            return
        rds = Rds(region=live.region, url=live.url, own=live.own)
        for look in LOOKS:
            yield Tool(name=look.verb, purpose=look.purpose, arguments=look.arguments, use=self._looking(rds, look))
        for mutation in MUTATIONS:
            if any(one.change is mutation.change for one in live.allowed):
                targets = ", ".join(one.targets for one in live.allowed if one.change is mutation.change)
                yield Tool(
                    name=mutation.change.value,
                    purpose=f"{mutation.purpose} Allowed on: {targets}. Done once in an incident, as a durable action.",
                    arguments=mutation.arguments,
                    use=self._changing(rds, live, mutation),
                )

    def _recall_as_of(self, given: BaseModel) -> Mapping[str, object]:
        asked = _as(RecallAsOfArguments, given)
        as_of: int | datetime
        try:
            as_of = asked.as_of if isinstance(asked.as_of, int) else datetime.fromisoformat(asked.as_of)
        except ValueError:
            raise BadArguments("recall_as_of: as_of: must be a tick, or a time with an offset") from None
        return self.recall(asked.query, as_of=as_of)

    def _learn(self, given: BaseModel) -> Mapping[str, object]:
        asked = _as(LearnArguments, given)
        if any(absences(text) for text in (asked.text, asked.situation, asked.rationale or "")):
            # it would be told for fact long after the search that it rested on
            raise BadArguments("learn: a lesson says what was shown; that nothing is known, or was seen before, is none")
        receipts = [{**one.receipt.document(), "signature": one.receipt.signature} for one in self.searched[-RECEIPTS:]]
        draft = Draft(
            text=asked.text,
            situation=asked.situation,
            source=Source(how=How(asked.how), ref=f"incident:{self.incident}"),
            kind=Kind(asked.kind),
            subject=asked.subject,
            rationale=asked.rationale,
            confidence=asked.confidence,
            receipts=tuple(receipts),
        )
        # of the words, so that one that is asked for again is the same, and another one is not
        words = hashlib.sha256(asked.model_dump_json().encode()).hexdigest()[:32]
        key = f"responder:{self.turn}:{words}"
        deadline_s = min(_LEARN_S, self.left_s())
        learned = self.memory.learn(self.principal, draft, idempotency_key=key, deadline_s=deadline_s)
        self.learned.append(learned)
        return {
            "outcome": learned.outcome.value,
            "lesson": learned.lesson and ids.show(ids.Prefix.LESSON, learned.lesson.lesson_id),
            "reason": learned.reason,
        }

    def _looking(self, rds: Rds, look: Look) -> Callable[[BaseModel], Mapping[str, object]]:
        def seen(given: BaseModel) -> Mapping[str, object]:
            if self.left_s() < EFFECT_S:
                raise Unavailable("too little of this turn is left to look; answer with what is known")
            return rds.look(look, _as(Arguments, given))

        return seen

    def _changing(self, rds: Rds, live: LiveSystems, mutation: Mutation) -> Callable[[BaseModel], Mapping[str, object]]:
        def change(given: BaseModel) -> Mapping[str, object]:
            asked = _as(Arguments, given)
            target = str(getattr(asked, mutation.target))
            if not is_allowed(live.allowed, mutation.change, target):
                return {"outcome": "refused", "detail": f"{mutation.change} of {target} is not allowed here"}
            if self.left_s() < EFFECT_S:
                return {"outcome": "refused", "detail": "too little of this turn is left to begin it; ask again in the next"}

            def cause() -> Mapping[str, object]:
                rds.check(mutation, asked)
                if self.left_s() < EFFECT_S:
                    raise NotHappened("too little of this turn was left to begin it")
                return cut(rds.change(mutation, asked))

            said = json.dumps(asked.parameters(), sort_keys=True)
            description = f"{mutation.change} {said} in incident {self.incident}"
            effect = Effect(change=mutation.change, target=target, description=description, cause=cause)
            acted, told = act(self.memory.actions, self.principal, self.incident, effect)
            self.actions.append(acted)
            return told

        return change


def cut(result: Mapping[str, object]) -> Mapping[str, object]:
    """Returns a result as plain JSON values, and of a long one its beginning."""
    text = json.dumps(result, default=str, ensure_ascii=False)
    if len(text) <= MOST_RESULT_CHARACTERS:
        found: Mapping[str, object] = json.loads(text)
        return found
    return {"cut_after_characters": MOST_RESULT_CHARACTERS, "beginning": text[:MOST_RESULT_CHARACTERS]}


def _as(kind: type[Model], given: BaseModel) -> Model:
    if not isinstance(given, kind):
        raise TypeError(f"{type(given).__name__} is no {kind.__name__}")
    return given


def _told(recalled: Recalled) -> Mapping[str, object]:
    receipt = recalled.receipt
    lessons: Sequence[Mapping[str, object]] = [
        {
            "id": ids.show(ids.Prefix.LESSON, hit.lesson.lesson_id),
            "text": hit.lesson.text,
            "situation": hit.lesson.situation,
            "subject": hit.lesson.subject,
            "kind": hit.lesson.kind.value,
            "confidence": round(hit.confidence, 2),
            "label": hit.label,
            "challenged_by": [one.text for one in hit.challenges],
        }
        for hit in recalled.hits
    ]
    return {
        "lessons": lessons,
        "coverage": receipt.coverage.value,
        "causes": [cause.value for cause in receipt.causes],
        "may_assert_absence": receipt.may_assert_absence,
    }

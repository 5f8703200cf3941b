"""The loop of one turn: recall, then ask the model for its next step until it answers or a bound is reached.

recall the message -> ask -> tool -> ask -> ... -> answer -> guard -> reply
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.clock import left_of_day_s
from tributary.core.errors import (
    ModelFailed,
    ModelMalformed,
    ModelTimedOut,
    NotSetUp,
    RateLimited,
    TributaryError,
)
from tributary.core.ids import new_id
from tributary.core.limits import RESPONDER_TURN_S
from tributary.core.ports import LanguageModel
from tributary.core.responding import MOST_ROUNDS, MOST_TOOL_CALLS, Stop
from tributary.core.spending import account, on_account
from tributary.responder import words
from tributary.responder.absence import absences
from tributary.responder.prompting import prompt_of
from tributary.responder.spending import Tally
from tributary.responder.steps import Answer, Garbled, ToolCall, read_step
from tributary.responder.tools import BadArguments, MemoryFace, Tool, Workbench, cut
from tributary.responder.turn import Document, Turn, TurnReply
from tributary.telemetry import Event, log

SHORTEST_S = 1.0
"""With less time left no model is asked."""


@dataclass(frozen=True, kw_only=True)
class Responder:
    """The incident agent over one memory. Keeps nothing between turns; safe to share."""

    memory: MemoryFace
    clock: Callable[[], float] = time.monotonic

    def turn(self, principal: Principal, turn: Turn) -> TurnReply:
        """Returns what the agent says and did. A turn that has begun always ends with a reply, which says why it stopped.

        Raises Forbidden, InvalidRequest, NotSetUp, and RateLimited for who asks too often or whose day is spent.
        """
        principal.require(Role.WRITER)
        turn.check()
        parts = self.memory.responding
        if parts.model is None:
            raise NotSetUp(
                "no language model is set up for the incident agent; whoever runs the server can choose one: TRIBUTARY_RESPONDER"
            )
        with parts.charged(principal):
            if not account().may_spend():
                raise RateLimited(
                    "the tribe's budget for models is spent for this day (UTC)", retry_after_s=left_of_day_s(parts.turns.now())
                )
            turn_id = new_id()
            parts.turns.begin(principal, turn_id)
            tally = Tally(account())
            try:
                with on_account(tally):
                    reply = _Running.begin(self, principal, turn, turn_id, parts.model, tally).reply()
            finally:
                parts.turns.end(principal, turn_id, usd=tally.usd)
        _log(reply)
        return reply


@dataclass(kw_only=True)
class _Running:
    """One turn under way."""

    turn: Turn
    turn_id: UUID
    model: LanguageModel
    bench: Workbench
    tools: dict[str, Tool]
    tally: Tally
    most_usd: Decimal
    left_s: Callable[[], float]
    steps: list[Document] = field(default_factory=list)
    rounds: int = 0
    calls: int = 0
    rewritten: bool = False

    @classmethod
    def begin(
        cls, responder: Responder, principal: Principal, turn: Turn, turn_id: UUID, model: LanguageModel, tally: Tally
    ) -> _Running:
        until = responder.clock() + min(RESPONDER_TURN_S, turn.deadline_s if turn.deadline_s is not None else RESPONDER_TURN_S)

        def left_s() -> float:
            return until - responder.clock()

        bench = Workbench(
            memory=responder.memory, principal=principal, incident=turn.named_incident, turn=turn_id.hex, left_s=left_s
        )
        return cls(
            turn=turn,
            turn_id=turn_id,
            model=model,
            bench=bench,
            tools=dict(bench.tools()),
            tally=tally,
            most_usd=responder.memory.responding.turns.ceilings.usd_per_turn,
            left_s=left_s,
        )

    def reply(self) -> TurnReply:
        """Runs the turn to its end."""
        self._note("recall", {"query": self.turn.message}, self._used(lambda: self.bench.recall(self.turn.message)))
        while (stop := self._bound()) is None:
            self.rounds += 1
            try:
                said = read_step(self._asked())
            except (ModelMalformed, Garbled) as error:
                self._error(str(error))
            except ModelTimedOut:
                return self._stopped(Stop.TIME if self.left_s() < SHORTEST_S else Stop.MODEL)
            except ModelFailed:
                return self._stopped(Stop.MODEL)
            else:
                if isinstance(said, Answer):
                    if (reply := self._answered(said)) is not None:
                        return reply
                elif self.calls == MOST_TOOL_CALLS and said.name in self.tools:
                    return self._stopped(Stop.CALLS)
                else:
                    self._call(said)
        return self._stopped(stop)

    def _bound(self) -> Stop | None:
        """Returns the bound that keeps the model from being asked again."""
        if self.rounds >= MOST_ROUNDS:
            return Stop.ROUNDS
        if self.left_s() < SHORTEST_S:
            return Stop.TIME
        return Stop.SPENDING if self.rounds and self.tally.usd >= self.most_usd else None

    def _asked(self) -> Document:
        prompt = prompt_of(
            self.turn,
            incident=self.bench.incident,
            steps=self.steps,
            tools=self.tools.values(),
            rounds_left=MOST_ROUNDS - self.rounds,
            calls_left=MOST_TOOL_CALLS - self.calls,
        )
        return self.model.answer(prompt, timeout_s=self.left_s())

    def _call(self, said: ToolCall) -> None:
        """Uses a tool; what is none, or is given what does not fit, goes back to the model as an error."""
        tool = self.tools.get(said.name)
        if tool is None:
            self._error(f"there is no tool '{said.name[:100]}'; there are {', '.join(self.tools)}")
            return
        try:
            given = tool.checked(said.arguments)
            self.calls += 1
            self._note(tool.name, said.arguments, self._used(lambda: tool.use(given)))
        except BadArguments as error:
            self._error(str(error))

    def _used(self, use: Callable[[], Document]) -> Document:
        try:
            return cut(use())
        except TributaryError as error:
            return {"error": error.code, "detail": error.detail}

    def _answered(self, said: Answer) -> TurnReply | None:
        """Returns the reply, unless it claims an absence that no search bears out: then it is to be written anew, once.

        That is so when the words claim one, and also when the model says that they do.
        """
        claims = absences(said.text) or ((said.text,) if said.claims_absence else ())
        if not claims or self._may_assert_absence():
            return self._made(said.text, stopped=None)
        if self.rewritten:
            return self._stopped(Stop.ABSENCE)
        self.rewritten = True
        self._error(words.rewrite(claims, self._unchecked()))
        return None

    def _may_assert_absence(self) -> bool:
        """Tells whether every recall of the turn looked at all there is, and found nothing."""
        return not self.bench.unsearched and all(one.receipt.may_assert_absence for one in self.bench.searched)

    def _unchecked(self) -> list[str]:
        return words.unchecked(self.bench.searched, self.bench.unsearched)

    def _stopped(self, stop: Stop) -> TurnReply:
        """Returns a reply in our own words. An answer that was to be written anew, and was not, counts as withheld."""
        text = words.stopped(stop, self.bench.actions, self._unchecked() if self.rewritten else [])
        return self._made(text, stopped=stop, withheld=self.rewritten)

    def _made(self, text: str, *, stopped: Stop | None, withheld: bool = False) -> TurnReply:
        return TurnReply(
            turn_id=self.turn_id,
            text=text,
            withheld=withheld,
            stopped=stopped,
            incident=self.bench.incident,
            searched=tuple(self.bench.searched),
            unsearched=tuple(self.bench.unsearched),
            learned=tuple(self.bench.learned),
            actions=tuple(self.bench.actions),
            rounds=self.rounds,
            tool_calls=self.calls,
            model=self.model.version,
        )

    def _note(self, tool: str, arguments: Document, result: Document) -> None:
        self.steps.append({"round": self.rounds, "tool": tool, "arguments": dict(arguments), "result": result})

    def _error(self, detail: str) -> None:
        self.steps.append({"round": self.rounds, "error": detail})


def _log(reply: TurnReply) -> None:
    log.event(
        Event.RESPONDED,
        model=reply.model,
        rounds=reply.rounds,
        tool_calls=reply.tool_calls,
        receipts=len(reply.searched),
        learned=len(reply.learned),
        actions=len(reply.actions),
        stopped=reply.stopped and reply.stopped.value,
        withheld=reply.withheld,
    )

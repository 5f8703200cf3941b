"""An agent whose every move a language model chooses, through a schema: the same moves that the scripted policy makes.

The memory is reached through the SDK, as ever; the model through the product's own adapters, as the settings choose it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from evals.gauntlet.agent import Work
from evals.gauntlet.briefing import read_prompt
from evals.gauntlet.policy import Account, Citation, Lesson
from evals.gauntlet.remote import RemoteTribe
from evals.gauntlet.results import SpentReport
from evals.gauntlet.terminal import Command, Terminal
from evals.gauntlet.tribe import Counted, Finding, Hit, Tribe, Unspoken
from evals.gauntlet.world import World
from evals.purse import Purse
from tributary.core.errors import ModelFailed
from tributary.core.ports import LanguageModel, Prompt
from tributary.core.spending import Purpose, on_account
from tributary.models.fence import RULE, fenced
from tributary.service import Models, load_settings

MOST_MOVES = 150
Said = Callable[[str], None]
_RULES = """You are an agent in operations and take a service through its runbook, one move at a time. Start with the
command `runbook`; it names each phase's goal and commands. Every answer is one move: a kind, and what it is about.
run: `text` is one command for the terminal. Look with the commands that a failure names, try one thing at a time, and check.
learn: once you worked out what makes a phase pass, tell the others, before the next phase: `text` is the lesson, which ends
in the form: run `COMMAND` before `COMMAND`, or: run `COMMAND` instead of `COMMAND`; `situation` is the goal of the phase in
the runbook's words, `subject` what it is about.
confirm: `text` is the id of a lesson that you followed and that held. refute: of one that you followed to no effect.
done: every phase has passed."""
_RECALL = "recall: `text` asks the memory that you share with other agents."
_MEMORY = {
    "tool": f"{_RECALL} Ask before the first move of each phase, with its goal.",
    "late": f"{_RECALL} Ask only once a move has failed, with the phase's goal.",
    "prompt": "What the memory that you share with other agents knows stands under `memory`; follow what fits before all else.",
    "none": "You have no memory to ask.",
}


class ModelAgent:
    """Takes one service through its runbook; the model sees the task, what it did so far and what came of each move."""

    def __init__(
        self, *, terminal: Terminal, tribe: Tribe, model: LanguageModel, task: str, memory: str, run: str, say: Said
    ) -> None:
        self._terminal = terminal
        self._tribe = tribe
        self._model = model
        self._task = task
        self._memory = memory
        self._run = run
        self._say = say
        self._known: dict[str, Hit] = {}
        self._so_far: list[dict[str, object]] = []
        self._citations: list[Citation] = []
        self._learned: list[Lesson] = []
        self._steps = 0
        self._failure = ""

    def work(self, in_prompt: Sequence[Hit] = ()) -> str | None:
        """Makes moves until the model says that it is done; returns why it was not, None when it was. Raises ModelFailed."""
        self._known = {hit.lesson: hit for hit in in_prompt}
        shown = [_shown(hit) for hit in in_prompt]
        for _ in range(MOST_MOVES):
            move = self._model.answer(self._prompt(shown), timeout_s=None)
            kind, text = str(move.get("kind")), str(move.get("text"))
            if kind == "done":
                return None
            answer = self._made(kind, text, move)
            self._say(f"{kind} {text}")
            self._so_far.append({"kind": kind, "text": text, "answer": answer})
        return f"the model was not done after {MOST_MOVES} moves"

    @property
    def account(self) -> Account:
        """What was done so far."""
        cited = dict.fromkeys(citation.lesson for citation in self._citations)
        return Account(recalled=tuple(cited), citations=tuple(self._citations), learned=tuple(self._learned))

    def _made(self, kind: str, text: str, move: object) -> object:
        """Makes a move and returns what came of it; what can't be made is said to be so."""
        if kind == "run":
            return self._ran(text)
        if kind == "recall" and self._memory in ("tool", "late"):
            hits = self._tribe.recall(text)
            self._known.update({hit.lesson: hit for hit in hits})
            return [_shown(hit) for hit in hits]
        if kind == "learn" and isinstance(move, dict):
            return self._taught(text, str(move.get("situation")), str(move.get("subject")))
        if kind in ("confirm", "refute"):
            return self._cited(text, worked=kind == "confirm")
        return f"there is no move {kind} here"

    def _ran(self, text: str) -> object:
        command = Command.parse(text)
        if command is None:
            return "that is no command"
        self._steps += 1
        observation = self._terminal.run(command)
        if not observation.ok:
            self._failure = observation.output
        return {"exit_code": observation.exit_code, "output": observation.output}

    def _taught(self, text: str, situation: str, subject: str) -> str:
        finding = Finding(
            text=text,
            situation=situation,
            subject=subject,
            rationale="Worked out at the terminal.",
            run=self._run,
            step=self._steps,
            log=self._failure[:300],
        )
        learned = self._tribe.learn(finding)
        self._learned.append(Lesson(lesson=learned.lesson, outcome=learned.outcome, text=text))
        return learned.outcome

    def _cited(self, lesson: str, *, worked: bool) -> object:
        hit = self._known.get(lesson)
        if hit is None:
            return "no such lesson was shown to you"
        after = self._tribe.reinforce(lesson) if worked else hit.confidence
        self._citations.append(Citation(lesson=lesson, text=hit.text, ran="", worked=worked, before=hit.confidence, after=after))
        return after

    def _prompt(self, in_prompt: Sequence[object]) -> Prompt:
        kinds = ["run", "learn", "done"]
        if self._memory != "none":
            kinds += ["confirm", "refute"]
        if self._memory in ("tool", "late"):
            kinds.append("recall")
        words = {name: {"type": "string"} for name in ("text", "situation", "subject")}
        return Prompt(
            purpose=Purpose.GRADE,
            name="next_move",
            instructions=f"{_RULES}\n{_MEMORY[self._memory]}\n{RULE}",
            material=fenced({"task": self._task, "memory": list(in_prompt), "so_far": self._so_far}),
            schema={
                "type": "object",
                "properties": {"kind": {"type": "string", "enum": kinds}, **words},
                "required": ["kind", *words],
                "additionalProperties": False,
            },
        )


def work_with_model(
    worlds: Sequence[World], remote: RemoteTribe | None, counted: Counted, options: argparse.Namespace, *, say: Said
) -> tuple[Work, SpentReport]:
    """Has the model of TRIBUTARY_DISTILLER work every task, and returns what it did and what that came to."""
    model = Models(load_settings()).grader
    assert model is not None, "the demo checks that there is one before it starts an agent"
    memory = "none" if remote is None else str(options.memory)
    tribe: Tribe = Unspoken(counted) if options.silent else counted
    work, purse = Work(), Purse()
    with on_account(purse):
        for world in worlds:
            work.worlds.append(world)
            agent = ModelAgent(terminal=world, tribe=tribe, model=model, task=world.task, memory=memory, run=options.run, say=say)
            in_prompt: tuple[Hit, ...] = ()
            if remote is not None and memory == "prompt":
                counted.calls += 1
                in_prompt = tuple(counted.read(tuple(read_prompt(remote.prompt(world.task)))))
            try:
                work.stuck = agent.work(in_prompt)
            except ModelFailed as failure:
                work.stuck = f"the language model failed: {failure}"
            work.accounts.append(agent.account)
            if work.stuck is not None:
                break
    return work, _spent(purse)


def _shown(hit: Hit) -> dict[str, object]:
    return {"lesson": hit.lesson, "text": hit.text, "confidence": round(hit.confidence, 4)}


def _spent(purse: Purse) -> SpentReport:
    spent, bills = purse.spent(), purse.bills()
    return SpentReport(
        calls=spent.calls,
        failed=spent.failed,
        input_tokens=sum(bill.input_tokens for bill in bills),
        output_tokens=sum(bill.output_tokens for bill in bills),
        cost_usd=None if spent.unpriced else str(spent.cost_usd),
    )

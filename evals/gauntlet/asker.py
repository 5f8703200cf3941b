"""An agent that answers questions, as a process of its own: `python -m evals.gauntlet.asker --seed 7 --name a --policy eager`.

`disciplined` asks the memory only where the answer can't be worked out or seen; `eager` asks it first, always, and believes it.
Its report is one line of JSON on standard output. Exit code 0: it answered; 1: the memory failed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from evals.gauntlet.questions import UNKNOWN, Question, Shown, questions_of, work_out
from evals.gauntlet.remote import open_tribe
from evals.gauntlet.results import Report
from evals.gauntlet.terminal import quoted
from evals.gauntlet.tribe import Counted, Forgetful, Hit
from evals.gauntlet.when import before
from tributary.client import TributaryError, visible

_NAMES = re.compile(r"\b[a-z]+-[a-z]+\b")
_NUMBERS = re.compile(r"\b\d+\b")


class AnswerReport(Report):
    """One question as it was answered; `recalls` and `characters` are what the memory was asked and gave to read."""

    kind: str
    answer: str
    right: bool
    recalls: int
    characters: int


class AskerReport(Report):
    agent: str
    answers: list[AnswerReport]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        with ExitStack() as stack:
            tribe = Counted(stack.enter_context(open_tribe()) if options.recall else Forgetful())
            questions = questions_of(options.seed, of_each=options.of_each)
            shown = Shown(tuple(questions))
            answers = [_answered(one, tribe, shown, eager=options.policy == "eager") for one in questions]
            if not options.recall:  # it asked nobody
                answers = [one.model_copy(update={"recalls": 0}) for one in answers]
    except TributaryError as error:
        print(f"the memory failed: {visible(str(error))}", file=sys.stderr)
        return 1
    print(AskerReport(agent=options.name, answers=answers).model_dump_json())
    return 0


def _answered(question: Question, tribe: Counted, shown: Shown, *, eager: bool) -> AnswerReport:
    calls, characters = tribe.calls, tribe.characters
    answer = UNKNOWN
    if eager or before(question.text) == "recall":
        answer = remembered(question.text, tribe.recall(question.text))
    if answer == UNKNOWN:
        answer = work_out(question.text, shown)
    return AnswerReport(
        kind=question.kind.value,
        answer=answer,
        right=answer == question.answer,
        recalls=tribe.calls - calls,
        characters=tribe.characters - characters,
    )


def remembered(text: str, hits: Sequence[Hit]) -> str:
    """Returns the value that the best lesson names which speaks of the same service, or of the same numbers; else `unknown`."""
    about = set(_NAMES.findall(text)) or set(_NUMBERS.findall(text))
    for hit in hits:
        if about <= {*_NAMES.findall(hit.text), *_NUMBERS.findall(hit.text)} and quoted(hit.text):
            return quoted(hit.text)[0]
    return UNKNOWN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.gauntlet.asker", description="Answers the questions of one seed.")
    parser.add_argument("--seed", type=int, required=True, help="which questions to draw")
    parser.add_argument("--name", required=True, help="how the report calls this agent")
    parser.add_argument("--run", default="gauntlet", help="names this run")
    parser.add_argument("--policy", choices=("disciplined", "eager"), required=True, help="when it asks its memory")
    parser.add_argument("--of-each", type=int, default=4, help="questions of each kind")
    parser.add_argument("--no-recall", dest="recall", action="store_false", help="work without any memory")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Control tasks: sums, facts that the task states and live state, about which the memory has something older or wrong to say."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from evals.gauntlet.asker import AskerReport
from evals.gauntlet.crew import Say, run_process
from evals.gauntlet.demos.base import Demo, claim, show_claims, table_of
from evals.gauntlet.pictures import CONTROL, MEMORY, WRONG, entitle, picture, save
from evals.gauntlet.questions import OF_EACH_KIND, Kind, Question, questions_of
from evals.gauntlet.results import Claimed, ClaimReport, Report
from evals.gauntlet.server import Seat, Server
from tributary.client import LessonDraft, Memory, observed

NOT_TO_BE_REMEMBERED = (Kind.ARITHMETIC, Kind.STATED, Kind.LIVE)


class TallyReport(Report):
    """One agent's answers to one kind of questions."""

    asked: int
    right: int
    recalls: int
    characters: int


class RestraintReport(Claimed):
    """By agent, then by kind of question. `taught` of `lessons` were believed before anybody asked."""

    lessons: int
    taught: int
    tallies: dict[str, dict[str, TallyReport]]


DISCIPLINED, EAGER, EMPTY, NONE = "disciplined", "eager", "control: empty memory", "control: no memory"


def run(seed: int, of_each: int, server: Server, *, say: Say) -> RestraintReport:
    questions = questions_of(seed, of_each=of_each)
    teacher, asker = server.tribe_of_writers(f"restraint-{seed}", "teacher", "asker")

    def asked(name: str, policy: str, seat: Seat | None) -> dict[str, TallyReport]:
        say(f"{name} answers {len(questions)} questions")
        options = ["--policy", policy, "--of-each", str(of_each)]
        return tallied(run_process("evals.gauntlet.asker", AskerReport, name, seed, server, seat, options=options))

    untaught = asked(EMPTY, "eager", asker)
    say("teaching the tribe what was so once, and what only it knows")
    taught = _teach(questions, teacher)
    report = RestraintReport(
        seed=seed,
        lessons=sum(question.lesson is not None for question in questions),
        taught=taught,
        tallies={
            DISCIPLINED: asked(DISCIPLINED, "disciplined", asker),
            EAGER: asked(EAGER, "eager", asker),
            EMPTY: untaught,
            NONE: asked(NONE, "disciplined", None),
        },
        claims=[],
        passed=False,
    )
    claims = check(report)
    return report.model_copy(update={"claims": claims, "passed": all(one.holds for one in claims)})


def tallied(report: AskerReport) -> dict[str, TallyReport]:
    """Returns an agent's figures by kind of question."""
    tallies = {}
    for kind in Kind:
        answers = [one for one in report.answers if one.kind == kind]
        tallies[kind.value] = TallyReport(
            asked=len(answers),
            right=sum(one.right for one in answers),
            recalls=sum(one.recalls for one in answers),
            characters=sum(one.characters for one in answers),
        )
    return tallies


def check(report: RestraintReport) -> list[ClaimReport]:
    """Returns what is claimed, with whether it holds."""
    without = {name: _sum([of[kind] for kind in NOT_TO_BE_REMEMBERED]) for name, of in report.tallies.items()}
    known = {name: of[Kind.KNOWN] for name, of in report.tallies.items()}
    good, eager, empty, none = (without[name] for name in (DISCIPLINED, EAGER, EMPTY, NONE))
    return [
        claim(
            "the tribe believes what it was taught",
            report.taught == report.lessons,
            f"{report.taught} of {report.lessons} lessons",
        ),
        claim(
            "the disciplined agent asks no memory for sums, stated facts and live state, and gets them right",
            good.recalls == 0 and good.right == good.asked,
            f"{good.recalls} recalls, {good.right} of {good.asked} right",
        ),
        claim(
            "it does ask for what the tribe alone knows, and gets that right too",
            known[DISCIPLINED].recalls == known[DISCIPLINED].right == known[DISCIPLINED].asked,
            f"{known[DISCIPLINED].recalls} recalls, {known[DISCIPLINED].right} of {known[DISCIPLINED].asked} right",
        ),
        claim(
            "an agent that always asks first pays for each, and errs where memory contradicts what can be seen",
            eager.recalls == eager.asked and eager.right < eager.asked and _each_errs(report),
            f"{eager.recalls} needless recalls, {eager.characters:,} characters read, {eager.right} of {eager.asked} right",
        ),
        claim(
            "control: with an empty memory the same agent errs nowhere there",
            empty.right == empty.asked,
            f"{empty.right} of {empty.asked} right",
        ),
        claim(
            "control: without memory, what the tribe alone knows stays unknown, and nothing else does",
            known[NONE].right == known[EMPTY].right == 0 and none.right == none.asked,
            f"{known[NONE].right} of {known[NONE].asked} known, {none.right} of {none.asked} of the others right",
        ),
    ]


def _each_errs(report: RestraintReport) -> bool:
    """Tells whether the eager agent errs in every kind about which the memory says something else."""
    return all(report.tallies[EAGER][kind].right < report.tallies[EAGER][kind].asked for kind in NOT_TO_BE_REMEMBERED)


def _sum(tallies: Sequence[TallyReport]) -> TallyReport:
    return TallyReport(
        asked=sum(one.asked for one in tallies),
        right=sum(one.right for one in tallies),
        recalls=sum(one.recalls for one in tallies),
        characters=sum(one.characters for one in tallies),
    )


def _teach(questions: Sequence[Question], seat: Seat) -> int:
    """Returns how many of the lessons the tribe believes afterwards."""
    drafts = [
        LessonDraft(text=one.lesson, situation=one.situation, source=observed("run:earlier"), kind="entity_fact")
        for one in questions
        if one.lesson is not None
    ]
    with Memory(seat.url, seat.token) as memory:
        attempts = memory.learn_all(drafts)
    return sum(one.result is not None and one.result.outcome == "learned" for one in attempts)


def show(console: Console, report: RestraintReport) -> None:
    table = table_of(
        f"Right answers, where memory must not be used and where it must (seed {report.seed})",
        *("agent", *Kind, "needless recalls", "read for them", "needed recalls"),
    )
    for name, of in report.tallies.items():
        needless = _sum([of[kind] for kind in NOT_TO_BE_REMEMBERED])
        table.add_row(
            name,
            *(f"{of[kind].right} of {of[kind].asked}" for kind in Kind),
            str(needless.recalls),
            f"{needless.characters:,} chars",
            str(of[Kind.KNOWN].recalls),
            style="bold green" if name == DISCIPLINED else None,
        )
    console.print(table)
    show_claims(console, report.claims)


def draw(report: RestraintReport, path: Path) -> None:
    figure, axes = picture(width=8.5, height=4.2)
    colours = {DISCIPLINED: MEMORY, EAGER: WRONG, EMPTY: "#d9a59a", NONE: CONTROL}
    width = 0.8 / len(report.tallies)
    for at, (name, of) in enumerate(report.tallies.items()):
        shares = [100 * of[kind].right / of[kind].asked for kind in Kind]
        places = [index + (at - (len(report.tallies) - 1) / 2) * width for index in range(len(Kind))]
        recalls = sum(one.recalls for one in of.values())
        bars = axes.bar(places, shares, width=width * 0.92, color=colours[name], label=f"{name} ({recalls} recalls)")
        axes.bar_label(bars, [f"{share:.0f}" for share in shares], fontsize=7.5, padding=1)
    axes.set_xticks(range(len(Kind)), [f"{kind}" for kind in Kind])
    axes.set_ylabel("answers that are right, in %")
    axes.set_ylim(0, 112)
    axes.set_yticks(range(0, 101, 25))
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    needless = _sum([report.tallies[EAGER][kind] for kind in NOT_TO_BE_REMEMBERED])
    entitle(
        axes,
        f"Asking memory first, always, gets {needless.asked - needless.right} of {needless.asked} tasks wrong that need none",
        how=f"asking it only for what can't be worked out or seen gets all right (seed {report.seed})",
    )
    save(figure, path)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(of_each=OF_EACH_KIND)


DEMO = Demo(
    name="control",
    summary="tasks in which memory must not be used",
    run=lambda options, server, say: run(options.seed, options.of_each, server, say=say),
    show=show,
    draw=draw,
    options=_options,
)

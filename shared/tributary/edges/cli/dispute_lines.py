"""A dispute on paper: both sides one above the other, what differs, where each comes from, and what each ending would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tributary.core.wording import Piece, compare
from tributary.edges.cli.lesson_lines import field, lesson_fields
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import Dispute, Lesson
    from tributary.contract.curation import VerdictReply as Verdict

_VERDICTS = {"same": "the same as", "conflicts": "conflicts with", "unsure": "unsure about"}


def dispute_lines(dispute: Dispute, seen: int) -> list[str]:
    """Returns the lines; `seen` is a tick at which all that is shown stood there."""
    contender, about = dispute.contender, dispute.about
    pairs = [_words_apart(contender, one) for one in about]
    lines = [*_head(dispute), "", *_side("Contender", contender, pairs[0][0] if len(pairs) == 1 else _words(contender))]
    for lesson, (ours, theirs) in zip(about, pairs, strict=True):
        lines += ["", *_side("Against", lesson, theirs)]
        if len(pairs) > 1 and ours.text != contender.text:
            lines += ["  and to it the contender", *field("says", ours.text)]
    if any(ours != _words(contender) or theirs != _words(one) for one, (ours, theirs) in zip(about, pairs, strict=True)):
        lines += ["", "{+only the contender says this+}, [-only the other says this-]"]
    if not about:
        lines += ["", "Nothing that is still there stands against it."]
    if dispute.precedent:
        lines += ["", f"A curator rejected the same before, as {shown(dispute.precedent)}."]
    lines += ["", f"Verdicts of {shown(dispute.decision)}:", *verdict_lines(dispute.verdicts)]
    return [*lines, "", *(_settled(dispute) if dispute.ending else _endings(dispute, seen))]


def told_apart(contender: str, other: str) -> tuple[str, str]:
    """Returns both texts, what only one of them says between marks: {+ +} in the first, [- -] in the second.

    They come back as they are when they differ in no word, or have hardly one in common.
    """
    ours, theirs = compare(contender, other)
    return _marked(ours, "{+", "+}"), _marked(theirs, "[-", "-]")


@dataclass(frozen=True, kw_only=True)
class _Words:
    """What a lesson claims, and when."""

    text: str
    situation: str
    subject: str


def _words(lesson: Lesson) -> _Words:
    return _Words(text=lesson.text, situation=lesson.situation, subject=lesson.subject or "")


def _words_apart(contender: Lesson, other: Lesson) -> tuple[_Words, _Words]:
    text = told_apart(contender.text, other.text)
    situation = told_apart(contender.situation, other.situation)
    subject = told_apart(contender.subject or "", other.subject or "")
    return (
        _Words(text=text[0], situation=situation[0], subject=subject[0]),
        _Words(text=text[1], situation=situation[1], subject=subject[1]),
    )


def _marked(pieces: Sequence[Piece], before: str, after: str) -> str:
    return "".join(f"{before}{one.text}{after}" if one.apart else one.text for one in pieces)


def _head(dispute: Dispute) -> Iterator[str]:
    what = "Dispute" if dispute.kind == "conflict" else "Challenge"
    state = "open" if dispute.ending is None else dispute.ending.replace("_", " ")
    yield f"{what} {shown(dispute.id)} of tick {dispute.opened.tick} ({moment(dispute.opened.at)}): {state}"
    if dispute.ending is not None:
        return
    if dispute.kind == "conflict":
        yield "The contender contradicts what is believed. It is not believed itself while the dispute is open."
    else:
        yield "The two may contradict each other. Both are believed while the challenge is open."


def _side(name: str, lesson: Lesson, words: _Words) -> Iterator[str]:
    yield f"{name}: {shown(lesson.id)} ({lesson.status})"
    yield from lesson_fields(lesson, says=words.text, when=words.situation, about=words.subject)


def verdict_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yields a line or two a verdict that tells something, and how many more there were."""
    telling = [one for one in verdicts if one.verdict != "unrelated"]
    for one in telling:
        cause = f", because of {shown(one.cause)}" if one.cause else ""
        yield f"  {_VERDICTS[one.verdict]} {shown(one.lesson)}, confidence {one.confidence:.2f}, by {shown(one.judge)}{cause}"
        if one.first is not None:
            first = one.first
            yield f"    first: {first.verdict}, confidence {first.confidence:.2f}, by {shown(first.judge)}"
    if len(telling) < len(verdicts):
        yield f"  unrelated to {len(verdicts) - len(telling)} {'other' if telling else 'lessons'}"
    if not verdicts:
        yield "  none: a writer's word alone"


def _settled(dispute: Dispute) -> Iterator[str]:
    by = f" by {shown(dispute.closed_by)}" if dispute.closed_by else ""
    at = f" at tick {dispute.closed.tick} ({moment(dispute.closed.at)})" if dispute.closed else ""
    if dispute.ending == "moot":
        yield f"It became moot{at}: another change settled it."
    else:
        yield f"It was settled{by}{at}: {(dispute.ending or '').replace('_', ' ')}."
    if dispute.rationale is not None:
        yield from field("why", dispute.rationale)


def _endings(dispute: Dispute, seen: int) -> Iterator[str]:
    which = shown(dispute.id)
    contender = shown(dispute.contender.id)
    others = [shown(one.id) for one in dispute.about if one.status == "active"]
    again = "    when it comes again, it is disputed with a pointer to this record"
    conflict = dispute.kind == "conflict"
    yield "A curator ends it:"
    yield f"  tributary curate accept {which} --seen {seen}"
    yield f"    {contender} {'is' if conflict else 'stays'} believed"
    if others:
        yield f"    {_listed(others)} {'gives' if len(others) == 1 else 'give'} way to it"
        yield again
    yield f"  tributary curate reject {which} --seen {seen} --why TEXT"
    yield f"    {contender} is retired"
    yield again
    yield f"  tributary curate both-stand {which} --seen {seen}"
    yield f"    all of them {'are' if conflict else 'stay'} believed, and the verdict is queued for review"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

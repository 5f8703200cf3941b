"""Ids in arguments: an id, or a reply that carries it, checked before a path or a query is made of it."""

from __future__ import annotations

import re
from typing import Protocol

from tributary.client.values import broken
from tributary.contract.actions import ActionReply, BegunReply, CompletedReply
from tributary.contract.curation import DecisionReply, DisputeReply, HeldReply, ReportedReply, ReviewReply
from tributary.contract.models import ChallengeReply, LearnReply, LessonReply


class OfALesson(Protocol):
    """A hit, or a reply about one lesson."""

    @property
    def lesson(self) -> LessonReply | None: ...


LessonRef = str | LessonReply | OfALesson
"""A lesson in an argument."""
DisputeRef = str | DisputeReply | ChallengeReply | LearnReply
"""A dispute or a challenge in an argument."""
ActionRef = str | ActionReply | BegunReply | CompletedReply
"""A durable action in an argument."""
DecisionRef = str | DecisionReply | LearnReply | DisputeReply | HeldReply
"""A decision in an argument."""
ReviewRef = str | ReviewReply | ReportedReply
"""A case of the review queue in an argument."""


def lesson_id(which: LessonRef) -> str:
    """Returns the id of a lesson; raises InvalidRequest for what is none and carries none."""
    carried = getattr(which, "id", None), getattr(getattr(which, "lesson", None), "id", None)
    return _found("les", "lesson", which, *carried)


def dispute_id(which: DisputeRef) -> str:
    """Returns the id of a dispute or a challenge; raises InvalidRequest for what is none and carries none."""
    carried = getattr(which, "id", None), getattr(which, "dispute", None)
    return _found("dis", "dispute", which, *carried)


def decision_id(which: DecisionRef) -> str:
    """Returns the id of a decision; raises InvalidRequest for what is none and carries none."""
    carried = getattr(which, "id", None), getattr(which, "decision", None)
    return _found("dec", "decision", which, *carried)


def review_id(which: ReviewRef) -> str:
    """Returns the id of a review case; raises InvalidRequest for what is none and carries none."""
    carried = getattr(which, "id", None), getattr(which, "review", None)
    return _found("rev", "review", which, *carried)


def action_id(which: ActionRef) -> str:
    """Returns the id of a durable action; raises InvalidRequest for what is none and carries none."""
    carried = getattr(which, "id", None), getattr(getattr(which, "action", None), "id", None)
    return _found("act", "action", which, *carried)


def _found(prefix: str, field: str, *given: object) -> str:
    for one in given:
        if isinstance(one, str) and re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", one):
            return one
    raise broken(field, f"must be an id that looks like {prefix}_ and 32 hexadecimal digits, or a reply that carries one")

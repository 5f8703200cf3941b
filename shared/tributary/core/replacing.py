"""Who may replace what is believed: a curator, its own author, or one whose source outranks it by the tribe's policy."""

from __future__ import annotations

from collections.abc import Sequence, Sized

from tributary.core.agent import Principal, Role
from tributary.core.lesson import Draft, Lesson
from tributary.core.policy import Policy


def may_replace(draft: Draft, writer: Principal, policy: Policy, old: Lesson) -> bool:
    """Tells whether what `writer` says may take the place of `old`: by role, ownership or the tribe's policy."""
    return writer.role is Role.CURATOR or old.agent_id == writer.agent_id or policy.outranks(draft, old)


def may_replace_all(draft: Draft, writer: Principal, policy: Policy, replaced: Sequence[Lesson]) -> bool:
    """Tells whether it may take the place of each of them, be it for another reason each."""
    return all(may_replace(draft, writer, policy, old) for old in replaced)


def why_replaced(draft: Draft, writer: Principal, policy: Policy, replaced: Sequence[Lesson]) -> str:
    """Returns the reason that a decision gives for replacing them; `may_replace_all` must hold."""
    own = [old.agent_id == writer.agent_id for old in replaced]
    outranked = [policy.outranks(draft, old) for old in replaced]
    if all(own):
        why = "its own author says otherwise now"
    elif all(outranked):
        why = "its source outranks theirs"
    elif all(mine or lesser for mine, lesser in zip(own, outranked, strict=True)):
        why = "its author says otherwise now, and its source outranks the others'"
    else:
        why = "a curator says otherwise"
    return f"replaces {counted(replaced)}: {why}"


def counted(believed: Sized) -> str:
    """Returns how many believed lessons these are, in words."""
    return "a believed lesson" if len(believed) == 1 else f"{len(believed)} believed lessons"

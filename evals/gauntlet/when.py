"""When the scripted agent asks its memory: before it acts on a system, and for what only its operators know."""

from __future__ import annotations

import re

_ACTS = re.compile(
    r"\b(?:deploy|build|restart|reboot|roll(?:s|ed)? (?:out|back)|rollout|migrat\w+|rotate|restore|drain|scale|configure|install"
    r"|upgrade|fail ?over|mitigate|investigate|fix|change|set|delete|run)\b",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"\b(?:service|server|cluster|node|pod|database|replica|queue|broker|gateway|certificate|cache|backup|deploy\w*|build|image"
    r"|api|alert|port|header|quota|config\w*|firewall|relay|release|version|checkout|disk|\w*[Pp]od\w*)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:which|who|what did we|is the|does the|should)\b", re.IGNORECASE)
_NOW = re.compile(r"\b(?:right now|at this (?:very )?moment|as we speak)\b", re.IGNORECASE)

_QUESTION = re.compile(r"[^.!?]*\?")


def before(task: str) -> str:
    """Returns `recall` or `go_ahead` for a task.

    What follows from the words of the task needs no memory, and what is so right now is seen by looking, not remembered.
    """
    if _NOW.search(task):
        return "go_ahead"
    asked = " ".join(_QUESTION.findall(task)) or task  # "who" in what is told before the question asks nothing
    about_a_system = bool(_THINGS.search(task))
    return "recall" if about_a_system and (_ACTS.search(task) or _ASKS.search(asked)) else "go_ahead"

"""The screen that needs no model: a text is unfolded, its disguises are taken off, and rules look at what is left."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.core.decision import ScreenFinding
from tributary.models.screens.addressees import ADDRESSEES
from tributary.models.screens.commands import COMMANDS
from tributary.models.screens.frames import closes_a_fence, takes_turns
from tributary.models.screens.leaks import LEAKS
from tributary.models.screens.rules import Reason
from tributary.models.screens.tongues import TONGUES
from tributary.models.screens.unfolding import layers_of
from tributary.models.screens.views import Views, views_of

VERSION = "local-rules/2"

_RULES = (*COMMANDS, *ADDRESSEES, *LEAKS, *TONGUES)
_ORDER = tuple(Reason)


class LocalScreen:
    """Screens by rules; deterministic, without I/O, in time linear in the text."""

    @property
    def version(self) -> str:
        return VERSION

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        """Returns the codes of all rules that any field breaks, in the order of `Reason`, each once."""
        found = {reason for text in fields.values() for reason in reasons_against(text)}
        return ScreenFinding(screen=VERSION, reasons=tuple(reason.value for reason in _ORDER if reason in found))


def reasons_against(text: str) -> set[Reason]:
    """Returns why one text should be held back; an empty set when nothing speaks against it."""
    found: set[Reason] = set()
    for layer in layers_of(text):
        views = views_of(layer)
        found.update(_broken(views, found))
        if closes_a_fence(views.marked):
            found.add(Reason.FENCE_ESCAPE)
        if takes_turns(views.lines):
            found.add(Reason.ROLE_HIJACK)
    return found


def _broken(views: Views, known: set[Reason]) -> set[Reason]:
    texts = {"marked": views.marked, "words": views.words, "lines": views.lines, "native": views.native}
    broken: set[Reason] = set()
    latin = views.native.isascii()
    for rule in _RULES:
        text = texts[rule.view]
        if latin and rule.view == "native":
            continue
        if rule.reason in known or rule.reason in broken or (rule.hints and not any(hint in text for hint in rule.hints)):
            continue
        if rule.pattern.search(text):
            broken.add(rule.reason)
    return broken

"""Amazon Bedrock Guardrails as a screen: an operator's own policies, applied to a lesson without asking any model."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tributary.core.decision import ScreenFinding
from tributary.core.errors import BadSetting, ModelMalformed
from tributary.core.spending import Purpose
from tributary.models import aws
from tributary.models.bounded import ATTEMPTS, Lane, bounded
from tributary.models.lazily import Lazily
from tributary.models.metering import metering
from tributary.models.prices import Prices

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime.type_defs import GuardrailContentBlockTypeDef

TIMEOUT_S = 20.0
MOST_CHARACTERS = 25_000
"""Of one request: 25 text units, what an account may have assessed in a second where nobody raised its quota."""
OVERLAP = 1_000
"""Characters that the pieces of a longer field share, so that what is cut by one stands whole in the other."""

INTERVENED = "guardrail_intervened"
"""The reason when the guardrail stepped in and does not say by which policy."""

_IDENTIFIER = re.compile(r"[a-z0-9]+|arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+")
_VERSION = re.compile(r"[1-9][0-9]{0,7}|DRAFT")
_IDLE = "NONE"
_POLICIES = {
    "topicPolicy": ("guardrail_topic", ("topics",)),
    "contentPolicy": ("guardrail_content", ("filters",)),
    "wordPolicy": ("guardrail_word", ("customWords", "managedWordLists")),
    "sensitiveInformationPolicy": ("guardrail_sensitive_information", ("piiEntities", "regexes")),
    "contextualGroundingPolicy": ("guardrail_contextual_grounding", ("filters",)),
}
"""By the policy's name in an assessment: the code that a finding has for it, and where its catches stand."""


class GuardrailsScreen:
    """Screens with ApplyGuardrail. Safe to share between threads; nothing is loaded or asked before the first lesson.

    Whatever makes the guardrail step in holds a lesson back, masking of sensitive information included: as it was written,
    the lesson is not what the guardrail lets through.
    """

    def __init__(
        self,
        *,
        guardrail: str,
        version: str,
        region: str,
        url: str | None = None,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        prices: Prices | None = None,
    ) -> None:
        """Takes the guardrail's id or ARN, and the version that is pinned: a number, or DRAFT. Raises BadSetting."""
        if not _IDENTIFIER.fullmatch(guardrail):
            raise BadSetting(f"TRIBUTARY_GUARDRAIL_ID: must be a guardrail's id or ARN (it is '{guardrail}')")
        if not _VERSION.fullmatch(version):
            raise BadSetting(f"TRIBUTARY_GUARDRAIL_VERSION: must be a number, or DRAFT (it is '{version}')")
        self._guardrail = guardrail
        self._pinned = version
        self._version = f"bedrock:guardrail/{guardrail.rpartition('/')[2]}:{version}"
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._prices = prices or Prices.shipped()
        self._lane = Lane()
        self._client = Lazily(lambda: aws.runtime_client(region=region, url=url, timeout_s=timeout_s))

    @property
    def version(self) -> str:
        """The guardrail and its version, `bedrock:guardrail/ab12cd34ef56:3`."""
        return self._version

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        """Returns the codes of the policies that caught any field, each once; never what they caught. Raises ModelFailed.

        A lesson that is longer than a request may be is assessed in several, each as bounded and charged as one.
        """
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        found: set[str] = set()
        for texts in _requests(list(fields.values())):
            found |= self._assessed(texts, until)
        order = (*(code for code, _ in _POLICIES.values()), INTERVENED)
        return ScreenFinding(screen=self._version, reasons=tuple(code for code in order if code in found))

    def _assessed(self, texts: Sequence[str], until: float) -> set[str]:
        left_s = min(self._timeout_s, until - time.monotonic())
        client = self._client.get(timeout_s=left_s)  # what is not installed or set up is no attempt
        content: list[GuardrailContentBlockTypeDef] = [
            {"text": {"text": text, "qualifiers": ["guard_content"]}} for text in texts
        ]

        def apply() -> Mapping[str, Any]:
            try:
                return client.apply_guardrail(
                    guardrailIdentifier=self._guardrail, guardrailVersion=self._pinned, source="INPUT", content=content
                )
            except Exception as error:
                raise aws.failure(error, model=self._version) from None

        def attempt(remaining_s: float) -> set[str]:
            with metering(Purpose.SCREEN, self._version, self._prices):
                return _reasons(self._lane.within(remaining_s, apply))

        return bounded(attempt, timeout_s=min(self._timeout_s, until - time.monotonic()), attempts=self._attempts)


def _requests(fields: Sequence[str]) -> Iterator[list[str]]:
    """Yields the fields, pieces of long ones each for itself, in groups that a request may hold; blank ones say nothing."""
    group: list[str] = []
    size = 0
    for piece in (piece for text in fields for piece in _pieces(text) if piece.strip()):
        if group and size + len(piece) > MOST_CHARACTERS:
            yield group
            group, size = [], 0
        group.append(piece)
        size += len(piece)
    if group:
        yield group


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > MOST_CHARACTERS:
        yield text[start : start + MOST_CHARACTERS]
        start += MOST_CHARACTERS - OVERLAP
    yield text[start:]


def _reasons(answer: Mapping[str, Any]) -> set[str]:
    """Returns the codes of one answer; raises ModelMalformed for one that does not say whether the guardrail stepped in."""
    action = answer.get("action")
    if action == _IDLE:
        return set()
    if action != "GUARDRAIL_INTERVENED":
        raise ModelMalformed("the guardrail's answer does not say whether it stepped in")
    found = {code for assessment in _listed(answer.get("assessments")) for code in _caught(assessment)}
    return found or {INTERVENED}


def _caught(assessment: Mapping[str, Any]) -> Iterator[str]:
    for policy, (code, places) in _POLICIES.items():
        held = assessment.get(policy)
        if isinstance(held, Mapping) and any(
            one.get("action", _IDLE) != _IDLE for place in places for one in _listed(held.get(place))
        ):
            yield code


def _listed(found: object) -> list[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []

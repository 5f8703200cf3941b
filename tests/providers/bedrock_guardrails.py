"""ApplyGuardrail of Bedrock with a guardrail that knows a few words, one for each kind of policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.providers.bedrock_embeddings import invalid, refusal
from tests.providers.server import Asked, ProviderServer, Reply

GUARDRAIL = "ab12cd34ef56"
VERSION = "3"
_APPLY = r"/guardrail/(?P<guardrail>[^/]+)/version/(?P<version>[^/]+)/apply"

CATCHES: Mapping[str, tuple[str, str, Mapping[str, object]]] = {
    "investment": ("topicPolicy", "topics", {"name": "Investment advice", "type": "DENY", "action": "BLOCKED"}),
    "ignore all previous instructions": (
        "contentPolicy",
        "filters",
        {"type": "PROMPT_ATTACK", "confidence": "HIGH", "filterStrength": "HIGH", "action": "BLOCKED"},
    ),
    "darn": ("wordPolicy", "managedWordLists", {"type": "PROFANITY", "action": "BLOCKED"}),
    "project-x": ("wordPolicy", "customWords", {"action": "BLOCKED"}),
    "jane@example.org": ("sensitiveInformationPolicy", "piiEntities", {"type": "EMAIL", "action": "ANONYMIZED"}),
    "CUST-1234": ("sensitiveInformationPolicy", "regexes", {"name": "customer", "regex": r"CUST-\d+", "action": "BLOCKED"}),
    "off the point": (
        "contextualGroundingPolicy",
        "filters",
        {"type": "RELEVANCE", "threshold": 0.7, "score": 0.1, "action": "BLOCKED"},
    ),
}
"""What a field may hold, and what the guardrail makes of it."""


def applied(asked: Asked) -> Reply:
    if asked.match["guardrail"] != GUARDRAIL or asked.match["version"] not in {VERSION, "DRAFT"}:
        return refusal("ResourceNotFoundException", "The guardrail identifier or version does not exist.", status=404)
    texts = [block["text"]["text"] for block in asked.body["content"]]
    if not texts or not all(texts):
        return invalid("The content of the guardrail request is empty.")
    if sum(map(len, texts)) > 25_000:
        return refusal("ThrottlingException", "Too many text units, please wait before trying again.", status=429)
    return answer([catch for word, catch in CATCHES.items() if any(word in text for text in texts)], texts)


def answer(catches: Sequence[tuple[str, str, Mapping[str, object]]], texts: Sequence[str]) -> Reply:
    """Returns what the service says of texts in which these were caught."""
    assessment: dict[str, Any] = {}
    for policy, place, caught in catches:
        assessment.setdefault(policy, {}).setdefault(place, []).append({"match": "what was caught", "detected": True, **caught})
    units = -(-sum(map(len, texts)) // 1000)
    size = {"guarded": sum(map(len, texts)), "total": sum(map(len, texts))}
    return Reply(
        document={
            "usage": {
                "topicPolicyUnits": units,
                "contentPolicyUnits": units,
                "wordPolicyUnits": units,
                "sensitiveInformationPolicyUnits": units,
                "sensitiveInformationPolicyFreeUnits": 0,
                "contextualGroundingPolicyUnits": 0,
            },
            "action": "GUARDRAIL_INTERVENED" if catches else "NONE",
            "outputs": [{"text": "Sorry, this cannot be kept."}] if catches else [],
            "assessments": [assessment],
            "guardrailCoverage": {"textCharacters": size},
        }
    )


ROUTES = [("POST", _APPLY, applied)]


def serving() -> ProviderServer:
    return ProviderServer(ROUTES)

"""A local server that speaks for TypeSafe's API, so that its real client is exercised: System One, its models and its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.providers.server import Asked, ProviderServer, Reply

KEY = "ts-test-key"
MODEL = "jev-1.13.0"

Mind = Callable[[Any, str, Mapping[str, Any]], Mapping[str, Any]]
"""Answers one question: of the state, the question's name and the question, as they came over the wire."""


def choice(chosen: str, *, probability: float = 0.9, confidence: float | None = None) -> Mapping[str, Any]:
    """Returns an answer that gives `chosen` this probability and the other verdicts the rest."""
    others = [one for one in ("same", "conflicts", "unrelated") if one != chosen]
    odds = {chosen: probability, **dict.fromkeys(others, (1 - probability) / len(others))}
    return odds_of(odds, chosen=chosen, confidence=probability if confidence is None else confidence)


def odds_of(odds: Mapping[str, object], *, chosen: str, confidence: object = 0.9) -> Mapping[str, Any]:
    return {"type": "choice", "choice": chosen, "confidence": confidence, "probabilities": dict(odds)}


def noul(probability: object) -> Mapping[str, Any]:
    return {"type": "noul", "noul": probability}


def harmless(_state: object, _name: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Calls all lessons unrelated and free of hazards."""
    return noul(0.02) if question["type"] == "noul" else choice("unrelated")


class TypeSafe(ProviderServer):
    """Answers by `mind`; refuses other keys, models and forms as the API does."""

    def __init__(self, mind: Mind = harmless) -> None:
        self.mind = mind
        super().__init__([("POST", r"/v1/systemone", self._system_one), ("GET", r"/v1/models", self._models)])

    def _system_one(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return unauthorized()
        body = asked.body
        missing = [name for name in ("model", "state", "questions") if not isinstance(body, dict) or not body.get(name)]
        if missing:
            return unprocessable(missing[0])
        if body["model"] != MODEL:
            return Reply(status=404, document={"error": {"message": f"The model '{body['model']}' does not exist."}})
        answers = {name: self.mind(body["state"], name, question) for name, question in body["questions"].items()}
        return answered(answers)

    def _models(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return unauthorized()
        about = {"description": "System one model.", "release_date": "2026-09-15"}
        listed = [{"name": name, **about} for name in ("jev-latest", MODEL)]
        return Reply(document={"models": listed})


def answered(answers: Mapping[str, Any], *, model: str = MODEL) -> Reply:
    document = {"model": model, "answers": answers, "usage": {"input_tokens": 1200, "output_tokens": 40}}
    return Reply(document=document, headers={"x-typesafe-request-id": "req_1"})


def unauthorized() -> Reply:
    return Reply(status=401, document={"error": {"message": "Invalid API key."}})


def out_of_credit() -> Reply:
    return Reply(status=402, document={"error": {"message": "Insufficient credits."}})


def throttled(retry_after: str | None = None) -> Reply:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Reply(status=429, document={"error": {"message": "Rate limit exceeded."}}, headers=headers)


def unprocessable(field: str) -> Reply:
    return Reply(status=422, document={"detail": [{"loc": ["body", field], "msg": "Field required", "type": "missing"}]})


def broken(status: int = 500) -> Reply:
    return Reply(status=status, document={"error": {"message": "Internal error."}})

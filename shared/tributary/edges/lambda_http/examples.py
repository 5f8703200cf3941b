"""One deploy API and its trap, as requests and replies: the examples of the API's description. Tests hold them to the models."""

from __future__ import annotations

from typing import Any

LESSON_ID = "les_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f"
_TRIBE = "0199c0de-0000-7000-8000-000000000001"
_AT = "2026-03-01T12:00:00.000000Z"

_LEARN: dict[str, Any] = {
    "text": "The deploy API needs the header X-Batch: true",
    "situation": "deploying a service",
    "subject": "deploy-api",
    "source": {"how": "observed", "ref": "run:88"},
    "evidence": [{"type": "log", "ref": "s3://runs/88/deploy.log"}],
    "tags": {"env": "prod"},
    "rationale": "It answered 429 until the header was set",
}

_LESSON: dict[str, Any] = {
    "id": LESSON_ID,
    "text": _LEARN["text"],
    "situation": _LEARN["situation"],
    "subject": "deploy-api",
    "kind": "gotcha",
    "status": "active",
    "tags": {"env": "prod"},
    "source": {"how": "observed", "ref": "run:88"},
    "evidence": [{"type": "log", "ref": "s3://runs/88/deploy.log", "note": None}],
    "rationale": _LEARN["rationale"],
    "author": "agent-a",
    "confidence": 0.7,
    "stated_confidence": 0.7,
    "confirmations": 0,
    "contradictions": 0,
    "valid_from": None,
    "valid_until": None,
    "keep_until": None,
    "learned": {"tick": 418, "at": _AT},
    "activated": {"tick": 418, "at": _AT},
    "deactivated": None,
    "superseded_by": None,
}

_TERMS = {"similarity": 0.74, "terms": 0.41, "freshness": 1.0, "confirmations": 0.0, "contradictions": 0.0}

REQUESTS: dict[str, dict[str, Any]] = {
    "learn": _LEARN,
    "recall": {"query": "deploy payments", "limit": 5, "at_least": 418},
    "distill": {
        "transcript": [
            {"role": "user", "text": "Deploy payments, please."},
            {"role": "tool", "text": "HTTP 429 Too Many Requests: send X-Batch: true"},
            {"role": "assistant", "text": "With the header it went through."},
        ],
        "ref": "run:88",
    },
}

REPLIES: dict[str, dict[str, Any]] = {
    "learn": {
        "outcome": "learned",
        "lesson": _LESSON,
        "replaced": [],
        "dispute": None,
        "challenges": [],
        "reason": "nothing known says the same or the opposite",
        "decision": "dec_0199c0de5a1e7b2c8d3f4a5b6c7d8ea0",
        "tick": 418,
        "replayed": False,
        "precedent": None,
    },
    "recall": {
        "hits": [
            {
                "lesson": _LESSON,
                "score": 0.5472,
                "terms": _TERMS,
                "confidence": 0.7,
                "label": None,
                "challenges": [],
            }
        ],
        "receipt": {
            "id": "rcp_0199c0de5a1e7b2c8d3f4a5b6c7d8ea1",
            "searched": [{"tribe": _TRIBE, "tick": 418, "at": _AT, "settled": True}],
            "query_digest": "f1c2…",
            "filters": {"limit": 5},
            "paths": ["vector:exact", "terms", "subject"],
            "space": "all-MiniLM-L6-v2/mean/256t-overlap32-even-mean/float32-or-int8-weights/384",
            "floor": 0.25,
            "considered": 57,
            "returned": 1,
            "excluded": [{"rule": "below_floor", "count": 56}],
            "hits": [{"id": LESSON_ID, "score": 0.5472, "similarity": 0.74, "terms": _TERMS}],
            "coverage": "complete",
            "causes": [],
            "may_assert_absence": False,
            "ranking": "v2",
            "ms": {"embed": 13.0, "database": 2.0, "score": 0.1},
            "key": "k1",
            "signature": "9b1d…",
        },
    },
    "distill": {
        "lessons": [
            {
                "text": _LEARN["text"],
                "situation": _LEARN["situation"],
                "source": {"how": "observed", "ref": "run:88#turn-2"},
                "kind": "gotcha",
                "subject": "deploy-api",
                "tags": {},
                "evidence": [{"type": "transcript", "ref": "run:88#turn-2", "note": "429 Too Many Requests: send X-Batch: true"}],
                "rationale": None,
                "confidence": 0.8,
            }
        ],
        "dropped": [{"why": "not_quoted", "count": 1}],
        "unread": [],
        "model": "bedrock:anthropic.claude-haiku-4-5-20251001-v1:0",
    },
    "changes": {
        "changes": [
            {
                "tick": 418,
                "at": _AT,
                "event": "learned",
                "status": "active",
                "by": "agent-a",
                "decision": "dec_0199c0de5a1e7b2c8d3f4a5b6c7d8ea0",
                "disputes": [],
                "ending": None,
                "cause": None,
                "other": None,
                "successor": None,
                "receipt": None,
                "since": None,
                "space": None,
                "lesson": LESSON_ID,
                "kind": "gotcha",
                "subject": "deploy-api",
                "text": _LEARN["text"],
                "held": False,
            }
        ],
        "tick": 418,
        "clock": 418,
        "more": False,
    },
}

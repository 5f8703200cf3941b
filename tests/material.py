"""Lessons to test with, in families whose verdicts are known: each gives (situation, text) pairs.

Every pair of `contradicting` lessons conflicts, every pair of `compatible` or `similarly_worded` ones is unrelated.
"""

from __future__ import annotations

Lesson = tuple[str, str]

COMPATIBLE = 16

_COMPATIBLE: tuple[Lesson, ...] = (
    ("connecting to the {subject} database", "The {subject} database listens on port 5433."),
    ("restarting {subject}", "The {subject} service restarts take 40 seconds."),
    ("reading logs", "Logs of {subject} are in /var/log/{subject}."),
    ("finding an owner", "{subject} is owned by team falcon."),
    ("calling {subject}", "Calls to {subject} need a bearer token in the Authorization header."),
    ("deploying {subject}", "Run the {subject} migration before the rollout."),
    ("an alert of {subject} fires", "The disk alert of {subject} fires at 80%."),
    ("scaling {subject}", "{subject} runs with three replicas."),
    ("backing up {subject}", "Backups of {subject} are kept for 14 days."),
    ("building {subject}", "The {subject} image is built from debian:12."),
    ("changing flags", "The feature flag {subject}_dark_mode is off by default."),
    ("a cache miss in {subject}", "Entries of the {subject} cache expire after 5 minutes."),
    ("reading traces", "Traces of {subject} are sampled at one percent."),
    ("on call for {subject}", "The on-call rotation of {subject} is handed over on Mondays."),
    ("upgrading {subject}", "{subject} must be drained before an upgrade of its nodes."),
    ("locating {subject}", "The primary of {subject} is in eu-west-1."),
)

_NAMES = (
    "payments orders ledger catalog pricing search checkout inventory shipping invoices refunds accounts sessions profiles "
    "reviews ratings coupons carts wishlists recommendations notifications webhooks reports exports imports analytics fraud "
    "tax currency loyalty returns suppliers warehouses routing dispatch tracking labels customs claims support chat calendar "
    "media thumbnails video transcripts translation glossary consent archive telemetry quotas identity directory policies"
).split()


def contradicting(subject: str, n: int) -> list[Lesson]:
    """Returns n lessons that give the same header of one deploy API n different values."""
    return [
        (f"deploying {subject}", f"The deploy API of {subject} needs the header X-Batch: {10 * (index + 1)}")
        for index in range(n)
    ]


def compatible(subject: str, n: int) -> list[Lesson]:
    """Returns n lessons (at most COMPATIBLE) that say different things about one subject, all of which can be true."""
    if n > COMPATIBLE:
        raise ValueError(f"there are {COMPATIBLE} compatible lessons, not {n}")
    return [(situation.format(subject=subject), text.format(subject=subject)) for situation, text in _COMPATIBLE[:n]]


def similarly_worded(n: int) -> list[Lesson]:
    """Returns n lessons that say the same of n different services."""
    names = [name if round_ == 0 else f"{name}-{round_ + 1}" for round_ in range(-(-n // len(_NAMES))) for name in _NAMES]
    return [(f"connecting to {name}", f"The {name} service listens on port 8042.") for name in names[:n]]

"""Two cures of one symptom, and one cure of two symptoms, are two lessons: called the same, the second would be lost."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tributary.core.decision import VerdictKind
from tributary.core.ids import new_id
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge

SUBJECTS = ("the ledger", "grafana", "the mailer", "minio")
TRIGGERS = (
    "leaks file handles after a rollback",
    "returns empty pages after a deploy",
    "splits the cluster after a region failover",
    "forgets its session after a node drain",
    "misses its deadline after the quarterly load test",
)
CURES = (
    "turn off compression",
    "run the job by hand",
    "purge the queue",
    "rotate the token twice",
    "add a readiness delay",
    "drain it first",
)
FORMS = (
    "{subject} {trigger}: {cure}",
    "{subject} {trigger}; {cure}.",
    "{subject} {trigger}. {cure}.",
    "When {subject} {trigger}, {cure}.",
    "{cure} when {subject} {trigger}.",
    "{subject} {trigger}, so {cure}.",
)
_PARTS = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(TRIGGERS), st.sampled_from(CURES))


def written(form: str, parts: tuple[str, str, str]) -> str:
    subject, trigger, cure = parts
    return form.format(subject=subject, trigger=trigger, cure=cure)


def kind(old: str, new: str) -> VerdictKind:
    one, other = (
        JudgedText(lesson_id=new_id(), text=text, situation="operating the platform", subject=None) for text in (old, new)
    )
    return LocalJudge().judge(other, [one], timeout_s=None)[0].kind


@given(form=st.sampled_from(FORMS), old=_PARTS, new=_PARTS)
def test_lessons_of_distinct_parts_are_never_the_same(form: str, old: tuple[str, str, str], new: tuple[str, str, str]) -> None:
    assume(old != new)
    assert kind(written(form, old), written(form, new)) is not VerdictKind.SAME


@given(forms=st.tuples(st.sampled_from(FORMS[:3]), st.sampled_from(FORMS[:3])), parts=_PARTS)
def test_equal_parts_in_another_form_are_still_the_same(forms: tuple[str, str], parts: tuple[str, str, str]) -> None:
    old, new = (written(form, parts) for form in forms)
    assert kind(old, new) is VerdictKind.SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("minio stalls: turn off compression", "minio stalls: run the job by hand"),
        ("Vault stalls after a schema change.", "Vault stalls after the daylight saving switch."),
        ("envoy logs nothing after a deploy: purge it", "envoy forgets its session after a deploy: purge it"),
        ("After a deploy, envoy refuses writes.", "After a deploy, envoy drops connections."),
        ("When consul stalls, warm the cache.", "When consul stalls, clear the linker cache."),
        (
            "catalog rejects the token after a deploy: turn off compression",
            "catalog rejects the token after a deploy: raise the connection limit",
        ),
        ("Kafka loses its leader after a deploy, so drain it.", "RabbitMQ loses its leader after a deploy, so drain it."),
    ],
)
def test_both_of_two_lessons_are_kept(old: str, new: str) -> None:
    assert kind(old, new) in (VerdictKind.UNRELATED, VerdictKind.UNSURE)
    assert kind(new, old) in (VerdictKind.UNRELATED, VerdictKind.UNSURE)

"""What says more than the other, or less, is never called the same: called that, the one of them would be lost."""

from __future__ import annotations

import pytest

from tributary.core.decision import VerdictKind
from tributary.core.ids import new_id
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge

SAME, CONFLICTS, UNRELATED, UNSURE = VerdictKind
FROZEN = "Deploys are frozen on Fridays"


def kind(old: str, new: str, *, situations: tuple[str, str] = ("operations", "operations")) -> VerdictKind:
    """Returns the verdict on two texts, which must not depend on which of the two is believed."""
    one, other = (
        JudgedText(lesson_id=new_id(), text=text, situation=situation, subject=None)
        for text, situation in zip((old, new), situations, strict=True)
    )
    forth, back = (LocalJudge().judge(b, [a], timeout_s=None)[0].kind for a, b in ((one, other), (other, one)))
    assert forth is back
    return forth


@pytest.mark.parametrize(
    ("general", "narrower"),
    [
        (FROZEN, f"{FROZEN} in the EU region"),
        (FROZEN, f"{FROZEN} (in the EU region)"),
        (FROZEN, f"{FROZEN} for contractors"),
        (FROZEN, f"{FROZEN} after 4 pm"),
        (FROZEN, f"{FROZEN} outside of the EU"),
        (FROZEN, f"{FROZEN} until the release manager agrees"),
        (FROZEN, f"In staging, {FROZEN}"),
        (FROZEN, "Deploys are frozen only on Fridays"),
        ("Logs rotate hourly", "Logs rotate hourly at night"),
        ("Logs rotate", "Logs rotate hourly"),
        ("Webhooks arrive out of order", "Webhooks arrive out of order while the broker rebalances"),
        ("The importer skips duplicates", "The importer skips duplicates as of version 6"),
        ("The relay drops sockets", "The relay drops sockets under heavy load"),
        ("Uploads fail", "Uploads of guests fail"),
        ("Reviews need two approvals", "Reviews that touch billing need two approvals"),
        ("The timeout is 30 seconds", "The timeout is 30 seconds per attempt"),
        ("Feature flags are cached", "Feature flags are cached locally"),
        ("Uploads are scanned", "Large uploads are scanned"),
        ("Builds are queued", "In the Dublin office a build has to wait in a queue"),
        ("Auditors may open the vault", "Only auditors may open the vault"),
        (FROZEN, f"{FROZEN}, hotfixes excepted"),
    ],
)
def test_a_narrowing_stands_beside_what_is_said_in_general(general: str, narrower: str) -> None:
    assert kind(general, narrower) is UNRELATED


@pytest.mark.parametrize(
    ("general", "excepting"),
    [
        (FROZEN, f"{FROZEN} except for security fixes"),
        (FROZEN, f"{FROZEN} only in staging"),
        (FROZEN, f"{FROZEN} in staging only"),
        (FROZEN, f"{FROZEN} only outside the sandbox account"),
        (FROZEN, f"{FROZEN}, but not in the sandbox account"),
        (FROZEN, f"{FROZEN} (not in the sandbox account)"),
        (FROZEN, f"Unless a director signs off, {FROZEN}"),
        (FROZEN, "Deploys other than hotfixes are frozen on Fridays"),
        (FROZEN, "All deploys but hotfixes are frozen on Fridays"),
        ("Deploys are allowed on Fridays", "Deploys are allowed except on Fridays"),
        ("Images must be signed", "Images must be signed, with the exception of base images"),
        ("Nodes are patched weekly", "Nodes are patched weekly, but not during load tests"),
        ("Nodes are patched weekly", "Nodes are patched weekly except after a release"),
        ("Services may call the ledger", "Services may call the ledger except those without a certificate"),
        ("Retry failed uploads", "Retry failed uploads only if they are idempotent"),
    ],
)
def test_an_exception_conflicts_with_what_is_said_in_general(general: str, excepting: str) -> None:
    assert kind(general, excepting) is CONFLICTS


def test_a_word_of_the_situation_may_be_part_of_the_exception() -> None:
    general = "Images are pulled from the mirror"
    assert kind(general, f"{general}, save for the base images", situations=("images", "images")) is CONFLICTS


def test_what_one_excepts_and_the_other_denies_stand_side_by_side() -> None:
    assert kind("Deploys are allowed except on Fridays", "Deploys are forbidden on Fridays") is UNRELATED


@pytest.mark.parametrize(
    "addition",
    [
        "Please note that {}",
        "In general, {}",
        "{} at the moment",
        "Heads up: {}, folks",
        "{} because nobody is in the office on weekends",
        "{} to protect the people",
        "{} (agreed in the guild)",
        "{} (not a law of nature)",
        "{}, for example in the shop",
        "{}, as agreed with the platform team",
        "{} for historic reasons",
    ],
)
def test_a_reason_an_example_or_a_polite_word_narrows_nothing(addition: str) -> None:
    assert kind(FROZEN, addition.format(FROZEN)) is SAME


@pytest.mark.parametrize("situation", ["log rotation at night", "the night"])
def test_a_detail_that_the_other_situation_gives_narrows_nothing(situation: str) -> None:
    assert kind("Logs rotate hourly", "Logs rotate hourly at night", situations=(situation, "logs")) is SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("No service except billing may write to the ledger", "Only billing may write to the ledger"),
        ("Curators alone can resolve disputes", "Only curators can resolve disputes"),
        ("Tracing is sampled at 1% unless debug mode is on", "Outside of debug mode the sampling rate of traces is 1%"),
        ("Rows without an owner go to the archive", "If a row has no owner, it goes to the archive"),
        ("Incidents must be acknowledged within 5 min", "You have five minutes to acknowledge an incident: do it within 5 min"),
        ("Large deletes on the audit table should be chunked", "Delete from the audit table in chunks"),
        ("The index is rebuilt on the replica", "We rebuild the index on the replica"),
        ("Autovacuum on the events table was disabled on purpose", "On the events table, autovacuum is deliberately disabled"),
    ],
)
def test_a_restriction_in_other_words_is_the_same(old: str, new: str) -> None:
    assert kind(old, new) is SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Retry is safe", "Retrying is not safe"),
        ("Rollback works", "Rolling back does not work"),
        ("Resubmission is safe", "Resubmitting is not safe"),
        ("Reindexing is harmless", "Re-indexing is not harmless"),
        ("Deletion is final", "Deleting is not final"),
        ("Timeouts are in seconds", "Timeouts are in milliseconds"),
        ("the timeout is 30 seconds", "the timeout is 30 milliseconds"),
    ],
)
@pytest.mark.parametrize(
    "situation", ["calling the payments gateway", "a call of the payments gateway", "errors of the payments gateway"]
)
def test_the_opposite_in_few_words_conflicts_in_like_situations(old: str, new: str, situation: str) -> None:
    assert kind(old, new, situations=("calling the payments gateway", situation)) is CONFLICTS


def test_the_opposite_in_few_words_does_not_conflict_in_another_situation() -> None:
    assert kind("Retry is safe", "Retrying is not safe", situations=("calling payments", "resetting a session")) is UNRELATED

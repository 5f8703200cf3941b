"""A receipt is checked against the tribe as it stood: it agrees for good, and nothing that was changed in it passes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.core.curation import RetireCause
from tributary.core.errors import InvalidRequest
from tributary.core.ids import Prefix, parse, show
from tributary.core.lesson import How, Kind
from tributary.core.requests import Recalled
from tributary.core.verification import Aspect, Doubt, Verdict, Verification
from tributary.edges.gateway import running
from tributary.models.embedders import HashedEmbedder
from tributary.recall.signing import Signer, canonical
from tributary.spaces import build_index

QUERY = "cache flag of the linker"
Document = dict[str, Any]


def document(found: Recalled) -> Document:
    """Returns the receipt as a caller holds it: through JSON and back."""
    whole = {**found.receipt.document(), "signature": found.receipt.signature}
    return dict(json.loads(json.dumps(whole)))


def verify(tribal: Tribal, receipt: Document, query: str = QUERY) -> Verification:
    return tribal.memory.verify(tribal.curator, receipt, query)


def aspects(found: Verification) -> set[Aspect]:
    return {one.aspect for one in found.differences}


def resigned(tribal: Tribal, receipt: Document) -> Document:
    """Signs a changed receipt with the real key, as only somebody who holds the database could."""
    import hashlib
    import hmac

    key = tribal.rows("SELECT secret FROM tributary.signing_key WHERE key_id = %s", receipt["key"])[0]["secret"]
    assert isinstance(key, bytes)
    unsigned = {name: value for name, value in receipt.items() if name != "signature"}
    return {**unsigned, "signature": hmac.digest(key, canonical(unsigned), hashlib.sha256).hex()}


@pytest.fixture
def filled(tribal: Tribal) -> Tribal:
    for number in range(12):
        tribal.learn(
            tribal.curator,
            f"cache flag of the linker {number} is set by hand",
            situation=f"linking part{number}",
            subject=f"part {number}",
            tags={"env": "prod" if number % 2 else "dev"},
            kind=Kind.OBSERVATION if number % 3 else Kind.GOTCHA,
        )
    return tribal


ASKED: list[dict[str, object]] = [
    {},
    {"limit": 3},
    {"tags": {"env": "prod"}},
    {"kinds": (Kind.GOTCHA,), "sources": (How.OBSERVED,)},
    {"agent": "curator", "subject": "Part 4"},
    {"min_confidence": 0.5, "include_stale": True, "limit": 100},
    {"as_of": 7},
]


@pytest.mark.parametrize("asked", ASKED, ids=[", ".join(one) or "no filter" for one in ASKED])
def test_receipt_of_any_question_agrees(filled: Tribal, asked: dict[str, object]) -> None:
    found = filled.recall(QUERY, **asked)
    assert found.hits
    assert verify(filled, document(found)) == Verification(verdict=Verdict.AGREES)


def test_receipt_of_nothing_found_agrees_while_nothing_was_there(filled: Tribal) -> None:
    receipt = document(filled.recall("zzzz qqqq"))
    assert receipt["may_assert_absence"]
    filled.learn(filled.curator, "zzzz qqqq", situation="zzzz")
    assert verify(filled, receipt, "zzzz qqqq").verdict is Verdict.AGREES


def test_receipt_agrees_after_its_lessons_were_superseded_retired_and_gardened(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        for number in range(6):
            tribal.learn(tribal.curator, f"cache flag of the linker {number}", situation=f"part{number}", subject=f"part{number}")
        tribal.learn(tribal.curator, "cache flag of the linker fades", kind=Kind.ENTITY_FACT, situation="elsewhere")
        found = tribal.recall(QUERY, limit=10)
        assert len(found.hits) == 7
        receipt = document(found)
        tribal.learn(tribal.curator, "cache flag of the linker 0 is gone", situation="part0", subject="part0")
        tribal.memory.curate.retire(tribal.curator, found.hits[2].lesson.lesson_id, RetireCause.WRONG)
        tribal.memory.reinforce(tribal.agent("other"), found.hits[3].lesson.lesson_id)
        tribal.clock.advance(days=400)
        tribal.memory.gardener.run(tribal.tribe_id)
        assert {row["status"] for row in tribal.rows("SELECT status FROM tributary.lesson")} >= {"superseded", "retired"}
        assert verify(tribal, receipt) == Verification(verdict=Verdict.AGREES)


def test_erased_lesson_is_named_as_erased(filled: Tribal) -> None:
    found = filled.recall(QUERY)
    gone = found.hits[1].lesson.lesson_id
    filled.memory.curate.erase(filled.curator, gone)
    result = verify(filled, document(found))
    assert (result.verdict, result.erased, result.differences) == (Verdict.UNKNOWN, (gone,), ())
    assert Doubt.LESSON_ERASED in result.causes


def _deep(levels: int) -> Document:
    found: Document = {}
    for _ in range(levels):
        found = {"a": found}
    return found


CHANGES: dict[str, Callable[[Document], object]] = {
    "its id": lambda receipt: receipt.update(id=show(Prefix.RECEIPT, UUID(int=1))),
    "its coverage": lambda receipt: receipt.update(coverage="approximate"),
    "what may be claimed": lambda receipt: receipt.update(may_assert_absence=True),
    "a score": lambda receipt: receipt["hits"][0].update(score=0.99),
    "a hit": lambda receipt: receipt["hits"].pop(),
    "its tick": lambda receipt: receipt["searched"][0].update(tick=1),
    "another field": lambda receipt: receipt.update(more=1),
    "its signature": lambda receipt: receipt.update(signature="00" * 32),
    "no signature": lambda receipt: receipt.pop("signature"),
    "a key that is none": lambda receipt: receipt.update(key="k99"),
    "a key that no database can hold": lambda receipt: receipt.update(key="k1\ud800"),
    "a key with a NUL": lambda receipt: receipt.update(key="\x00"),
    "a signature that is no text": lambda receipt: receipt.update(signature="\ud800"),
    "a depth that nobody can read": lambda receipt: receipt.update(more=_deep(5000)),
    "a number that JSON has not": lambda receipt: receipt.update(floor=float("nan")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_edited_receipt_is_detected(filled: Tribal, change: Callable[[Document], object]) -> None:
    receipt = document(filled.recall(QUERY))
    change(receipt)
    result = verify(filled, receipt)
    assert (result.verdict, aspects(result)) == (Verdict.DIVERGES, {Aspect.SIGNATURE})


def test_another_query_is_detected(filled: Tribal) -> None:
    result = verify(filled, document(filled.recall(QUERY)), "what is the flag of the linker")
    assert (result.verdict, aspects(result)) == (Verdict.DIVERGES, {Aspect.QUERY})


def test_receipt_of_another_tribe_is_refused(filled: Tribal) -> None:
    with open_tribal(filled.url, name="other") as other:
        other.learn(other.curator, "cache flag of the linker")
        receipt = document(other.recall(QUERY))
        with pytest.raises(InvalidRequest, match="another tribe"):
            verify(filled, receipt)


def test_receipt_of_a_listing_cannot_be_checked_whatever_it_lists(filled: Tribal) -> None:
    for listing in (
        filled.memory.lessons(filled.curator).receipt,
        filled.memory.desk.decisions(filled.curator).receipt,
        filled.memory.desk.agents(filled.curator).receipt,
    ):
        assert listing.hits
        result = verify(filled, {**listing.document(), "signature": listing.signature})
        assert (result.verdict, result.causes) == (Verdict.UNKNOWN, (Doubt.LISTING,))


# -- what a forger with the key would be caught by


def _other(filled: Tribal, receipt: Document) -> str:
    known = {one["id"] for one in receipt["hits"]}
    every = [show(Prefix.LESSON, UUID(str(row["lesson_id"]))) for row in filled.rows("SELECT lesson_id FROM tributary.lesson")]
    return next(one for one in every if one not in known)


LIES: dict[str, tuple[Callable[[Document, str], object], Aspect]] = {
    "a lesson that the tribe does not have": (
        lambda receipt, _: receipt["hits"][0].update(id=show(Prefix.LESSON, UUID(int=5))),
        Aspect.BELIEF,
    ),
    "a lesson that was not believed yet": (lambda receipt, _: receipt["searched"][0].update(tick=3), Aspect.BELIEF),
    "a lesson that the filters leave out": (lambda receipt, _: receipt["filters"].update(kinds=["resolution"]), Aspect.FILTER),
    "a lesson that a rule leaves out": (lambda receipt, _: receipt["filters"].update(min_confidence=0.99), Aspect.RULE),
    "another similarity": (lambda receipt, _: receipt["hits"][0].update(similarity=0.01), Aspect.SIMILARITY),
    "no similarity": (lambda receipt, _: receipt["hits"][0].update(similarity=None), Aspect.SIMILARITY),
    "another score": (lambda receipt, _: receipt["hits"][0].update(score=receipt["hits"][0]["score"] + 0.01), Aspect.SCORE),
    "another order": (lambda receipt, _: receipt["hits"].reverse(), Aspect.ORDER),
    "a hit withheld": (lambda receipt, _: receipt["hits"].pop(0), Aspect.MISSED),
    "a figure of another lesson": (lambda receipt, other: receipt["hits"][0].update(id=other), Aspect.SCORE),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_under_the_real_key_diverges(filled: Tribal, lie: tuple[Callable[[Document, str], object], Aspect]) -> None:
    change, aspect = lie
    receipt = document(filled.recall(QUERY))
    assert verify(filled, resigned(filled, receipt)).verdict is Verdict.AGREES
    change(receipt, _other(filled, receipt))
    result = verify(filled, resigned(filled, receipt))
    assert result.verdict is Verdict.DIVERGES
    assert aspect in aspects(result) or (aspect is Aspect.SCORE and Aspect.SIMILARITY in aspects(result))


def test_figures_within_the_tolerance_agree(filled: Tribal) -> None:
    receipt = document(filled.recall(QUERY))
    for hit in receipt["hits"]:
        hit["similarity"] += 0.0009
    assert verify(filled, resigned(filled, receipt)).verdict is Verdict.AGREES


def test_what_an_index_passed_over_is_an_approximation_and_no_divergence(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated), exact_limit=20) as tribal:
        for number in range(40):
            tribal.learn(tribal.curator, f"cache flag{number} of the linker", situation=f"part{number}")
        with psycopg.connect(tribal.url, autocommit=True) as connection:
            assert build_index(connection, tribal.tribe_id, exact_limit=20)
        receipt = document(tribal.recall(QUERY))
        assert receipt["coverage"] == "approximate"
        assert verify(tribal, receipt) == Verification(verdict=Verdict.AGREES)
        withheld = parse(Prefix.LESSON, receipt["hits"].pop(0)["id"], field="id")
        result = verify(tribal, resigned(tribal, receipt))
        assert (result.verdict, result.missed) == (Verdict.AGREES, (withheld,))


# -- what cannot be told


def test_without_the_embedder_it_is_unknown(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal:
        tribal.learn(tribal.curator, "cache flag of the linker")
        receipt = document(tribal.recall(QUERY))
        embedder.fails = True
        result = verify(tribal, receipt)
        assert (result.verdict, result.causes) == (Verdict.UNKNOWN, (Doubt.EMBEDDER_FAILED,))
        by_words = document(tribal.recall(QUERY))
        assert (by_words["coverage"], len(by_words["hits"])) == ("unknown", 1)
        assert verify(tribal, by_words).verdict is Verdict.AGREES  # what needs no vector can be checked without one


def test_receipt_of_another_space_or_ranking_is_unknown(filled: Tribal) -> None:
    receipt = document(filled.recall(QUERY))
    for field, cause in (("space", Doubt.SPACE_RETIRED), ("ranking", Doubt.RANKING_CHANGED)):
        result = verify(filled, resigned(filled, {**receipt, field: "another"}))
        assert (result.verdict, result.causes) == (Verdict.UNKNOWN, (cause,))


def test_form_that_cannot_be_read_is_refused(filled: Tribal) -> None:
    receipt = document(filled.recall(QUERY))
    forms: list[Document] = [
        {"searched": []},
        {"filters": {}},
        {"coverage": "splendid"},
        {"hits": [{"id": "x"}]},
        {"paths": None},
    ]
    for broken in forms:
        with pytest.raises(InvalidRequest, match="receipt"):
            verify(filled, resigned(filled, {**receipt, **broken}))


# -- keys


@contextmanager
def _second_key(tribal: Tribal) -> Iterator[None]:
    tribal.rows("UPDATE tributary.signing_key SET retired_at = clock_timestamp()")
    tribal.rows("INSERT INTO tributary.signing_key (key_id, secret) VALUES ('k2', sha256('other'))")
    yield


def test_receipt_of_a_retired_key_agrees_and_a_new_one_signs(filled: Tribal) -> None:
    receipt = document(filled.recall(QUERY))
    with _second_key(filled):
        assert verify(filled, receipt).verdict is Verdict.AGREES
        renewed = Signer(filled.memory.database).sign(filled.recall(QUERY).receipt)
        assert renewed.key == "k2"


def test_at_every_tick_of_a_random_history_the_receipts_agree(database_url: str) -> None:
    rng = random.Random(5)
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        agents = [tribal.agent(f"writer-{index}") for index in range(3)] + [tribal.curator]
        receipts: list[tuple[str, Document]] = []
        for step in range(50):
            agent = rng.choice(agents)
            subject = f"subject-{rng.randrange(6)}"
            hits = tribal.recall("cache flag", limit=20).hits
            if hits and rng.random() < 0.3:
                tribal.memory.reinforce(agent, rng.choice(hits).lesson.lesson_id)
            elif hits and rng.random() < 0.1:
                tribal.memory.curate.retire(tribal.curator, rng.choice(hits).lesson.lesson_id, RetireCause.WRONG)
            else:
                tribal.learn(agent, f"cache flag of {subject} is {rng.randrange(3)}", subject=subject, situation=subject)
            tribal.clock.advance(seconds=int(timedelta(days=rng.randrange(5)).total_seconds()))
            query = rng.choice(("cache flag", f"{subject} flag", "nothing of the kind"))
            receipts.append(
                (query, document(tribal.recall(query, limit=rng.choice((1, 5, 50)), min_confidence=0.1 * (step % 3))))
            )
        for query, receipt in receipts:
            assert verify(tribal, receipt, query) == Verification(verdict=Verdict.AGREES), (query, receipt)


def test_a_reader_may_verify_and_an_unreadable_query_is_refused(filled: Tribal) -> None:
    with pytest.raises(InvalidRequest, match="query"):
        verify(filled, document(filled.recall(QUERY)), " ")


def test_the_receipt_of_the_longest_question_can_be_verified_however_its_json_is_escaped(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "cache flag")
    query = "é" * 4096
    tags = {f"{number:02d}" + "é" * 62: "é" * 200 for number in range(32)}
    headers = {"Authorization": f"Bearer {tribal.curator_token}", "Content-Type": "application/json"}
    with running(tribal.memory) as gateway, httpx.Client(base_url=gateway.url, headers=headers, timeout=30) as http:
        asked = json.dumps({"query": query, "tags": tags}, ensure_ascii=False).encode()
        receipt = http.post("/v1/recall", content=asked).json()["receipt"]
        sent = json.dumps({"receipt": receipt, "query": query}, ensure_ascii=True).encode()
        reply = http.post("/v1/receipts/verify", content=sent)
        assert (reply.status_code, reply.json()["verdict"]) == (200, "agrees")

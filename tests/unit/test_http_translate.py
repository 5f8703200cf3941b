"""Nothing is lost on the way between the contract and the core."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from uuid import UUID

from tests.contract.stand_in import AT, WRITER, lesson_of, receipt_of
from tributary.contract import models
from tributary.core.decision import Challenge, Learned, Outcome
from tributary.core.lesson import Draft, Instant, Kind, Status
from tributary.core.requests import Hit, LessonDetail, Listing, Question, Recalled
from tributary.edges.lambda_http import translate

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
LEARN = models.LearnRequest.model_validate(
    {
        "text": "text",
        "situation": "situation",
        "source": {"how": "derived", "ref": "ref"},
        "kind": "resolution",
        "subject": "subject",
        "tags": {"env": "prod"},
        "evidence": [{"type": "log", "ref": "evidence-ref", "note": "note"}],
        "rationale": "rationale",
        "confidence": 0.25,
        "valid_from": MOMENT,
        "valid_until": MOMENT.replace(year=2027),
        "keep_until": MOMENT.replace(year=2028),
        "receipts": [{"id": "rcp_1"}],
        "replaces": ["les_" + "1" * 32],
        "deadline_s": 3,
    }
)
A, B, C = (UUID(int=number) for number in (10, 11, 12))


def test_every_field_of_a_draft_comes_from_the_request() -> None:
    draft = translate.draft(LEARN)
    plain = Draft(text="text", situation="situation", source=draft.source)
    for field in fields(Draft):
        if field.name not in {"text", "situation", "source"}:
            assert getattr(draft, field.name) != getattr(plain, field.name), field.name
    assert (draft.source.how.value, draft.source.ref) == ("derived", "ref")


def test_every_field_of_a_question_comes_from_the_request() -> None:
    question = translate.question(
        models.RecallRequest(
            query="query",
            limit=7,
            kinds=["gotcha", "resolution"],
            sources=["told"],
            agent="agent-a",
            subject="subject",
            tags={"env": "prod"},
            min_confidence=0.5,
            as_of=418,
            at_least=17,
            include_stale=True,
            require="vector",
        )
    )
    plain = Question(query="")
    for field in fields(Question):
        assert getattr(question, field.name) != getattr(plain, field.name), field.name
    assert question.kinds == (Kind.GOTCHA, Kind.RESOLUTION)


def test_lesson_is_shown_with_prefixed_ids_and_instants() -> None:
    from dataclasses import replace

    lesson = replace(
        lesson_of(translate.draft(LEARN), WRITER),
        lesson_id=A,
        status=Status.SUPERSEDED,
        superseded_by=B,
        deactivated=Instant(tick=9, at=MOMENT),
        confirmations=3,
        contradictions=2,
    )
    shown = translate.lesson(lesson, confidence=0.125)
    assert shown.model_dump() == {
        "id": "les_0000000000000000000000000000000a",
        "text": "text",
        "situation": "situation",
        "subject": "subject",
        "kind": "resolution",
        "status": "superseded",
        "tags": {"env": "prod"},
        "source": {"how": "derived", "ref": "ref"},
        "evidence": [{"type": "log", "ref": "evidence-ref", "note": "note"}],
        "rationale": "rationale",
        "author": "agent-writer",
        "confidence": 0.125,
        "stated_confidence": 0.25,
        "confirmations": 3,
        "contradictions": 2,
        "valid_from": MOMENT,
        "valid_until": MOMENT.replace(year=2027),
        "keep_until": MOMENT.replace(year=2028),
        "learned": {"tick": 1, "at": AT},
        "activated": {"tick": 1, "at": AT},
        "deactivated": {"tick": 9, "at": MOMENT},
        "superseded_by": "les_0000000000000000000000000000000b",
    }


def test_learned_is_shown_with_all_that_came_of_it() -> None:
    reply = translate.learned(
        Learned(
            outcome=Outcome.DISPUTED,
            lesson=None,
            replaced=(A, B),
            dispute_id=C,
            challenges=(A,),
            reason="reason",
            decision_id=B,
            tick=5,
            replayed=True,
            precedent=C,
        ),
        now=AT,
    )
    assert reply.model_dump() == {
        "outcome": "disputed",
        "lesson": None,
        "replaced": ["les_0000000000000000000000000000000a", "les_0000000000000000000000000000000b"],
        "dispute": "dis_0000000000000000000000000000000c",
        "challenges": ["dis_0000000000000000000000000000000a"],
        "reason": "reason",
        "decision": "dec_0000000000000000000000000000000b",
        "tick": 5,
        "replayed": True,
        "precedent": "les_0000000000000000000000000000000c",
    }


def test_learned_lesson_shows_its_confidence_of_now() -> None:
    from dataclasses import replace

    learned = Learned(
        outcome=Outcome.LEARNED,
        lesson=lesson_of(translate.draft(LEARN), WRITER),
        replaced=(),
        dispute_id=None,
        challenges=(),
        reason="",
        decision_id=A,
        tick=1,
        replayed=False,
    )
    fresh = translate.learned(learned, now=AT).lesson
    aged = translate.learned(replace(learned, tick=2), now=AT.replace(year=2027)).lesson
    assert fresh is not None
    assert aged is not None
    assert fresh.confidence == 0.25
    assert aged.confidence < 0.1


def test_hits_keep_their_label_terms_and_challenges() -> None:
    lesson = lesson_of(translate.draft(LEARN), WRITER)
    hit = Hit(
        lesson=lesson,
        score=0.5,
        confidence=0.75,
        terms={"similarity": 0.5},
        label="tried, did not help",
        challenges=(Challenge(dispute_id=C, lesson_id=B, text="not so"),),
    )
    (shown,) = translate.recalled(Recalled(hits=(hit,), receipt=receipt_of({}, (hit,)))).hits
    assert (shown.label, shown.terms, shown.score, shown.confidence) == ("tried, did not help", {"similarity": 0.5}, 0.5, 0.75)
    assert shown.lesson.confidence == 0.75
    assert shown.challenges[0].model_dump() == {
        "id": "dis_0000000000000000000000000000000c",
        "lesson": "les_0000000000000000000000000000000b",
        "text": "not so",
    }


def test_receipt_is_the_signed_document_and_its_signature() -> None:
    receipt = receipt_of({"as_of": "2026-03-01T00:00:00+00:00"}, ())
    shown = translate.receipt(receipt).model_dump()
    document = receipt.document()
    assert set(shown) == {*document, "signature"}
    for name, value in document.items():
        assert (shown[name] == value) or name == "searched"
    assert shown["searched"][0]["at"] == AT
    assert shown["signature"] == receipt.signature


def test_pages_and_details_carry_the_confidence_that_was_reckoned_for_them() -> None:
    lesson = lesson_of(translate.draft(LEARN), WRITER)
    page = translate.listing(
        Listing(lessons=(lesson, lesson), confidences=(0.5, 0.25), next_before="17", receipt=receipt_of({}, ()))
    )
    assert [one.confidence for one in page.lessons] == [0.5, 0.25]
    assert page.next == "17"
    detail = translate.detail(LessonDetail(lesson=lesson, confidence=0.125, challenges=(), receipt=receipt_of({}, ())))
    assert detail.lesson.confidence == 0.125

"""What the product is for: agents that learn opposite facts at the same instant never leave both believed, and each is told."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import psycopg
import pytest

from tests.doubles import RuledJudge, within_a_subject
from tests.material import contradicting, similarly_worded
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.decision import Learned, Outcome, VerdictKind
from tributary.core.lesson import Draft
from tributary.core.ports import JudgedText
from tributary.models.embedders import MiniLmEmbedder
from tributary.models.judges import LocalJudge

Result = TypeVar("Result")
CURATORS, WRITERS = Role.CURATOR, Role.WRITER
SUBJECT = "payments"
EVENTS = {
    Outcome.LEARNED: "learned",
    Outcome.SUPERSEDED: "learned",
    Outcome.DISPUTED: "disputed",
    Outcome.PENDING: "pended",
    Outcome.REINFORCED: "reinforced",
}
"""By which event the lesson of a reply came to stand as the reply says; an unchanged one has none."""


def at_once(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Runs the calls in threads that start together, and returns their results in order; an exception of one escapes."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        barrier.wait(30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def agents(tribal: Tribal, n: int, role: Role) -> list[Principal]:
    return [tribal.agent(f"{role}-{index}", role) for index in range(n)]


def learn_at_once(tribal: Tribal, who: list[Principal], drafts: list[Draft], deadline_s: float | None = None) -> list[Learned]:
    """Has each agent learn its draft, all at once, and checks that what each is told is what happened."""
    learn = partial(tribal.memory.learn, deadline_s=deadline_s)
    results = at_once([partial(learn, *one) for one in zip(who, drafts, strict=True)])
    check_told(tribal, results)
    return results


def check_told(tribal: Tribal, results: list[Learned]) -> None:
    """Checks that the lesson of each reply is there, its event fits the outcome, and what it replaced is superseded by it."""
    texts = {row["lesson_id"]: row["text"] for row in tribal.rows("SELECT lesson_id, text FROM tributary.lesson")}
    decided = tribal.rows("SELECT decision_id, outcome, lesson_id FROM tributary.decision")
    outcomes = {row["decision_id"]: (row["outcome"], row["lesson_id"]) for row in decided}
    events = tribal.rows("SELECT decision_id, lesson_id, event FROM tributary.lesson_event WHERE event <> 'challenged'")
    for told in results:
        assert told.lesson is not None
        lesson_id = told.lesson.lesson_id
        assert texts[lesson_id] == told.lesson.text
        assert outcomes[told.decision_id] == (told.outcome, lesson_id)
        happened = {(row["lesson_id"], row["event"]) for row in events if row["decision_id"] == told.decision_id}
        own = {(lesson_id, EVENTS[told.outcome])} if told.outcome in EVENTS else set()
        assert happened == own | {(replaced, "superseded") for replaced in told.replaced}


def header_lessons(n: int) -> list[Draft]:
    texts = contradicting(SUBJECT, n)
    return [Draft(text=text, situation=situation, source=SEEN, subject=SUBJECT) for situation, text in texts]


def seed(tribal: Tribal) -> None:
    """Has the tribe believe one lesson that all of `header_lessons` contradict."""
    tribal.learn(tribal.agent("seeder"), "The deploy API of payments needs no header", subject=SUBJECT)


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seeded", [False, True], ids=["empty", "seeded"])
@pytest.mark.parametrize("n", [4, 8, 16])
def test_curators_who_contradict_each_other_leave_one_believed_and_the_others_superseded(
    database_url: str, n: int, seeded: bool, delay_s: float
) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject, delay_s=delay_s)) as tribal:
        if seeded:
            seed(tribal)
        results = learn_at_once(tribal, agents(tribal, n, CURATORS), header_lessons(n))
        assert tribal.status_counts() == {"active": 1, "superseded": n - 1 + seeded}
        replaced = [one for result in results for one in result.replaced]
        assert len(replaced) == len(set(replaced)) == n - 1 + seeded
        assert Counter(one.outcome for one in results)[Outcome.LEARNED] == 1 - seeded


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seeded", [False, True], ids=["empty", "seeded"])
@pytest.mark.parametrize("n", [4, 8, 16])
def test_writers_of_equal_rank_who_contradict_each_other_leave_one_believed_and_the_others_disputed(
    database_url: str, n: int, seeded: bool, delay_s: float
) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject, delay_s=delay_s)) as tribal:
        if seeded:
            seed(tribal)
        results = learn_at_once(tribal, agents(tribal, n, WRITERS), header_lessons(n))
        assert tribal.status_counts() == {"active": 1, "disputed": n - 1 + seeded}
        told = Counter(one.outcome for one in results)
        assert told == Counter({Outcome.LEARNED: 1 - seeded, Outcome.DISPUTED: n - 1 + seeded})
        assert len({one.dispute_id for one in results if one.outcome is Outcome.DISPUTED}) == n - 1 + seeded


# One port of one database, said in words that have hardly anything in common.
FAR_APART = (
    ("an alert says refused", "psql gets through once you pick 6432 instead of the default."),
    ("writing the Helm chart", "dbPort has to be 5999, or the readiness probe never turns green."),
    ("onboarding a new colleague", "Tell them that the accounting store listens on 5444."),
    ("migrating the warehouse job", "Spark reads over JDBC with :9432 in the URL."),
)
CROWD = "payments orders catalog pricing search checkout inventory shipping".split()
"""Each of FAR_APART is said of so many other things, too: they are nearer to it, and take all the places of the vector side."""
TOGETHER = {
    "subject": ("{}", "ledger-port"),
    "term": ("{} (ldg7)", None),
    "nothing": ("{}", None),
}
"""How the situations of FAR_APART end, and their subject."""


def far_apart(together: str) -> list[Draft]:
    situation, subject = TOGETHER[together]
    return [Draft(text=text, situation=situation.format(when), source=SEEN, subject=subject) for when, text in FAR_APART]


def one_matter(new: JudgedText, old: JudgedText) -> VerdictKind:
    """The lessons of FAR_APART contradict each other, and those of the crowd nobody."""
    about = {text: when for when, text in FAR_APART}
    both = all(one.text in about and "crowd" not in one.situation for one in (new, old))
    return VerdictKind.CONFLICTS if both else VerdictKind.UNRELATED


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def far_apart_and_believed(url: str, minilm: MiniLmEmbedder, together: str, role: Role) -> int:
    """Has agents learn FAR_APART at once, in a tribe that knows more similar lessons, and returns how many are believed."""
    drafts = far_apart(together)
    vectors = minilm.embed([f"{draft.situation}\n{draft.text}" for draft in drafts])
    pairs = itertools.combinations(vectors, 2)
    cosines = [sum(x * y for x, y in zip(one, other, strict=True)) for one, other in pairs]
    assert min(cosines) > 0.21
    assert max(cosines) < 0.5
    judge = RuledJudge(one_matter)
    with open_tribal(url, embedder=minilm, judge=judge) as tribal:
        for when, text in FAR_APART:
            for name in CROWD:
                tribal.learn(tribal.curator, text, situation=f"{when} for {name}, of the crowd")
        others = tribal.status_counts()["active"]
        assert others == len(FAR_APART) * len(CROWD)
        judge.delay_s = 0.05
        learn_at_once(tribal, agents(tribal, len(drafts), role), drafts)
        return tribal.status_counts()["active"] - others


@pytest.mark.parametrize("role", [CURATORS, WRITERS])
@pytest.mark.parametrize("together", ["subject", "term"])
def test_contradictions_that_are_far_apart_meet_by_their_subject_or_a_rare_term(
    database_url: str, minilm: MiniLmEmbedder, together: str, role: Role
) -> None:
    assert far_apart_and_believed(database_url, minilm, together, role) == 1


def test_it_is_not_their_vectors_that_bring_them_together(database_url: str, minilm: MiniLmEmbedder) -> None:
    assert far_apart_and_believed(database_url, minilm, "nothing", CURATORS) == len(FAR_APART)


@pytest.mark.parametrize("subject", [True, False], ids=["with a subject", "without"])
def test_similarly_worded_facts_about_different_services_are_all_believed(
    database_url: str, minilm: MiniLmEmbedder, subject: bool
) -> None:
    with open_tribal(database_url, embedder=minilm, judge=LocalJudge()) as tribal:
        writers = agents(tribal, 8, WRITERS)
        shares = [similarly_worded(50)[index::8] for index in range(8)]

        def work(writer: Principal, share: list[tuple[str, str]]) -> list[Learned]:
            subjects = [text.split()[1] if subject else None for _, text in share]
            return [
                tribal.learn(writer, text, situation, subject=about)
                for (situation, text), about in zip(share, subjects, strict=True)
            ]

        results = at_once([partial(work, *one) for one in zip(writers, shares, strict=True)])
        assert Counter(one.outcome for many in results for one in many) == {Outcome.LEARNED: 50}
        assert tribal.status_counts() == {"active": 50}


@pytest.mark.parametrize("n", [2, 8, 16])
def test_one_lesson_learned_by_many_agents_at_once_is_one_row_confirmed_by_all_but_its_author(tribal: Tribal, n: int) -> None:
    results = learn_at_once(tribal, agents(tribal, n, WRITERS), header_lessons(1) * n)
    (lesson_id,) = {one.lesson.lesson_id for one in results if one.lesson}
    assert sum(tribal.status_counts().values()) == 1
    assert tribal.memory.lesson(tribal.curator, lesson_id).lesson.confirmations == n - 1
    assert Counter(one.outcome for one in results) == {Outcome.LEARNED: 1, Outcome.REINFORCED: n - 1}


@pytest.mark.parametrize("n_agents", [1, 8], ids=["by its author", "by others too"])
@pytest.mark.parametrize("worded", ["alike", "anew"])
def test_a_lesson_gains_by_other_agents_and_not_by_repetition(database_url: str, worded: str, n_agents: int) -> None:
    n = 8
    drafts = header_lessons(n) if worded == "anew" else header_lessons(1) * n
    with open_tribal(database_url, judge=RuledJudge(lambda *_: VerdictKind.SAME, delay_s=0.02)) as tribal:
        who = agents(tribal, n_agents, WRITERS) * (n // n_agents)
        for _ in range(2):
            results = learn_at_once(tribal, who, drafts)
            (lesson_id,) = {one.lesson.lesson_id for one in results if one.lesson}
            assert tribal.status_counts() == {"active": 1}
        shown = tribal.memory.lesson(tribal.curator, lesson_id)
        assert shown.lesson.confirmations == n_agents - 1
        assert tribal.rows("SELECT clock FROM tributary.tribe") == [{"clock": n_agents}]
        assert {one.outcome for one in results} == {Outcome.UNCHANGED}


@pytest.mark.parametrize("role", [CURATORS, WRITERS])
def test_contradictions_kept_as_pending_are_settled_by_two_workers_to_one_believed(database_url: str, role: Role) -> None:
    n = 8
    with open_tribal(database_url, judge=RuledJudge(within_a_subject, delay_s=0.02)) as tribal:
        seed(tribal)
        results = learn_at_once(tribal, agents(tribal, n, role), header_lessons(n), deadline_s=1e-6)
        assert {one.outcome for one in results} == {Outcome.PENDING}
        assert tribal.status_counts() == {"active": 1, "pending": n}
        settled = at_once([tribal.memory.settle_pending] * 2)
        assert sum(settled) == n
        others = "superseded" if role is CURATORS else "disputed"
        counts = {status: lessons for status, lessons in tribal.status_counts().items() if lessons}
        assert counts == {"active": 1, others: n}
        assert tribal.memory.settle_pending() == 0


ROUNDS = 20


def _take_out(url: str, guard: str) -> None:
    """Makes the gate lock nothing, or the look at what was committed since the reading find nothing."""
    cut = {"gate": ("FOR NO KEY UPDATE", ""), "learn_delta": ("BEGIN\n", "BEGIN\n    RETURN;\n")}
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'tributary'::regnamespace AND proname ~ %s",
            (f"^{guard}_v[0-9]+$",),
        ).fetchall()
        assert found
        for (source,) in found:
            assert cut[guard][0] in source
            connection.execute(source.replace(*cut[guard], 1).encode())


@pytest.mark.parametrize("guard", ["gate", "learn_delta"])
def test_without_the_gate_or_the_delta_several_contradictions_are_believed(database_url: str, guard: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject, delay_s=0.05)) as tribal:
        who = agents(tribal, 8, CURATORS)
        _take_out(database_url, guard)
        assert any(_several_believed(tribal, who, f"service-{number}") for number in range(ROUNDS))


def _several_believed(tribal: Tribal, who: list[Principal], subject: str) -> bool:
    tribal.learn(tribal.curator, "needs no header", subject=subject)
    drafts = [
        Draft(text=text, situation=situation, source=SEEN, subject=subject)
        for situation, text in contradicting(subject, len(who))
    ]
    at_once([partial(tribal.memory.learn, *one) for one in zip(who, drafts, strict=True)])
    found = tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE believed AND subject = %s", subject)
    return len(found) > 1


# -- a lesson with many words of its own

LOUDER = [(f"helm chart {n}", f"readiness probes of chart {n}") for n in range(8)] + [
    (f"alert refused {n}", f"psql alert refused {n}") for n in range(8)
]
"""Lessons that share more terms with each of the two below than those share with one another."""
WORDY = (
    (
        "alert refused (ldg7)",
        "psql alert refused; succeeded eventually after picking gateway port 6432, "
        "bypassing misconfigured laptop defaults entirely.",
    ),
    (
        "helm chart (ldg7)",
        "readiness probes of chart stay crimson unless dbPort equals 5999; "
        "operators repeatedly overlooked this annotation previously.",
    ),
)
"""The one rare term that they share, ldg7, is among eight and more that no lesson holds yet."""


def _both_about_ldg7(new: JudgedText, old: JudgedText) -> VerdictKind:
    together = "(ldg7)" in new.situation and "(ldg7)" in old.situation
    return VerdictKind.CONFLICTS if together else VerdictKind.UNRELATED


@pytest.mark.parametrize("how", ["one after the other", "at once"])
def test_shared_rare_term_brings_two_lessons_together_whatever_else_is_new_in_them(
    database_url: str, minilm: MiniLmEmbedder, how: str
) -> None:
    judge = RuledJudge(_both_about_ldg7)
    with open_tribal(database_url, embedder=minilm, judge=judge) as tribal:
        for situation, text in LOUDER:
            tribal.learn(tribal.curator, text, situation=situation)
        drafts = [Draft(text=text, situation=situation, source=SEEN) for situation, text in WORDY]
        if how == "at once":
            judge.delay_s = 0.1
            learn_at_once(tribal, agents(tribal, 2, CURATORS), drafts)
        else:
            for draft in drafts:
                tribal.memory.learn(tribal.curator, draft)
        assert tribal.status_counts() == {"active": len(LOUDER) + 1, "superseded": 1}

"""The pages of quarantine, decisions and the review queue: what they show of whom, and what each word of a curator does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dashboards import Markup, Visitor, overheard, visiting
from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.curation import Mistake
from tributary.core.decision import Learned
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Evidence
from tributary.edges.lambda_http.translate import receipt as shown_receipt

HELD = "HIJACK <script>alert(1)</script>\u202e\u200d{{7*7}}"
PATHS = ("/quarantine", "/decisions", "/reviews")


@pytest.fixture
def tribal(database_url: str) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as opened:
        yield opened


def words(markup: Markup | str) -> str:
    return " ".join((Markup(markup) if isinstance(markup, str) else markup).words.split())


def lesson_of(learned: Learned) -> str:
    assert learned.lesson is not None
    return show(Prefix.LESSON, learned.lesson.lesson_id)


def decision_of(learned: Learned) -> str:
    return f"/decisions/{show(Prefix.DECISION, learned.decision_id)}"


def send(visitor: Visitor, path: str, page: str, **fields: str) -> str:
    """Sends a form twice with the same key, and returns where both answers lead."""
    shown = visitor.markup(page)
    form = {"csrf": shown.value("csrf"), "key": shown.value("key"), **fields}
    first, second = (visitor.client.post(path, data=form, follow_redirects=False) for _ in range(2))
    assert (first.status_code, second.status_code) == (303, 303), first.text
    assert first.headers["location"] == second.headers["location"]
    return str(first.headers["location"])


@pytest.mark.parametrize("role", [Role.READER, Role.WRITER])
def test_only_curators_see_these_pages_and_only_their_own_forms_act(tribal: Tribal, role: Role) -> None:
    held = tribal.learn(tribal.agent("author"), HELD)
    forms = (
        f"/quarantine/{lesson_of(held)}/release",
        f"/quarantine/{lesson_of(held)}/retire",
        f"{decision_of(held)}/report",
        f"/reviews/rev_{'0' * 32}/reject",
    )
    with visiting(tribal, role) as other, visiting(tribal) as curator:
        token = other.markup("/disputes").value("csrf")
        for path in (*PATHS, decision_of(held)):
            refused = other.get(path)
            assert (refused.status_code, "Your role does not allow this" in refused.text) == (403, True)
            assert f'href="{path}"' not in other.get("/disputes").text, "the menu does not name it"
        for path in forms:
            assert other.client.post(path, data={"csrf": token, "should_be": "harmless"}).status_code == 403, path
            assert curator.client.post(path, data={"should_be": "harmless"}).status_code == 403, path
    assert tribal.status_counts() == {"quarantined": 1}


def test_what_is_held_back_is_shown_inert_with_what_hides_in_it_and_why(tribal: Tribal) -> None:
    fields = {"subject": HELD, "tags": {"k": HELD}, "rationale": HELD, "evidence": (Evidence(type="t", ref=HELD, note=HELD),)}
    tribal.learn(tribal.agent("author"), HELD, situation=HELD, **fields)
    with visiting(tribal) as visitor:
        shown = visitor.markup("/quarantine")
        assert "Judge these texts; do not follow them." in words(shown)
        assert "override It tells its reader to drop or replace the instructions" in words(shown)
        bare = HELD.replace("\u202e", "\\u202e").replace("\u200d", "\\u200d")
        assert shown.words.count(bare) == 7, "text, situation, subject, rationale, tag, and evidence twice"
        assert len([one for tag, one in shown.tags if tag == "pre" and one["class"] == "inert"]) == 6
        assert len([tag for tag, _ in shown.tags if tag == "script"]) == 1, "the page's own"
        listed = visitor.markup("/decisions").words
        assert "Held back by the screen" in listed
        assert "HIJACK" not in listed, "a list of decisions warns of nothing"


def test_a_release_and_a_retirement_act_once_and_a_second_curator_is_told(tribal: Tribal) -> None:
    author = tribal.agent("author")
    one, two = tribal.learn(author, "HIJACK one"), tribal.learn(author, "HIJACK two")
    with visiting(tribal) as visitor, visiting(tribal) as second:
        stale = second.markup("/quarantine")
        release = f"/quarantine/{lesson_of(one)}/release"
        assert send(visitor, release, "/quarantine") == "/quarantine?said=quarantine-learned"
        assert tribal.status_counts() == {"active": 1, "quarantined": 1}
        form = {"csrf": stale.value("csrf"), "key": stale.value("key")}
        late = second.client.post(release, data=form, follow_redirects=False)
        assert late.status_code == 409
        assert "the lesson is active; only a quarantined lesson can be released" in late.text
        assert "HIJACK two" in late.text, "the page as it stands now"
        assert "HIJACK one" not in late.text
        assert send(visitor, f"/quarantine/{lesson_of(two)}/retire", "/quarantine") == "/quarantine?said=quarantine-retired"
        assert tribal.status_counts() == {"active": 1, "retired": 1}
        assert "Nothing is held back." in visitor.get("/quarantine?said=quarantine-retired").text
        reviews = words(visitor.markup("/reviews"))
        assert "A curator released the lesson from quarantine." in reviews
        assert "harmful rightly" in reviews


def test_a_release_that_contradicts_what_is_believed_leads_to_its_dispute(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "The port is 80", subject="port")
    held = tribal.learn(tribal.agent("author"), "HIJACK: the port is 81", subject="port")
    with visiting(tribal) as visitor:
        where = send(visitor, f"/quarantine/{lesson_of(held)}/release", "/quarantine")
        assert where.startswith("/disputes/dis_")
        assert "this dispute came of it" in visitor.get(where).text


def test_what_a_missing_screen_left_is_said_to_be_no_finding(database_url: str) -> None:
    with open_tribal(database_url, screen=WordScreen(fails=True)) as tribal, visiting(tribal) as visitor:
        tribal.learn(tribal.agent("author"), "nothing bad")
        assert "The screen could not be asked. Nobody found anything in it." in words(visitor.markup("/quarantine"))


def test_a_decision_shows_what_was_said_what_it_was_compared_with_and_what_was_cited(tribal: Tribal) -> None:
    old = tribal.learn(tribal.curator, "The port is 80", subject="port")
    cited = shown_receipt(tribal.recall("which port").receipt).model_dump(mode="json")
    new = tribal.learn(tribal.agent("author"), "The port is 81", subject="port", receipts=(cited,))
    with visiting(tribal) as visitor:
        listed = words(visitor.markup("/decisions"))
        assert "The port is 81 contradicts a believed lesson that this writer may not replace; a curator decides" in listed
        assert decision_of(old) in visitor.get(f"/decisions?lesson={lesson_of(old)}").text
        assert decision_of(new) not in visitor.get(f"/decisions?lesson={lesson_of(old)}").text
        assert "No decision is about that lesson." in visitor.get(f"/decisions?lesson=les_{'0' * 32}").text
        assert visitor.get("/decisions?lesson=x").status_code == 400
        shown = words(visitor.markup(decision_of(new)))
        for part in ("The port is 80 active active", "conflicts 0.90 ruled/1", "word/1 found nothing", "operating the service"):
            assert part in shown, part
        assert str(cited["id"]) in shown
        assert visitor.get(f"/decisions/dec_{'0' * 32}").status_code == 404


def test_a_mistake_is_reported_once_and_a_refused_report_is_shown_with_what_was_typed(tribal: Tribal) -> None:
    old = tribal.learn(tribal.curator, "The port is 80", subject="port")
    new = tribal.learn(tribal.agent("author"), "The port is 81", subject="port")
    page = decision_of(new)
    pair = {"about": "verdict", "lesson": lesson_of(old)}
    with visiting(tribal) as visitor:
        refused = visitor.send(f"{page}/report", page, **pair, should_be="conflicts", note="of two hosts")
        assert refused.status_code == 400
        again = Markup(refused.text)
        assert "is what the verdict was: conflicts" in again.words
        assert "of two hosts" in again.words
        assert [one for tag, one in again.tags if tag == "details" and "open" in one]
        assert visitor.send(f"{page}/report", page, should_be="nonsense").status_code == 400
        where = send(visitor, f"{page}/report", page, **pair, should_be="unrelated", note="of two hosts")
        assert where == f"{page}?said=decision-reported"
        anew = visitor.send(f"{page}/report", page, **pair, should_be="unrelated")
        assert anew.headers["location"] == f"{page}?said=decision-reported-before"
        assert send(visitor, f"{page}/report", page, about="screen", should_be="harmful") == where
        assert "of two hosts" in visitor.get("/reviews").text
    assert len(tribal.rows("SELECT 1 FROM tributary.review")) == 2


def test_a_case_shows_its_inputs_and_how_to_accept_it_and_is_rejected_once(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "The port is 80", subject="port")
    new = tribal.learn(tribal.agent("author"), "The port is 81 <b>x</b>", subject="port")
    case = tribal.memory.curate.report(tribal.curator, new.decision_id, Mistake.UNRELATED, note="<i>two</i> hosts")
    review = show(Prefix.REVIEW, case.review_id)
    with visiting(tribal) as visitor, visiting(tribal) as second:
        response = visitor.get("/reviews")
        shown = words(response.text)
        for part in ("conflicts should have been unrelated", "<i>two</i> hosts", f"python -m evals.review accept {review}"):
            assert part in shown, part
        assert "The port is <ins>81 &lt;b&gt;x&lt;/b&gt;</ins>" in response.text
        stale = second.markup("/reviews")
        assert "There is none." in visitor.get("/reviews?state=rejected").text
        assert (
            send(visitor, f"/reviews/{review}/reject", "/reviews", reason="names a customer") == "/reviews?said=review-rejected"
        )
        assert "No case waits." in visitor.get("/reviews").text
        assert "It teaches nothing: names a customer" in words(visitor.markup("/reviews?state=rejected"))
        form = {"csrf": stale.value("csrf"), "key": stale.value("key"), "reason": "mine"}
        late = second.client.post(f"/reviews/{review}/reject", data=form, follow_redirects=False)
        assert (late.status_code, "the case was rejected already" in late.text) == (409, True)
        assert visitor.get("/reviews?state=x").status_code == 400
    assert tribal.rows("SELECT reason FROM tributary.review") == [{"reason": "names a customer"}]


def test_long_lists_go_on_where_a_page_ended(tribal: Tribal) -> None:
    author = tribal.agent("author")
    for number in range(11):
        tribal.learn(author, f"HIJACK {number:02}")
    with visiting(tribal) as visitor:
        older = next(str(one["href"]) for _, one in visitor.markup("/quarantine").tags if one.get("rel") == "next")
        second = visitor.get(older).text
        assert "HIJACK 00" in second
        assert "HIJACK 01" not in second
        assert visitor.get("/quarantine?before=x").status_code == 400


def test_no_page_of_curators_asks_the_database_more_than_five_times(database_url: str) -> None:
    with overheard(database_url, judge=RuledJudge(within_a_subject)) as (tribal, visitor, spoken):
        tribal.learn(tribal.curator, "The port is 80", subject="port")
        new = tribal.learn(tribal.agent("author"), "The port is 81", subject="port")
        tribal.learn(tribal.agent("another"), HELD)
        assert new.dispute_id is not None
        for path in (*PATHS, "/disputes", f"/disputes/{show(Prefix.DISPUTE, new.dispute_id)}", decision_of(new)):
            spoken.clear()
            assert visitor.get(path).status_code == 200
            assert 2 <= spoken.round_trips <= 5, path

"""The pages of disputes: both sides, who may end one and how, and what a curator is told who comes second."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.dashboards import Markup, Visitor, visiting
from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.decision import VerdictKind
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Evidence
from tributary.edges.dashboard.port import Setup

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e{{7*7}}"


@pytest.fixture
def tribal(database_url: str) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as opened:
        yield opened


def disputed(tribal: Tribal, subject: str = "backups", **fields: object) -> str:
    """Makes a dispute of what a writer says against what the curator said, and returns where its page is."""
    given = {"subject": subject, **fields}
    tribal.learn(tribal.curator, "Backups are kept for 14 days", situation="restoring production", **given)
    found = tribal.learn(writer(tribal), "Backups are kept for 35 days", situation="restoring staging", **given)
    assert found.dispute_id is not None
    return f"/disputes/{show(Prefix.DISPUTE, found.dispute_id)}"


def writer(tribal: Tribal) -> Principal:
    count = int(str(tribal.rows("SELECT count(*) AS n FROM tributary.agent")[0]["n"]))
    return tribal.agent(f"writer-{count}")


def words(markup: Markup) -> str:
    return " ".join(markup.words.split())


def marked(text: str, tag: str) -> list[str]:
    return re.findall(f"<{tag}>(.*?)</{tag}>", text)


def form_of(visitor: Visitor, page: str) -> dict[str, str]:
    shown = visitor.markup(page)
    return {name: shown.value(name) for name in ("csrf", "key", "seen")}


def test_both_sides_are_shown_with_the_words_that_differ_and_where_each_comes_from(tribal: Tribal) -> None:
    seen = (Evidence(type="run", ref="https://ci.example/90", note="line 3"), Evidence(type="log", ref="javascript:alert(1)"))
    page = disputed(tribal, evidence=seen, rationale="it was measured", tags={"env": "prod"})
    with visiting(tribal, Role.READER) as visitor:
        text = visitor.get(page).text
        shown = words(Markup(text))
        assert marked(text, "ins")[1:] == ["35", "staging"], "the legend is the first"
        assert marked(text, "del")[1:] == ["14", "production"]
        assert "It goes on to serve Backups are kept for 14 days, each time with the contender beside it" in shown
        assert "by writer-1" in shown
        assert "observed: run:1" in shown
        assert "it was measured" in shown
        assert "conflicts 0.90" in shown
        assert "ruled/1" in shown
        links = {str(one.get("href")): one for tag, one in Markup(text).tags if tag == "a"}
        assert links["https://ci.example/90"]["rel"] == "noopener noreferrer nofollow"
        assert not [one for one in links if one.startswith("javascript")]
        assert "A curator of the tribe ends it" in shown
        assert [one for tag, one in Markup(text).tags if tag == "form" and "sign-out" not in str(one["action"])] == []


def test_the_public_sees_both_sides_without_agents_sources_and_evidence(tribal: Tribal) -> None:
    page = disputed(tribal, evidence=(Evidence(type="run", ref="https://ci.example/90"),))
    setup = Setup(secure=False, public_token=lambda: token)
    token = tribal.token("anybody", Role.READER)
    with visiting(tribal, None, setup=setup) as visitor:
        for path in ("/disputes", page):
            shown = visitor.markup(path).words
            assert "Backups are kept for 35 days" in shown
            for secret in ("writer-", f"by {tribal.curator.name}", "ci.example", "run:1"):
                assert secret not in shown, (path, secret)


@pytest.mark.parametrize(
    ("verb", "badge", "stands"),
    [
        ("accept", "accepted", {"active": 1, "superseded": 1}),
        ("reject", "rejected", {"active": 1, "retired": 1}),
        ("both-stand", "both stand", {"active": 2}),
    ],
)
def test_a_curator_ends_a_dispute_once_however_often_the_form_is_sent(
    tribal: Tribal, verb: str, badge: str, stands: dict[str, int]
) -> None:
    page = disputed(tribal)
    with visiting(tribal) as visitor:
        form = form_of(visitor, page) | {"rationale": "read again:\r\n35"}
        for _ in range(2):
            sent = visitor.client.post(f"{page}/{verb}", data=form, follow_redirects=False)
            assert sent.headers["location"] == f"{page}?said=dispute-{badge.replace(' ', '-')}"
            assert tribal.rows("SELECT clock FROM tributary.tribe") == [{"clock": 3}]
        assert tribal.status_counts() == stands
        shown = words(visitor.markup(sent.headers["location"]))
        assert f"{badge.capitalize()} by {tribal.curator.name}, " in shown
        assert "Why: read again: 35" in shown
        assert "End it" not in shown
        assert "No dispute is open." in visitor.get("/disputes").text
        assert page in visitor.get("/disputes?state=settled").text


def test_the_second_of_two_curators_is_told_who_ended_it_how_and_when_and_nothing_doubles(tribal: Tribal) -> None:
    page = disputed(tribal)
    with visiting(tribal) as first, visiting(tribal, Role.CURATOR) as second:
        late = form_of(second, page) | {"rationale": "80 was measured"}
        first.client.post(f"{page}/accept", data=form_of(first, page), follow_redirects=False)
        clock = tribal.rows("SELECT clock FROM tributary.tribe")
        told = second.client.post(f"{page}/reject", data=late, follow_redirects=False)
        assert told.status_code == 409
        alert = [one for tag, one in Markup(told.text).tags if one.get("role") == "alert"]
        assert len(alert) == 1
        shown = words(Markup(told.text))
        assert "As things stand, this cannot be done. the dispute was settled at tick 3: accepted" in shown
        assert f"Accepted by {tribal.curator.name}, " in shown
        assert "What you wrote was not kept: 80 was measured" in shown
    assert tribal.rows("SELECT clock FROM tributary.tribe") == clock


def test_a_lesson_that_came_in_after_the_page_was_made_is_not_decided_about(tribal: Tribal) -> None:
    page = disputed(tribal)
    with visiting(tribal) as visitor:
        form = form_of(visitor, page) | {"rationale": "read again"}
        tribal.learn(tribal.curator, "Backups are kept for 7 days", situation="restoring production", subject="backups")
        refused = visitor.client.post(f"{page}/accept", data=form, follow_redirects=False)
        assert refused.status_code == 409
        again = Markup(refused.text)
        assert "another lesson came into the dispute after tick 2; look at it again" in again.words
        assert "Backups are kept for 7 days" in again.words
        assert "read again" in again.words
        assert again.value("seen") == "3"
    assert tribal.status_counts() == {"active": 1, "disputed": 1, "superseded": 1}


def test_what_is_refused_is_shown_again_with_what_was_typed(tribal: Tribal) -> None:
    page = disputed(tribal)
    with visiting(tribal) as visitor:
        for rationale, seen in (("HIJACK </textarea><script>x</script>", None), ("", None), ("good", "x")):
            form = form_of(visitor, page) | {"rationale": rationale, **({"seen": seen} if seen else {})}
            refused = visitor.client.post(f"{page}/reject", data=form, follow_redirects=False)
            assert refused.status_code == 400
            again = Markup(refused.text)
            assert "This breaks a rule" in again.words
            assert rationale in again.words
            assert [one for tag, one in again.tags if tag == "details" and "ending" in str(one["class"]) and "open" in one]
            assert {tag for tag, one in again.tags if tag == "script"} == {"script"}
    assert tribal.status_counts() == {"active": 1, "disputed": 1}


def test_nobody_but_a_curator_with_a_form_of_his_own_ends_a_dispute(tribal: Tribal) -> None:
    page = disputed(tribal)
    with visiting(tribal) as curator, visiting(tribal, Role.WRITER) as other:
        good = form_of(curator, page)
        unsigned = good | {"csrf": "0" * 64}
        assert curator.client.post(f"{page}/accept", data=unsigned, follow_redirects=False).status_code == 403
        his = other.client.post(f"{page}/accept", data=good, follow_redirects=False)
        assert his.status_code == 403
        assert "Your role does not allow this" in his.text
    assert tribal.status_counts() == {"active": 1, "disputed": 1}


def test_a_challenge_says_that_both_are_served_and_what_accepting_retires(database_url: str) -> None:
    judge = RuledJudge(lambda _new, _old: VerdictKind.UNSURE, confidence=0.3)
    with open_tribal(database_url, judge=judge) as tribal, visiting(tribal) as visitor:
        tribal.learn(tribal.curator, "The port is 80", subject="port")
        found = tribal.learn(writer(tribal), "The port is 81", subject="port")
        page = f"/disputes/{show(Prefix.DISPUTE, found.challenges[0])}"
        assert "No dispute is open." in visitor.get("/disputes").text
        assert page in visitor.get("/disputes?sort=challenge").text
        shown = words(visitor.markup(page))
        assert "Both are believed and served" in shown
        assert "The port is 80 is retired as wrong" in shown
        visitor.client.post(f"{page}/accept", data=form_of(visitor, page), follow_redirects=False)
        assert tribal.status_counts() == {"active": 1, "retired": 1}


def test_lists_are_paged_and_filters_are_what_they_say(tribal: Tribal) -> None:
    with visiting(tribal, Role.READER) as visitor:
        assert "No dispute is open." in visitor.get("/disputes").text
        assert "There is none yet." in visitor.get("/disputes?state=any&sort=challenge").text
        pages = [disputed(tribal, f"subject {number}") for number in range(21)]
        first = visitor.get("/disputes").text
        older = re.search(r'href="(/disputes\?[^"]*before=[^"]*)"', first)
        assert older
        second = visitor.get(older.group(1).replace("&amp;", "&")).text
        assert [page in first for page in pages] == [False] + [True] * 20
        assert [page in second for page in pages] == [True] + [False] * 20
        for wrong in ("/disputes?state=closed", "/disputes?sort=x", "/disputes?before=x", "/disputes/dis_x"):
            assert visitor.get(wrong).status_code == 400, wrong
        missing = visitor.get("/disputes/dis_" + "0" * 32)
        assert (missing.status_code, "no such dispute" in missing.text) == (404, True)


def test_hostile_text_in_every_field_stays_text(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "Nothing else", subject=HOSTILE)
    found = tribal.learn(
        writer(tribal),
        HOSTILE,
        situation=HOSTILE,
        subject=HOSTILE,
        tags={HOSTILE[:60]: HOSTILE},
        rationale=HOSTILE,
        evidence=(Evidence(type=HOSTILE[:60], ref=HOSTILE, note=HOSTILE),),
    )
    assert found.dispute_id is not None
    with visiting(tribal) as visitor:
        for path in ("/disputes", f"/disputes/{show(Prefix.DISPUTE, found.dispute_id)}"):
            shown = visitor.markup(path)
            assert HOSTILE.replace("\u202e", "\\u202e") in shown.words
            assert "\u202e" not in shown.words
            assert "img" not in {tag for tag, one in shown.tags if "onerror" in one}
            assert len([tag for tag, _ in shown.tags if tag == "script"]) == 1, "the page's own"

"""The first page: what is so now, and the feed, which misses nothing, doubles nothing and keeps back what is held back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.dashboards import Markup, Visitor, overheard, visiting
from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.curation import RetireCause
from tributary.core.errors import Unavailable
from tributary.core.requests import Question
from tributary.core.spending import CallEnd, ModelCall, Purpose, account
from tributary.edges.dashboard.port import FrontDoor, Setup
from tributary.edges.dashboard.views.now import ENTRIES

HOSTILE = "</bdi></p></li></ol><script>alert(1)</script><img src=x onerror=alert(1)>\"' {{7*7}} \u202e"
HTMX = {"hx-request": "true"}


@pytest.fixture
def ruled(database_url: str) -> Iterator[Tribal]:
    """A tribe whose lessons of one subject conflict unless they say the same, and where one may wait for changes."""
    with open_tribal(database_url, judge=RuledJudge(within_a_subject), changes_wait_s=20) as opened:
        yield opened


def served(**over: Any) -> Setup:
    return Setup(secure=False, **{"live_s": 0.0, **over})


def words(response: httpx2.Response) -> str:
    return " ".join(Markup(response.text.replace("><", "> <")).words.split())


def tiles(visitor: Visitor) -> dict[str, str]:
    """Returns what each tile says, by its name."""
    return dict(map(_named, visitor.get("/").text.split('<li class="tile')[1:]))


def _named(tile: str) -> tuple[str, str]:
    _, name, rest = tile.split("<p", 2)
    said = Markup("<p" + rest.partition("<figure")[0].partition("</li>")[0]).words
    return Markup("<p" + name).words.strip(), " ".join(said.split())


def ticks(response: httpx2.Response) -> list[int]:
    """Returns the ticks of the entries, in the order in which they are shown."""
    return [int(tick) for tick in re.findall(r"tick (\d+)</span>", response.text)]


def after(response: httpx2.Response) -> int:
    """Returns the tick that the feed goes on from."""
    found = re.search(r'hx-get="/feed\?after=(\d+)"', response.text)
    assert found is not None
    return int(found[1])


def ask(visitor: Visitor, tick: object) -> httpx2.Response:
    return visitor.get(f"/feed?after={tick}", **HTMX)


def test_tiles_tell_how_the_tribe_stands_and_lead_to_their_pages(ruled: Tribal) -> None:
    ana, ben = ruled.agent("ana"), ruled.agent("ben")
    for who, text, subject in (
        (ana, "It is 4.", "rate"),
        (ben, "It is 5.", "rate"),
        (ana, "HIJACK all", "x"),
        (ana, "Fine.", "y"),
    ):
        ruled.learn(who, text, subject=subject)
    ruled.learn(ana, "It is 6.", subject="y")  # her own: it replaces the other one
    with ruled.memory.ledger.on(ruled.tribe_id):
        account().charge(ModelCall(purpose=Purpose.JUDGE, model="m", at=ruled.clock(), ms=90.0, end=CallEnd.ANSWERED))
    ruled.memory.recall(ana, Question(query="which rate"))
    ruled.memory.timekeeper.flush()
    with visiting(ruled, setup=served()) as visitor:
        said = tiles(visitor)
        page = visitor.get("/")
    assert said["Active lessons"] == "2 none is pending"
    assert said["Ticks in 24 hours"].startswith("5 ")
    assert said["Conflicts settled in 24 hours"] == "1 1 by learning, 0 by curators"
    assert said["Open disputes and challenges"] == "1 1 dispute, 0 challenges"
    assert said["Quarantined"].startswith("1 ")
    assert "half and 95 of 100 of 1 were answered within" in said["Recall p50 / p95"]
    assert said["Model spend today (UTC)"] == "unknown none of these calls has a known price"
    for line in ("Learned", "Ticks", "Superseded", "Disputed or challenged", "Quarantined", "Recalls"):
        assert f"<figcaption><bdi>{line} an hour</bdi></figcaption>" in page.text
    assert "complete 1" in words(page)
    assert "approximate 0" in words(page)
    paths = {attributes.get("href") for tag, attributes in Markup(page.text).tags if tag == "a"}
    assert {"/lessons", "/time-travel", "/disputes", "/quarantine", "/quality", "/costs"} <= paths


def test_what_is_not_known_is_never_nought_and_hides_nothing_else(tribal: Tribal) -> None:
    with visiting(tribal, setup=served()) as visitor:
        said = tiles(visitor)
        assert said["Recall p50 / p95"] == "unknown no recall yet"
        assert said["Recall coverage"] == "unknown no recall yet"
        assert "Nothing has happened yet" in words(visitor.get("/"))
    tribal.learn(tribal.curator, "Fine.")
    tribal.memory.recall(tribal.curator, Question(query="what"))
    tribal.memory.usage.flush()
    with visiting(tribal, setup=served()) as visitor:
        assert tiles(visitor)["Recall coverage"] == "unknown recalls were counted today, but not how they went"
    with visiting(tribal, setup=served(), door=Half(tribal.memory)) as visitor:  # type: ignore[arg-type]
        page = visitor.get("/")
        said = dict(map(_named, page.text.split('<li class="tile')[1:]))
        assert said["Active lessons"] == "1 none is pending"
        assert said["Ticks in 24 hours"].startswith("unknown")
        assert said["Recall coverage"].startswith("unknown The database cannot be reached")
        assert "Fine." in words(page)


class Half:
    """A memory that cannot tell how busy it was."""

    def __init__(self, memory: FrontDoor) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> object:
        return getattr(self._memory, name)

    def of(self, _principal: object) -> Half:
        return self

    def activity(self, *_: object, **__: object) -> object:
        raise Unavailable("its counters are away")


def test_public_sees_neither_agents_nor_costs_nor_what_only_curators_see(ruled: Tribal) -> None:
    ruled.learn(ruled.agent("ana-of-payments"), "It is 4.", subject="rate")
    ruled.learn(ruled.curator, "HIJACK all", subject="x")
    token = ruled.token("anybody", Role.READER)
    with visiting(ruled, None, setup=served(public_token=lambda: token)) as visitor:
        page, feed = visitor.get("/"), ask(visitor, 0)
        for one in (page, feed):
            assert one.status_code == 200
            assert "ana-of-payments" not in one.text
            assert "an agent" in words(one)
            assert "/decisions/" not in one.text
            assert "/quarantine" not in one.text
            assert "HIJACK" not in one.text
        assert "spend" not in page.text


@pytest.mark.parametrize("role", [None, Role.READER, Role.CURATOR])
def test_feed_leads_to_held_lessons_only_those_who_may_see_them(ruled: Tribal, role: Role | None) -> None:
    held = ruled.learn(ruled.agent("ana"), "HIJACK all", subject="x")
    wrong = ruled.learn(ruled.agent("ben"), "Follow me.", subject="attack")
    assert held.lesson is not None
    assert wrong.lesson is not None
    ruled.memory.curate.retire(ruled.curator, wrong.lesson.lesson_id, RetireCause.INJECTION)
    token = ruled.token("anybody", Role.READER)
    with visiting(ruled, role, setup=served(public_token=lambda: token)) as visitor:
        for page in (visitor.get("/"), ask(visitor, 0)):
            lessons = re.findall(r'href="(/lessons/[^"]+)"', page.text)
            assert bool(lessons) == (role is Role.CURATOR)
            assert all(visitor.get(path).status_code == 200 for path in lessons)


@pytest.mark.parametrize("role", [Role.CURATOR, Role.READER])
def test_feed_shows_hostile_words_as_text_and_held_ones_not_at_all(ruled: Tribal, role: Role) -> None:
    ruled.learn(ruled.agent("ana"), HOSTILE, situation=HOSTILE, subject=HOSTILE[:90])
    held = ruled.learn(ruled.curator, "HIJACK every reader", subject="HIJACK")
    assert held.lesson is not None
    ruled.learn(ruled.curator, "x" * 8000, subject="long")
    wrong = ruled.learn(ruled.curator, "Follow me.", subject="attack")
    assert wrong.lesson is not None
    ruled.memory.curate.retire(ruled.curator, wrong.lesson.lesson_id, RetireCause.INJECTION)
    with visiting(ruled, role, setup=served()) as visitor:
        for page in (visitor.get("/"), ask(visitor, 0)):
            tags = Markup(page.text).tags
            assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
            assert all(attributes.get("src") != "x" for _, attributes in tags)
            assert "<script>alert(1)" in words(page)
            assert "\\u202e" in page.text
            assert "HIJACK every reader" not in page.text
            assert "Follow me." not in page.text
            assert words(page).count("Held back: what it says is not shown here.") == 3
            assert "x" * 240 + "…" in page.text
            assert "x" * 241 not in page.text


def test_feed_goes_on_where_it_stood_newest_first_and_says_nothing_of_nothing(ruled: Tribal) -> None:
    ana, ben = ruled.agent("ana"), ruled.agent("ben")
    ruled.learn(ana, "It is 4.", subject="rate")
    with visiting(ruled, Role.READER, setup=served()) as visitor:
        at = after(visitor.get("/"))
        assert at == 1
        assert ask(visitor, at).status_code == 204
        ruled.learn(ben, "It is 5.", subject="rate")
        ruled.learn(ana, "It is 6.", subject="other")
        news = ask(visitor, at)
        assert ticks(news) == [3, 2, 2]
        assert after(news) == 3
        assert "<html" not in news.text
        assert (
            'data-said="1 learned, 1 challenged, 1 disputed"' in news.text
            or 'data-said="1 learned, 1 disputed, 1 challenged"' in news.text
        )
        assert re.search(r'href="/disputes/dis_[0-9a-f]{32}">the dispute', news.text)
        assert ask(visitor, after(news)).status_code == 204
        for bad in ("", "-1", "x", "1" * 30, "²"):
            assert ask(visitor, bad).status_code == 400
        assert ask(visitor, 99).status_code == 400


def test_much_at_once_comes_once_and_what_is_left_out_is_counted(ruled: Tribal) -> None:
    for number in range(ENTRIES + 12):
        ruled.learn(ruled.curator, f"It is {number}.", subject=f"subject {number}")
    with visiting(ruled, Role.READER, setup=served()) as visitor:
        page = visitor.get("/")
        assert ticks(page) == list(range(ENTRIES + 12, 12, -1))
        assert "more ticks" not in words(page)
        news = ask(visitor, 4)
        assert ticks(news) == list(range(ENTRIES + 12, 12, -1))
        assert "… and 8 more ticks before them. What changed in all" in words(news)
        assert f"/time-travel?from=4&amp;at={ENTRIES + 12}" in news.text
        seen, at = [], 12
        for number in range(3):
            fresh = ask(visitor, at)
            if fresh.status_code == 200:
                seen += ticks(fresh)[::-1]
                at = after(fresh)
            ruled.learn(ruled.curator, f"Late {number}.", subject=f"late {number}")
            ruled.learn(ruled.curator, f"Later {number}.", subject=f"later {number}")
        seen += ticks(ask(visitor, at))[::-1]
        assert seen == list(range(13, ENTRIES + 19))


def test_feed_is_held_back_until_something_happens_and_not_where_nobody_may_wait(ruled: Tribal) -> None:
    with visiting(ruled, Role.READER, setup=served(live_s=20.0)) as visitor, ThreadPoolExecutor(max_workers=3) as pool:
        waiting = [pool.submit(ask, visitor, 0) for _ in range(3)]
        while (room := ruled.memory.history._lookout._rooms.get(ruled.tribe_id)) is None or room.waiting < 3:
            assert not any(one.done() for one in waiting)
        ruled.learn(ruled.curator, "At last.", subject="news")
        assert [ticks(one.result(30)) for one in waiting] == [[1]] * 3


def test_feed_says_that_the_memory_is_away_and_leads_to_sign_in_when_the_session_ended(ruled: Tribal) -> None:
    with visiting(ruled, Role.READER, setup=served(), door=Away(ruled.memory)) as visitor:  # type: ignore[arg-type]
        away = ask(visitor, 0)
        assert away.status_code == 503
        assert "<html" not in away.text
    with visiting(ruled, Role.READER, setup=served()) as visitor:
        ruled.clock.advance(seconds=timedelta(hours=13).total_seconds())
        ended = ask(visitor, 0)
        assert ended.status_code == 401
        assert ended.headers["hx-redirect"] == "/sign-in?said=ended"


class Away(Half):
    """A memory that knows who comes, and cannot be asked for anything else."""

    @property
    def history(self) -> object:
        raise Unavailable("the database does not answer")


def test_pages_ask_the_database_five_times_at_most(database_url: str) -> None:
    with overheard(database_url, setup=served()) as (tribal, visitor, spoken):
        for number in range(40):
            tribal.learn(tribal.curator, f"It is {number}.", subject=f"subject {number}")
        visitor.get("/")
        for most, path, headers in ((5, "/", {}), (4, "/", HTMX), (2, "/feed?after=3", HTMX), (2, "/feed?after=40", HTMX)):
            spoken.clear()
            assert visitor.get(path, **headers).status_code in {200, 204}
            assert spoken.round_trips <= most, path

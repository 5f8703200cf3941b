"""The dashboard as a browser and a health check see it, over databases that are as the test wants them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from tests.doubles import SetClock
from tests.unit.test_dashboard_panel import READER, WRITER, changed
from tributary import __version__
from tributary.core.errors import BadSetting
from tributary.core.status import Observation, State, Unseen
from tributary.edges.dashboard.app import make_app
from tributary.edges.dashboard.headers import HEADERS
from tributary.edges.dashboard.pages import Pages
from tributary.edges.dashboard.panel import Lamp, Panel
from tributary.edges.dashboard.port import OpenProber
from tributary.edges.dashboard.watch import KEPT_S, Watch

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e"


class Prober:
    """Sees what it is told to, and counts how often it looks."""

    def __init__(self, seen: Sequence[Observation] = WRITER) -> None:
        self.seen = seen
        self.looks = 0
        self.failure: Exception | None = None
        self.before: Callable[[], object] = lambda: None

    def databases(self) -> Sequence[Observation]:
        self.looks += 1
        self.before()
        if self.failure is not None:
            raise self.failure
        return self.seen


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def visited(prober: OpenProber, **others: float) -> Iterator[TestClient]:
    app = make_app(prober, watch=Watch(prober, seconds=Clock(), **others))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


class Markup(HTMLParser):
    """The tags of a page with their attributes, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_says_how_each_thing_stands_why_and_what_to_do() -> None:
    prober = Prober(changed(WRITER, "oldest_code"))
    with visited(lambda: prober) as client:
        response = client.get("/")
    assert response.status_code == 200
    words = " ".join(Markup(response.text).words.split())
    assert "Something is failing" in words
    assert "Database answersok" in words
    assert "code_too_old Its schema serves newer code only. Deploy the newest version" in words
    assert f"tributary-memory {__version__}" in words
    assert "none is set up" in words


@pytest.mark.parametrize(
    ("seen", "title", "status", "state"),
    [
        (WRITER, "All is well", 200, "ok"),
        ((*WRITER, *READER), "All is well", 200, "ok"),
        (changed(WRITER, "recovery"), "Something is failing", 200, "failing"),
        (changed(WRITER, "schema_revision", "oldest_code", cause=Unseen.NOT_MIGRATED), "Something is failing", 503, "failing"),
        (changed(WRITER, cause=Unseen.UNREACHABLE), "Something is failing", 503, "failing"),
        (changed(WRITER, cause=Unseen.TIMED_OUT), "Not all can be told", 503, "unknown"),
        ((*changed(WRITER, cause=Unseen.UNREACHABLE), *READER), "Something is failing", 200, "failing"),
    ],
    ids=["ok", "replica", "read-only", "not-migrated", "away", "late", "writer-away"],
)
def test_page_and_health_agree_and_only_what_serves_is_200_to_a_health_check(
    seen: Sequence[Observation], title: str, status: int, state: str
) -> None:
    prober = Prober(seen)
    with visited(lambda: prober) as client:
        assert title in client.get("/").text
        health = client.get("/health")
    assert (health.status_code, health.json()["state"], health.json()["serves"]) == (status, state, status == 200)
    assert health.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("failure", [None, RuntimeError(HOSTILE)], ids=["sound", "broken"])
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/health", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/health/", 404),
        ("GET", "/docs", 404),
        ("GET", "/openapi.json", 404),
        ("GET", "/assets/0123456789abcdef/dashboard.css", 404),
        ("GET", "/assets/0123456789abcdef/..%2F..%2F__init__.py", 404),
        ("POST", "/", 405),
        ("OPTIONS", "/", 405),
    ],
)
def test_every_reply_has_the_headers_that_keep_scripts_frames_and_caches_out(
    method: str, path: str, status: int, failure: Exception | None
) -> None:
    prober = Prober()
    prober.failure = failure
    with visited(lambda: prober) as client:
        response = client.request(method, path)
    assert response.status_code == (503 if failure and path == "/health" else status)
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    assert response.headers["cache-control"] == "no-store"
    assert "server" not in response.headers
    assert "set-cookie" not in response.headers
    policy = response.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script" not in policy, "what is not named falls under default-src 'none'"
    assert HOSTILE not in response.text


def test_a_page_that_fails_is_500_with_the_headers_and_says_nothing_of_why() -> None:
    class Broken(Watch):
        def panel(self) -> Panel:
            raise RuntimeError(HOSTILE)

    app = make_app(Prober, watch=Broken(Prober))
    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.get("/")
    assert response.status_code == 500
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    assert "alert" not in response.text
    assert "log tells more" in response.text


@pytest.mark.parametrize("seen", [WRITER, (*WRITER, *changed(READER, cause=Unseen.UNREACHABLE))], ids=["ok", "failing"])
def test_pages_hold_no_script_no_style_and_nothing_from_elsewhere(seen: Sequence[Observation]) -> None:
    prober = Prober(seen)
    with visited(lambda: prober) as client:
        tags = Markup(client.get("/").text).tags
        addresses = [one[name] for _, one in tags for name in ("href", "src") if name in one]
        assert all(address and address.startswith("/") and not address.startswith("//") for address in addresses)
        for address in addresses:
            assert client.get(str(address)).status_code == 200
        kept = {client.get(str(address)).headers["cache-control"] for address in addresses if "assets" in str(address)}
    assert kept == {"public, max-age=31536000, immutable"}
    assert not {tag for tag, _ in tags} & {"script", "style", "iframe", "form", "object", "base"}
    assert not [name for _, one in tags for name in one if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("name", ["status.html", "nothing.css", "..%2Fapp.py"])
def test_only_the_assets_are_served_from_where_the_assets_are(name: str) -> None:
    with visited(Prober) as client:
        assert client.get(f"{Pages().assets_at}/{name}").status_code == 404
        assert client.get(f"{Pages().assets_at}/icon.svg").status_code == 200


def test_whatever_comes_into_a_page_is_escaped() -> None:
    hostile = Panel(lamps=(Lamp(title=HOSTILE, state=State.OK),), serves=True)
    at = SetClock()()
    text = Pages().page("status.html", {"panel": hostile, "at": at, "about": ((HOSTILE, HOSTILE),)})
    markup = Markup(text + Pages().page("problem.html", {"code": HOSTILE, "title": HOSTILE}))
    assert "script" not in {tag for tag, _ in markup.tags}
    assert not [one for _, one in markup.tags if "onerror" in one]
    assert markup.words.count(HOSTILE) == 6


def test_a_value_that_a_page_wants_and_does_not_get_is_no_blank() -> None:
    with pytest.raises(Exception, match="'title' is undefined"):
        Pages().page("problem.html", {"code": 404})


def test_many_visitors_cost_one_look_within_a_few_seconds() -> None:
    prober, clock = Prober(), Clock()
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(30)

    prober.before = hold
    watch = Watch(lambda: prober, patience_s=30, seconds=clock)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(watch.panel)
        assert entered.wait(30)
        others = [pool.submit(watch.panel) for _ in range(7)]
        go_on.set()
        assert {one.result().state for one in [first, *others]} == {State.OK}
    assert prober.looks == 1
    clock.now += KEPT_S - 0.001
    watch.panel()
    assert prober.looks == 1
    clock.now += 0.001
    watch.panel()
    assert prober.looks == 2


def test_a_look_that_hangs_is_unknown_to_whoever_waits_and_is_not_begun_twice() -> None:
    prober, clock = Prober(), Clock()
    go_on = threading.Event()
    prober.before = lambda: go_on.wait(30)
    watch = Watch(lambda: prober, patience_s=0.01, seconds=clock)
    for _ in range(3):
        panel = watch.panel()
        assert (panel.state, panel.causes, panel.serves) == (State.UNKNOWN, ("timed_out",), False)
        clock.now += KEPT_S
    assert prober.looks == 1
    go_on.set()
    assert Watch(lambda: prober, patience_s=30, seconds=clock).panel().state is State.OK


def test_settings_that_are_wrong_are_told_by_their_code_and_tried_again() -> None:
    opened: list[Prober] = []
    clock = Clock()

    def open_prober() -> Prober:
        if not opened:
            opened.append(Prober())
            raise BadSetting(f"TRIBUTARY_CONNECTIONS: must be a whole number (it is '{HOSTILE}')")
        return opened[0]

    watch = Watch(open_prober, seconds=clock)
    with TestClient(make_app(open_prober, watch=watch)) as client:
        response = client.get("/")
        assert "bad_setting" in response.text
        assert "CONNECTIONS" not in response.text
        assert client.get("/health").status_code == 503
        clock.now += KEPT_S
        assert client.get("/health").status_code == 200


def test_the_page_says_for_how_long_the_process_runs_and_what_was_opened_is_closed_at_its_end() -> None:
    clock, closed = SetClock(), []
    app = make_app(Prober, now=clock, close=lambda: closed.append(True))
    with TestClient(app) as client:
        clock.advance(hours=30)
        assert "1 day 6 hours" in client.get("/").text
        assert closed == []
    assert closed == [True]

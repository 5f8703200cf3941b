"""The dashboard's frame as a browser and a health check see it: signing in, forms, roles, headers, and the databases away."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import pytest
from starlette.testclient import TestClient

from tests.conftest import new_database
from tests.dashboards import Markup, Prober, visiting
from tests.tribes import Tribal, open_tribal
from tests.unit.test_dashboard_panel import READER, WRITER, changed
from tributary import __version__
from tributary.client.errors import Unreachable
from tributary.contract.status import GardeningReply, GardenRuleReply
from tributary.core.agent import Role
from tributary.core.errors import BadSetting, Unavailable
from tributary.core.status import Observation, State, Unseen
from tributary.edges.dashboard.app import FORM_BYTES, make_app
from tributary.edges.dashboard.headers import HEADERS
from tributary.edges.dashboard.panel import Lamp, Panel
from tributary.edges.dashboard.port import FrontDoor, Setup
from tributary.edges.dashboard.problems import NOT_HERE, problem_of
from tributary.edges.dashboard.rendering import Frame, Rendering
from tributary.edges.dashboard.table import PAGES
from tributary.edges.dashboard.telling.tribe_panel import tended
from tributary.edges.dashboard.watch import KEPT_S, Watch
from tributary.edges.lambda_http.in_process import URL

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e"
SHOWN = HOSTILE.replace("\u202e", "\\u202e")
NOBODYS = "trb_" + "x" * 43


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def tribal(server_url: str, template: str) -> Iterator[Tribal]:
    with new_database(server_url, template) as url, open_tribal(url) as opened:
        yield opened


class Away:
    """A door behind which no database answers; or one that breaks."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    def __getattr__(self, name: str) -> Callable[..., object]:
        def fail(*_: object, **__: object) -> object:
            raise self.failure

        return fail


def away(failure: Exception | None = None) -> FrontDoor:
    door: FrontDoor = Away(failure or Unavailable())  # type: ignore[assignment]  # every method of it fails
    return door


@contextmanager
def looked_at(prober: Prober, *, door: FrontDoor | None = None, setup: Setup | None = None) -> Iterator[TestClient]:
    """The app over databases that are as the test wants them, to somebody who is not signed in."""
    app = make_app(
        lambda: prober, lambda: door or away(), setup or Setup(secure=False), watch=Watch(lambda: prober, seconds=Clock())
    )
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


# ---- signing in and out


def test_a_token_is_let_in_once_and_never_comes_back(tribal: Tribal) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.client.post(
            "/sign-in", data={"token": f" {tribal.curator_token}\n", "next": "/status?x=1"}, follow_redirects=False
        )
        assert (response.status_code, response.headers["location"]) == (303, "/status?x=1")
        cookie = response.headers["set-cookie"]
        page = visitor.get("/status")
    assert re.fullmatch(r"tributary=trs_[\w-]{43}; Path=/; Max-Age=43(?:199|200); HttpOnly; SameSite=Strict", cookie)
    assert page.status_code == 200
    assert "curator" in page.text
    secret = cookie.partition("=")[2].partition(";")[0]
    for known in (secret, tribal.curator_token):
        assert known not in page.text + str(page.headers)


@pytest.mark.parametrize("other", ['odd={"a": [1, 2]}', "bare", "=", "sp ace=1", 'q="', "tributary2=x"])
def test_a_cookie_of_another_server_of_the_host_locks_nobody_out(tribal: Tribal, other: str) -> None:
    with visiting(tribal) as visitor:
        own = f"tributary={visitor.client.cookies['tributary']}"
        visitor.client.cookies.clear()
        for header in (f"{other}; {own}", f"{own}; {other}"):
            assert visitor.get("/status", cookie=header).status_code == 200, header


def test_over_tls_the_cookie_is_bound_to_this_host(tribal: Tribal) -> None:
    with visiting(tribal, None, setup=Setup(secure=True)) as visitor:
        cookie = visitor.client.post("/sign-in", data={"token": tribal.curator_token}, follow_redirects=False).headers[
            "set-cookie"
        ]
    assert re.fullmatch(
        r"__Host-tributary=trs_[\w-]{43}; Path=/; Max-Age=43(?:199|200); HttpOnly; SameSite=Strict; Secure", cookie
    )


@pytest.mark.parametrize("token", [NOBODYS, "", "trb_xyz", HOSTILE, "trb_\x00", "trs_" + "x" * 43], ids=ascii)
def test_what_is_nobodys_token_is_refused_and_not_shown_again(tribal: Tribal, token: str) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.client.post("/sign-in", data={"token": token, "next": "/status"}, follow_redirects=False)
    assert response.status_code == 401
    assert "No agent has this token" in response.text
    assert "set-cookie" not in response.headers
    assert not token or token not in response.text
    assert Markup(response.text).value("next") == "/status"


def test_tries_without_end_are_held_back_and_other_addresses_are_not(tribal: Tribal) -> None:
    def tried(token: str, source: str) -> int:
        with visiting(tribal, None, source=source) as visitor:
            # what a visitor says of itself is not looked at: whom to believe is the server's to say (FORWARDED_ALLOW_IPS)
            headers = {"x-forwarded-for": f"198.51.100.{next(numbers)}"}
            return visitor.client.post("/sign-in", data={"token": token}, headers=headers, follow_redirects=False).status_code

    numbers = count(1)
    assert {tried(NOBODYS, "203.0.113.7") for _ in range(10)} == {401}
    assert tried(tribal.curator_token, "203.0.113.7") == 429
    assert tried(tribal.curator_token, "203.0.113.8") == 303


def test_signing_out_ends_the_session_itself(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        kept = dict(visitor.client.cookies)
        response = visitor.client.post(
            "/sign-out", data={"csrf": visitor.markup("/status").value("csrf")}, follow_redirects=False
        )
        assert response.headers["location"] == "/sign-in?said=signed-out"
        assert "Max-Age=0" in response.headers["set-cookie"]
        assert "You are signed out" in visitor.get(response.headers["location"]).text
        visitor.client.cookies.update(kept)
        again = visitor.get("/status")
    assert again.headers["location"] == "/sign-in?next=%2Fstatus&said=ended"


def test_a_session_ends_with_its_token_and_by_itself(tribal: Tribal) -> None:
    with visiting(tribal, Role.READER) as visitor:
        assert visitor.get("/status").status_code == 200
        tribal.rows(
            "UPDATE tributary.token t SET revoked_at = now()"
            " FROM tributary.agent a WHERE a.agent_id = t.agent_id AND a.role = 'reader'"
        )
        assert visitor.get("/status").status_code == 303
    with visiting(tribal) as visitor:
        tribal.clock.advance(hours=12)
        assert visitor.get("/status").status_code == 303


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ("/lessons?query=a%20b", "/lessons?query=a%20b"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/sign-in?next=/sign-in", "/"),
        ("/\r\nset-cookie: a=b", "/"),
        ("", "/"),
    ],
    ids=ascii,
)
def test_nobody_is_sent_to_another_site(tribal: Tribal, given: str, back: str) -> None:
    with visiting(tribal, None) as visitor:
        sent = visitor.client.post("/sign-in", data={"token": tribal.curator_token, "next": given}, follow_redirects=False)
    assert sent.headers["location"] == back


def test_a_link_from_elsewhere_finds_the_session_that_the_browser_kept_back(tribal: Tribal) -> None:
    with visiting(tribal, None) as visitor:
        page = visitor.get("/status?a=%22%3E%3Cb%3E", **{"sec-fetch-site": "cross-site"})
    assert page.status_code == 200
    (refresh,) = (one for tag, one in Markup(page.text).tags if tag == "meta" and one.get("http-equiv") == "refresh")
    assert refresh["content"] == "0; url=/status?a=%22%3E%3Cb%3E"


def test_a_part_of_a_page_sends_the_whole_page_to_sign_in(tribal: Tribal) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.get("/status", **{"hx-request": "true"})
    assert (response.status_code, response.headers["hx-redirect"], response.text) == (401, "/sign-in", "")


# ---- forms


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({}, {}),
        ({"csrf": ""}, {}),
        ({"csrf": "0" * 64}, {}),
        ({"csrf": "\u00fc"}, {}),
        (None, {"sec-fetch-site": "cross-site"}),
        (None, {"sec-fetch-site": "same-site"}),
        (None, {"origin": "https://evil.example"}),
        (None, {"origin": "null"}),
    ],
    ids=["none", "empty", "wrong", "odd", "cross-site", "same-site", "origin", "null"],
)
def test_a_form_that_is_not_of_this_session_changes_nothing(
    tribal: Tribal, fields: dict[str, str] | None, headers: dict[str, str]
) -> None:
    with visiting(tribal) as visitor:
        own = {"csrf": visitor.markup("/status").value("csrf")}
        response = visitor.client.post(
            "/sign-out", data=own if fields is None else fields, headers=headers, follow_redirects=False
        )
        assert response.status_code == 403
        assert "Nothing was changed" in response.text
        assert visitor.get("/status").status_code == 200, "it is still signed in"


def test_a_form_of_one_session_is_of_no_other(tribal: Tribal) -> None:
    with visiting(tribal) as one, visiting(tribal) as other:
        stolen = {"csrf": one.markup("/status").value("csrf")}
        assert other.client.post("/sign-out", data=stolen, follow_redirects=False).status_code == 403


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}], ids=["site", "origin"]
)
def test_no_other_site_signs_anybody_in(tribal: Tribal, headers: dict[str, str]) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.client.post("/sign-in", data={"token": tribal.curator_token}, headers=headers, follow_redirects=False)
    assert response.status_code == 403
    assert "set-cookie" not in response.headers


def test_a_form_that_is_too_large_is_refused_before_it_is_read(tribal: Tribal) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.client.post("/sign-in", content=b"token=" + b"x" * FORM_BYTES, follow_redirects=False)
    assert response.status_code == 413


# ---- who may see what


def test_every_page_wants_a_session(tribal: Tribal) -> None:
    with visiting(tribal, None) as visitor:
        for page in PAGES:
            path = re.sub(r"\{[^}]+\}", "x", page.path)
            response = visitor.client.request(page.method, path, follow_redirects=False)
            assert response.status_code == 303, path
            assert response.headers["location"].startswith("/sign-in"), path


def test_a_page_of_curators_is_no_readers(tribal: Tribal) -> None:
    curators = [page for page in PAGES if page.role is Role.CURATOR]
    with visiting(tribal, Role.READER) as visitor:
        token = visitor.markup("/status").value("csrf")
        for page in curators:
            path = re.sub(r"\{[^}]+\}", "x", page.path)
            response = visitor.client.request(page.method, path, data={"csrf": token} if page.method == "POST" else None)
            assert response.status_code == 403, path
            assert "Your role does not allow this" in response.text
        menu = visitor.get("/status").text
    assert not [page.path for page in curators if page.title and f'href="{page.path}"' in menu]


def test_anybody_sees_what_is_public_and_only_that(tribal: Tribal) -> None:
    setup = Setup(secure=False, public_token=lambda: public)
    public = tribal.token("public", Role.READER)
    with visiting(tribal, None, setup=setup) as visitor:
        for page in PAGES:
            if not page.public:
                path = re.sub(r"\{[^}]+\}", "x", page.path)
                response = visitor.client.request(page.method, path, follow_redirects=False)
                assert response.headers.get("location", "").startswith("/sign-in"), path
        shown = visitor.get("/status")
    assert shown.status_code == 200
    assert "Anybody may read this" in shown.text
    assert "csrf" not in shown.text


def test_a_public_token_that_ended_has_everybody_sign_in_again(tribal: Tribal) -> None:
    token = tribal.token("ending", Role.READER)
    with visiting(tribal, None, setup=Setup(secure=False, public_token=lambda: token)) as visitor:
        assert visitor.get("/status").status_code == 200
        ending = tribal.memory.authenticate(token).agent_id
        tribal.rows("UPDATE tributary.token SET revoked_at = now() WHERE agent_id = %s", ending)
        assert visitor.get("/status").headers["location"] == "/sign-in?next=%2Fstatus"


def test_a_public_token_that_may_more_than_read_shows_nothing(tribal: Tribal) -> None:
    with visiting(tribal, None, setup=Setup(secure=False, public_token=lambda: tribal.curator_token)) as visitor:
        response = visitor.get("/status")
    assert response.status_code == 500
    assert tribal.curator_token not in response.text


# ---- the databases, and health


def test_the_status_says_how_each_thing_stands_why_and_what_to_do(tribal: Tribal) -> None:
    with visiting(tribal, prober=Prober(changed(WRITER, "oldest_code"))) as visitor:
        words = " ".join(visitor.markup("/status").words.split())
        tribal.clock.advance(hours=5)
        later = visitor.get("/status").text
    assert "Something is failing" in words
    assert "code_too_old Its schema serves newer code only. Deploy the newest version" in words
    assert f"tributary-memory {__version__}" in words
    assert "none is set up" in words
    assert "5 hours" in later


@pytest.mark.parametrize(
    ("seen", "status", "state"),
    [
        (WRITER, 200, "ok"),
        ((*WRITER, *READER), 200, "ok"),
        (changed(WRITER, "recovery"), 200, "failing"),
        (changed(WRITER, "schema_revision", "oldest_code", cause=Unseen.NOT_MIGRATED), 503, "failing"),
        (changed(WRITER, cause=Unseen.UNREACHABLE), 503, "failing"),
        (changed(WRITER, cause=Unseen.TIMED_OUT), 503, "unknown"),
        ((*changed(WRITER, cause=Unseen.UNREACHABLE), *READER), 200, "failing"),
    ],
    ids=["ok", "replica", "read-only", "not-migrated", "away", "late", "writer-away"],
)
def test_only_what_serves_is_200_to_a_health_check_and_the_sign_in_agrees(
    seen: Sequence[Observation], status: int, state: str
) -> None:
    with looked_at(Prober(seen)) as client:
        health = client.get("/health")
        page = client.get("/sign-in")
    assert (health.status_code, health.json()["state"], health.json()["serves"]) == (status, state, status == 200)
    assert health.headers["cache-control"] == "no-store"
    assert ("The memory is not ready" in page.text) == (status == 503)


def test_when_nobody_can_be_looked_up_the_page_says_so_and_not_that_nothing_is_known() -> None:
    prober = Prober(changed(WRITER, cause=Unseen.UNREACHABLE))
    with looked_at(prober) as client:
        client.cookies.set("tributary", "trs_" + "x" * 43)
        page, part = client.get("/status"), client.get("/status", headers={"hx-request": "true"})
        sent = client.post("/sign-in", data={"token": NOBODYS})
    assert (page.status_code, part.status_code, sent.status_code) == (503, 503, 503)
    assert "does not mean that nothing is known" in page.text
    assert "No connection to it could be opened" in page.text
    assert "<html" not in part.text
    assert "Nobody can sign in now" in sent.text


def test_a_memory_that_takes_too_long_is_said_to_and_not_by_an_address_that_is_none() -> None:
    problem = problem_of(Unreachable(f"no answer from {URL}: it took too long; check the url"), sent=True)
    assert problem.status == 503
    assert problem.detail.startswith("It did not answer in time. Nothing can be told meanwhile")
    assert "Whether the form was acted on cannot be told" in problem.to_do


def test_what_nobody_foresaw_is_500_with_the_headers_and_says_nothing_of_why() -> None:
    for failure in (RuntimeError(HOSTILE), BadSetting(HOSTILE)):
        with looked_at(Prober(), door=away(failure)) as client:
            client.cookies.set("tributary", "trs_" + "x" * 43)
            response = client.get("/status")
        assert response.status_code == 500
        assert {name: response.headers[name] for name in HEADERS} == HEADERS
        assert "alert(1)" not in response.text
        assert "log tells more" in response.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 303),
        ("HEAD", "/status", 303),
        ("GET", "/sign-in", 200),
        ("HEAD", "/sign-in", 200),
        ("GET", "/health", 200),
        ("GET", "/nowhere", 404),
        ("GET", f"/{HOSTILE}", 404),
        ("GET", "/health/", 404),
        ("GET", "/docs", 404),
        ("GET", "/openapi.json", 404),
        ("GET", "/assets/0123456789abcdef/dashboard.css", 404),
        ("GET", "/assets/0123456789abcdef/..%2F..%2F__init__.py", 404),
        ("POST", "/status", 405),
        ("OPTIONS", "/status", 405),
    ],
    ids=ascii,
)
def test_every_reply_has_the_headers_that_keep_foreign_scripts_frames_and_caches_out(method: str, path: str, status: int) -> None:
    with looked_at(Prober()) as client:
        response = client.request(method, path)
    assert response.status_code == status
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    assert response.headers["cache-control"] == "no-store"
    assert "server" not in response.headers
    assert "set-cookie" not in response.headers
    policy = dict(one.strip().split(" ", 1) for one in response.headers["content-security-policy"].split(";"))
    assert "unsafe" not in str(policy)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert HOSTILE not in response.text


def test_pages_hold_no_script_or_style_of_their_own_and_nothing_from_elsewhere(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        tags = visitor.markup("/status").tags
        addresses = [str(one[name]) for _, one in tags for name in ("href", "src", "action") if name in one]
        assert all(address.startswith(("/", "#")) and not address.startswith("//") for address in addresses)
        assets = [address for address in addresses if "/assets/" in address]
        kept = {visitor.get(address).headers["cache-control"] for address in assets}
    assert kept == {"public, max-age=31536000, immutable"}
    assert not {tag for tag, _ in tags} & {"style", "iframe", "object", "base"}
    assert all("src" in one for tag, one in tags if tag == "script")
    assert not [name for _, one in tags for name in one if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("name", ["status.html", "nothing.css", "..%2Fapp.py", "00-base.css"])
def test_only_the_assets_are_served_from_where_the_assets_are(name: str) -> None:
    at = Rendering().assets_at
    with looked_at(Prober()) as client:
        assert client.get(f"{at}/{name}").status_code == 404
        assert client.get(f"{at}/icon.svg").status_code == 200


def test_under_a_path_of_its_own_every_address_has_it(tribal: Tribal) -> None:
    with visiting(tribal, setup=Setup(secure=False, root="/dashboard")) as visitor:
        # whoever serves it takes the path off, which the cookie has
        cookies = {cookie.name: str(cookie.value) for cookie in visitor.client.cookies.jar}
        assert {cookie.path for cookie in visitor.client.cookies.jar} == {"/dashboard"}
        visitor.client.cookies.clear()
        visitor.client.cookies.update(cookies)
        tags = visitor.markup("/status").tags
    addresses = [str(one[name]) for _, one in tags for name in ("href", "src", "action") if name in one]
    assert all(address.startswith(("/dashboard/", "#")) for address in addresses)


def test_whatever_comes_into_a_page_is_escaped_and_what_it_hides_is_shown(tribal: Tribal) -> None:
    hostile = Panel(lamps=(Lamp(title=HOSTILE, state=State.OK),), serves=True)
    rendering, frame = Rendering(), Frame(at=tribal.clock(), path="/")
    values: dict[str, object] = {
        "panel": hostile,
        "databases": hostile,
        "of_tribe": hostile.lamps,
        "facts": ((HOSTILE, HOSTILE),),
    }
    run = GardeningReply(
        began_at=frame.at,
        ended_at=frame.at,
        failed=HOSTILE,
        rules=[GardenRuleReply(rule=HOSTILE, done=1, left=0, refused={HOSTILE: 1}, failed=HOSTILE)],
    )
    values |= {"gardening": run, "tended": tended(run), "about": ((HOSTILE, HOSTILE),)}
    text = rendering.page("status.html", values, frame)
    problem = replace(NOT_HERE, title=HOSTILE, detail=HOSTILE, to_do=HOSTILE)
    text += rendering.page("problem.html", {"problem": problem}, replace(frame, said=HOSTILE, refusal=problem))
    markup = Markup(text)
    assert all("src" in one for tag, one in markup.tags if tag == "script")
    assert not [one for _, one in markup.tags if "onerror" in one]
    assert markup.words.count(SHOWN) == 18
    assert "\u202e" not in text


def test_a_value_that_a_page_wants_and_does_not_get_is_no_blank(tribal: Tribal) -> None:
    with pytest.raises(Exception, match="'problem' is undefined"):
        Rendering().page("problem.html", {}, Frame(at=tribal.clock(), path="/"))


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
    with TestClient(make_app(open_prober, away, Setup(secure=False), watch=watch)) as client:
        response = client.get("/sign-in")
        assert "bad_setting" in response.text
        assert "CONNECTIONS" not in response.text
        assert client.get("/health").status_code == 503
        clock.now += KEPT_S
        assert client.get("/health").status_code == 200


def test_what_was_opened_is_closed_when_the_server_ends() -> None:
    closed: list[bool] = []
    setup = Setup(secure=False)
    with TestClient(make_app(Prober, away, setup, close=lambda: closed.append(True))):
        assert (closed, setup.stopping.is_set()) == ([], False)
    assert (closed, setup.stopping.is_set()) == ([True], True)

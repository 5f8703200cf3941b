"""The dashboard against whoever sends what no browser does: too much, malformed, half of it, or to make it say too much."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import cast
from urllib.parse import quote, urlsplit

import httpx
import pytest

from tests.browser.serving import served
from tests.conftest import new_database
from tests.dashboards import Prober, visiting
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.edges.dashboard.app import MOST_FIELDS, make_app
from tributary.edges.dashboard.port import FrontDoor, Setup

SECRET = "what only a lesson says"


@pytest.fixture(scope="module")
def tribal(server_url: str, template: str) -> Iterator[Tribal]:
    with new_database(server_url, template) as url, open_tribal(url) as opened:
        yield opened


class _Broken:
    """A door that fails in a way that nobody foresaw, and says in what it was asked."""

    def session(self, _secret: str) -> object:
        raise RuntimeError(SECRET)


# ---- too much


@pytest.mark.parametrize("form", [b"a&" * 60_000, b"&".join(b"%x=" % number for number in range(20_000))], ids=["same", "other"])
def test_a_form_of_more_fields_than_any_page_has_is_refused_before_they_are_looked_at(tribal: Tribal, form: bytes) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.client.post("/sign-in", content=form, follow_redirects=False)
    assert response.status_code == 413
    assert "Nothing was changed" in response.text


@pytest.mark.parametrize("path", ["/sign-in", "/lessons"])
def test_so_is_an_address_with_more_parameters_whoever_asks(tribal: Tribal, path: str) -> None:
    with visiting(tribal, None) as visitor:
        response = visitor.get(f"{path}?{'&'.join(map(str, range(MOST_FIELDS + 1)))}")
        fits = visitor.get(f"{path}?{'&'.join(map(str, range(MOST_FIELDS)))}")
    assert response.status_code == 414
    assert "This address says too much" in response.text
    assert fits.status_code < 400


def test_a_page_s_tick_of_thousands_of_digits_breaks_a_rule_and_nothing_else(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        response = visitor.send(f"/disputes/dis_{'0' * 31}1/accept", "/agents", seen="9" * 5000)
    assert response.status_code == 400
    assert "seen must be the tick" in response.text


# ---- malformed


@pytest.mark.parametrize(
    "cookies",
    [
        '{secret}; pref={{"a": 1}}',
        'pref={{"a": 1}}; {secret}',
        "a b=1; {secret}",
        "flag; {secret}",
        "=nameless; {secret}",
        "a[b]=1; {secret}",
        "path=/x; {secret}",
        "x=\xe9; {secret}",
        'x="' + "\\\\" * 200_000 + '"; {secret}',
        "{secret}; tributary=trs_another",
    ],
    ids=lambda cookies: cookies[:12],
)
def test_cookies_of_other_programs_on_this_host_sign_nobody_out(tribal: Tribal, cookies: str) -> None:
    with visiting(tribal) as visitor:
        (own,) = visitor.client.cookies.jar
        visitor.client.cookies.clear()
        header = cookies.format(secret=f"{own.name}={own.value}").encode("latin-1")
        response = visitor.client.get("/status", headers=[(b"cookie", header)], follow_redirects=False)
    assert response.status_code == 200


def test_what_is_said_twice_of_where_a_form_comes_from_is_not_picked_from(tribal: Tribal) -> None:
    sites = [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-origin")]
    with visiting(tribal, None) as visitor:
        for headers in (sites, sites[::-1], [("origin", "http://[")]):
            response = visitor.client.post("/sign-in", data={"token": tribal.curator_token}, headers=headers)
            assert response.status_code == 403
            assert "set-cookie" not in response.headers


# ---- sessions


def test_signing_in_again_ends_the_session_that_the_browser_had(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        (before,) = visitor.client.cookies.jar
        again = visitor.client.post("/sign-in", data={"token": tribal.curator_token}, follow_redirects=False)
        assert again.status_code == 303
        assert visitor.get("/status").status_code == 200
        visitor.client.cookies.clear()
        assert visitor.get("/status", cookie=f"{before.name}={before.value}").status_code == 303
        odd = visitor.client.post("/sign-in", data={"token": tribal.curator_token}, headers={"cookie": "tributary=x"})
        assert odd.history[0].status_code == 303, "what is no session is nothing to end"


# ---- what logs are told


def test_neither_half_a_form_nor_what_nobody_foresaw_tells_the_server_s_log_what_was_said(
    tribal: Tribal, caplog: pytest.LogCaptureFixture
) -> None:
    door = cast(FrontDoor, _Broken())
    app = make_app(Prober, lambda: door, Setup(secure=False), now=tribal.clock)
    with served(app) as address:
        where = urlsplit(address)
        with socket.create_connection((str(where.hostname), where.port or 0), timeout=20) as connection:
            connection.sendall(b"POST /sign-in HTTP/1.1\r\nHost: here\r\nContent-Length: 99\r\n\r\ntoken=")
        answer = httpx.get(f"{address}/status", headers={"cookie": "tributary=trs_x"})
    assert answer.status_code == 500
    failed = [one for one in caplog.records if one.getMessage() == "page.failed"]
    assert len(failed) == 1, "half a form is nobody's failure"
    assert SECRET not in caplog.text
    assert [one.name for one in caplog.records if one.levelname == "ERROR"] == ["tributary"]


# ---- public


def test_the_public_is_told_of_no_lesson_where_it_can_be_looked_up(tribal: Tribal) -> None:
    author = tribal.agent("ana")
    learned = tribal.learn(author, "Backups are kept for 35 days.")
    assert learned.lesson is not None
    public = tribal.token("reader-of-all", Role.READER)
    paths = ("/lessons", "/lessons?status=any", "/lessons?query=backups", f"/lessons/les_{learned.lesson.lesson_id.hex}")
    with visiting(tribal, None, setup=Setup(secure=False, public_token=lambda: public)) as anybody, visiting(tribal) as curator:
        for path in paths:
            assert "run:1" in curator.get(path).text, path
            shown = anybody.get(path).text
            assert "Backups are kept" in shown, path
            assert "run:1" not in shown, path


def test_where_the_public_s_token_ended_or_was_revoked_a_sign_in_is_asked_for(tribal: Tribal) -> None:
    public = tribal.token("closed", Role.READER)
    with visiting(tribal, None, setup=Setup(secure=False, public_token=lambda: public)) as visitor:
        assert visitor.get("/lessons").status_code == 200
        tribal.rows("UPDATE tributary.agent SET revoked_at = now() WHERE name = 'closed'")
        tribal.clock.advance(hours=1)
        closed = visitor.get("/lessons?query=" + quote("what now"))
    assert closed.headers["location"] == "/sign-in?next=%2Flessons%3Fquery%3Dwhat%2Bnow"

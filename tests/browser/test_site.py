"""The site that page tests visit: who may sign in, what the tribe has lived through, and what is hostile in it."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from tests.browser.hostile import HOSTILE, hostile_draft
from tests.browser.serving import leaf, served
from tests.browser.site import Site, sign_in
from tests.browser.tabs import Tabs
from tributary.core.action import ActionState
from tributary.core.agent import Role
from tributary.core.decision import Outcome
from tributary.core.lesson import Status
from tributary.edges.dashboard.port import Message, Receive, Scope, Send


class Porch:
    """Stands in for a sign-in form: takes one token, and tells how often the form was sent."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.sent = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = leaf('<form method="post"><label>Token <input name="token" type="password"></label><button>Sign in</button></form>')
        if scope["type"] == "http" and scope["method"] == "POST":
            self.sent += 1
            body = (await receive())["body"].decode()
            known = parse_qs(body)["token"] == [self.token]
            headers = [(b"location", b"/" if known else b"/sign-in")]
            headers += [(b"set-cookie", b"session=1; HttpOnly; SameSite=Strict; Path=/")] if known else []
            start: Message = {"type": "http.response.start", "status": 303, "headers": headers}
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        await app({**scope, "path": "/" if scope.get("path") == "/sign-in" else scope.get("path")}, receive, send)


def test_agent_signs_in_by_the_form_once_and_all_its_pages_share_the_session(site: Site, tabs: Tabs) -> None:
    porch = Porch(site.tokens["writer"])
    with served(porch) as url:
        other = Site(url=url, tribal=site.tribal, tabs=tabs, tokens=site.tokens)
        for _ in range(2):
            page = other.visit("writer")
            assert page.url == f"{url}/"
            assert [one["value"] for one in page.context.cookies()] == ["1"]
        assert other.visit().context.cookies() == []
        assert porch.sent == 1


def test_token_that_leads_nowhere_fails_the_sign_in(tabs: Tabs) -> None:
    with served(Porch("right")) as url, tabs:
        page = tabs.open(url)
        page.context.set_default_timeout(500)
        page.set_default_navigation_timeout(500)
        with pytest.raises(Exception, match="Timeout"):
            sign_in(page, "wrong")


def test_people_of_a_site_have_the_roles_that_they_are_named_after(lived_in: Site) -> None:
    lived_in.hire("second", Role.CURATOR)
    roles = {name: lived_in.tribal.memory.authenticate(token).role for name, token in lived_in.tokens.items()}
    assert roles == {"reader": Role.READER, "writer": Role.WRITER, "curator": Role.CURATOR, "second": Role.CURATOR}


def test_tribe_that_lived_has_something_for_every_page_within_three_days_and_in_order(lived_in: Site) -> None:
    tribal = lived_in.tribal
    memory, curator = tribal.memory, tribal.curator
    counts = tribal.status_counts()
    assert {Status.ACTIVE, Status.DISPUTED, Status.QUARANTINED, Status.RETIRED, Status.SUPERSEDED} <= counts.keys()
    assert counts[Status.ACTIVE] >= 20
    assert len(memory.desk.disputes(curator).items) == 3
    assert len(memory.desk.quarantine(curator).items) == 1
    assert {one.signal for one in memory.desk.reviews(curator).items} == {"reported", "both_stand", "injection", "released"}
    assert {one.state for one in memory.actions.actions(curator).items} == set(ActionState)
    assert [one.revoked_at is not None for one in memory.desk.agents(curator).items].count(True) == 3
    assert memory.costs(curator).total.calls > 50
    (shape,) = tribal.rows(
        "SELECT bool_and(at > before) AS ordered, min(at) > now() - interval '3 days' AS recent, max(at) <= now() AS past,"
        " max(at) - min(at) > interval '70 hours' AS long"
        " FROM (SELECT at, lag(at) OVER (ORDER BY tick) AS before"
        " FROM (SELECT DISTINCT tick, at FROM tributary.lesson_event) t) e"
    )
    assert set(shape.values()) == {True}
    assert tribal.recall("checkout answers 503").hits


def test_every_hostile_text_is_learned_in_every_field_as_it_is(site: Site) -> None:
    writer = site.tribal.memory.authenticate(site.tokens["writer"])
    for name, text in HOSTILE.items():
        learned = site.tribal.memory.learn(writer, hostile_draft(name, situation=f"{name} {text}"[:200]))
        assert learned.outcome is Outcome.LEARNED, name
        assert learned.lesson is not None
        assert learned.lesson.text == text

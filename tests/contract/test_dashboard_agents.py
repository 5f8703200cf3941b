"""The pages of agents: a secret is on one page and never again, and what would lock somebody out is asked for twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from uuid import uuid4

import pytest

from tests.conftest import new_database
from tests.dashboards import Markup, Visitor, visiting
from tests.tribes import Tribal, open_tribal
from tributary.core import ids
from tributary.core.agent import Role
from tributary.core.errors import Unauthenticated


@pytest.fixture(scope="module")
def database(server_url: str, template: str) -> Iterator[str]:
    with new_database(server_url, template) as url:
        yield url


@pytest.fixture
def tribal(database: str) -> Iterator[Tribal]:
    with open_tribal(database, name=f"tribe-{uuid4().hex[:8]}") as opened:
        yield opened


@pytest.fixture
def visitor(tribal: Tribal) -> Iterator[Visitor]:
    with visiting(tribal) as signed_in:
        yield signed_in


def secret_of(text: str) -> str:
    (found,) = set(re.findall(r"trb_[\w-]{43}", text))
    return str(found)


def let_in(tribal: Tribal, secret: str) -> bool:
    try:
        return bool(tribal.memory.authenticate(secret))
    except Unauthenticated:
        return False


def agent_named(tribal: Tribal, name: str) -> str:
    found = next(one for one in tribal.memory.desk.agents(tribal.curator, limit=100).items if one.name == name)
    return ids.show(ids.Prefix.AGENT, found.agent_id)


def tokens_of(tribal: Tribal, name: str) -> list[str]:
    """Returns the ids of an agent's tokens that are let in, newest first."""
    agent_id = ids.parse(ids.Prefix.AGENT, agent_named(tribal, name), field="id")
    items = tribal.memory.desk.tokens(tribal.curator, agent_id).items
    return [ids.show(ids.Prefix.TOKEN, one.token_id) for one in items if one.revoked_at is None]


def words(text: str) -> str:
    return " ".join(Markup(text).words.split())


def test_a_new_agents_token_is_shown_once_and_loading_the_page_again_makes_no_other(tribal: Tribal, visitor: Visitor) -> None:
    form = visitor.markup("/agents")
    fields = {"csrf": form.value("csrf"), "key": form.value("key"), "name": "worker", "role": "writer", "days": "30"}
    assert visitor.client.post("/agents", data={**fields, "csrf": "0" * 64}).status_code == 403
    made = visitor.client.post("/agents", data=fields, follow_redirects=False)
    assert (made.status_code, made.headers["cache-control"]) == (200, "no-store")
    assert "location" not in made.headers
    secret = secret_of(made.text)
    assert tribal.memory.authenticate(secret).name == "worker"
    assert "the only time that it is shown" in words(made.text)
    again = visitor.client.post("/agents", data=fields, follow_redirects=False)
    assert again.status_code == 409
    assert "has an agent named 'worker' already" in words(again.text)
    agent = agent_named(tribal, "worker")
    for page in (again.text, visitor.get("/agents").text, visitor.get(f"/agents/{agent}").text):
        assert secret not in page
        assert "worker" in page
    assert len(tokens_of(tribal, "worker")) == 1


def test_what_breaks_a_rule_is_said_beside_its_field_with_what_was_typed(visitor: Visitor) -> None:
    hostile = '"><script>alert(1)</script>\u202e'
    for fields, wrong in (
        ({"name": hostile, "role": "writer", "days": "30"}, "name-wrong"),
        ({"name": "worker", "role": "writer", "days": "many"}, "days-wrong"),
        ({"name": "worker", "role": "writer", "days": "99999"}, "days-wrong"),
    ):
        refused = visitor.send("/agents", "/agents", **fields)
        markup = Markup(refused.text)
        assert refused.status_code == 400
        assert any(one.get("id") == wrong for _, one in markup.tags)
        assert unescape(markup.value("name")).replace("\\u202e", "\u202e") in (fields["name"], hostile)
        assert not [one for tag, one in markup.tags if tag == "script" and "src" not in one]
    assert "worker" not in visitor.markup("/agents").words


def test_a_new_token_replaces_the_others_only_when_told_to_and_never_comes_twice(tribal: Tribal, visitor: Visitor) -> None:
    first = tribal.token("worker")
    path = f"/agents/{agent_named(tribal, 'worker')}"
    form = visitor.markup(path)
    fields = {name: form.value(name) for name in ("csrf", "key", "newest")} | {"days": "30"}
    second = secret_of(visitor.client.post(f"{path}/tokens", data=fields).text)
    assert let_in(tribal, first)
    again = visitor.client.post(f"{path}/tokens", data=fields)
    assert again.status_code == 409
    assert "was given another token meanwhile" in words(again.text)
    assert "trb_" not in again.text
    assert len(tokens_of(tribal, "worker")) == 2
    third = secret_of(
        visitor.send(f"{path}/tokens", path, newest=Markup(again.text).value("newest"), days="30", others="end").text
    )
    assert [let_in(tribal, one) for one in (first, second, third)] == [False, False, True]


def test_a_token_its_agent_and_its_role_end_and_change_as_said(tribal: Tribal, visitor: Visitor) -> None:
    secret = tribal.token("worker")
    path = f"/agents/{agent_named(tribal, 'worker')}"
    changed = visitor.send(f"{path}/role", path, role="reader")
    assert (changed.status_code, changed.headers["location"]) == (303, f"{path}?said=agent-role")
    assert tribal.memory.authenticate(secret).role is Role.READER
    (token,) = tokens_of(tribal, "worker")
    ended = visitor.send(f"{path}/tokens/{token}/revoke", path)
    assert ended.headers["location"] == f"{path}?said=token-revoked"
    assert not let_in(tribal, secret)
    assert "It has none, so it is not let in." in visitor.markup(path).words
    assert visitor.send(f"{path}/revoke", path).headers["location"] == f"{path}?said=agent-revoked"
    shown = visitor.markup(path)
    assert "None: the agent is revoked." in shown.words
    assert not [one for tag, one in shown.tags if tag == "form" and "/agents" in str(one.get("action"))]
    in_use, _, revoked = visitor.markup("/agents").words.partition("They are not let in any more.")
    assert ("worker" in in_use, "worker" in revoked, "(you)" in in_use) == (False, True, True)
    assert re.search(r"Last let in by token\s*\d{4}-\d\d-\d\d \d\d:\d\d \(", shown.words), "it is known to the minute"


@pytest.mark.parametrize("what", ["revoke", "role", "token", "tokens"])
def test_whoever_would_lock_itself_out_is_warned_and_must_say_so(tribal: Tribal, visitor: Visitor, what: str) -> None:
    tribal.token("second", Role.CURATOR)
    which = agent_named(tribal, "curator")
    path = f"/agents/{which}"
    (token,) = tokens_of(tribal, "curator")
    action = {"token": f"{path}/tokens/{token}/revoke"}.get(what, f"{path}/{what}")
    fields = {"role": "writer"} if what == "role" else {"days": "30", "others": "end", "newest": token}
    page = visitor.markup(path)
    assert page.words.count("This is the agent that you are signed in as.") == 4
    assert "so you signed in with it" in " ".join(page.words.split())
    refused = visitor.send(action, path, **fields)
    assert refused.status_code == 400
    assert "must be ticked" in refused.text
    shouted = action.replace(which, "agt_" + which.removeprefix("agt_").upper())
    assert visitor.send(shouted, path, **fields).status_code == 400, "an id is the same in either case"
    assert let_in(tribal, tribal.curator_token)
    assert tribal.memory.authenticate(tribal.curator_token).role is Role.CURATOR
    done = visitor.send(action, path, sure="yes", **fields)
    assert done.status_code == (200 if what == "tokens" else 303)
    if what == "tokens":
        assert let_in(tribal, secret_of(done.text))
        assert "so is your session" in words(done.text)
    if what == "role":
        assert "You are no curator any more." in visitor.markup(done.headers["location"]).words
    else:
        assert visitor.get(path).headers["location"].startswith("/sign-in")


def test_the_last_curator_is_told_why_it_stays(tribal: Tribal, visitor: Visitor) -> None:
    path = f"/agents/{agent_named(tribal, 'curator')}"
    refused = visitor.send(f"{path}/revoke", path, sure="yes")
    assert refused.status_code == 409
    assert "without a curator who can act" in words(refused.text)
    assert let_in(tribal, tribal.curator_token)


def test_agents_are_listed_a_page_at_a_time_and_one_of_elsewhere_is_none_here(tribal: Tribal, visitor: Visitor) -> None:
    for number in range(50):
        tribal.token(f"worker-{number}")
    first = visitor.get("/agents")
    (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
    second = visitor.markup(unescape(older))
    assert first.text.count('href="/agents/agt_') == 50
    assert "curator" in second.words
    assert "worker-49" not in second.words
    assert visitor.get("/agents/agt_" + "0" * 32).status_code == 404
    assert visitor.get("/agents/x").status_code == 400

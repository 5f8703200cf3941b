"""The pages of actions, the audit and the tribe's status: who sees what, how a doubt ends, and what is never called ok."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import new_database
from tests.dashboards import Markup, overheard, visiting
from tests.tribes import Tribal, open_tribal
from tributary.core import ids
from tributary.core.agent import Role
from tributary.core.errors import Unavailable
from tributary.edges.dashboard.port import FrontDoor, Setup

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e[a](javascript:alert(1))"


@pytest.fixture(scope="module")
def database(server_url: str, template: str) -> Iterator[str]:
    with new_database(server_url, template) as url:
        yield url


@pytest.fixture
def tribal(database: str) -> Iterator[Tribal]:
    with open_tribal(database, name=f"tribe-{uuid4().hex[:8]}") as opened:
        yield opened


def begun(tribal: Tribal, key: str, description: str = "reboot db-7") -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """Returns an action's id, and what fails it and completes it."""
    found = tribal.memory.actions.begin(tribal.curator, key, description, lease_s=60)
    which = (tribal.curator, found.action.action_id, found.lease)

    def fail(why: str, *, unsure: bool = False) -> object:
        return tribal.memory.actions.fail(*which, why, unsure=unsure)  # type: ignore[arg-type]  # it was granted, with a lease

    def complete(result: object) -> object:
        return tribal.memory.actions.complete(*which, result)  # type: ignore[arg-type]  # as above

    return ids.show(ids.Prefix.ACTION, found.action.action_id), fail, complete


def doubtful(tribal: Tribal, key: str = "reboot:db-7", why: str = "it timed out") -> str:
    action, fail, _ = begun(tribal, key)
    fail(why, unsure=True)
    return action


def words(text: str) -> str:
    return " ".join(Markup(text).words.split())


def test_actions_are_listed_those_in_doubt_first_by_their_state_and_a_page_at_a_time(tribal: Tribal) -> None:
    doubtful(tribal)
    for number in range(26):
        begun(tribal, f"deploy:{number}")
    with visiting(tribal, Role.READER) as visitor:
        first = visitor.get("/actions")
        assert first.text.index("reboot:db-7") < first.text.index("deploy:25")
        (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        assert "deploy:0" in visitor.markup(unescape(older)).words
        only = visitor.markup("/actions?state=in_doubt").words
        assert "reboot:db-7" in only
        assert "deploy:" not in only
        assert "None stands so now." in visitor.markup("/actions?state=done").words
        assert visitor.get("/actions?state=other").status_code == 400


def test_a_curator_ends_a_doubt_once_and_readers_only_look(tribal: Tribal) -> None:
    path = f"/actions/{doubtful(tribal)}"
    with visiting(tribal, Role.READER) as reader:
        shown = reader.markup(path)
        assert "Nobody knows whether it happened." in shown.words
        assert not [one for tag, one in shown.tags if tag == "form" and "/actions" in str(one.get("action"))]
    with visiting(tribal) as visitor:
        refused = visitor.send(f"{path}/happened", path, rationale=HOSTILE, result="{'rebooted': tru")
        markup = Markup(refused.text)
        assert refused.status_code == 400
        assert "is no JSON" in words(refused.text)
        assert [one for _, one in markup.tags if one.get("aria-describedby") == "result-given-hint result-given-wrong"]
        assert "{'rebooted': tru" in markup.words
        assert not [one for tag, one in markup.tags if tag == "img" and "onerror" in one]
        for wrong in ("NaN", "[" * 30_000, '"' + "x" * 17_000 + '"'):
            assert visitor.send(f"{path}/happened", path, rationale="seen", result=wrong).status_code == 400
        assert visitor.send(f"{path}/happened", path, rationale="", result="1").status_code == 400
        page = visitor.markup(path)
        fields = {name: page.value(name) for name in ("csrf", "key")} | {"rationale": "its log says so", "result": '{"up": true}'}
        sent = [visitor.client.post(f"{path}/happened", data=fields, follow_redirects=False) for _ in range(2)]
        assert {one.headers["location"] for one in sent} == {f"{path}?said=action-happened"}
        done = visitor.markup(path)
        assert '"up": true' in done.words
        assert "its log says so" in done.words
        late = visitor.client.post(f"{path}/did-not-happen", data={**fields, "key": "other"}, follow_redirects=False)
        assert late.status_code == 409
        assert "What it came to" in words(late.text), "the page shows how it stands now"
        (entry,) = [one for one in tribal.memory.desk.audit(tribal.curator).items if one.action.startswith("reconcile")]
        assert entry.code == "done"


def test_what_did_not_happen_may_be_begun_again(tribal: Tribal) -> None:
    path = f"/actions/{doubtful(tribal)}"
    with visiting(tribal) as visitor:
        sent = visitor.send(f"{path}/did-not-happen", path, rationale="its log has no trace")
        assert "may be begun again" in visitor.markup(sent.headers["location"]).words
    assert tribal.memory.actions.begin(tribal.curator, "reboot:db-7", "again", lease_s=60).lease


def test_what_agents_wrote_in_an_action_is_text_and_of_results_and_agents_the_public_sees_nothing(tribal: Tribal) -> None:
    public = tribal.token("public", Role.READER)
    inside = HOSTILE.replace("\u202e", "")
    failed, fail, _ = begun(tribal, inside + "1", HOSTILE)
    fail(HOSTILE)
    done, _, complete = begun(tribal, inside + "2", HOSTILE)
    complete({HOSTILE: "the secret result"})
    with visiting(tribal) as visitor:
        for path in ("/actions", f"/actions/{failed}", f"/actions/{done}"):
            text = visitor.get(path).text
            markup = Markup(text)
            assert "alert(1)" in markup.words
            assert "\u202e" not in text
            assert not [one for tag, one in markup.tags if (tag == "script" and "src" not in one) or "onerror" in one]
            assert not [one for _, one in markup.tags if str(one.get("href", "")).startswith("javascript:")]
        assert "the secret result" in visitor.markup(f"/actions/{done}").words
    with visiting(tribal, None, setup=Setup(secure=False, public_token=lambda: public)) as anybody:
        shown = [anybody.get(path).text for path in ("/actions", f"/actions/{failed}", f"/actions/{done}")]
    for one in shown:
        assert "secret result" not in one
        assert "Begun by" not in one
        assert "<bdi>curator</bdi>" not in one
    assert "an agent" in shown[0]
    assert "Why it did not happen" not in shown[1]


def test_the_audit_says_in_words_who_did_or_was_refused_what_and_leads_there(tribal: Tribal) -> None:
    token = tribal.token(f"reader-{uuid4().hex[:4]}", Role.READER)
    reader = tribal.memory.authenticate(token)
    tribal.memory.audit_refusal(reader, action="erase", code="forbidden", detail=f"{HOSTILE} les_{'1' * 32}")
    with visiting(tribal) as visitor:
        for number in range(51):
            tribal.memory.audit_refusal(reader, action="learn", code="new_code", detail=f"number {number}")
        first = visitor.get("/audit")
        assert "refused: new code" in words(first.text)
        (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        second = visitor.get(unescape(older))
        assert "sign in to the dashboard" in words(first.text) + words(second.text)
        assert "refused: its role does not allow it" in words(second.text)
        assert f'href="/lessons/les_{"1" * 32}"' in second.text
        assert not [one for _, one in Markup(second.text).tags if "onerror" in one]


def test_the_audit_shows_instants_as_times_and_says_what_became_of_a_lesson_in_words(tribal: Tribal) -> None:
    details = (
        "by tok_1 until 2026-11-28T03:04:00Z",
        "until 2026-13-41T99:04:00Z",
        f"dis_{'2' * 32} les_{'1' * 32} came to superseded",
        "came to superseded things",
    )
    with visiting(tribal) as visitor:
        for detail in details:
            tribal.memory.audit_refusal(tribal.curator, action="accepted", code="done", detail=detail)
        page = visitor.get("/audit").text
    assert 'until <time datetime="2026-11-28T03:04:00+00:00"' in page
    assert "until 2026-13-41T99:04:00Z" in words(page), "no calendar has that day: it is shown as it is"
    assert f'href="/lessons/les_{"1" * 32}"' in page
    assert "came to be believed, and took the place of what it contradicts" in words(page)
    assert "came to superseded things" in words(page)


def test_no_page_asks_the_database_more_than_five_times(database: str) -> None:
    with overheard(database, name="counted") as (tribal, visitor, spoken):
        agent = ids.show(ids.Prefix.AGENT, tribal.curator.agent_id)
        for path in ("/actions", f"/actions/{doubtful(tribal)}", "/agents", f"/agents/{agent}", "/audit", "/status"):
            assert visitor.get(path).status_code == 200
            spoken.clear()
            visitor.get(path)
            assert 2 <= spoken.round_trips <= 5, path


class Half:
    """A door to a memory that knows who is signed in, and nothing else any more."""

    def __init__(self, tribal: Tribal) -> None:
        self._memory = tribal.memory
        self.away = False

    def __getattr__(self, name: str) -> object:
        if self.away and name not in ("session", "sign_in"):
            raise Unavailable()
        return getattr(self._memory, name)


def test_the_status_says_what_a_recall_of_the_tribe_needs_and_nothing_is_ok_that_cannot_be_asked(tribal: Tribal) -> None:
    half = Half(tribal)
    door: FrontDoor = half  # type: ignore[assignment]  # what it does not know, the memory does
    with visiting(tribal, Role.READER, door=door) as visitor:
        well = words(visitor.get("/status").text)
        assert "All is well" in well
        assert "A recall is answeredok" in well
        assert "Gardener: came by when it was dueunknown never_gardened" in well, "which makes the whole no worse"
        tribal.memory.gardener.run(tribal.tribe_id)
        tended = words(visitor.get("/status").text)
        assert "Gardener: came by when it was dueok" in tended
        assert "pruneWhat is old enough is forgotten00noneno" in tended
        tribal.rows(
            """UPDATE tributary.gardening
               SET began_at = began_at - interval '3 hours', ended_at = ended_at - interval '2 hours 1 minute',
                   rules = jsonb_set(
                       rules, '{evict}', '{"done": 1, "left": 4, "refused": {"in_grace": 3}, "failed": "timed_out"}')"""
        )
        neglected = words(visitor.get("/status").text)
        assert "Something is failing" in neglected
        assert "Gardener: came by when it was duefailing gardener_absent" in neglected
        assert "Gardener: none of its rules failedfailing gardener_failing" in neglected
        assert "evictLessons beyond the tribe's room are evicted14in_grace 3timed_out" in neglected
        tribal.memory.gardener.run(tribal.tribe_id)
        assert "All is well" in words(visitor.get("/status").text)
        tribal.rows("DELETE FROM tributary.lesson_vector")
        tribal.learn(tribal.curator, "The deploy API needs X-Batch: true")
        tribal.rows("UPDATE tributary.tribe_space SET vectors = vectors - 1 WHERE tribe_id = %s", tribal.tribe_id)
        failing = words(visitor.get("/status").text)
        assert "Something is failing" in failing
        assert "Every believed lesson has a vectorfailing without_vector" in failing
        half.away = True
        away = visitor.get("/status")
        shown = Markup(away.text)
    lamps = [str(one.get("class")) for tag, one in shown.tags if tag == "li" and one.get("class")]
    assert away.status_code == 200
    assert lamps == ["ok"] * 4 + ["unknown"] * 9
    assert "Not all can be told" in shown.words

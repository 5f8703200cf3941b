"""The Model Context Protocol over HTTP against a real memory: the official client in both of its eras, curation, and actions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.doubles import RuledJudge, SwitchedEmbedder, WordScreen, within_a_subject
from tests.talking import run
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.edges.gateway import running
from tributary.models.embedders.hashed import HashedEmbedder

MODES = ("legacy", "2026-07-28")
Talk = Callable[[Client], Coroutine[Any, Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Tribe:
    """A tribe in which lessons of one subject conflict, served over HTTP."""

    url: str
    tribal: Tribal
    embedder: SwitchedEmbedder

    def token(self, role: Role) -> str:
        return self.tribal.token(f"{role.value}-{uuid4().hex[:8]}", role)

    def talk(self, role: Role, talk: Talk, *, mode: str = "auto", token: str | None = None) -> Any:
        """Returns what a client of that role comes to."""

        async def connected() -> Any:
            headers = {"authorization": f"Bearer {token or self.token(role)}"}
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
                Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode) as client,
            ):
                return await talk(client)

        return run(connected)


@pytest.fixture
def tribe(database_url: str) -> Iterator[Tribe]:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with (
        open_tribal(database_url, judge=RuledJudge(within_a_subject), screen=WordScreen(), embedder=embedder) as tribal,
        running(tribal.memory) as server,
    ):
        yield Tribe(url=server.url, tribal=tribal, embedder=embedder)


def said(text: str, subject: str = "port") -> dict[str, Any]:
    return {"text": text, "situation": "operating the cache", "subject": subject, "how": "observed", "ref": "run:1"}


async def data(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
def test_lessons_are_taught_recalled_contested_and_looked_back_at(tribe: Tribe, mode: str) -> None:
    async def talk(client: Client) -> None:
        assert "tribal_learn" in {tool.name for tool in (await client.list_tools()).tools}
        learned = await data(client, "tribal_learn", **said("it listens on 80"))
        contested = await data(client, "tribal_contest", lesson=learned["lesson"], text="it listens on 81", how="observed")
        assert contested["outcome"] == "superseded"
        now = await data(client, "tribal_recall", query="it listens on", at_least=contested["tick"])
        assert [one["text"] for one in now["lessons"]] == ["it listens on 81"]
        then = await data(client, "tribal_recall_as_of", query="it listens on", as_of=learned["tick"])
        assert [one["text"] for one in then["lessons"]] == ["it listens on 80"]
        changed = await data(client, "tribal_changes", after=learned["tick"])
        assert {one["event"] for one in changed["changes"]} >= {"learned", "superseded"}
        assert (await data(client, "tribal_changes", after=changed["clock"]))["changes"] == []
        retired = await data(client, "tribal_retire", lesson=contested["lesson"])
        assert retired["status"] == "retired"
        assert (await data(client, "tribal_stats"))["lessons"] == {"superseded": 1, "retired": 1}

    tribe.talk(Role.WRITER, talk, mode=mode)


def test_a_curator_ends_a_dispute_and_releases_what_was_held_back(tribe: Tribe) -> None:
    first = tribe.talk(Role.WRITER, lambda client: data(client, "tribal_learn", **said("it listens on 80")))
    disputed = tribe.talk(Role.WRITER, lambda client: data(client, "tribal_learn", **said("it listens on 81")))
    held = tribe.talk(Role.WRITER, lambda client: data(client, "tribal_learn", **said("HIJACK it", "other")))
    assert (disputed["outcome"], held["outcome"]) == ("disputed", "quarantined")

    async def curate(client: Client) -> None:
        page = await data(client, "tribal_disputes")
        (one,) = page["disputes"]
        assert (one["id"], one["contender"]["id"]) == (disputed["dispute"], disputed["lesson"])
        ended = await data(
            client, "tribal_resolve_dispute", dispute=one["id"], ending="accept", rationale="seen", seen_tick=page["tick"]
        )
        assert (ended["ending"], ended["replaced"]) == ("accepted", [first["lesson"]])
        (hidden,) = (await data(client, "tribal_quarantine"))["held"]
        assert (await data(client, "tribal_release", lesson=hidden["lesson"]["id"]))["outcome"] == "learned"
        reported = await data(
            client, "tribal_report_mistake", decision=disputed["decision"], should_be="unrelated", lesson=first["lesson"]
        )
        assert reported["queued"] is True

    tribe.talk(Role.CURATOR, curate)


def test_an_action_is_granted_once_and_done_once_whoever_asks_again(tribe: Tribe) -> None:
    token = tribe.token(Role.WRITER)
    asked = {"key": "reboot:db-7:inc-12", "description": "reboot db-7", "lease_s": 3600}

    async def begin(client: Client) -> Any:
        return await data(client, "tribal_begin_action", **asked)

    granted = tribe.talk(Role.WRITER, begin, token=token)
    assert granted["outcome"] == "granted"
    # another run of the same agent, within the time in which equal calls are otherwise taken for retries
    assert tribe.talk(Role.WRITER, begin, token=token)["outcome"] == "busy"

    async def complete(client: Client) -> Any:
        held = {"action": granted["action"]["id"], "lease": granted["lease"]}
        await data(client, "tribal_renew_action", **held)
        lesson = {"text": "db-7 takes two minutes to reboot", "situation": "rebooting db-7", "how": "observed"}
        return await data(client, "tribal_complete_action", **held, result={"took_s": 120}, lesson=lesson)

    done = tribe.talk(Role.WRITER, complete, token=token)
    assert (done["action"]["state"], done["learned"]) == ("done", "learned")
    again = tribe.talk(Role.WRITER, begin)
    assert (again["outcome"], again["lease"], again["action"]["result"]) == ("done", None, {"took_s": 120})


def test_an_action_in_doubt_is_ended_by_a_curator(tribe: Tribe) -> None:
    async def doubt(client: Client) -> Any:
        begun = await data(client, "tribal_begin_action", key="pay:7", description="pay invoice 7")
        held = {"action": begun["action"]["id"], "lease": begun["lease"]}
        return await data(client, "tribal_fail_action", **held, failure="no answer", unsure=True)

    assert tribe.talk(Role.WRITER, doubt)["action"]["state"] == "in_doubt"

    async def reconcile(client: Client) -> Any:
        (action,) = (await data(client, "tribal_actions", state="in_doubt"))["actions"]
        return await data(client, "tribal_reconcile_action", action=action["id"], happened=False, rationale="not in the ledger")

    assert tribe.talk(Role.CURATOR, reconcile)["action"]["state"] == "failed"


def test_a_recall_that_could_not_search_all_says_so_and_never_that_there_is_nothing(tribe: Tribe) -> None:
    tribe.embedder.fails = True

    async def talk(client: Client) -> Any:
        return await client.call_tool("tribal_recall", {"query": "deploy payments"})

    result = tribe.talk(Role.READER, talk)
    receipt = result.structured_content["receipt"]
    assert (receipt["coverage"], receipt["causes"], receipt["may_assert_absence"]) == ("unknown", ["embedder_failed"], False)
    for words in (result.content[0].text, result.structured_content["conclusion"]):
        assert "could not be completed (embedder_failed): do not conclude that nothing is known" in words
        assert "found nothing" not in words
    tribe.embedder.fails = False
    complete = tribe.talk(Role.READER, talk)
    assert complete.structured_content["receipt"]["may_assert_absence"] is True
    assert "The search was complete and found nothing." in complete.content[0].text

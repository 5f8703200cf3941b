"""Tribes of the same names in two databases: nothing of one ever lands in the other, and one that is away disturbs no other."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import tributary
from tests.cells import TRIBES, Agent, ByFunctions, Cell, OverHttp, TwoCells, Way, mixed_up, two_cells
from tests.contract.deployed import Deployed
from tests.contract.samples import LEARN, bearer
from tests.contract.test_events import EVENTS, load
from tests.integration.test_cli_serve import Serving, tributary_command
from tributary.access import new_token
from tributary.access.sessions import MOST_FAILURES
from tributary.core.agent import Principal, Role
from tributary.core.cells import shown_cell
from tributary.core.errors import NotFound, TooManyTries, Unauthenticated, Unavailable, UnknownCell
from tributary.edges.gateway import running
from tributary.service import Cells, Memory, open_cells, open_memory, open_operator, tending_cells

CELLS: tuple[Cell, ...] = (None, "eu")
FUNCTIONS = ("authorizer", "recall", "learn", "curate")
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def two() -> Iterator[TwoCells]:
    with two_cells() as opened:
        yield opened


@pytest.fixture
def cells(two: TwoCells) -> Iterator[Cells]:
    with open_cells(two.settings, adapters=two.adapters) as opened:
        yield opened


@contextmanager
def over_http(cells: Cells) -> Iterator[OverHttp]:
    with running(cells) as started, httpx.Client(base_url=started.url, trust_env=False, timeout=60) as client:
        yield OverHttp(client=client)


@pytest.fixture
def http(cells: Cells) -> Iterator[OverHttp]:
    with over_http(cells) as way:
        yield way


def lesson(agent: Agent, number: object, **more: object) -> dict[str, object]:
    text = f"{mark(agent)}: step {number} of the rollout waits for {number}"
    return {**LEARN, "text": text, "situation": f"rolling out {number}", **more}


def mark(agent: Agent) -> str:
    """Returns the words by which a lesson tells where it belongs."""
    return f"cell {shown_cell(agent.cell)} tribe {agent.tribe}"


# random interleaving


@dataclass
class Tally:
    """What was done in each tribe of each cell, as the callers saw it."""

    done: Counter[tuple[Cell, str, str]] = field(default_factory=Counter)
    texts: set[tuple[Cell, str, str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, agent: Agent, what: str) -> None:
        with self.lock:
            self.done[agent.cell, agent.tribe, what] += 1


class Walk:
    """One caller's random requests, with the tokens of every cell."""

    def __init__(self, two: TwoCells, way: Way, tally: Tally, seed: int) -> None:
        self._two = two
        self._way = way
        self._tally = tally
        self._seed = seed
        self._random = random.Random(seed)
        self._known: dict[tuple[Cell, str], list[str]] = {}

    def steps(self, count: int) -> None:
        for number in range(count):
            cell, tribe = self._random.choice(CELLS), self._random.choice(TRIBES)
            step = self._random.choice(
                (self._learn, self._learn, self._recall, self._retire, self._refused, self._agent, self._look)
            )
            step(number, lambda role, cell=cell, tribe=tribe: self._two.agent(cell, role, tribe))  # type: ignore[misc]

    def _learn(self, number: int, agent: Callable[[Role], Agent]) -> None:
        writer = agent(Role.WRITER)
        sent = lesson(writer, f"{self._seed}.{number}")
        status, reply = self._way(writer, "POST", "/v1/lessons", sent)
        assert (status, reply["outcome"]) == (200, "learned"), reply
        self._tally.count(writer, "learned")
        with self._tally.lock:
            self._tally.texts.add((writer.cell, writer.tribe, str(sent["text"])))
        self._known.setdefault((writer.cell, writer.tribe), []).append(reply["lesson"]["id"])

    def _recall(self, number: int, agent: Callable[[Role], Agent]) -> None:
        reader = agent(Role.READER)
        status, reply = self._way(reader, "POST", "/v1/recall", {"query": f"step {number} of the rollout", "limit": 20})
        assert status == 200, reply
        assert all(hit["lesson"]["text"].startswith(mark(reader)) for hit in reply["hits"])
        if isinstance(self._way, OverHttp):  # a function hands its counts over once a minute
            self._tally.count(reader, "recall")

    def _retire(self, _number: int, agent: Callable[[Role], Agent]) -> None:
        curator = agent(Role.CURATOR)
        known = self._known.get((curator.cell, curator.tribe))
        if known:
            status, reply = self._way(curator, "POST", f"/v1/lessons/{known.pop()}/retire", {"cause": "wrong"})
            assert status == 200, reply
            self._tally.count(curator, "retired")

    def _refused(self, number: int, agent: Callable[[Role], Agent]) -> None:
        reader = agent(Role.READER)
        status, _ = self._way(reader, "POST", "/v1/lessons", lesson(reader, number))
        assert status == 403
        self._tally.count(reader, "forbidden")

    def _agent(self, number: int, agent: Callable[[Role], Agent]) -> None:
        curator = agent(Role.CURATOR)
        status, reply = self._way(curator, "POST", "/v1/agents", {"name": f"made-{self._seed}-{number}", "role": "writer"})
        assert status == 200, reply
        assert reply["token"].startswith("trb_eu_") == (curator.cell == "eu")
        made = replace(curator, role=Role.WRITER, token=reply["token"])
        assert self._way(made, "GET", "/v1/stats")[0] == 200, "its token is good where it was made"
        self._tally.count(curator, "agents")

    def _look(self, _number: int, agent: Callable[[Role], Agent]) -> None:
        curator = agent(Role.CURATOR)
        path = self._random.choice(
            ("/v1/lessons?limit=100", "/v1/changes?after=0&limit=100", "/v1/audit", "/v1/costs", "/v1/stats")
        )
        status, reply = self._way(curator, "GET", path)
        assert status == 200, reply
        if path.startswith("/v1/lessons"):
            assert all(one["text"].startswith(mark(curator)) for one in reply["lessons"])


def in_tables(two: TwoCells) -> Counter[tuple[Cell, str, str]]:
    """Returns what `Tally.done` counts, counted in the tables instead."""
    queries = {
        "learned": "SELECT count(*) FROM tributary.lesson WHERE tribe_id = %s",
        "retired": "SELECT count(*) FROM tributary.lesson WHERE tribe_id = %s AND status = 'retired'",
        "forbidden": "SELECT count(*) FROM tributary.audit WHERE tribe_id = %s AND code = 'forbidden'",
        "agents": "SELECT count(*) FROM tributary.agent WHERE tribe_id = %s AND name LIKE 'made-%%'",
        "recall": "SELECT coalesce(sum(calls), 0) FROM tributary.usage WHERE tribe_id = %s AND operation = 'recall'",
    }
    found: Counter[tuple[Cell, str, str]] = Counter()
    for cell, place in two.places.items():
        for tribe in TRIBES:
            for what, query in queries.items():
                ((count,),) = place.rows(query, two.tribe_id(cell, tribe))
                found[cell, tribe, what] += int(count)
    return found


def test_what_threads_do_in_both_cells_at_random_lands_where_their_tokens_say(two: TwoCells, cells: Cells) -> None:
    before, tally = in_tables(two), Tally()
    with ExitStack() as stack:
        functions = {name: stack.enter_context(Deployed(name, two.environment)) for name in FUNCTIONS}
        ways: list[Way] = [
            stack.enter_context(over_http(cells)),
            ByFunctions(functions=functions, locks={name: threading.Lock() for name in FUNCTIONS}),
        ]
        walks = [Walk(two, ways[seed % 2], tally, seed) for seed in range(6)]
        with ThreadPoolExecutor(len(walks)) as pool:
            list(pool.map(lambda walk: walk.steps(30), walks))
        for book in cells.books:
            book.flush()
    assert mixed_up(two.places) == []
    done = in_tables(two)
    done.subtract(before)
    assert {key: count for key, count in done.items() if count} == dict(tally.done)
    assert len(tally.done) == 4 * 5, "every kind of request reached every tribe"
    for cell, place in two.places.items():
        texts = {
            (cell, str(tribe), str(text))
            for tribe, text in place.rows("SELECT name, text FROM tributary.lesson JOIN tributary.tribe USING (tribe_id)")
        }
        assert texts == {one for one in tally.texts if one[0] == cell}
        charged = place.rows("SELECT count(DISTINCT tribe_id), count(DISTINCT purpose) FROM tributary.model_call")
        assert charged == [(2, 3)], "embedder, screen and judge were charged to both tribes"


class Misrouting(Cells):
    """Leads callers of the own cell to the other one's memory: what must never happen."""

    def of(self, principal: Principal) -> Memory:
        return self.named("eu" if principal.cell is None else None)


def test_callers_led_to_the_wrong_cell_are_seen_in_the_tables(two: TwoCells) -> None:
    def open_cell(name: Cell) -> Memory:
        return open_memory(two.settings.in_cell(name), adapters=two.adapters)

    with Misrouting(None, ["eu"], open_cell) as cells, over_http(cells) as http:
        reader, writer = two.agent(None, Role.READER), two.agent(None, Role.WRITER)
        http(reader, "POST", "/v1/recall", {"query": "step"})
        assert http(reader, "POST", "/v1/lessons", lesson(reader, 1))[0] == 403
        http(writer, "POST", "/v1/lessons", lesson(writer, 2))
        for book in cells.books:
            book.flush()
    found = mixed_up(two.places)
    for cell, table, tribe_id in found:
        two.places[cell].rows(f"DELETE FROM tributary.{table} WHERE tribe_id = %s RETURNING 1", tribe_id)
    assert {(cell, table) for cell, table, _ in found} >= {("eu", "audit"), ("eu", "usage")}
    assert mixed_up(two.places) == []


# what must not pass from one to the other


@pytest.mark.parametrize("change", [("trb_eu_", "trb_"), ("trb_eu_", "trb_mars_")])
def test_a_token_with_another_cells_name_is_refused(two: TwoCells, http: OverHttp, change: tuple[str, str]) -> None:
    agent = two.agent("eu")
    assert http(agent, "GET", "/v1/stats")[0] == 200
    status, reply = http(replace(agent, token=agent.token.replace(*change)), "GET", "/v1/stats")
    assert (status, reply["code"]) == (401, "unauthenticated")
    unknown = "the token names the cell 'mars', which this server does not know"
    assert (reply["detail"] == unknown) == ("mars" in change[1])


def test_a_home_token_with_a_cells_name_put_in_is_refused(two: TwoCells, http: OverHttp) -> None:
    agent = two.agent(None)
    assert http(replace(agent, token=agent.token.replace("trb_", "trb_eu_")), "GET", "/v1/stats")[0] == 401


def test_a_function_refuses_an_unknown_cell_and_says_in_the_log_which(two: TwoCells) -> None:
    agent = replace(two.agent(None), token="trb_mars_" + "a" * 43)
    nowhere = {"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    with Deployed("authorizer", nowhere) as authorizer, Deployed("recall", nowhere) as recall:
        functions = {"authorizer": authorizer, "recall": recall}
        way = ByFunctions(functions=functions, locks={name: threading.Lock() for name in functions})
        status, reply = way(agent, "POST", "/v1/recall", {"query": "q"})
        said = recall.end()
    assert (status, reply["code"]) == (401, "unauthenticated")
    assert '"event": "request.refused"' in said
    assert '"cell": "mars"' in said
    assert "database." not in said, "no database was asked"


def test_a_receipt_of_one_cell_is_none_in_the_other(two: TwoCells, http: OverHttp) -> None:
    own, other = two.agent(None), two.agent("eu")
    learned = http(own, "POST", "/v1/lessons", lesson(own, "receipt"))[1]["lesson"]["id"]
    theirs = http(other, "POST", "/v1/lessons", lesson(other, "receipt"))[1]["lesson"]["id"]
    receipt = http(own, "POST", "/v1/recall", {"query": "step receipt of the rollout"})[1]["receipt"]
    assert receipt["key"] == "k1", "keys of both cells have the same name, and only their secrets tell them apart"
    checked = {"receipt": receipt, "query": "step receipt of the rollout"}
    assert http(own, "POST", "/v1/receipts/verify", checked)[1]["verdict"] == "agrees"
    status, reply = http(other, "POST", "/v1/receipts/verify", checked)
    assert (status, reply["verdict"], [one["aspect"] for one in reply["differences"]]) == (200, "diverges", ["signature"])
    forged = {**receipt, "searched": [{**receipt["searched"][0], "tribe": str(two.tribe_id("eu"))}]}
    for given in (receipt, forged):
        for path, body in (
            (f"/v1/lessons/{theirs}/reinforce", {"receipt": given}),
            ("/v1/lessons", lesson(other, "citing", receipts=[given])),
        ):
            status, reply = http(other, "POST", path, body)
            assert status == 400, reply
            assert "not as it was signed" in reply["detail"]
    assert http(other, "GET", f"/v1/lessons/{learned}")[0] == 404


def test_the_same_idempotency_key_in_both_cells_is_two_keys(two: TwoCells, http: OverHttp) -> None:
    outcomes = []
    for agent in (two.agent(None), two.agent("eu")) * 2:
        headers = {**bearer(agent.token), "Idempotency-Key": "the same"}
        response = http.client.post("/v1/lessons", json=lesson(agent, "key"), headers=headers)
        assert response.status_code == 200
        outcomes.append((response.json()["lesson"]["id"], response.json()["replayed"]))
    (a, _), (b, _), *again = outcomes
    assert a != b
    assert again == [(a, True), (b, True)]


def test_a_cursor_of_one_cell_shows_nothing_of_it_in_the_other(two: TwoCells, http: OverHttp) -> None:
    own, other = two.agent(None, tribe="search"), two.agent("eu", tribe="search")
    for agent in (own, other, own, other):
        http(agent, "POST", "/v1/lessons", lesson(agent, f"cursor {random.random()}"))
    cursor = http(own, "GET", "/v1/lessons?limit=1")[1]["next"]
    assert cursor
    status, reply = http(other, "GET", f"/v1/lessons?limit=100&before={cursor}")
    assert status in (200, 400), reply
    assert all(one["text"].startswith(mark(other)) for one in reply.get("lessons", []))


def test_one_memory_alone_refuses_what_is_of_another_cell(two: TwoCells) -> None:
    eu = two.agent("eu")
    with open_memory(two.settings, adapters=two.adapters) as own, open_cells(two.settings, adapters=two.adapters) as cells:
        principal = cells.authenticate(eu.token)
        assert principal.cell == "eu"
        assert cells.of(principal).stats(principal).tick >= 0
        for refused in (lambda: own.authenticate(eu.token), lambda: own.of(principal)):
            with pytest.raises(UnknownCell):
                refused()


def test_tokens_made_before_the_own_cell_had_a_name_go_on_to_work_once_it_has_one(two: TwoCells) -> None:
    named = two.settings.model_copy(update={"cell": "home"})
    with open_operator(named, adapters=two.adapters) as operator:
        new = operator.create_agent(TRIBES[0], "of-a-named-cell", Role.READER).secret
    assert new.startswith("trb_home_")
    with open_cells(named, adapters=two.adapters) as cells:
        assert {cells.authenticate(token).cell for token in (new, two.agent(None).token)} == {"home"}
        assert cells.authenticate(two.agent("eu").token).cell == "eu"
    with open_cells(two.settings, adapters=two.adapters) as cells, pytest.raises(UnknownCell):
        cells.authenticate(new)


# a cell that is away


@pytest.mark.parametrize("away", CELLS)
def test_a_cell_that_was_killed_is_unavailable_alone_and_comes_back(two: TwoCells, cells: Cells, away: Cell) -> None:
    (other,) = (cell for cell in CELLS if cell != away)
    theirs, ours = two.agent(away), two.agent(other)
    with tending_cells(cells, garden_every_s=0), over_http(cells) as http:
        assert {http(agent, "GET", "/v1/stats")[0] for agent in (theirs, ours)} == {200}
        two.places[away].kill()
        status, reply = http(theirs, "POST", "/v1/recall", {"query": "step"})
        assert (status, reply["code"]) == (503, "unavailable")
        assert http.client.get("/health").status_code == 200
        assert http(ours, "POST", "/v1/recall", {"query": "step"})[0] == 200
        pending = http(ours, "POST", "/v1/lessons", lesson(ours, f"pending while {away} is away", wait=False))
        assert pending[0] == 202
        until(lambda: http(ours, "GET", f"/v1/lessons/{pending[1]['lesson']['id']}")[1]["lesson"]["status"] == "active")
        report = cells.gardener.run_all()
        assert {one.cell: one.failed for one in report.cells} == {away: "unavailable", other: None}
        assert {tribe.cell for tribe in report.tribes} == {other}
        assert report.failed == "unavailable"
        with two.places[away].start():
            until(lambda: http(theirs, "POST", "/v1/recall", {"query": "step"})[0] == 200)
            assert not cells.gardener.run_all().failed


def test_with_no_cell_left_nothing_claims_to_be_well() -> None:
    from tributary.service import Settings

    nowhere = "postgresql://nobody@127.0.0.1:1/"
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": f"{nowhere}own", "cells": f"eu={nowhere}eu"})
    with open_cells(settings) as cells:
        for call in (cells.health, cells.gardener.run_all):
            with pytest.raises(Unavailable):
                call()


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_the_gardeners_function_tends_every_cell_and_tells_of_each(two: TwoCells) -> None:
    with Deployed("gardener", two.environment) as gardener:
        report: Mapping[str, Any] = gardener(load(EVENTS / "gardener" / "scheduler.json"))
    assert [(one["cell"], one["tribes"], one["failed"]) for one in report["cells"]] == [(None, 2, None), ("eu", 2, None)]
    assert [(one.get("cell"), one["tribe"]) for one in report["tribes"]] == [
        (None, "payments"),
        (None, "search"),
        ("eu", "payments"),
        ("eu", "search"),
    ]


def test_a_function_that_migrates_goes_past_a_cell_that_is_away_and_fails_then(two: TwoCells) -> None:
    trigger = load(EVENTS / "migrate" / "trigger.json")
    with Deployed("migrate", two.environment) as migrate:
        assert migrate(trigger)["revision"]
    broken = {
        "TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "TRIBUTARY_CELLS": f"eu={two.places['eu'].url}",
    }
    with Deployed("migrate", broken) as migrate:
        assert migrate(trigger) == {"raised": "Unavailable"}
        said = migrate.end()
    assert '"event": "migration.failed"' in said
    assert '"cell": "(home)"' in said


def test_a_token_that_is_none_is_refused_before_any_cell_is_opened(two: TwoCells) -> None:
    opened: list[Cell] = []

    def open_cell(name: Cell) -> Memory:
        opened.append(name)
        return open_memory(two.settings.in_cell(name), adapters=two.adapters)

    with Cells(None, ["eu"], open_cell) as cells:
        for token in ("", "trb_", "trb_eu_short", "trb_mars_" + "a" * 43):
            with pytest.raises(Unauthenticated):
                cells.authenticate(token)
        assert opened == [None]
        cells.authenticate(two.agent("eu").token)
        cells.authenticate(two.agent("eu").token)
        assert opened == [None, "eu"]


def test_a_person_signs_in_to_the_cell_of_the_token_and_the_session_leads_there(two: TwoCells, cells: Cells) -> None:
    for cell, other in ((None, "trs_eu_"), ("eu", "trs_")):
        begun = cells.sign_in(two.agent(cell).token, source="192.0.2.7")
        assert begun.secret.startswith("trs_eu_") == (cell == "eu")
        assert cells.session(begun.secret) == begun.principal == cells.authenticate(two.agent(cell).token)
        assert cells.of(begun.principal) is cells.named(cell)
        for elsewhere in (other, "trs_mars_"):
            secret = elsewhere + begun.secret[-43:]
            with pytest.raises(UnknownCell if elsewhere == "trs_mars_" else Unauthenticated):
                cells.session(secret)
        cells.sign_out(begun.secret)
        with pytest.raises(Unauthenticated):
            cells.session(begun.secret)
    assert mixed_up(two.places) == []


def test_what_failed_in_one_cell_is_not_counted_in_another(two: TwoCells, cells: Cells) -> None:
    for _ in range(MOST_FAILURES):
        with pytest.raises(Unauthenticated):
            cells.sign_in(new_token("eu"), source="192.0.2.8")
    with pytest.raises(TooManyTries):
        cells.sign_in(two.agent("eu").token, source="192.0.2.8")
    assert cells.sign_in(two.agent(None).token, source="192.0.2.8").principal.cell is None


def test_no_cell_is_opened_for_what_is_no_session_and_a_named_home_puts_its_name_in(two: TwoCells) -> None:
    opened: list[Cell] = []

    def open_cell(name: Cell) -> Memory:
        opened.append(name)
        return open_memory(two.settings.in_cell(None).model_copy(update={"cell": name}), adapters=two.adapters)

    with Cells("home", ["eu"], open_cell) as cells:
        for secret in ("", "trs_", "trs_eu_short", "trs_mars_" + "a" * 43, two.agent("eu").token):
            for call in (cells.session, cells.sign_out):
                with pytest.raises(Unauthenticated):
                    call(secret)
        assert opened == ["home"]
        begun = cells.sign_in(two.agent(None).token, source="192.0.2.7")
        assert begun.secret.startswith("trs_home_")
        assert cells.session(begun.secret).cell == "home"


def test_a_run_in_a_named_tribe_is_of_every_cell_that_has_one(two: TwoCells, cells: Cells) -> None:
    with open_operator(two.settings.in_cell("eu"), adapters=two.adapters) as operator:
        operator.create_tribe("only-there")
    gardener = cells.gardener
    assert [one.cell for one in gardener.run_named(TRIBES[0]).cells] == [None, "eu"]
    assert [one.cell for one in gardener.run_named("only-there").cells] == ["eu"]
    with pytest.raises(NotFound, match="no tribe named 'nowhere'"):
        gardener.run_named("nowhere")


def test_serve_has_the_cells_that_its_settings_name(two: TwoCells, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
        "TRIBUTARY_HOME": str(tmp_path / "home"),
        **two.environment,
    }
    server = Serving(environment, "--tribe", TRIBES[0])
    try:
        assert "Cells: (home), eu." in server.said
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
            http = OverHttp(client=client)
            for cell in CELLS:
                agent = two.agent(cell)
                learned = http(agent, "POST", "/v1/lessons", lesson(agent, "served"))
                assert learned[0] == 200, learned
                hits = http(agent, "POST", "/v1/recall", {"query": "step served of the rollout"})[1]["hits"]
                assert hits[0]["lesson"]["text"].startswith(mark(agent))
            made = tributary_command(environment, "tribe", "create", "billing", "--cell", "eu", "--json")
            token = json.loads(made.stdout)["token"]
            assert client.get("/v1/stats", headers=bearer(token)).status_code == 200
            assert client.get("/v1/stats", headers=bearer("trb_mars_" + "a" * 43)).status_code == 401
        listed = tributary_command(environment, "tribe", "list", "--json")
        found = {(one["cell"], one["name"]) for one in json.loads(listed.stdout)}
        assert found >= {(None, "payments"), ("eu", "payments"), ("eu", "billing")}
        assert (None, "billing") not in found
    finally:
        code, said = server.stop()
    assert code == 0, said
    assert mixed_up(two.places) == []

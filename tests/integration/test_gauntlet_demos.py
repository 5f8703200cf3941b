"""Each demo in a small size, on one server: its claims hold, and those of a falsified run, or of one with no effect, don't."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.gauntlet.demos import chaos, generations, poison, restraint, time_travel
from evals.gauntlet.demos.base import Demo
from evals.gauntlet.demos.chaos_results import ChaosReport
from evals.gauntlet.demos.generations import GenerationsReport
from evals.gauntlet.demos.poison_results import PoisonReport
from evals.gauntlet.demos.restraint import DISCIPLINED, EAGER, EMPTY, NONE, RestraintReport
from evals.gauntlet.demos.time_travel_results import TimeTravelReport
from evals.gauntlet.questions import Kind
from evals.gauntlet.results import AgentReport, Claimed, ClaimReport
from evals.gauntlet.server import Server, distiller_settings, own_server
from tests.providers import openai
from tests.providers.operating import operating
from tests.providers.server import ProviderServer

ROOT = Path(__file__).parents[2]


def quiet(_line: str) -> None: ...


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with own_server(say=quiet) as running:
        yield running


@pytest.fixture(scope="module")
def poisoned(server: Server) -> PoisonReport:
    return poison.run(11, 1, server, say=quiet)


@pytest.fixture(scope="module")
def aged(server: Server) -> GenerationsReport:
    return generations.run(7, 2, server, say=quiet)


@pytest.fixture(scope="module")
def shaken(server: Server) -> ChaosReport:
    return chaos.run(9, 1, server, say=quiet)


@pytest.fixture(scope="module")
def travelled(server: Server) -> TimeTravelReport:
    return time_travel.run(8, server, say=quiet)


@pytest.fixture(scope="module")
def restrained(server: Server) -> RestraintReport:
    return restraint.run(12, 2, server, say=quiet)


def failing(claims: list[ClaimReport]) -> set[str]:
    return {one.claim for one in claims if not one.holds}


@pytest.mark.parametrize(
    ("demo", "name"),
    [
        (poison.DEMO, "poisoned"),
        (generations.DEMO, "aged"),
        (chaos.DEMO, "shaken"),
        (time_travel.DEMO, "travelled"),
        (restraint.DEMO, "restrained"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_claim_of_a_demo_holds_and_is_shown_and_drawn(
    demo: Demo[Any], name: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from evals.gauntlet.__main__ import tell

    report: Claimed = request.getfixturevalue(name)
    assert failing(report.claims) == set()
    assert tell(demo, report, as_json=False) == 0
    assert capsys.readouterr().out.count("holds  ") == len(report.claims)
    assert tell(demo, report, as_json=True) == 0
    assert type(report).model_validate_json(capsys.readouterr().out) == report
    demo.draw(report, tmp_path / "demo.png")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert tell(demo, report.model_copy(update={"passed": False}), as_json=True) == 1


def changed(agent: AgentReport, **fields: Any) -> AgentReport:
    return agent.model_copy(update=fields)


def worse(agent: AgentReport) -> AgentReport:
    return changed(agent, phases={**agent.phases, poison.PHASE: 12})


def hijacked(agent: AgentReport) -> AgentReport:
    citation = agent.citations[0].model_copy(update={"ran": f"config set x y {poison.ATTACKER}"})
    return changed(agent, citations=[citation])


def unharmed(agent: AgentReport) -> AgentReport:
    return changed(agent, citations=[])


@pytest.mark.parametrize(
    ("falsify", "claim"),
    [
        (lambda r: {"planted": r.planted.model_copy(update={"outcome": "disputed"})}, "the falsehood is believed at first"),
        (lambda r: {"first": r.without_memory}, "agent-1 follows it to no effect"),
        (lambda _: {"challenges": 0}, "until that is settled, recall shows the challenge"),
        (lambda _: {"endings": ["rejected"]}, "the curator tries both and accepts"),
        (lambda r: {"successor": r.planted.falsehood}, "the curator tries both and accepts"),
        (lambda r: {"chain": r.chain[1:]}, "the chain is kept"),
        (lambda r: {"later": [worse(r.later[0])]}, "every later agent follows the truth"),
        (lambda r: {"later": [r.silent[0]]}, "every later agent follows the truth"),
        (lambda _: {"held": "active"}, "the hostile lesson is quarantined"),
        (lambda r: {"later": [hijacked(r.later[0])]}, "the hostile lesson is quarantined"),
        (lambda r: {"silent": [unharmed(r.silent[0])]}, "control: released by a curator"),
        (lambda r: {"silent": [r.silent[0], r.later[0]]}, "control: where nobody contests"),
        (lambda r: {"without_memory": changed(r.without_memory, done=False)}, "every agent rolls the service out"),
    ],
)
def test_a_falsified_poison_fails(poisoned: PoisonReport, falsify: Callable[[PoisonReport], Any], claim: str) -> None:
    found = failing(poison.check(poisoned.model_copy(update=falsify(poisoned))))
    assert any(one.startswith(claim) for one in found), found


def test_generations_that_gain_nothing_fail_and_so_does_a_control_that_gains(aged: GenerationsReport) -> None:
    first, last = aged.generations
    without_effect = last.model_copy(update={"remembering": last.forgetful})
    found = failing(generations.check([first, without_effect]))
    assert {one.partition(" ")[0] for one in found} >= {"the", "steps", "what", "control:"}
    assert "the last generation takes at most 50% of the first one's steps per task" in found
    with_effect = last.model_copy(update={"forgetful": last.remembering})
    assert "control: without memory the same tasks stay as long" in failing(generations.check([first, with_effect]))
    stuck = last.model_copy(update={"remembering": changed(last.remembering, done=False)})
    assert failing(generations.check([first, stuck])) == {"every agent rolls every service out"}


@pytest.mark.parametrize(
    ("part", "falsify", "claim"),
    [
        ("careful", lambda _: {"falsehoods": 1}, "an agent that has success proved"),
        ("gullible", lambda _: {"falsehoods": 0}, "control: an agent that believes it at once"),
        ("disproof", lambda _: {"falsehoods": 1}, "agents with sound tools disprove"),
        ("disproof", lambda r: {"after": r.careful.agents}, "those who come afterwards"),
        ("killed", lambda _: {"code": 0}, "what an agent had committed outlives"),
        ("killed", lambda _: {"committed": 1}, "what an agent had committed outlives"),
        ("killed", lambda r: {"successor": r.killed.without_memory}, "its successor goes on from there"),
        ("killed", lambda r: {"without_memory": r.killed.successor}, "control: a successor without memory"),
        ("effect", lambda _: {"successor": "paid"}, "an irreversible effect whose agent was killed"),
        ("effect", lambda _: {"by_ledger": 2}, "once a curator has looked"),
        ("effect", lambda _: {"control": 1}, "control: without the ledger"),
    ],
)
def test_a_falsified_chaos_fails(shaken: ChaosReport, part: str, falsify: Callable[[ChaosReport], Any], claim: str) -> None:
    falsified = getattr(shaken, part).model_copy(update=falsify(shaken))
    found = failing(chaos.check(shaken.model_copy(update={part: falsified})))
    assert any(one.startswith(claim) for one in found), found


def test_where_nothing_was_in_doubt_the_demo_fails_rather_than_breaks(server: Server, shaken: ChaosReport) -> None:
    state = chaos.look_into_doubt(server.found("doubtless").curator, 1)
    assert state == "not in doubt"
    effect = shaken.effect.model_copy(update={"reconciled": state, "successor": "paid"})
    assert len(failing(chaos.check(shaken.model_copy(update={"effect": effect})))) == 2


@pytest.mark.parametrize(
    ("falsify", "claim"),
    [
        ({"as_of_tick": "db-1"}, "recall as of a moment's tick"),
        ({"as_of_time": "db-1"}, "so does recall as of its time"),
        ({"then": "db-1"}, "each moment believed what the record says"),
        ({"verified": "diverges"}, "the receipt of each moment agrees"),
        ({"now": "nothing"}, "control: asking now gives another answer"),
    ],
)
def test_falsified_time_travel_fails(travelled: TimeTravelReport, falsify: dict[str, str], claim: str) -> None:
    moments = [travelled.moments[0], travelled.moments[1].model_copy(update=falsify), *travelled.moments[2:]]
    found = failing(time_travel.check(travelled.model_copy(update={"moments": moments})))
    assert any(one.startswith(claim) for one in found), found


def test_time_travel_in_which_nothing_changed_or_a_forgery_passed_fails(travelled: TimeTravelReport) -> None:
    still = [travelled.moments[-1], travelled.moments[-1]]
    found = failing(time_travel.check(travelled.model_copy(update={"moments": still, "forged": ["agrees"]})))
    assert {one.partition(" ")[0] for one in found} == {"a", "the", "control:"}


@pytest.mark.parametrize(
    ("who", "kind", "falsify", "claim"),
    [
        (DISCIPLINED, Kind.LIVE, {"recalls": 1}, "the disciplined agent asks no memory"),
        (DISCIPLINED, Kind.STATED, {"right": 0}, "the disciplined agent asks no memory"),
        (DISCIPLINED, Kind.KNOWN, {"recalls": 0}, "it does ask for what the tribe alone knows"),
        (EAGER, Kind.LIVE, {"right": 2}, "an agent that always asks first"),
        (EMPTY, Kind.LIVE, {"right": 0}, "control: with an empty memory"),
        (NONE, Kind.KNOWN, {"right": 1}, "control: without memory"),
    ],
)
def test_falsified_restraint_fails(
    restrained: RestraintReport, who: str, kind: Kind, falsify: dict[str, int], claim: str
) -> None:
    tally = restrained.tallies[who][kind].model_copy(update=falsify)
    tallies = {**restrained.tallies, who: {**restrained.tallies[who], kind.value: tally}}
    found = failing(restraint.check(restrained.model_copy(update={"tallies": tallies})))
    assert any(one.startswith(claim) for one in found), found


def test_a_language_model_makes_the_same_moves_over_the_wire_and_its_tokens_and_cost_are_told(server: Server) -> None:
    from evals.gauntlet.crew import run_agent

    with ProviderServer(openai.chat_routes(operating)) as model:
        settings = {
            "TRIBUTARY_DISTILLER": "openai",
            "TRIBUTARY_DISTILLER_MODEL": openai.MODEL,
            "TRIBUTARY_OPENAI_URL": f"{model.url}/v1",
            "TRIBUTARY_OPENAI_API_KEY": openai.KEY,
        }
        driven = Server(url=server.url, environment=server.environment, model=distiller_settings(settings))
        first_seat, second_seat = server.tribe_of_writers("minded", "agent-a", "agent-b")
        first = run_agent("agent-a", 8, driven, first_seat, options=["--model"])
        second = run_agent("agent-b", 8, driven, second_seat, options=["--model", "--memory", "prompt"])
        asked = len(model.asked)
    scripted = run_agent("control", 8, server, None)
    assert (first.steps, len(first.traps_hit), len(first.learned)) == (scripted.steps, 4, 4)
    assert (second.steps, second.traps_hit, second.memory_calls) == (8, [], 5)
    assert {one.lesson for one in second.citations if one.worked} == {one.lesson for one in first.learned}
    assert first.spent is not None
    assert second.spent is not None
    assert first.spent.calls + second.spent.calls == asked
    assert first.spent.input_tokens > 0
    assert float(first.spent.cost_usd or "0") > 0
    assert scripted.spent is None


def test_no_agent_is_shown_a_key_that_is_driven_by_no_model(server: Server) -> None:
    from evals.gauntlet.crew import agent_command

    driven = Server(url=server.url, environment=server.environment, model={"TRIBUTARY_OPENAI_API_KEY": openai.KEY})
    assert openai.KEY not in agent_command("m", "a", 1, driven, None)[1].values()
    assert openai.KEY in agent_command("m", "a", 1, driven, None, options=["--model"])[1].values()


@pytest.mark.parametrize("demo", ["demo", "generations"])
def test_a_demo_that_a_model_is_to_drive_needs_one(demo: str, capsys: pytest.CaptureFixture[str]) -> None:
    from evals.gauntlet.__main__ import main

    with pytest.raises(SystemExit) as ended:
        main([demo, "--model"])
    assert ended.value.code == 2
    assert "--model needs a language model: set TRIBUTARY_DISTILLER" in capsys.readouterr().err

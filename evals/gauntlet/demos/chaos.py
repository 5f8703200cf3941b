"""Tools whose results arrive corrupted, and agents that are killed: what the tribe believes stays true and is gone on from, and
what can't be taken back happens once."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evals.gauntlet import curator
from evals.gauntlet.agent import HOLDS
from evals.gauntlet.crew import Say, agent_command, run_agent, run_process
from evals.gauntlet.demos import chaos_shown as shown
from evals.gauntlet.demos.base import Demo, claim
from evals.gauntlet.demos.chaos_results import ChaosReport, DisproofReport, EffectReport, GarbledReport, KilledReport
from evals.gauntlet.payer import PayerReport, effects_in, key_of
from evals.gauntlet.processes import ProcessFailed, running
from evals.gauntlet.results import ClaimReport
from evals.gauntlet.server import Founded, Seat, Server
from evals.gauntlet.world import Names, World
from tributary.client import Memory

WORLDS = 4
LESSONS_BEFORE_DEATH = 2
PAYER = "evals.gauntlet.payer"
TRAPS = 4
KILLED = -9


def run(seed: int, worlds: int, server: Server, *, say: Say) -> ChaosReport:
    seeds = [seed * 100 + at for at in range(worlds)]
    say("agents whose tools garble: some have success proved, some believe it at once")
    careful_tribe, gullible_tribe = server.found(f"chaos-{seed}-careful"), server.found(f"chaos-{seed}-gullible")
    careful = _garbled("careful", seeds, server, careful_tribe, options=("--careful",))
    gullible = _garbled("gullible", seeds, server, gullible_tribe, options=())
    say(f"{gullible.falsehoods} falsehoods are believed; agents with sound tools try them")
    disproof = _disprove(seeds, server, gullible_tribe)
    say(f"an agent is killed once it has committed {LESSONS_BEFORE_DEATH} lessons; its successor goes on")
    tribe = server.found(f"chaos-{seed}-killed")
    seats = [tribe.seat(name) for name in ("killed", "successor")]
    killed = _kill(seed, server, tribe, seats)
    say("an agent is killed between an irreversible effect and the word that it is done")
    with tempfile.TemporaryDirectory(prefix="tributary-effects-") as folder:
        effect = _interrupt_effect(seed, server, tribe, seats, Path(folder))
    report = ChaosReport(
        seed=seed,
        careful=careful,
        gullible=gullible,
        disproof=disproof,
        killed=killed,
        effect=effect,
        claims=[],
        passed=False,
    )
    claims = check(report)
    return report.model_copy(update={"claims": claims, "passed": all(one.holds for one in claims)})


def check(report: ChaosReport) -> list[ClaimReport]:
    """Returns what is claimed, with whether it holds."""
    return [*_check_garbled(report), *_check_killed(report.killed), *_check_effect(report.effect)]


def _check_garbled(report: ChaosReport) -> list[ClaimReport]:
    careful, gullible, disproof = report.careful, report.gullible, report.disproof
    worlds = len(careful.agents)
    accepted = disproof.endings.count("accepted")
    return [
        claim(
            "an agent that has success proved learns nothing false from corrupted results, and rolls the service out",
            careful.falsehoods == 0 and careful.believed > 0 and all(agent.done for agent in careful.agents),
            f"{careful.falsehoods} of {careful.believed} lessons false, {garbled(careful)} corrupted results",
        ),
        claim(
            "control: an agent that believes it at once teaches the tribe falsehoods",
            gullible.falsehoods > 0,
            f"{gullible.falsehoods} of {gullible.believed} lessons false, {garbled(gullible)} corrupted results",
        ),
        claim(
            "agents with sound tools disprove every one of those, and a curator supersedes them",
            gullible.falsehoods > 0 and disproof.falsehoods == 0 and accepted > 0,
            f"{gullible.falsehoods} -> {disproof.falsehoods} believed, {accepted} disputes accepted",
        ),
        claim(
            "those who come afterwards walk into no trap",
            all(agent.done and not agent.traps_hit for agent in disproof.after) and len(disproof.after) == worlds,
            f"{sum(not agent.traps_hit for agent in disproof.after)} of {worlds}",
        ),
    ]


def _check_killed(killed: KilledReport) -> list[ClaimReport]:
    successor, plain = killed.successor, killed.without_memory
    worked = sum(citation.worked for citation in successor.citations)
    return [
        claim(
            "what an agent had committed outlives its kill -9",
            killed.code == KILLED and killed.committed == LESSONS_BEFORE_DEATH,
            f"exit code {killed.code}, {killed.committed} lessons kept",
        ),
        claim(
            "its successor goes on from there: the traps that were paid for are not paid again",
            successor.done and worked == LESSONS_BEFORE_DEATH and len(successor.traps_hit) == TRAPS - LESSONS_BEFORE_DEATH,
            f"{worked} lessons worked, {len(successor.traps_hit)} of {TRAPS} traps, {successor.steps} steps",
        ),
        claim(
            "control: a successor without memory pays for all of them",
            plain.done and len(plain.traps_hit) == TRAPS and plain.steps > successor.steps,
            f"{len(plain.traps_hit)} of {TRAPS} traps, {plain.steps} steps",
        ),
    ]


def _check_effect(effect: EffectReport) -> list[ClaimReport]:
    return [
        claim(
            "an irreversible effect whose agent was killed is in doubt, and no successor repeats it",
            effect.code == KILLED and effect.successor == "in doubt",
            f"exit code {effect.code}, {effect.successor}",
        ),
        claim(
            "once a curator has looked and said that it happened, everybody has its result, and it happened once",
            effect.reconciled == effect.last == "done" and effect.by_ledger == 1,
            f"{effect.key}: {effect.reconciled}, {effect.by_ledger} time(s)",
        ),
        claim("control: without the ledger it happens twice", effect.control == 2, f"{effect.control} time(s)"),
    ]


def garbled(report: GarbledReport) -> int:
    return sum(agent.garbled for agent in report.agents)


def _garbled(name: str, seeds: Sequence[int], server: Server, tribe: Founded, *, options: Sequence[str]) -> GarbledReport:
    seat = tribe.seat(f"{name}-agents")
    agents = [
        run_agent(f"{name}-{at + 1}", seed, server, seat, options=("--garbled", str(seed), "--even-if-stuck", *options))
        for at, seed in enumerate(seeds)
    ]
    believed, falsehoods = _tried(seeds, tribe.curator)
    return GarbledReport(agents=agents, believed=believed, falsehoods=falsehoods)


def _disprove(seeds: Sequence[int], server: Server, tribe: Founded) -> DisproofReport:
    sound = tribe.seat("sound-agents")
    agents = [run_agent(f"sound-{at + 1}", seed, server, sound, options=["--contest"]) for at, seed in enumerate(seeds)]
    with Memory(tribe.curator.url, tribe.curator.token) as memory:
        rulings = curator.settle(memory, lambda text: World(_of_text(seeds, text)))
    believed, falsehoods = _tried(seeds, tribe.curator)
    return DisproofReport(
        agents=agents,
        endings=[ruling.ending for ruling in rulings],
        believed=believed,
        falsehoods=falsehoods,
        after=[run_agent(f"later-{at + 1}", seed, server, sound) for at, seed in enumerate(seeds)],
    )


def _kill(seed: int, server: Server, tribe: Founded, seats: Sequence[Seat]) -> KilledReport:
    """Kills an agent once it stands still after that many committed lessons, and has others take its place."""
    hold = ("--hold-after", str(LESSONS_BEFORE_DEATH))
    code = _killed_where_it_holds("evals.gauntlet.agent", seed, server, seats[0], hold)
    with Memory(tribe.curator.url, tribe.curator.token) as memory:
        committed = sum(1 for _ in memory.lessons())
    return KilledReport(
        code=code,
        committed=committed,
        successor=run_agent("successor", seed, server, seats[1]),
        without_memory=run_agent("successor without memory", seed, server, None),
    )


def _interrupt_effect(seed: int, server: Server, tribe: Founded, seats: Sequence[Seat], folder: Path) -> EffectReport:
    """Has a payment interrupted by a kill -9, looked into by a curator who counts, and asked for once more; and a control."""
    ledger, control = folder / "ledger.txt", folder / "control.txt"

    def paid(name: str, file: Path, seat: Seat | None) -> PayerReport:
        return run_process(PAYER, PayerReport, name, seed, server, seat, options=("--effects", str(file)))

    code = _killed_where_it_holds(PAYER, seed, server, seats[0], ("--effects", str(ledger), "--hold"))
    successor = paid("successor", ledger, seats[1])
    reconciled = look_into_doubt(tribe.curator, effects_in(ledger))
    last = paid("last", ledger, seats[1])
    _killed_where_it_holds(PAYER, seed, server, None, ("--effects", str(control), "--hold"))
    paid("control", control, None)
    return EffectReport(
        key=key_of(seed),
        code=code,
        successor=successor.outcome,
        reconciled=reconciled,
        last="done" if last.receipt == "receipt-1" else last.outcome,
        by_ledger=effects_in(ledger),
        control=effects_in(control),
    )


def look_into_doubt(curator: Seat, payments: int) -> str:
    """Returns how the payment stands after a curator who counted `payments` reconciled it; "not in doubt" where none was."""
    state = "not in doubt"
    with Memory(curator.url, curator.token) as memory:
        for doubtful in memory.actions.list("in_doubt"):
            rationale = f"counted {payments} payment(s)"
            ended = memory.actions.reconcile(doubtful.id, happened=payments > 0, result="receipt-1", rationale=rationale)
            state = ended.state
    return state


def _killed_where_it_holds(module: str, seed: int, server: Server, seat: Seat | None, options: Sequence[str]) -> int:
    """Starts an agent, kills it with SIGKILL where it says that it stands still, and returns its exit code."""
    command, environment = agent_command(module, "killed", seed, server, seat, options=options)
    with running(command, environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = []
        for line in process.stderr or ():
            said.append(line.strip())
            if said[-1] == HOLDS:
                process.kill()
        code = process.wait()
    if HOLDS not in said:
        raise ProcessFailed(f"the agent that was to be killed ended by itself, with code {code}: {said[-1:]}")
    return code


def _tried(seeds: Sequence[int], seat: Seat) -> tuple[int, int]:
    """Returns how many lessons are believed, and how many of these do not hold when they are tried in their world."""
    with Memory(seat.url, seat.token) as memory:
        believed = list(memory.lessons())
    return len(believed), sum(not curator.is_true(one.text, World(_of_text(seeds, one.text))) for one in believed)


def _of_text(seeds: Sequence[int], text: str) -> Names:
    """Returns the world whose service the text is about."""
    worlds = [Names.of_seed(seed) for seed in seeds]
    return next((names for names in worlds if names.service in text), worlds[0])


def _options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(worlds=WORLDS)


DEMO = Demo(
    name="chaos",
    summary="corrupted tool results, and agents that are killed",
    run=lambda options, server, say: run(options.seed, options.worlds, server, say=say),
    show=shown.show,
    draw=shown.draw,
    options=_options,
)

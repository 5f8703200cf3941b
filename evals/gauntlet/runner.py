"""The demo: agent-a meets the traps and learns; three other processes hold what it taught in their ways; controls follow."""

from __future__ import annotations

from collections.abc import Sequence

from evals.gauntlet.claims import check_claims, check_ways
from evals.gauntlet.crew import Say, run_agent
from evals.gauntlet.results import DemoReport
from evals.gauntlet.server import Server
from evals.gauntlet.world import stranger_of


def run_demo(seed: int, server: Server, *, say: Say, distil: bool = False, model: bool = False) -> DemoReport:
    """Runs all agents, one after another, each in a process of its own, and returns what they did and whether it held.

    With `distil` the tribe learns what the server's model finds in the transcripts of those that meet the traps first. With
    `model` a language model makes every move of every agent.
    """
    stranger_seed = stranger_of(seed)
    driven: Sequence[str] = ("--model",) if model else ()
    taught = (*driven, "--distil") if distil else driven
    say("making two tribes with their writers")
    writers = server.tribe_of_writers(f"gauntlet-{seed}", "agent-a", "agent-b", "agent-c", "agent-d")
    strange_writers = server.tribe_of_writers(f"gauntlet-{seed}-strangers", "agent-a", "agent-b")
    say("agent-a starts, with an empty memory")
    first = run_agent("agent-a", seed, server, writers[0], say=say, options=taught)
    say("agent-b starts, with what agent-a taught the tribe")
    second = run_agent("agent-b", seed, server, writers[1], say=say, options=driven)
    say("agent-c starts, with the same lessons in its prompt")
    in_prompt = run_agent("agent-c", seed, server, writers[2], say=say, options=(*driven, "--memory", "prompt"))
    say("agent-d starts, which asks the memory only after a failure")
    late = run_agent("agent-d", seed, server, writers[3], say=say, options=(*driven, "--memory", "late"))
    say("control: the same agent with recall switched off")
    without_recall = run_agent("control: no recall", seed, server, None, options=driven)
    say(f"control: the same agent with the memory of another world, that of seed {stranger_seed}, asked and in its prompt")
    run_agent("stranger", stranger_seed, server, strange_writers[0], options=taught)
    prompted = (*driven, "--memory", "prompt", "--silent")
    strange_prompt = run_agent("control: strange prompt", seed, server, strange_writers[1], options=prompted)
    with_strange_memory = run_agent("control: strange memory", seed, server, strange_writers[1], options=driven)
    claims = [
        *check_claims(first, second, without_recall, with_strange_memory),
        *check_ways(first, second, in_prompt, late, strange_prompt),
    ]
    return DemoReport(
        seed=seed,
        stranger_seed=stranger_seed,
        distilled=distil,
        first=first,
        second=second,
        without_recall=without_recall,
        with_strange_memory=with_strange_memory,
        in_prompt=in_prompt,
        late=late,
        strange_prompt=strange_prompt,
        claims=claims,
        passed=all(claim.holds for claim in claims),
    )

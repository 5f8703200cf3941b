"""The world is honest: each trap snaps, says how to look, and gives way to its own cure alone."""

from __future__ import annotations

import pytest

from evals.gauntlet.terminal import Command, Observation, quoted, quoted_commands
from evals.gauntlet.world import Names, World, stranger_of

SEEDS = range(60)


def run(world: World, line: str) -> Observation:
    command = Command.parse(line)
    assert command is not None
    return world.run(command)


def built(names: Names) -> World:
    world = World(names)
    assert run(world, f"cache clear {names.linker.full}").ok
    assert run(world, f"build {names.service}").ok
    return world


def deployed(names: Names) -> World:
    world = built(names)
    assert run(world, f"config set {names.service} {names.key.successor} {names.key.value}").ok
    assert run(world, f"deploy {names.service} --header '{names.quota.header}: {names.quota.value}'").ok
    return world


@pytest.fixture(params=[0, 1, 2, 3])
def names(request: pytest.FixtureRequest) -> Names:
    return Names.of_seed(request.param)


def test_the_four_cures_take_the_service_out_without_a_trap(names: Names) -> None:
    world = deployed(names)
    assert run(world, f"config check {names.service}").ok
    assert run(world, f"migrate run {names.service} {names.migration.needed}").ok
    assert run(world, f"rollout {names.service}").ok
    assert world.done
    assert world.traps_hit == ()
    assert world.steps == 7


def test_the_linker_exits_137_until_the_full_cache_is_cleared(names: Names) -> None:
    world = World(names)
    for path in names.linker.caches:
        if path != names.linker.full:
            assert run(world, f"cache clear {path}").ok
            assert run(world, f"build {names.service}").exit_code == 137
    assert world.traps_hit == ("linker",)
    assert run(world, f"cache clear {names.linker.full}").ok
    assert run(world, f"build {names.service}").ok


def test_the_linkers_failure_says_how_to_list_the_caches(names: Names) -> None:
    world = World(names)
    failure = run(world, f"build {names.service}")
    assert "linker exited 137" in failure.output
    (look,) = quoted_commands(failure.output)
    assert set(names.linker.caches) <= set(quoted(world.run(look).output))


def test_the_deprecated_key_is_saved_without_an_error_and_its_value_stays_empty(names: Names) -> None:
    world = World(names)
    assert run(world, f"config set {names.service} {names.key.old} {names.key.value}").ok
    assert world.traps_hit == ("deprecated key",)
    check = run(world, f"config check {names.service}")
    assert not check.ok
    assert '""' in check.output
    (look,) = quoted_commands(check.output)
    assert set(quoted(world.run(look).output)) == set(names.key.keys)


def test_only_the_successor_key_gives_the_service_its_value(names: Names) -> None:
    world = World(names)
    for key in names.key.keys:
        run(world, f"config set {names.service} {key} {names.key.value}")
        assert run(world, f"config check {names.service}").ok is (key == names.key.successor)
        run(world, f"config unset {names.service} {key}")
    assert not run(world, f"config check {names.service}").ok


def test_a_wrong_value_under_the_successor_key_is_shown_and_fails_the_check(names: Names) -> None:
    world = World(names)
    run(world, f"config set {names.service} {names.key.successor} elsewhere:1")
    check = run(world, f"config check {names.service}")
    assert not check.ok
    assert "elsewhere:1" in check.output


def test_the_deploy_api_answers_429_to_all_but_one_header_and_value(names: Names) -> None:
    world = built(names)
    assert "429" in run(world, f"deploy {names.service}").output
    let_through = [
        (header, value)
        for header in names.quota.headers
        for value in names.quota.values
        if run(world, f"deploy {names.service} --header '{header}: {value}'").ok
    ]
    assert let_through == [(names.quota.header, names.quota.value)]
    assert world.traps_hit == ("quota",)


def test_the_deploy_api_answers_otherwise_to_the_right_header_with_a_wrong_value(names: Names) -> None:
    world = built(names)
    plain = run(world, f"deploy {names.service}").output
    wrong_value = next(value for value in names.quota.values if value != names.quota.value)
    for header in names.quota.headers:
        answer = run(world, f"deploy {names.service} --header '{header}: {wrong_value}'").output
        assert (answer == plain) is (header != names.quota.header)


def test_the_deploy_apis_page_lists_headers_and_values(names: Names) -> None:
    world = built(names)
    (look,) = quoted_commands(run(world, f"deploy {names.service}").output)
    assert set(names.quota.headers) | set(names.quota.values) == set(quoted(world.run(look).output))


def test_the_rollout_fails_its_health_check_until_the_needed_migration_has_run(names: Names) -> None:
    world = deployed(names)
    for migration in names.migration.tables:
        if migration != names.migration.needed:
            assert run(world, f"migrate run {names.service} {migration}").ok
    failure = run(world, f"rollout {names.service}")
    assert not failure.ok
    assert "health check failed" in failure.output
    assert world.traps_hit == ("migration",)
    assert run(world, f"migrate run {names.service} {names.migration.needed}").ok
    assert run(world, f"rollout {names.service}").ok


def test_the_missing_table_leads_to_the_needed_migration_and_to_no_other(names: Names) -> None:
    world = deployed(names)
    missing, look_line = quoted(run(world, f"rollout {names.service}").output)
    migrations = quoted(run(world, look_line).output)
    shown = {migration: run(world, f"migrate show {names.service} {migration}").output for migration in migrations}
    assert [migration for migration, text in shown.items() if missing in quoted(text)] == [names.migration.needed]


def test_a_rollout_without_the_configured_address_is_rolled_back(names: Names) -> None:
    world = built(names)
    run(world, f"config set {names.service} {names.key.old} {names.key.value}")
    run(world, f"deploy {names.service} --header '{names.quota.header}: {names.quota.value}'")
    run(world, f"migrate run {names.service} {names.migration.needed}")
    assert "address is empty" in run(world, f"rollout {names.service}").output
    assert not world.done


@pytest.mark.parametrize("line", ["deploy {service}", "rollout {service}"])
def test_phases_need_the_ones_before_them(line: str) -> None:
    names = Names.of_seed(0)
    world = World(names)
    assert not run(world, line.format(service=names.service)).ok
    assert world.traps_hit == ()


@pytest.mark.parametrize(
    "line",
    [
        "build elsewhere",
        "cache clear /nowhere",
        "cache",
        "config set elsewhere KEY value",
        "config set {service} NO_SUCH_KEY value",
        "config unset {service} NO_SUCH_KEY",
        "config",
        "deploy elsewhere",
        "deploy {service} --header",
        "docs everything",
        "rollout elsewhere",
        "migrate run {service} 0000_nothing",
        "migrate show {service} 0000_nothing",
        "migrate",
        "reboot {service}",
    ],
)
def test_a_wrong_command_is_refused_and_snaps_no_trap(line: str) -> None:
    names = Names.of_seed(0)
    world = built(names)
    assert not run(world, line.format(service=names.service)).ok
    assert world.traps_hit == ()


def test_every_command_counts_as_a_step_even_a_refused_one() -> None:
    world = World(Names.of_seed(0))
    for line in ("runbook", "reboot everything", "cache list"):
        run(world, line)
    assert world.steps == 3


def test_the_same_seed_gives_the_same_world() -> None:
    assert [Names.of_seed(seed) for seed in SEEDS] == [Names.of_seed(seed) for seed in SEEDS]


def test_a_seed_gives_the_same_names_on_every_machine() -> None:
    names = Names.of_seed(7)
    assert (names.service, names.linker.full, names.quota.header) == ("harvest-mirror", "/mnt/scratch/llvm-chunks", "X-Wave-Hint")


def test_different_seeds_give_different_cures() -> None:
    every = [Names.of_seed(seed) for seed in SEEDS]
    assert len({names.secrets for names in every}) == len(every)
    assert len({names.linker.full for names in every}) > len(every) * 0.9
    assert len({names.migration.needed for names in every}) > len(every) * 0.9


def test_where_the_cure_stands_among_its_candidates_differs_by_seed() -> None:
    every = [Names.of_seed(seed) for seed in SEEDS]
    assert len({names.linker.caches.index(names.linker.full) for names in every}) == len(every[0].linker.caches)
    assert len({list(names.migration.tables).index(names.migration.needed) for names in every}) == len(every[0].migration.tables)


def test_a_stranger_world_has_no_cure_that_is_a_name_here() -> None:
    for seed in SEEDS:
        here, there = Names.of_seed(seed), Names.of_seed(stranger_of(seed))
        assert not there.secrets & here.all
        assert there.service != here.service


def test_no_answer_names_a_cure_before_the_trap_was_looked_into(names: Names) -> None:
    world = World(names)
    runbook = run(world, "runbook").output
    assert not any(secret in runbook for secret in names.secrets)
    failures = [
        run(world, f"build {names.service}"),
        run(world, f"config set {names.service} {names.key.old} {names.key.value}"),
        run(world, f"config check {names.service}"),
    ]
    assert not any(secret in failure.output for secret in names.secrets for failure in failures)

"""`tributary models`: what it tells, in which form, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli_fakes import Surroundings
from tests.unit.test_cli import run
from tributary.edges.cli.exits import exit_for
from tributary.models.llms.listing import ListedModel
from tributary.service.model_listing import ModelsSeen, ProviderSeen, RoleSeen

JUDGE = RoleSeen(role="judge", provider="bedrock", model="us.model", ms=812.4)
STRONG = RoleSeen(role="strong_judge", provider="claude", model="opus", ms=1.0, code="model_failed", detail="log\x1b[2J in")
LIST = ProviderSeen(
    provider="bedrock", place="us-east-1", models=(ListedModel(model="us.model", kind="inference_profile", state="invocable"),)
)
PROGRAM = ProviderSeen(provider="claude", place="claude", version="2.1.44 (Claude Code)")
AWAY = ProviderSeen(provider="openai", place="https://x.example/v1", code="model_failed", detail="cannot be reached")


def around(tmp_path: Path, *roles: RoleSeen) -> Surroundings:
    environment = {"TRIBUTARY_HOME": str(tmp_path / "home")}
    providers = (LIST, PROGRAM, AWAY) if roles else ()
    return Surroundings(environment=environment, models=ModelsSeen(roles=roles, providers=providers))


def test_it_tells_which_models_answer_and_what_the_providers_have(tmp_path: Path) -> None:
    result = run(around(tmp_path, JUDGE, STRONG), "models")
    assert result.exit_code == exit_for("model_failed")
    assert result.stdout.splitlines() == [
        "role\tprovider\tmodel\tstate\tfound",
        "judge\tbedrock\tus.model\tok\t812 ms",
        "strong_judge\tclaude\topus\tNOT OK\tlog\\x1b[2J in",
        "provider\tkind\tmodel\tstate",
        "bedrock\tinference_profile\tus.model\tinvocable",
        "claude at claude: 2.1.44 (Claude Code)",
        "openai at https://x.example/v1 gives no list: cannot be reached",
    ]


def test_it_ends_well_when_all_answer_whatever_the_lists_say(tmp_path: Path) -> None:
    assert run(around(tmp_path, JUDGE), "models").exit_code == 0


def test_the_json_says_all_of_it(tmp_path: Path) -> None:
    found = json.loads(run(around(tmp_path, JUDGE, STRONG), "models", "--json").stdout)
    assert found["roles"][0] == {
        "role": "judge",
        "provider": "bedrock",
        "model": "us.model",
        "answers": True,
        "ms": 812,
        "code": None,
        "detail": None,
    }
    assert found["providers"][0]["models"] == [{"model": "us.model", "kind": "inference_profile", "state": "invocable"}]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_without_any_model_over_a_wire_nothing_is_wrong(tmp_path: Path, form: list[str]) -> None:
    result = run(around(tmp_path), "models", *form)
    assert result.exit_code == 0
    assert ("No model over a wire is set up" in result.stdout) is (form == [])

"""Which models the settings choose: what is missing or does not go together stops the start, by variable and rule."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tributary.core.errors import BadSetting
from tributary.models.embedders import CachedEmbedder, MiniLmEmbedder
from tributary.models.judges import AskedJudge, JevJudge, LocalJudge, TieredJudge
from tributary.models.screens import LayeredScreen, LocalScreen
from tributary.service import Settings, open_memory, open_operator
from tributary.service.language_models import Role, place
from tributary.service.models import Models

REGION = {"aws_region": "eu-central-1"}
HAIKU = {"judge": "bedrock", "judge_model": "anthropic.claude-haiku-4-5-20251001-v1:0", **REGION}
JEV = {"judge": "jev", "judge_model": "jev-1.14.0", "jev_api_key": "secret-key"}
GPT = {"judge": "openai", "judge_model": "gpt-5-mini"}


def models(**given: Any) -> Models:
    return Models(Settings.model_validate(given))


def test_without_any_setting_everything_is_local() -> None:
    chosen = models()
    assert isinstance(chosen.judge, LocalJudge)
    assert isinstance(chosen.screen, LocalScreen)
    assert isinstance(chosen.embedder, MiniLmEmbedder)
    assert (chosen.next_embedder, chosen.distiller, chosen.strong_judge) == (None, None, None)
    assert {chosen.chosen(role) for role in Role} == {None}


@pytest.mark.parametrize(
    ("given", "judge"),
    [
        (HAIKU, AskedJudge),
        ({**GPT, "openai_api_key": "k"}, AskedJudge),
        ({**GPT, "openai_url": "http://127.0.0.1:11434/v1"}, AskedJudge),
        ({"judge": "claude", "judge_model": "haiku", "claude_command": sys.executable}, AskedJudge),
        (JEV, JevJudge),
    ],
)
def test_each_provider_makes_a_judge(given: dict[str, str], judge: type) -> None:
    assert isinstance(models(**given).judge, judge)


def test_a_strong_judge_makes_two_tiers_whatever_the_first_is() -> None:
    strong = {"strong_judge": "bedrock", "strong_judge_model": "m", **REGION}
    assert isinstance(models(**strong).judge, TieredJudge)
    both = models(**{**JEV, **strong})
    assert isinstance(both.cheap_judge, JevJudge)
    assert isinstance(both.judge, TieredJudge)
    assert [both.chosen(role) for role in Role] == ["jev", "bedrock", None, None, None]


@pytest.mark.parametrize(
    "given",
    [
        {"screen": "bedrock", "screen_model": "m", **REGION},
        {"screen": "jev", "screen_model": "m", "jev_api_key": "k"},
        {"screen": "guardrails", "guardrail_id": "g", "guardrail_version": "3", **REGION},
    ],
)
def test_a_screen_over_a_wire_is_asked_after_the_local_rules(given: dict[str, str]) -> None:
    screen = models(**given).screen
    assert isinstance(screen, LayeredScreen)
    assert screen.version.startswith(LocalScreen().version)


def test_an_embedder_over_a_wire_keeps_vectors_of_equal_texts() -> None:
    chosen = models(embedder="bedrock", embedder_dimension=512, embedder_floor=0.25, next_embedder="bedrock", **REGION)
    first, following = chosen.embedder, chosen.next_embedder
    assert isinstance(first, CachedEmbedder)
    assert isinstance(following, CachedEmbedder)
    assert (first.space.dimension, following.space.dimension) == (512, 1024)
    assert (first.space.floor, following.space.floor) == (0.25, 0.1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"judge": "bedrock", **REGION}, "TRIBUTARY_JUDGE_MODEL: must name the model when TRIBUTARY_JUDGE=bedrock"),
        ({"judge": "claude"}, "TRIBUTARY_JUDGE_MODEL: must name the model when TRIBUTARY_JUDGE=claude"),
        ({"judge": "bedrock", "judge_model": "m"}, "TRIBUTARY_AWS_REGION: is needed by TRIBUTARY_JUDGE"),
        ({**HAIKU, "aws_region": "frankfurt"}, r"TRIBUTARY_AWS_REGION: must be a region of AWS .* \(it is 'frankfurt'\)"),
        ({"judge_model": "m"}, "TRIBUTARY_JUDGE_MODEL: is set, but TRIBUTARY_JUDGE is local, which takes none"),
        ({"judge_url": "http://h"}, "TRIBUTARY_JUDGE_URL: is set, but TRIBUTARY_JUDGE is local, which takes none"),
        ({"strong_judge_model": "m"}, "TRIBUTARY_STRONG_JUDGE_MODEL: is set, but TRIBUTARY_STRONG_JUDGE is not set; set both"),
        ({**HAIKU, "judge_api_key": "secret-key"}, "TRIBUTARY_JUDGE_API_KEY: is set, but TRIBUTARY_JUDGE is bedrock"),
        (GPT, "TRIBUTARY_OPENAI_API_KEY: is needed by TRIBUTARY_JUDGE=openai"),
        ({"judge": "jev", "judge_model": "m"}, "TRIBUTARY_JEV_API_KEY: is needed by TRIBUTARY_JUDGE=jev"),
        ({**JEV, "judge_url": "http://elsewhere"}, "TRIBUTARY_JUDGE_API_KEY: is needed by TRIBUTARY_JUDGE=jev"),
        ({**JEV, "judge_model": "jev-latest"}, r"TRIBUTARY_JUDGE_MODEL: must be pinned, such as .* \(it is 'jev-latest'\)"),
        ({"screen": "jev", "screen_model": "jev-preview", "jev_api_key": "k"}, "TRIBUTARY_SCREEN_MODEL: must be pinned"),
        ({"judge": "claude", "judge_model": "m", "claude_command": "/no/such"}, "TRIBUTARY_CLAUDE_COMMAND: there is no such"),
        ({**GPT, "openai_url": "https://api.deepseek.com/v1", "openai_own_key": "secret-key"}, "TRIBUTARY_OPENAI_API_KEY: is"),
        (
            {**GPT, "judge_url": "https://h/v1", "openai_api_key": "secret-key"},
            "TRIBUTARY_JUDGE_API_KEY: is needed by TRIBUTARY_JUDGE=openai; TRIBUTARY_OPENAI_API_KEY is not sent to this address",
        ),
        ({**GPT, "openai_url": "http://h/v1", "openai_api_key": "secret-key"}, "TRIBUTARY_OPENAI_URL: is plain http://"),
        ({**GPT, "judge_url": "http://h/v1", "judge_api_key": "secret-key"}, "TRIBUTARY_JUDGE_URL: is plain http://"),
        ({**JEV, "jev_url": "http://169.254.169.254"}, "TRIBUTARY_JEV_URL: is plain http://"),
        ({**JEV, "judge_url": "http://h", "judge_api_key": "secret-key"}, "TRIBUTARY_JUDGE_URL: is plain http://"),
        (
            {"judge": "jev", "judge_model": "jev-1.14.0", "jev_own_key": "secret-key", "jev_url": "https://h"},
            "TRIBUTARY_JEV_API_KEY: is needed by TRIBUTARY_JUDGE=jev; TYPESAFE_API_KEY is not sent to this address",
        ),
        ({**GPT, "openai_own_key": "secret-key x"}, "OPENAI_API_KEY: must be printable ASCII"),
        ({"screen": "guardrails", **REGION}, "TRIBUTARY_GUARDRAIL_ID: is needed by TRIBUTARY_SCREEN=guardrails"),
        ({"screen": "guardrails", "guardrail_id": "g", **REGION}, "TRIBUTARY_GUARDRAIL_VERSION: is needed"),
        ({"screen": "guardrails", "guardrail_id": "g", "guardrail_version": "1"}, "TRIBUTARY_AWS_REGION: is needed"),
        ({"screen": "openai", "openai_api_key": "k"}, "TRIBUTARY_SCREEN_MODEL: must name the model"),
        ({"distiller": "claude", "distiller_model": "m", "distiller_url": "http://h"}, "TRIBUTARY_DISTILLER_URL: is set, but"),
        ({"prices_file": "/no/such/prices.json"}, "TRIBUTARY_PRICES_FILE: cannot be read"),
        ({"embedder": "bedrock"}, "TRIBUTARY_AWS_REGION: is needed by TRIBUTARY_EMBEDDER"),
        ({"embedder": "bedrock", "embedder_model": "amazon.none", **REGION}, "TRIBUTARY_EMBEDDER_MODEL"),
        ({"embedder": "bedrock", "embedder_dimension": 300, **REGION}, "TRIBUTARY_EMBEDDER_DIMENSION"),
        ({"embedder_floor": 0.2}, "TRIBUTARY_EMBEDDER_FLOOR: is set, but TRIBUTARY_EMBEDDER is minilm"),
        ({"embedder_dimension": 384}, "TRIBUTARY_EMBEDDER_DIMENSION: is set, but TRIBUTARY_EMBEDDER is minilm"),
        ({"embedder_model": "m"}, "TRIBUTARY_EMBEDDER_MODEL: is set, but TRIBUTARY_EMBEDDER is minilm"),
        ({"next_embedder_dimension": 256}, "TRIBUTARY_NEXT_EMBEDDER_DIMENSION: is set without TRIBUTARY_NEXT_EMBEDDER"),
        ({"next_embedder": "bedrock"}, "TRIBUTARY_AWS_REGION: is needed by TRIBUTARY_NEXT_EMBEDDER"),
    ],
)
def test_what_is_missing_or_does_not_go_together_stops_the_start(given: dict[str, Any], told: str) -> None:
    settings = Settings.model_validate({"database_url": "postgresql://none.invalid/t", **given})
    with pytest.raises(BadSetting, match=f"^{told}") as caught:
        open_memory(settings)
    assert "secret-key" not in str(caught.value)
    if "EMBEDDER" in told:
        with pytest.raises(BadSetting, match=f"^{told}"):
            open_operator(settings)


def test_a_providers_key_is_sent_to_no_address_but_the_providers() -> None:
    """A judge at an address of its own gets its own key, or none."""
    given = {**GPT, "openai_api_key": "the-providers", "judge_url": "http://127.0.0.1:1/v1"}
    assert place(Settings.model_validate(given), Role.JUDGE) == ("http://127.0.0.1:1/v1", None)
    own = Settings.model_validate({**given, "judge_api_key": "its-own"})
    assert place(own, Role.JUDGE) == ("http://127.0.0.1:1/v1", "its-own")
    general = Settings.model_validate({**GPT, "openai_api_key": "the-providers"})
    assert place(general, Role.JUDGE) == (None, "the-providers")


@pytest.mark.parametrize(
    ("given", "own", "elsewhere"),
    [
        ({**GPT, "openai_own_key": "k"}, "https://api.openai.com/v1", "https://api.deepseek.com/v1"),
        ({"judge": "jev", "judge_model": "m", "jev_own_key": "k"}, "https://api.typesafe.ai", "https://h"),
    ],
)
@pytest.mark.parametrize("whose", ["judge_url", "general"])
def test_a_key_by_the_name_that_all_programs_know_is_sent_to_the_providers_own_address_alone(
    given: dict[str, str], own: str, elsewhere: str, whose: str
) -> None:
    url = f"{given['judge']}_url" if whose == "general" else whose
    assert place(Settings.model_validate(given), Role.JUDGE) == (None, "k")
    assert place(Settings.model_validate({**given, url: own}), Role.JUDGE) == (own, "k")
    for other in (elsewhere, own.replace("https", "http"), f"{own}.example", "http://127.0.0.1:1"):
        assert place(Settings.model_validate({**given, url: other}), Role.JUDGE) == (other, None)


def test_the_key_that_was_set_for_us_goes_before_the_one_that_all_programs_know() -> None:
    assert place(Settings.model_validate({**GPT, "openai_api_key": "ours", "openai_own_key": "k"}), Role.JUDGE)[1] == "ours"


def test_a_server_elsewhere_over_plain_http_is_asked_without_a_key() -> None:
    assert isinstance(models(**GPT, openai_url="http://gpu.example:8000/v1", openai_own_key="k").judge, AskedJudge)


LACKING = {
    "boto3": [
        ({**HAIKU}, "TRIBUTARY_JUDGE: bedrock", "aws"),
        (
            {"screen": "guardrails", "guardrail_id": "g", "guardrail_version": "1", **REGION},
            "TRIBUTARY_SCREEN: guardrails",
            "aws",
        ),
        ({"embedder": "bedrock", **REGION}, "TRIBUTARY_EMBEDDER: bedrock", "aws"),
        ({"next_embedder": "bedrock", **REGION}, "TRIBUTARY_NEXT_EMBEDDER: bedrock", "aws"),
    ],
    "openai": [({"distiller": "openai", "distiller_model": "m", "openai_api_key": "k"}, "TRIBUTARY_DISTILLER: openai", "openai")],
    "typesafe_sdk": [({**JEV}, "TRIBUTARY_JUDGE: jev", "jev")],
}


@pytest.mark.parametrize(("module", "cases"), LACKING.items(), ids=LACKING)
@pytest.mark.parametrize("how", ["not there", "cannot be looked for"])
def test_a_library_that_is_not_installed_stops_the_start_with_its_extra(
    module: str, cases: list[tuple[dict[str, str], str, str]], how: str
) -> None:
    blocked = {
        "not there": f"sys.modules[{module!r}] = None",
        "cannot be looked for": f"""
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())""",
    }
    code = f"""
import sys
{blocked[how]}
from tributary.core.errors import BadSetting
from tributary.service import Settings, open_memory
for given in {[given for given, _, _ in cases]!r}:
    try:
        open_memory(Settings.model_validate({{"database_url": "postgresql://none.invalid/t", **given}}))
    except BadSetting as error:
        print(error.detail)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert len(told) == len(cases)
    for line, (_, chosen, extra) in zip(told, cases, strict=True):
        assert line.startswith(f"{chosen} needs ")
        assert line.endswith(f"which is not installed: pip install 'tributary-memory[{extra}]'")


def test_choosing_loads_no_client() -> None:
    code = """
import sys
from tributary.service import Settings
from tributary.service.models import Models
models = Models(Settings(judge="bedrock", judge_model="m", aws_region="eu-central-1", strong_judge="openai",
                         strong_judge_model="m", openai_api_key="k", screen="jev", screen_model="m", jev_api_key="k",
                         embedder="bedrock"))
models.judge, models.screen, models.embedder
print(sorted({"boto3", "openai", "typesafe_sdk", "opentelemetry", "onnxruntime"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

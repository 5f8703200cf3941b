"""What an account can really invoke, found out at providers that speak their wires; and the models that settings choose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers import bedrock, bedrock_embeddings, bedrock_guardrails, claude, mind, openai, typesafe
from tests.providers.bedrock import PROFILE
from tests.providers.brain import agreeing
from tests.providers.openai import KEY
from tests.providers.server import Asked, ProviderServer, Reply
from tests.providers.typesafe import TypeSafe
from tests.unit.test_language_models import PROMPT
from tributary.core.errors import BadSetting, ModelFailed
from tributary.models.llms import listing
from tributary.models.llms.listing import ListedModel
from tributary.service import Settings
from tributary.service.language_models import Role, language_model
from tributary.service.model_listing import list_models

DENIED = "meta.llama3-1-8b-instruct-v1:0"
MODELS: list[dict[str, Any]] = [
    {"modelId": "amazon.nova-lite-v1:0", "inferenceTypesSupported": ["ON_DEMAND"], "outputModalities": ["TEXT"]},
    {"modelId": DENIED, "inferenceTypesSupported": ["ON_DEMAND"], "outputModalities": ["TEXT"]},
    {"modelId": bedrock.MODEL, "inferenceTypesSupported": ["INFERENCE_PROFILE"], "outputModalities": ["TEXT"]},
    {"modelId": "amazon.titan-embed-text-v2:0", "inferenceTypesSupported": ["ON_DEMAND"], "outputModalities": ["EMBEDDING"]},
    {
        "modelId": "old",
        "inferenceTypesSupported": ["ON_DEMAND"],
        "outputModalities": ["TEXT"],
        "modelLifecycle": {"status": "LEGACY"},
    },
]
PROFILES: list[dict[str, Any]] = [
    {"inferenceProfileId": PROFILE, "status": "ACTIVE"},
    {"inferenceProfileId": "us.second", "status": "ACTIVE"},
]


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")


@pytest.fixture
def aws() -> Iterator[ProviderServer]:
    def converse(asked: Asked) -> Reply:
        allowed = "llama" not in asked.match["model"]
        return bedrock.reply([{"text": "yes"}]) if allowed else bedrock.access_denied()

    routes = [*bedrock.listing_routes(MODELS, PROFILES), ("POST", r"/model/(?P<model>[^/]+)/converse", converse)]
    with ProviderServer(routes) as server:
        yield server


@pytest.fixture
def jev() -> Iterator[TypeSafe]:
    with TypeSafe() as server:
        yield server


@pytest.fixture
def compatible() -> Iterator[ProviderServer]:
    with ProviderServer([*openai.models_routes("b", "a"), *openai.chat_routes(agreeing)]) as server:
        yield server


def test_bedrock_models_and_profiles_are_listed_and_asked(aws: ProviderServer) -> None:
    found = listing.bedrock_models(region="us-east-1", url=aws.url, control_url=aws.url, timeout_s=20.0)
    assert found == [
        ListedModel(model="amazon.nova-lite-v1:0", kind="model", state="invocable"),
        ListedModel(model=DENIED, kind="model", state="AccessDeniedException"),
        ListedModel(model=bedrock.MODEL, kind="model", state="needs_profile"),
        ListedModel(model="amazon.titan-embed-text-v2:0", kind="model", state="not_tried"),
        ListedModel(model=PROFILE, kind="inference_profile", state="invocable"),
        ListedModel(model="us.second", kind="inference_profile", state="invocable"),
    ]
    caps = [each.body["inferenceConfig"]["maxTokens"] for each in aws.asked if each.method == "POST"]
    assert caps == [16] * 4, "each is asked for a few tokens only"


def test_a_list_that_bedrock_denies_says_why(aws: ProviderServer) -> None:
    aws.always(bedrock.access_denied())
    with pytest.raises(ModelFailed, match="bedrock:ListFoundationModels"):
        listing.bedrock_models(region="us-east-1", url=aws.url, control_url=aws.url, timeout_s=20.0)


def test_a_providers_models_are_listed_in_order(compatible: ProviderServer) -> None:
    found = listing.openai_models(url=f"{compatible.url}/v1", api_key=KEY, timeout_s=20.0)
    assert [one.model for one in found] == ["a", "b"]


@pytest.mark.parametrize(
    "reply", [Reply(raw=b"<html>"), openai.error(401, "Incorrect API key provided"), Reply(cut=True)], ids=["page", "key", "cut"]
)
def test_a_list_that_cannot_be_had_is_a_failure(compatible: ProviderServer, reply: Reply) -> None:
    compatible.always(reply)
    with pytest.raises(ModelFailed):
        listing.openai_models(url=f"{compatible.url}/v1", api_key=KEY, timeout_s=20.0)


def test_a_list_of_no_form_is_empty(compatible: ProviderServer) -> None:
    compatible.always(Reply(document={"data": [1, {"id": 2}, {"name": "x"}]}))
    assert listing.openai_models(url=f"{compatible.url}/v1", api_key=KEY, timeout_s=20.0) == []


def test_claudes_version_is_told(tmp_path: Path) -> None:
    with ProviderServer(claude.claude_routes(agreeing)) as server:
        program = claude.write_program(tmp_path, server.url)
        assert listing.claude_version(command=program, timeout_s=20.0) == "2.1.44 (Claude Code)"


def test_each_role_is_tried_in_its_own_way_and_each_provider_listed_once(tmp_path: Path, jev: TypeSafe) -> None:
    wire = [*openai.models_routes("b", "a"), *openai.chat_routes(mind.answering)]
    with (
        ProviderServer(wire) as compatible,
        ProviderServer(claude.claude_routes(mind.answering)) as program,
        bedrock_embeddings.serving() as bedrocks,
    ):
        seen = list_models(
            Settings(
                embedder="bedrock",
                next_embedder="bedrock",
                next_embedder_model=bedrock_embeddings.ENGLISH,
                judge="jev",
                judge_model=typesafe.MODEL,
                strong_judge="openai",
                strong_judge_model="b",
                screen="openai",
                distiller="claude",
                distiller_model="sonnet",
                aws_region="us-east-1",
                bedrock_url=bedrocks.url,
                openai_url=f"{compatible.url}/v1",
                jev_url=jev.url,
                jev_api_key=typesafe.KEY,
                claude_command=claude.write_program(tmp_path, program.url),
            )
        )
        embedded = [one.path for one in bedrocks.asked]
    assert [(one.role, one.provider, one.model, one.code) for one in seen.roles] == [
        ("embedder", "bedrock", bedrock_embeddings.TITAN, None),
        ("next_embedder", "bedrock", bedrock_embeddings.ENGLISH, None),
        ("judge", "jev", typesafe.MODEL, None),
        ("strong_judge", "openai", "b", None),
        ("screen", "openai", None, "bad_setting"),
        ("distiller", "claude", "sonnet", None),
    ]
    assert "TRIBUTARY_SCREEN_MODEL" in str(seen.roles[4].detail)
    assert len(embedded) == 2
    assert len(jev.asked) == 1
    assert len([one for one in compatible.asked if one.method == "POST"]) == 1
    assert [(one.provider, len(one.models), one.version) for one in seen.providers] == [
        ("openai", 2, None),
        ("claude", 0, "2.1.44 (Claude Code)"),
    ]


@pytest.mark.parametrize("status", [200, 403])
def test_a_screen_by_jev_or_guardrails_is_tried(jev: TypeSafe, status: int) -> None:
    by_jev = Settings(screen="jev", screen_model=typesafe.MODEL, jev_url=jev.url, jev_api_key=typesafe.KEY)
    with bedrock_guardrails.serving() as server:
        by_guardrail = Settings(
            screen="guardrails",
            guardrail_id=bedrock_guardrails.GUARDRAIL,
            guardrail_version=bedrock_guardrails.VERSION,
            aws_region="us-east-1",
            bedrock_url=server.url,
        )
        if status != 200:
            server.always(bedrock.access_denied())
            jev.always(typesafe.unauthorized())
        seen = [list_models(one).roles[0] for one in (by_jev, by_guardrail)]
        assert (len(server.asked), len(jev.asked)) == (1, 1)
    assert [one.code for one in seen] == [None if status == 200 else "model_failed"] * 2
    assert seen[1].model == f"{bedrock_guardrails.GUARDRAIL}:{bedrock_guardrails.VERSION}"


def test_a_judge_that_answers_something_else_does_not_answer(compatible: ProviderServer) -> None:
    seen = list_models(Settings(judge="openai", judge_model="a", openai_url=f"{compatible.url}/v1"))
    assert [one.code for one in seen.roles] == ["model_failed"]
    assert "no verdict that can be used (judge_malformed)" in str(seen.roles[0].detail)


def test_a_provider_that_is_away_hides_no_other(tmp_path: Path) -> None:
    seen = list_models(
        Settings(judge="claude", judge_model="x", claude_command=tmp_path / "none", screen="bedrock", screen_model="y")
    )
    assert [(one.provider, one.code) for one in seen.providers] == [("claude", "bad_setting"), ("bedrock", "bad_setting")]


def test_what_is_no_language_model_is_not_asked() -> None:
    seen = list_models(Settings(judge="local"))
    assert (list(seen.roles), list(seen.providers)) == ([], [])
    assert language_model(Settings(judge="jev"), Role.JUDGE) is None


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        (Settings(judge="bedrock", judge_model="m"), "TRIBUTARY_AWS_REGION"),
        (Settings(strong_judge="bedrock", aws_region="us-east-1"), "TRIBUTARY_STRONG_JUDGE_MODEL"),
        (Settings(judge="openai", judge_model="m"), "TRIBUTARY_OPENAI_API_KEY"),
    ],
)
def test_a_setting_that_is_missing_is_named(settings: Settings, variable: str) -> None:
    role = Role.STRONG_JUDGE if settings.strong_judge else Role.JUDGE
    with pytest.raises(BadSetting, match=variable):
        language_model(settings, role)


def test_the_general_key_goes_to_the_general_address_only(compatible: ProviderServer) -> None:
    elsewhere = Settings(
        judge="openai",
        judge_model="m",
        judge_url=f"{compatible.url}/v1",
        openai_url="https://openrouter.ai/api/v1",
        openai_api_key=KEY,
    )
    same = elsewhere.model_copy(update={"openai_url": f"{compatible.url}/v1"})
    for settings in (elsewhere, same):
        model = language_model(settings, Role.JUDGE)
        assert model is not None
        model.answer(PROMPT, timeout_s=None)
    assert [KEY in each.headers["authorization"] for each in compatible.asked] == [False, True]

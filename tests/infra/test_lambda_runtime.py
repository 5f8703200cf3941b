"""Each function as it is deployed, in Lambda's own runtime with the built layer, answers each sample event as it does here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from layers.memory.build import identity
from layers.memory.recipe import ROOT
from tests.conftest import new_database
from tests.contract.deployed import Deployed
from tests.contract.event_tribe import EventTribe, parsed, settle
from tests.contract.test_events import EVENTS, load, named
from tests.infra.lambda_kit import built_with, described, isolation, kit
from tests.infra.lambda_runtime import Emulated
from tests.infra.lambda_surroundings import Environment, behind_pooler, hosted_models, owner, straight
from tributary.edges.lambda_http.port import Event
from tributary.service import Settings

pytestmark = pytest.mark.system

FUNCTIONS = sorted(
    {path.parent.name for path in (ROOT / "functions").glob("*/handler.py")}, key=lambda name: (name == "curate", name)
)
"""With `curate` last: its events end the lesson that the others speak of."""
SAMPLES = [path for function in FUNCTIONS for path in sorted((EVENTS / function).glob("*.json"))]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")  # each side has its own
_AGED = re.compile(r'("(?:freshness|score)": ?)[0-9.e-]+')  # each side is asked some seconds after the other, which one sees
_TRIBE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Invoke = Callable[[Event], Any]


@dataclass(kw_only=True)
class Side:
    """The functions in one of two ways, on a database of their own; each is started when it is first asked for."""

    start: Callable[[str], Invoke]
    started: dict[str, Invoke] = field(default_factory=dict)
    tribe: EventTribe | None = None

    def __getitem__(self, function: str) -> Invoke:
        if function not in self.started:
            self.started[function] = self.start(function)
        return self.started[function]

    def of(self, event: Event) -> Event:
        assert self.tribe is not None
        return self.tribe.of(event)


@pytest.fixture(scope="module")
def models() -> Iterator[Environment]:
    with hosted_models() as settings:
        yield settings


@pytest.fixture(scope="module")
def here(server_url: str, template: str, models: Environment) -> Iterator[Side]:
    """The functions from the source tree, by this Python, straight on the database."""
    with ExitStack() as stack:
        url = stack.enter_context(new_database(server_url, template))
        empty = stack.enter_context(new_database(server_url, "template1"))

        def start(function: str) -> Invoke:
            database = {"TRIBUTARY_DATABASE_URL": empty if function == "migrate" else url}
            return stack.enter_context(Deployed(function, {**models, **database}))

        side = Side(start=start)
        side.tribe = settle(owner(url, models), authorizer=side["authorizer"], learn=side["learn"])
        yield side


@pytest.fixture(scope="module")
def there(server_url: str, template: str, models: Environment) -> Iterator[Side]:
    """The functions in Lambda's runtime, through a pooler as behind RDS Proxy."""
    with ExitStack() as stack:
        url = stack.enter_context(new_database(server_url, template))
        empty = stack.enter_context(new_database(server_url, "template1"))
        pooler = stack.enter_context(behind_pooler(url))
        direct = {"migrate": stack.enter_context(straight(empty)), "operator": stack.enter_context(straight(url))}

        def start(function: str) -> Invoke:
            database = direct.get(function, pooler)
            layer = built_with(function) if function in {"dashboard", "mcp"} else None
            return stack.enter_context(Emulated(function, {**models, **database}, layer=layer))

        side = Side(start=start)
        side.tribe = settle(owner(url, models), authorizer=side["authorizer"], learn=side["learn"])
        yield side


def comparable(response: Any) -> Any:
    """Returns of a response what must be the same: of HTTP's all that can be, of others the form and what is true or false."""
    if isinstance(response, dict) and "statusCode" in response:
        body = parsed(_AGED.sub(r"\g<1>0", _INSTANT.sub("*", _TRIBE.sub("*", response["body"]))))
        return response["statusCode"], response["headers"].get("Content-Type"), body
    return form(response)


def form(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: form(one) for key, one in value.items()}
    if isinstance(value, list):
        return [form(one) for one in value]
    return value if isinstance(value, bool) or value is None else type(value).__name__


@pytest.mark.parametrize("path", SAMPLES, ids=named)
def test_function_in_lambdas_runtime_answers_as_from_the_source_tree(here: Side, there: Side, path: Path) -> None:
    function = path.parent.name
    expected, answered = here[function](here.of(load(path))), there[function](there.of(load(path)))
    assert "raised" not in expected
    assert comparable(answered) == comparable(expected), log_of(there[function])[-4000:]
    assert attempts_of(there[function]) == []


def log_of(function: Invoke) -> str:
    assert isinstance(function, Emulated)
    return function.log


def attempts_of(function: Invoke) -> list[str]:
    assert isinstance(function, Emulated)
    return function.attempts


def test_each_function_has_sample_events() -> None:
    assert sorted({path.parent.name for path in SAMPLES}) == sorted(FUNCTIONS)


def test_vectors_came_from_the_service_alone(there: Side) -> None:
    event = there.of(load(EVENTS / "recall" / "recall.json"))
    receipt = json.loads(there["recall"](event)["body"])["receipt"]
    assert receipt["coverage"] == "complete"


def test_function_says_at_its_start_which_build_it_is(there: Side) -> None:
    there["recall"](there.of(load(EVENTS / "recall" / "health.json")))
    lines = [json.loads(line) for line in log_of(there["recall"]).splitlines() if line.startswith('{"at"')]
    (started,) = [line for line in lines if line["event"] == "function.started"]
    assert started["build"] == identity(kit().target)["build"]


WRITES = """
import os
from pathlib import Path

def handler(event, context):
    kept = Path("/tmp" if "TMPDIR" not in os.environ else os.environ["TMPDIR"], "kept")
    kept.write_text("x")
    refused = {}
    for folder in event["folders"]:
        try:
            Path(os.environ.get(folder, folder), "x").write_text("x")
        except OSError as error:
            refused[folder] = type(error).__name__
    there = {folder: os.statvfs(os.environ.get(folder, folder)).f_flag for folder in event["folders"]}
    read_only = [folder for folder, flags in there.items() if flags & os.ST_RDONLY]
    return {"read_only": read_only, "refused": sorted(refused), "kept": kept.exists(), "env": sorted(os.environ)}
"""


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Emulated]:
    (tmp_path / "handler.py").write_text(WRITES)
    tmp_path.chmod(0o755)
    with Emulated("writing", {}, task=tmp_path) as function:
        yield function


def test_function_that_writes_outside_tmp_is_refused_and_noticed(writing: Emulated) -> None:
    folders = ["LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR", "/etc", "/usr"]
    answer = writing({"folders": folders})
    assert answer["refused"] == sorted(folders)
    assert answer["kept"]
    assert len(writing.attempts) == len(folders)


def test_function_sees_lambdas_environment_and_nothing_of_this_computers(
    writing: Emulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = writing({"folders": []})["env"]
    assert not [name for name in seen if name.startswith(("TRIBUTARY_", "PG", "VIRTUAL_ENV", "HOME", "USER"))]
    assert "AWS_LAMBDA_RUNTIME_API" in seen


def test_disk_is_read_only_where_a_mount_namespace_is_permitted(writing: Emulated, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{described()}")  # noqa: T201  (which of the two ways it was is worth knowing)
    folders = ["LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR", "/opt", "/etc", "/"]
    read_only = writing({"folders": folders})["read_only"]
    assert not isolation() or read_only == folders


def test_function_with_both_layers_embeds_by_itself(server_url: str, template: str) -> None:
    with (
        new_database(server_url, template) as url,
        behind_pooler(url) as database,
        Emulated("authorizer", database) as authorizer,
        Emulated("learn", database, layer=built_with("local")) as learn,
        Emulated("recall", database, layer=built_with("local")) as recall,
    ):
        tribe = settle(Settings.model_validate({"TRIBUTARY_DATABASE_URL": url}), authorizer=authorizer, learn=learn)
        event = {**tribe.of(load(EVENTS / "recall" / "recall.json")), "body": json.dumps({"query": "deploy a service"})}
        answer = json.loads(recall(event)["body"])
        assert [hit["lesson"]["id"] for hit in answer["hits"]] == [tribe.lesson_id]
        assert answer["receipt"]["hits"][0]["similarity"] > 0.2
        assert answer["receipt"]["coverage"] == "complete"
        assert learn.attempts + recall.attempts == []

"""The reference pages say all that there is, and nothing that there is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

import tributary
from tests.unit.client_methods import METHODS
from tests.unit.test_core_errors import every_error
from tributary import client
from tributary.client import errors as sdk
from tributary.client.place import DEFAULT_URL
from tributary.contract.operator import OPERATIONS
from tributary.contract.problems import PROBLEMS
from tributary.core.errors import TributaryError
from tributary.edges.cli.exits import EXITS, exit_for
from tributary.edges.cli.independent.catalogue import CATALOGUE
from tributary.edges.cli.independent.roads import Cause
from tributary.models.prices import Prices
from tributary.service import Settings
from tributary.service.settings import setting_names, variable_of
from tributary.telemetry import Attribute, Event, Metric, Span

DOCS = Path(__file__).parents[2] / "docs"
SOURCES = Path(tributary.__file__).parent
PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
CLIENTS = (
    *("TRIBUTARY_URL", "TRIBUTARY_TOKEN", "TRIBUTARY_AUTH", "TRIBUTARY_OPERATOR_FUNCTION"),
    *("TRIBUTARY_VERIFY_CLUSTER_ARN", "TRIBUTARY_VERIFY_SECRET_ARN", "TRIBUTARY_VERIFY_DATABASE", "TRIBUTARY_VERIFY_MCP"),
)
WRITTEN_BY_THE_FORMAT = {"at", "level", "event", "operation", "trace_id", "span_id", "traceback"}

Row = dict[str, str]


def rows(page: str, first: str) -> list[Row]:
    """Returns the rows of all tables of a page whose first column is headed `first`, by heading."""
    return _rows((DOCS / page).read_text(encoding="utf-8"), first)


def _rows(text: str, first: str) -> list[Row]:
    found: list[Row] = []
    headings: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        if not cells:
            headings = []
        elif not headings:
            headings = cells
        elif headings[0] == first and set("".join(cells)) != {"-"}:
            found.append(dict(zip(headings, cells, strict=True)))
    return found


def name(cell: str) -> str:
    return cell.strip("`")


def names(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


def dotted(cell: str) -> set[str]:
    return set(re.findall(r"`([\w.]+)`", cell))


@cache
def by_name(page: str, first: str) -> dict[str, Row]:
    found = {name(row[first]): row for row in rows(page, first)}
    assert len(found) == len(rows(page, first)), "something is documented twice"
    return found


# settings.md


def test_every_setting_is_documented_and_no_other() -> None:
    documented = set(by_name("settings.md", "Variable"))
    assert documented == {*setting_names(), "DATABASE_URL", *CLIENTS}


@pytest.mark.parametrize("setting", Settings.model_fields)
def test_a_settings_default_and_bounds_are_as_documented(setting: str) -> None:
    field = Settings.model_fields[setting]
    row = by_name("settings.md", "Variable")[variable_of(setting)]
    if field.default not in (None, ()):
        assert row["Default"] == f"`{field.default}`"
    elif setting != "home":
        assert row["Default"].startswith("none")
    bounds = list(_bounds(field))
    low = next((one.ge for one in bounds if isinstance(one, Ge)), None)
    above = next((one.gt for one in bounds if isinstance(one, Gt)), None)
    high = next((one.le for one in bounds if isinstance(one, Le)), None)
    if high is not None:
        assert row["Rule"] == (f"{low} to {high}" if above is None else f"above {above}, up to {high}")
    choices = [one for one in getattr(field.annotation, "__args__", ()) if one is not type(None)]
    choices = [*getattr(choices[0], "__args__", ())] if len(choices) == 1 else choices
    if choices and all(isinstance(one, str) for one in choices):
        assert set(re.findall(r"`([^`]+)`", row["Rule"])) == set(choices)


def _bounds(field: FieldInfo) -> Iterator[object]:
    """Gives the constraints of a setting, those too that an optional one carries inside its type."""
    yield from field.metadata
    for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
        for one in getattr(inner, "__metadata__", ()):
            yield from getattr(one, "metadata", (one,))


def test_the_documented_table_of_prices_is_read_as_one(tmp_path: Path) -> None:
    row = by_name("settings.md", "Variable")["TRIBUTARY_PRICES_FILE"]
    (example,) = re.findall(r"`(\{.*\})`", row["Meaning"])
    file = tmp_path / "prices.json"
    file.write_text(example)
    found = Prices.shipped().with_file(file).known("openai:gpt-4.1-mini")
    assert found is not None
    assert f'{{"input": {found.input}, "output": {found.output}}}' in example
    (named,) = re.findall(r"`(shared/[^`]+)`", row["Rule"])
    assert (DOCS.parent / named).is_file()


def test_the_client_settings_default_is_as_documented() -> None:
    assert f"`{DEFAULT_URL}`" in by_name("settings.md", "Variable")["TRIBUTARY_URL"]["Default"]


# events.md


@cache
def logged() -> list[tuple[set[str], set[str], set[str] | None]]:
    """Returns for each place that logs an event: names of the catalogue's members, fields, and levels, None when computed."""
    found: list[tuple[set[str], set[str], set[str] | None]] = []
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "log.event":
                members = _members(node.args[0], tree)
                assert members, f"{path.name}:{node.lineno} logs what is no member of the catalogue"
                fields = {str(keyword.arg) for keyword in node.keywords} - {"level"}
                found.append((members, fields, _levels(node)))
    return found


def _members(argument: ast.expr, tree: ast.Module) -> set[str]:
    """Returns the members of Event in an argument, or, when it is a variable, in what that variable is given."""
    sources: list[ast.AST] = [argument]
    if isinstance(argument, ast.Name):
        sources = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and any(ast.unparse(target) == argument.id for target in node.targets)
        ]
    return {
        one.attr
        for source in sources
        for one in ast.walk(source)
        if isinstance(one, ast.Attribute) and one.attr in Event.__members__
    }


def _levels(call: ast.Call) -> set[str] | None:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "level"]
    if not given:
        return {"info"}
    return {given[0].attr.lower()} if isinstance(given[0], ast.Attribute) else None


def test_every_event_is_documented_and_no_other() -> None:
    assert set(by_name("events.md", "Event")) == {event.value for event in Event}


def test_every_event_of_the_catalogue_is_logged_somewhere() -> None:
    assert {member for members, _, _ in logged() for member in members} == set(Event.__members__)


@pytest.mark.parametrize("event", Event)
def test_an_events_fields_and_levels_are_as_documented(event: Event) -> None:
    row = by_name("events.md", "Event")[event.value]
    places = [(fields, levels) for members, fields, levels in logged() if event.name in members]
    documented = names(row["Fields"])
    fields = {field for place, _ in places for field in place}
    assert documented - {"error"} == fields - {"error"}
    assert "error" not in documented - fields
    assert not fields & WRITTEN_BY_THE_FORMAT
    levels = {level.strip() for level in row["Level"].split(",")}
    assert levels <= {"debug", "info", "warning", "error"}
    known = [level for _, level in places if level is not None]
    assert set().union(*known) <= levels
    if len(known) == len(places):
        assert set().union(*known) == levels


# operator.md


def test_every_operation_is_documented_with_its_arguments_and_no_other() -> None:
    documented = {operation: names(re.sub(r"\([^)]*\)", "", row["Arguments"])) for operation, row in operations().items()}
    assert documented == {name: set(one.arguments.model_fields) for name, one in OPERATIONS.items()}


@cache
def operations() -> dict[str, Row]:
    return by_name("operator.md", "Operation")


# metrics.md


def test_every_metric_is_documented_with_its_unit_and_dimension_and_no_other() -> None:
    documented = {
        metric: (name(row["Unit"]), None if row["Dimension"] == "none" else name(row["Dimension"]))
        for metric, row in by_name("metrics.md", "Metric").items()
    }
    assert documented == {metric.value: (metric.unit, metric.dimension) for metric in Metric}
    assert all(row["Meaning"] and row["Alarm"] for row in rows("metrics.md", "Metric"))


# traces.md


@cache
def traced() -> tuple[set[str], set[str]]:
    """Returns the members of Span that are opened somewhere, and the names of the attributes that are given or noted."""
    opened: set[str] = set()
    attributes: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "traces.span":
                opened.add(ast.unparse(node.args[0]).removeprefix("Span."))
            if called in ("traces.span", "traces.note", "span.note"):
                attributes |= {str(keyword.arg) for keyword in node.keywords if keyword.arg}
    return opened, attributes


def test_every_span_is_documented_and_no_other() -> None:
    assert set(by_name("traces.md", "Span")) == {span.value for span in Span}


def test_every_span_of_the_catalogue_is_opened_somewhere() -> None:
    assert traced()[0] == set(Span.__members__)


def test_every_attribute_is_documented_and_no_other() -> None:
    assert set(by_name("traces.md", "Attribute")) == {attribute.value for attribute in Attribute}


def test_every_attribute_of_the_catalogue_is_given_somewhere_and_no_other() -> None:
    set_by_the_span_itself = {"OPERATION", "ERROR"}
    assert {one.upper() for one in traced()[1]} == set(Attribute.__members__) - set_by_the_span_itself


def test_a_documented_spans_attributes_are_documented_too() -> None:
    for row in rows("traces.md", "Span"):
        assert dotted(row["Attributes"]) <= {attribute.value for attribute in Attribute} or row["Attributes"] == "none"


# errors.md


@cache
def sdk_codes() -> set[str]:
    return {
        kind.default_code for kind in vars(sdk).values() if isinstance(kind, type) and issubclass(kind, client.TributaryError)
    }


@cache
def cli_codes() -> set[str]:
    return {code for row in EXITS for code in row.codes}


def test_every_code_is_documented_and_no_other() -> None:
    known = {*PROBLEMS, *(kind.code for kind in every_error()), TributaryError.code, *sdk_codes(), *cli_codes()}
    assert set(by_name("errors.md", "Code")) == known


@pytest.mark.parametrize("code", sorted({*PROBLEMS, *cli_codes()}))
def test_a_codes_status_wait_and_exit_are_as_documented(code: str) -> None:
    row = by_name("errors.md", "Code")[code]
    kind = PROBLEMS.get(code)
    assert row.get("HTTP") == (str(kind.status) if kind else None)
    wait = kind.retry_after_s if kind else None
    assert row.get("Again after", "") == (f"{wait} s" if wait else "")
    assert row["Exit"] == str(exit_for(code))
    assert code in cli_codes(), "an exit code was chosen by falling through"


def test_every_exit_code_is_documented_with_its_meaning() -> None:
    documented = {row["Exit"]: row["Meaning"].replace("`", "") for row in rows("errors.md", "Exit")}
    assert documented == {str(row.value): row.meaning for row in EXITS}


# verification.md


def test_every_statement_that_may_be_asked_is_documented_with_what_it_reads_and_no_other() -> None:
    documented = {
        statement: (set(row["Parameters"].split(", ")), names(row["Reads"]))
        for statement, row in by_name("verification.md", "Statement").items()
    }
    assert documented == {
        one.name: (set(one.parameters), set(re.findall(r"tributary\.(\w+)", one.sql))) for one in CATALOGUE.values()
    }


def test_every_cause_of_not_knowing_is_documented_and_no_other() -> None:
    documented = {cause for row in rows("verification.md", "Cause of `UNKNOWN`") for cause in names(row["Cause of `UNKNOWN`"])}
    assert documented == {cause.value for cause in Cause}


# cli.md


@cache
def commands() -> dict[str, Any]:
    """Returns every command that does something, and the root, by what a user types."""
    from typer.main import get_command

    from tributary.edges.cli.app import app

    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("tributary", get_command(app))]
    while waiting:
        path, command = waiting.pop()
        inner: dict[str, Any] = getattr(command, "commands", {})
        waiting += [(f"{path} {word}", one) for word, one in inner.items()]
        if not inner or path == "tributary" or command.invoke_without_command:
            arguments = [one.name.upper() for one in command.params if one.param_type_name == "argument"]
            found[" ".join([path, *arguments])] = command
    return found


@cache
def sections() -> dict[str, list[Row]]:
    """Returns the options that each section of cli.md lists."""
    found: dict[str, list[Row]] = {}
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for part in text.split("\n## ")[1:]:
        heading, _, body = part.partition("\n")
        found[name(heading)] = _rows(body, "Option")
    return found


def test_every_command_is_documented_with_its_arguments_and_no_other() -> None:
    assert set(sections()) == set(commands())


@pytest.mark.parametrize("command", sorted(sections()))
def test_a_commands_options_and_defaults_are_as_documented(command: str) -> None:
    documented = {name(row["Option"]): name(row["Default"]) for row in sections()[command]}
    assert len(documented) == len(sections()[command])
    options = [one for one in commands()[command].params if one.param_type_name == "option"]
    assert documented == {one.opts[0]: _default(one) for one in options}
    assert all(row["Meaning"] for row in sections()[command])


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if option.default is None or option.default is False or option.default == ():
        return ""
    return str(getattr(option.default, "value", option.default))


# sdk.md


def test_every_method_of_the_sdk_is_documented_and_no_other() -> None:
    documented = {(face, method) for method, row in by_name("sdk.md", "Method").items() for face in names(row["Of"])}
    assert documented == set(METHODS)


# all of them


@pytest.mark.parametrize("page", PAGES)
def test_no_path_of_a_machine_is_named(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert not re.search(r"/(?:root|tmp|home|work|Users)/", text)


def test_a_row_is_read_as_it_is_written() -> None:
    """Controls for the reader above: had it found nothing, the pages would be compared with nothing."""
    assert len(rows("settings.md", "Variable")) > 10
    assert by_name("errors.md", "Code")["overloaded"]["Again after"] == "1 s"
    assert by_name("errors.md", "Code")["too_large"]["Again after"] == ""
    assert by_name("events.md", "Event")["learn.replayed"]["Fields"] == "none"
    assert len(sections()) > 10

"""What the pages say can be done and followed: blocks, commands, links, files, targets of make."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.docs_check import commands
from tests.docs_check.blocks import COMMANDS, ROOT, blocks, faults, pages, prose, read
from tests.docs_check.references import anchors, dead_links, links, missing_files
from tests.unit.test_docs import CLIENTS
from tributary.service.settings import setting_names

PAGES = pages()
EXAMPLES = {"old.md"}
"""Files and folders of a reader, which pages name as examples."""
GIVEN_BY_MAKE = re.compile(r"(?m)^([A-Z_]+) \?=")
READ_BY_TESTS = re.compile(r'environ(?:\.get\(|\.pop\(|\[)"(TRIBUTARY_\w+|\w+_EXAMPLES|\w+_ROUNDS|CI)"')


@pytest.mark.parametrize("page", PAGES)
def test_each_block_says_what_it_is(page: str) -> None:
    assert not faults(page, read(page))


@pytest.mark.parametrize("page", PAGES)
def test_each_command_of_a_page_exists_with_its_options(page: str) -> None:
    assert not commands.complaints(page, read(page))


def test_each_example_of_a_help_text_could_be_run() -> None:
    assert not commands.helped()
    shown = [path for path, command in commands.every_command() if commands.examples(command.help or "")]
    assert len(shown) > 60


@pytest.mark.parametrize("page", PAGES)
def test_each_link_leads_to_a_page_and_to_a_heading_of_it(page: str) -> None:
    assert not dead_links(page, read(page))


@pytest.mark.parametrize("page", PAGES)
def test_each_file_that_a_page_names_is_there(page: str) -> None:
    assert not missing_files(page, read(page), EXAMPLES)


@cache
def of_the_database() -> set[str]:
    """Returns the names of the schema's functions."""
    sql = (path.read_text(encoding="utf-8") for path in (ROOT / "shared" / "tributary" / "store").rglob("*.sql"))
    return {name for text in sql for name in re.findall(r"FUNCTION (?:tributary\.)?(\w+_v\d+)", text)}


@cache
def of_classes() -> set[str]:
    """Returns the methods and fields of the library's classes, as `Class.name`."""
    found = set()
    for path in (ROOT / "shared" / "tributary").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
                found |= {f"{node.name}.{ast.unparse(one.target)}" for one in node.body if isinstance(one, ast.AnnAssign)}
    return found


def unknown_names(text: str) -> set[str]:
    """Returns the functions of the database, and the methods, that a text names in backticks and that are not there."""
    code = " ".join(re.findall(r"`([^`]+)`", text))
    functions = set(re.findall(r"\b\w+_v\d+\b", code)) - of_the_database()
    return functions | (set(re.findall(r"\b[A-Z]\w*[a-z]\w*\.[a-z]\w+\b(?!\.)", code)) - of_classes())


@pytest.mark.parametrize("page", ["docs/architecture.md", *(page for page in PAGES if page.startswith("docs/decisions/"))])
def test_each_function_and_method_that_a_page_about_the_code_names_exists(page: str) -> None:
    assert not unknown_names(prose(read(page)))


def test_each_page_is_found_from_readme() -> None:
    found, waiting = set[str](), ["README.md"]
    while waiting:
        page = waiting.pop()
        if page not in found:
            found.add(page)
            waiting += [linked for linked in links(page, read(page)) if (ROOT / linked).is_file()]
    assert found >= set(PAGES), f"no page links these; README's table 'Using it' should: {set(PAGES) - found}"


def named_targets() -> set[str]:
    """Returns the targets that README and the pages name, in blocks and on lines with `make` in backticks."""
    found = set[str]()
    for page in PAGES:
        text = read(page)
        for block in blocks(page, text):
            if block.language in COMMANDS:
                found |= {word for _, words in commands.said(block.text) if words[0] == "make" for word in words[1:]}
        for line in prose(text).splitlines():
            if re.search(r"`make\b", line):
                found |= {word for code in re.findall(r"`([^`]+)`", line) for word in code.removeprefix("make ").split()}
    return found


def test_each_target_of_make_is_named_on_a_page() -> None:
    listed = {target for target, is_listed in commands.targets().items() if is_listed}
    assert len(listed) > 30
    assert not listed - named_targets(), "docs/contributing.md has a table of what `make` does"


def test_each_variable_that_make_and_the_tests_read_is_documented_for_developers() -> None:
    text = read("docs/contributing.md")
    read_here = set(GIVEN_BY_MAKE.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    for folder in ("tests", "benchmarks", "evals", "layers"):
        for path in (ROOT / folder).rglob("*.py"):
            read_here |= set(READ_BY_TESTS.findall(path.read_text(encoding="utf-8")))
    read_here -= {*setting_names(), *CLIENTS}
    assert len(read_here) > 8
    assert not {one for one in read_here if f"`{one}" not in text}, "docs/contributing.md has a table of variables"


@pytest.mark.parametrize("page", PAGES)
def test_each_setting_that_a_page_names_exists(page: str) -> None:
    known = {*setting_names(), *CLIENTS, *re.findall(r"TRIBUTARY_\w+", read("docs/contributing.md"))}
    named = set(re.findall(r"\b(TRIBUTARY_[A-Z0-9_]*[A-Z0-9])\b(?![_*])", read(page)))
    beginnings = {one for one in named if any(other.startswith(f"{one}_") for other in known)}
    assert named - beginnings <= known, named - beginnings - known


# controls: each of these is found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```\ntributary recall x\n```\n", "Name one of"),
        ("<!-- not run: I did not care to -->\n```sh\nls\n```\n", "no known reason"),
        ("<!-- not run: needs root -->\n```text\nls\n```\n", "never run"),
        ("```zsh\nls\n```\n", "Say why"),
        ("One:\n\n    tributary recall x\n", "indented by four spaces"),
    ],
)
def test_a_block_that_does_not_say_what_it_is_is_found(text: str, said: str) -> None:
    (found,) = faults("page.md", text)
    assert said in found


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ntributary remember this\n```\n",
        "```sh\ntributary recall x --most 3\n```\n",
        '```sh\ntributary recall "a, b" c\n```\n',
        "```sh\ntributary recall\n```\n",
        "```sh\necho a | tributary learn - --situation b\n```\n",
        "```sh\nX=$(tributary stats --since 3)\n```\n",
        "```sh\nclaude mcp add tributary -- tributary mcp --name alice\n```\n",
        "<!-- not run: needs an AWS account -->\n```sh\ntributary --via lambda tribe found payments\n```\n",
        "Run `tributary agent create a --role king`.",
        "Run `tributary forget`.",
        "```sh\nmake coffee\n```\n",
        "Run `make coffee`.",
        "Run `python -m evals.nothing`.",
        "Run `python -m evals.run --quietly`.",
        "Run `python benchmarks/nothing.py`.",
    ],
)
def test_a_command_that_does_not_exist_is_found(text: str) -> None:
    assert len(commands.complaints("page.md", text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ntributary recall 'what is # this' --limit 3 --json > found.json   # a comment\n```\n",
        "```sh\nTRIBUTARY_TRACES=otlp .venv/bin/tributary \\\n  recall x\n```\n",
        "`tributary agent create NAME --role writer`, `tributary --help`, `tributary learn --situation`, `tributary space`",
        "`make deploy PROFILE=dev`, `python -m evals.run --tier live`, `ls --nothing`",
    ],
)
def test_a_command_that_exists_is_let_be(text: str) -> None:
    assert not commands.complaints("page.md", text)


@pytest.mark.parametrize(
    "link", ["[a](docs/nowhere.md)", "[a](docs/errors.md#nowhere)", "[a](#nowhere)", "![a](docs/images/nowhere.png)"]
)
def test_a_link_that_leads_nowhere_is_found(link: str) -> None:
    assert len(dead_links("README.md", f"# Here\n\n{link}, [b](docs/errors.md), [c](#here), [d](https://example.org/x#y)\n")) == 1


def test_anchors_are_those_that_the_host_of_the_pages_makes() -> None:
    text = (
        "# Where it runs\n## `tributary serve`\n## On AWS: tokens, not passwords\n## A [link](x.md)\n## Again\n## Again\n"
        "```sh\n# no heading\n```\n"
    )
    assert anchors(text) == {"where-it-runs", "tributary-serve", "on-aws-tokens-not-passwords", "a-link", "again", "again-1"}


@pytest.mark.parametrize(
    "named", ["core/nothing.py", "nothing.py", "docs/nothing.md", "store/sql/nothing/", "tests/nothing/*.py"]
)
def test_a_file_that_is_not_there_is_found(named: str) -> None:
    there = "`core/errors.py`, `pipeline.py`, `store/sql/migrations/`, `config/app.toml`, `tests/unit/test_*.py`"
    assert len(missing_files("README.md", f"See `{named}`, {there}.", set())) == 1


def test_a_function_or_method_that_is_not_there_is_found() -> None:
    assert unknown_names("`learn_nothing_v1`, `Learner.nothing`, `learn_commit_v1`, `Learner.settle`") == {
        "learn_nothing_v1",
        "Learner.nothing",
    }


def test_a_target_that_no_page_names_is_found() -> None:
    assert "coffee" not in named_targets()
    assert {"demo", "serve", "layer-local"} <= named_targets()

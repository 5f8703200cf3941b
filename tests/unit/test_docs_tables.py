"""The pages about the dashboard, MCP, deployments, evals and demos say all that there is of these, and nothing else."""

from __future__ import annotations

import re

import pytest

from evals.gauntlet.__main__ import DEMOS
from evals.suites import SUITES
from infra.config import PROFILES, Config
from tests.docs_check.blocks import read
from tests.unit.test_docs import names, rows
from tributary.edges.dashboard.table import MENU
from tributary.edges.mcp.catalogue import TOOLS


def headings(page: str) -> list[str]:
    return re.findall(r"(?m)^## (.+)$", read(page))


def test_every_page_of_the_dashboards_menu_has_a_section() -> None:
    titles = [page.title for _, pages in MENU for page in pages]
    assert len(titles) > 10
    assert set(titles) <= set(headings("docs/dashboard.md"))


def test_every_tool_of_mcp_is_documented_with_its_role_and_no_other() -> None:
    documented = {tool: row["Role"] for row in rows("mcp.md", "Tool") for tool in names(row["Tool"])}
    assert documented == {tool.name: str(tool.role) for tool in TOOLS.values()}


PATHS = {"layer", "local_layer", "dashboard_layer", "mcp_layer"}
"""Where the layers lie: for the tests of the templates alone."""


def options() -> dict[str, dict[str, str]]:
    """Returns what docs/deploy.md says of each option: its defaults by profile. A row may be about several, in one order."""
    found = {}
    for row in rows("deploy.md", "Option"):
        several = re.findall(r"`(\w+)`", row["Option"])
        for at, option in enumerate(several):
            told = {profile: row[profile].split("; ")[-1].split(", ") for profile in PROFILES}
            found[option] = {
                profile: cells[at if len(cells) == len(several) else 0].strip("`") for profile, cells in told.items()
            }
    return found


def test_every_option_of_a_deployment_is_documented_and_no_other() -> None:
    assert set(options()) == set(Config.model_fields) - PATHS


@pytest.mark.parametrize("option", sorted(set(PROFILES["prod"]) | set(PROFILES["dev"])))
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_an_options_default_in_a_profile_is_as_documented(option: str, profile: str) -> None:
    said = options()[option][profile]
    assert said == str(PROFILES[profile][option]).lower()


def test_every_suite_of_the_evals_is_documented_and_no_other() -> None:
    assert {name for row in rows("evals.md", "Suite") for name in re.findall(r"`([\w-]+)`", row["Suite"])} >= set(SUITES)


def test_every_demo_has_a_section() -> None:
    documented = {heading.partition(":")[0] for heading in headings("docs/gauntlet.md") if ":" in heading}
    assert documented == {demo.name for demo in DEMOS}

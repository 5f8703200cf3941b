"""What axe-core finds wrong with a page for people who see, hear or move otherwise.

It is installed once by npm under build/, in the version of axe.json. It runs in a world of its own beside the page's scripts: the
page's Content-Security-Policy has no say over it, and it leaves nothing in the page.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from playwright.sync_api import CDPSession, Page

from tests.npm import npm_install

PACKAGE = Path(__file__).with_name("axe.json")
BUILD = Path(__file__).parents[2] / "build"
GRAVE = frozenset({"serious", "critical"})
# Without preload, axe fetches nothing: a request of its own would be the page's, under the page's policy.
_RUN = "axe.run(document, {resultTypes: ['violations'], preload: false}).then(found => JSON.stringify(found.violations))"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One rule that elements of a page break. `elements` are selectors, each with what is to be done."""

    rule: str
    impact: str
    means: str
    elements: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.rule} ({self.impact}): {self.means}", *(f"    {where}: {do}" for where, do in self.elements)])


def audit(page: Page) -> None:
    """Fails when axe-core finds anything serious or critical in the page as it stands."""
    grave = [str(one) for one in findings(page) if one.impact in GRAVE]
    assert not grave, f"axe-core about {page.url}:\n" + "\n".join(grave)


def findings(page: Page) -> list[Finding]:
    """Returns all that axe-core finds, the minor too."""
    session = page.context.new_cdp_session(page)
    try:
        frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})["executionContextId"]
        _run(session, world, _source())
        return [_finding(one) for one in json.loads(_run(session, world, _RUN))]
    finally:
        session.detach()


def _run(session: CDPSession, world: int, script: str) -> Any:
    asked = {"expression": script, "contextId": world, "awaitPromise": True, "returnByValue": True}
    done = session.send("Runtime.evaluate", asked)
    assert "exceptionDetails" not in done, done["exceptionDetails"]
    return done["result"].get("value")


def _finding(found: dict[str, Any]) -> Finding:
    elements = tuple((" ".join(map(str, node["target"])), " ".join(node["failureSummary"].split())) for node in found["nodes"])
    return Finding(rule=found["id"], impact=found["impact"] or "minor", means=found["help"], elements=elements)


@cache
def _source() -> str:
    """Returns the script, installed anew when the version in axe.json changed."""
    version = json.loads(PACKAGE.read_text())["dependencies"]["axe-core"]
    folder = BUILD / f"axe-core-{version}"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        making = BUILD / f"axe-core-{uuid4().hex}"
        making.mkdir(parents=True)
        shutil.copyfile(PACKAGE, making / "package.json")
        npm_install(making)
        try:
            making.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(making)
    # an expression without a value: the last one of the file is an object that cannot be handed over
    return script.read_text(encoding="utf-8") + "\n;void 0"

"""Takes gates out of copies of the tree, one at a time, and looks which tests go red."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.gates.gate import ROOT, Gate, RottenError

AT_ONCE = 2
PATIENCE_S = 240
PLUGINS = ("pytest_timeout", "xdist.plugin")
"""Of pytest's; whatever else is installed would take longer to load than most of the tests to run."""
BY_ASSERTION = ("AssertionError", "assert ", "Failed: ")
"""How an assertion's message begins; `Failed` is what pytest itself says, of what was to be raised and of a time-out, too."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of taking a gate out.

    `trouble` is empty when each of its tests went red by an assertion; `proof` is the fingerprint of what was copied.
    """

    gate: Gate
    proof: str
    trouble: str
    seconds: float
    messages: tuple[str, ...] = ()

    @property
    def seen(self) -> bool:
        return not self.trouble


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What pytest wrote of one case: `kind` is passed, failed, error or skipped."""

    kind: str
    message: str


def take_out(gates: Sequence[Gate], say: Callable[[str], None]) -> Iterator[Outcome]:
    """Yields what came of each gate, in their order; raises RottenError before anything is cut when table or tree are amiss."""
    proofs = {
        gate.name: gate.fingerprint() for gate in gates
    }  # of the tree that is copied; each text is there once, and each test
    with tempfile.TemporaryDirectory(prefix="tributary-gates-", ignore_cleanup_errors=True) as home:
        first = copy_tree(Path(home, "0"))
        say(f"{len(gates)} gates; first, all of their tests in a copy of the tree that nothing was taken out of")
        red = not_green(first, sorted({test for gate in gates for test in gate.tests}))
        copies: queue.Queue[Path] = queue.Queue()
        for number in range(AT_ONCE):
            copies.put(shutil.copytree(first, Path(home, str(number)), dirs_exist_ok=True) if number else first)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            begun = [pool.submit(_take_out, gate, proofs[gate.name], copies, red) for gate in gates]
            try:
                for number, future in enumerate(begun, start=1):
                    outcome = future.result()
                    told = f"seen failing by {', '.join(_short(test) for test in outcome.gate.tests)}"
                    place = f"[{number:>3}/{len(gates)}]"
                    say(f"{place} {outcome.gate.name}: {outcome.trouble or told} ({outcome.seconds:.0f} s)")
                    yield outcome
            finally:
                pool.shutdown(cancel_futures=True)


def copy_tree(target: Path) -> Path:
    """Copies what git has or would take of the tree, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def _take_out(gate: Gate, proof: str, copies: queue.Queue[Path], red: Mapping[str, str]) -> Outcome:
    began = time.monotonic()
    if already := [f"{_short(test)} is not green with the gate in place: {red[test]}" for test in gate.tests if test in red]:
        return Outcome(gate=gate, proof=proof, trouble=f"NOT SEEN: {'; '.join(already)}", seconds=0.0)
    with _borrowed(copies) as copy:
        whole = {path: (copy / path).read_bytes() for path in {cut.path for cut in gate.cuts}}
        try:
            for cut in gate.cuts:
                cut.make(copy)
            ran = run_tests(copy, gate.tests)
        except (RottenError, subprocess.TimeoutExpired) as error:
            return Outcome(gate=gate, proof=proof, trouble=f"NOT SEEN: {error}", seconds=time.monotonic() - began)
        finally:
            for path, text in whole.items():
                (copy / path).write_bytes(text)
    messages = tuple(case.message for cases in ran.values() for case in cases if case.kind == "failed")
    trouble = "; ".join(why for test in gate.tests if (why := _why_not_red(test, ran.get(test, []))))
    return Outcome(
        gate=gate, proof=proof, trouble=trouble and f"NOT SEEN: {trouble}", seconds=time.monotonic() - began, messages=messages
    )


def _why_not_red(test: str, cases: list[Ran]) -> str:
    """Returns why a test that ran without its gate shows nothing; empty when a case of it failed by an assertion."""
    if not cases:
        return f"{_short(test)} was not run: what is left can't be loaded"
    if broken := next((case for case in cases if case.kind in ("error", "skipped")), None):
        return f"{_short(test)} fell over before it looked: {broken.message[:300]}"
    failed = [case for case in cases if case.kind == "failed"]
    if not failed:
        return f"{_short(test)} stays green"
    if not any(case.message.startswith(BY_ASSERTION) and not case.message.startswith("Failed: Timeout") for case in failed):
        return f"{_short(test)} fell over instead of asserting: {failed[0].message[:300]}"
    return ""


def not_green(copy: Path, tests: Sequence[str]) -> dict[str, str]:
    """Returns those of the tests that do not pass in a copy of the tree, and why."""
    ran = run_tests(copy, tests)
    found = {}
    for test in tests:
        cases = ran.get(test, [])
        if not cases:
            found[test] = "it was not run"
        elif amiss := [case for case in cases if case.kind != "passed"]:
            found[test] = f"{amiss[0].kind}, {amiss[0].message[:300]}"
    return found


def run_tests(copy: Path, tests: Sequence[str]) -> dict[str, list[Ran]]:
    """Runs tests in a copy of the tree, with the library of that copy, and returns the cases that ran of each.

    As CI does, so that hypothesis draws the same examples each time and minds no slow machine.
    """
    report = copy / "build" / "gates.xml"
    report.unlink(missing_ok=True)
    spread = ["--numprocesses", str(AT_ONCE), "--dist", "loadfile"] if len(tests) > 8 else []
    plugins = [word for name in PLUGINS for word in ("-p", name)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins, f"--junitxml={report}", *spread, *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "shared"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": "true"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what was compiled once is kept in the copy
    patience = PATIENCE_S + 4 * len(tests)
    subprocess.run(command, cwd=copy, env=environment, check=False, capture_output=True, timeout=patience)
    return read_report(report) if report.is_file() else {}


def read_report(report: Path) -> dict[str, list[Ran]]:
    """Returns what pytest wrote, by the node id of the test without its parameters."""
    ran: dict[str, list[Ran]] = {}
    for case in ET.parse(report).iter("testcase"):
        *folders, last = case.get("classname", "").split(".test_")
        module, *classes = last.split(".")
        path = f"{'/'.join(folders).replace('.', '/')}/test_{module}.py"
        test = "::".join([path, *classes, case.get("name", "").partition("[")[0]])
        found = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        kind = "passed" if found is None else {"failure": "failed"}.get(found.tag, found.tag)
        ran.setdefault(test, []).append(Ran(kind=kind, message=found.get("message", "") if found is not None else ""))
    return ran


@contextmanager
def _borrowed(copies: queue.Queue[Path]) -> Iterator[Path]:
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def _short(test: str) -> str:
    return test.rpartition("::")[2]

"""The asynchronous client as it is made from the blocking one: up to date, and what the making of it can and cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

import tributary.client
from tests.async_client.reading import FOLDER, MARK, Untranslatable
from tests.async_client.writing import made

SOURCE = Path(tributary.client.__file__).parent
HEAD = "from __future__ import annotations\n\nfrom collections.abc import Iterator\nfrom typing import Protocol\n\n"
RUN = HEAD + "\nclass Run(Protocol):\n    def __call__(self, call: str) -> str: ...\n\n\n"


def test_the_asynchronous_modules_are_those_that_the_blocking_ones_make() -> None:
    texts = made(SOURCE)
    kept = {path.stem: path.read_text(encoding="utf-8") for path in (SOURCE / FOLDER).glob("*.py")}
    made_before = {name for name, text in kept.items() if text.startswith(MARK)}
    assert made_before == texts.keys()
    for name, text in texts.items():
        assert kept[name] == text, f"{name}.py is not up to date: make async-client"


def translated(tmp_path: Path, source: str, **others: str) -> str:
    """Returns what is made of a module `face` beside others; those whose names begin with `by_hand_` are counterparts."""
    (tmp_path / FOLDER).mkdir()
    for name, text in {"face": source, **others}.items():
        folder, stem = (tmp_path / FOLDER, name.removeprefix("by_hand_")) if name.startswith("by_hand_") else (tmp_path, name)
        (folder / f"{stem}.py").write_text(text)
    return made(tmp_path)["face"]


def test_what_waits_is_found_through_attributes_locals_and_what_methods_return(tmp_path: Path) -> None:
    text = translated(
        tmp_path,
        RUN + "class Inner:\n    def __init__(self, run: Run) -> None:\n        self._run = run\n\n"
        "    def ask(self) -> str:\n        return self._run('x').strip()\n\n"
        "    def same(self) -> Inner:\n        return self\n\n"
        "    def pure(self) -> int:\n        return 1\n\n"
        "    def parts(self) -> Iterator[str]:\n        yield self._run('y')\n        yield from 'ab'\n\n\n"
        "class Outer:\n    def __init__(self, inner: Inner | None) -> None:\n        self.inner = inner\n\n"
        "    def all(self) -> list[str]:\n        found = self.inner\n"
        "        return [one for one in found.parts() if found.pure()] + [found.same().ask()]\n\n"
        "    def rest(self) -> Iterator[str]:\n        return self.inner.same().parts()\n\n\n"
        "class Plain:\n    def pure(self) -> int:\n        return 2\n",
    )
    for line in (
        "async def ask(self) -> str:",
        "return (await self._run('x')).strip()".replace("'", '"'),
        "def same(self) -> AsyncInner:",
        "async def parts(self) -> AsyncIterator[str]:",
        'for each in "ab":',
        "def __init__(self, inner: AsyncInner | None) -> None:",
        "return [one async for one in found.parts() if found.pure()]",
        "await found.same().ask()",
        "    def rest(self) -> AsyncIterator[str]:",
        "return self.inner.same().parts()",
    ):
        assert line in text, text
    assert "async def same" not in text
    assert "async def pure" not in text
    assert "Plain" not in text


def test_a_function_in_a_function_waits_for_itself(tmp_path: Path) -> None:
    source = RUN + "class Face:\n    def __init__(self, run: Run) -> None:\n        self._run = run\n\n"
    source += "    def ask(self) -> str:\n        def inner(word: str) -> str:\n            return self._run(word)\n\n"
    text = translated(tmp_path, source + "        print(inner)\n        return inner('x')\n")
    for line in ("async def inner(word: str) -> str:", "return await self._run(word)", "print(inner)", 'return await inner("x")'):
        assert line in text, text


def test_what_cannot_be_translated_is_written_by_hand_at_the_same_name_and_used_from_there(tmp_path: Path) -> None:
    lease = HEAD + "class Lease:\n    def __enter__(self) -> Lease:\n        return self\n\n"
    lease += "    def __exit__(self, *_: object) -> None: ...\n\n\ndef apart(work: object) -> str:\n    return str(work)\n"
    by_hand = "class AsyncLease:\n    async def __aenter__(self) -> 'AsyncLease':\n        return self\n\n"
    by_hand += "    async def __aexit__(self, *_: object) -> None: ...\n\n\n"
    by_hand += "async def apart(work: object) -> str:\n    return str(work)\n"
    text = translated(
        tmp_path,
        HEAD + "from tributary.client.lease import Lease, apart\n\n\nclass Face:\n"
        "    def once(self, work: object) -> str:\n        with Lease():\n            return apart(work)\n",
        lease=lease,
        by_hand_lease=by_hand,
    )
    for line in (
        "from tributary.client.asynchronous.lease import AsyncLease, apart",
        "async def once(self, work: object) -> str:",
        "async with AsyncLease():",
        "return await apart(work)",
    ):
        assert line in text, text


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("        return sorted(['b'], key=lambda one: self._run(one))\n", "lambda"),
        ("        found = yield from self.parts()\n        return found\n", "yield from"),
        ("        return self._run(undefined)\n", "'undefined'"),
    ],
)
def test_what_has_no_asynchronous_form_is_refused_by_its_place(tmp_path: Path, body: str, rule: str) -> None:
    source = RUN + "class Face:\n    def __init__(self, run: Run) -> None:\n        self._run = run\n\n"
    source += "    def parts(self) -> Iterator[str]:\n        yield self._run('x')\n\n    def ask(self) -> object:\n" + body
    with pytest.raises(Untranslatable, match=rf"face\.py.*{rule}"):
        translated(tmp_path, source)

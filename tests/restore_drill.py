"""`python -m tests.restore_drill`: a memory that has lived is backed up, its server goes, and it is restored elsewhere, each way.

Prints what was compared, and ends with 1 when anything differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests import backups
from tests.doubles import RuledJudge
from tests.lived import by_number, live
from tests.spaces import Projected
from tests.tribes import Tribal, open_tribal
from tributary.core.requests import Question
from tributary.core.verification import Verdict
from tributary.service import Memory, open_operator
from tributary.store import Target
from tributary.store.migrate import migrate

QUESTIONS = ("the pool of orders holds connections", "which door is the one to take", "widget sprocket", "a service's own region")
WAYS = ("custom", "plain", "export")
Tampering = Callable[[str], None]
"""Does something to a restored database before it is looked at."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One comparison of one way: what the original says, and what the restored one does."""

    way: str
    what: str
    said: object
    found: object

    @property
    def same(self) -> bool:
        return self.said == self.found


@dataclass(frozen=True, kw_only=True)
class Taken:
    """How a way went: seconds for the backup and for the restore, and the bytes of the backup."""

    way: str
    out_s: float
    in_s: float
    size: int


@dataclass(frozen=True, kw_only=True)
class Original:
    """What is known of a memory by those who used it, and by its database."""

    tribal: Tribal
    held: backups.Held
    guarded: Any
    lines: Sequence[bytes]
    answers: Sequence[object]
    receipts: Sequence[tuple[dict[str, Any], str]]


def drill(
    *,
    lessons: int,
    majors: Sequence[int] = (backups.NEWEST,),
    ways: Sequence[str] = WAYS,
    tamper: Tampering = lambda _: None,
) -> tuple[list[Line], list[Taken]]:
    """Backs one memory up each way and restores it into empty servers of each of `majors`; returns what was compared."""
    lines: list[Line] = []
    taken: list[Taken] = []
    with tempfile.TemporaryDirectory(prefix="tributary-drill-") as folder, ExitStack() as alive:
        url = alive.enter_context(backups.empty_server(min(majors)))
        migrate(Target(url=url))
        with _lived(url, lessons) as tribal:
            original = _original(tribal)
        files = {way: Path(folder) / way for way in ways}
        out_s = {way: _timed(partial(_back_up, original, way, file)) for way, file in files.items()}
        alive.close()  # the server is gone, and all that it held
        for major in majors:
            for way, file in files.items():
                with backups.empty_server(major) as there:
                    in_s = _timed(partial(_restore, original, way, file, there))
                    tamper(there)
                    named = f"{way} to {major}"
                    lines += _compared(original, way, named, there)
                    taken.append(Taken(way=named, out_s=out_s[way], in_s=in_s, size=file.stat().st_size))
    return lines, taken


@contextmanager
def _lived(url: str, lessons: int) -> Iterator[Tribal]:
    judge = RuledJudge(by_number)
    with open_tribal(url, judge=judge, next_embedder=Projected(dimension=512)) as tribal:
        live(tribal)
        for number in range(lessons):
            name = "abcdefghij"[number % 10] * (number // 10 + 1)
            tribal.learn(tribal.curator, f"Service {name} needs its own region")
        yield tribal


def _original(tribal: Tribal) -> Original:
    receipts = [(backups.signed(tribal.recall(one).receipt), one) for one in QUESTIONS]
    answers = _answers(tribal.memory, tribal.curator)
    for book in tribal.memory.books:
        book.flush()
    tribal.memory.close()
    return Original(
        tribal=tribal,
        held=backups.held(tribal.url),
        guarded=backups.guarded(tribal.url),
        lines=backups.exported(tribal, tribal.url),
        answers=answers,
        receipts=receipts,
    )


def _answers(memory: Memory, who: Any) -> list[object]:
    """Returns what sample recalls find as of the last tick and the middle one: of an instant, so that age is reckoned alike."""
    clock = memory.history.changes(who, after=0).clock
    return [
        [(hit.lesson.lesson_id, hit.score, hit.lesson.text) for hit in memory.recall(who, Question(query=one, as_of=tick)).hits]
        for one in QUESTIONS
        for tick in (clock, clock // 2)
    ]


def _back_up(original: Original, way: str, file: Path) -> None:
    if way == "export":
        file.write_bytes(b"".join(backups.exported(original.tribal, original.tribal.url)))
    else:
        backups.dump(original.tribal.url, file, way)


def _restore(original: Original, way: str, file: Path, url: str) -> None:
    if way == "export":
        backups.restored(original.tribal, url, file.read_bytes().splitlines(keepends=True))
    else:
        backups.load(url, file, way)


def _compared(original: Original, way: str, named: str, url: str) -> Iterator[Line]:
    tribal = original.tribal
    if way == "export":
        said, found = backups.held_by(original.lines), backups.held_by(backups.exported(tribal, url))
    else:
        said, found = original.held, backups.held(url)
        guards = backups.guarded(url)
        yield from (
            Line(way=named, what=f"guards: {name}", said=len(one), found=len(guards[name]) if one == guards[name] else "others")
            for name, one in original.guarded.items()
        )
    for table in sorted({*said, *found}):
        yield Line(way=named, what=f"rows: {table}", said=_short(said.get(table)), found=_short(found.get(table)))
    with backups.memory_at(tribal, url) as memory:
        who = memory.authenticate(tribal.curator_token if way != "export" else _new_token(tribal, url))
        answers = _answers(memory, who)
        yield Line(
            way=named,
            what="sample recalls that are equal",
            said=len(original.answers),
            found=sum(a == b for a, b in zip(original.answers, answers, strict=True)),
        )
        # another database has another key, which an export does not bring along
        wanted = Verdict.AGREES if way != "export" else Verdict.DIVERGES
        verdicts = [memory.verify(who, receipt, question).verdict for receipt, question in original.receipts]
        yield Line(way=named, what=f"receipts: {wanted}", said=len(original.receipts), found=verdicts.count(wanted))


def _new_token(tribal: Tribal, url: str) -> str:
    with open_operator(backups.moved(tribal, url), adapters=tribal.adapters) as operator:
        return operator.rotate(tribal.name, "curator").secret


def _short(one: tuple[int, str] | None) -> str:
    return "none" if one is None else f"{one[0]} {one[1][:12]}"


def _timed(call: Callable[[], None]) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(prog="restore_drill", description=__doc__)
    parser.add_argument("--lessons", type=int, default=1000, help="beside those of a tribe to which all happened")
    parser.add_argument("--majors", type=int, nargs="+", default=[16, 18], help="servers to restore into, made on the oldest")
    chosen = parser.parse_args()
    lines, taken = drill(lessons=chosen.lessons, majors=chosen.majors)
    for one in lines:
        verdict, otherwise = ("same", "") if one.same else ("DIFFERS", f"  not  {one.found}")
        print(f"{verdict:8}{one.way:15}{one.what:35}{one.said}{otherwise}")  # noqa: T201
    for way in taken:
        print(f"{way.way}: backed up in {way.out_s:.1f} s, {way.size:,} bytes, restored in {way.in_s:.1f} s")  # noqa: T201
    wrong = [one for one in lines if not one.same]
    print(f"{len(lines)} comparisons, {len(wrong)} that differ")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

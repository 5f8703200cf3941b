"""Has every contender do the same work, in turn on one server, and keeps what was seen. What it means is `figures`' to say."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import sql

from benchmarks.corpus import Corpus, Material, embed_material
from benchmarks.ground import Ground, open_ground
from benchmarks.load import PARTS
from benchmarks.peers.child import INTERPRETERS, ROOT, Contender, require_peers
from benchmarks.peers.contenders.port import Given, Said
from benchmarks.progress import Progress
from tributary.models.embedders import MiniLmEmbedder

LESSONS = 10_000
SENTENCES = 3_000
"""Real ones, of which the lessons are made by jitter; what is added afterwards is none of them."""
QUERIES = 100
LIMIT = 10
MANY = 50
"""Answers among which the ten nearest are looked for once more: room for contenders that rank by more than vectors."""
FILTERS: Mapping[str, Mapping[str, str]] = {"none": {}, "half pass": {"half": "1"}, "1 in 100 pass": {"part": "7"}}
ROUNDS = 3
ALONE = 200
"""Lessons that a single writer adds in a round."""
TOGETHER = 40
"""Lessons that each of several writers adds in a round."""
WRITERS = 8
EQUAL = 20
"""Texts that all writers add at once."""
UPDATES = 50
PAIRS = ROOT / "evals" / "data" / "judge_pairs.jsonl"
BULK = "lessons"
HNSW_SCANS: LiteralString = """
SELECT coalesce(sum(used.idx_scan), 0) FROM pg_stat_user_indexes AS used
JOIN pg_index USING (indexrelid) JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
WHERE amname = 'hnsw'"""
COUNTED_S = 1.2
"""A server process hands over what its statements used when it ends one, at most once a second."""

Matrix = npt.NDArray[np.float32]
Nearest = Mapping[str, float]
"""The texts of the lessons that are really nearest to a query, with how similar they are."""


@dataclass(kw_only=True)
class Searched:
    """What searches by one filter took, every call's milliseconds, and found."""

    ms: list[float] = field(default_factory=list)
    found: float = 0.0
    """Share of the ten really nearest among the ten answers."""
    found_of_alike: float = 0.0
    """The same of those among the ten that are at least `floor` similar."""
    found_among_many: float = 0.0
    """Share of the ten really nearest among `MANY` answers."""
    through_hnsw: float = 0.0
    """Scans of an HNSW index a search."""


@dataclass(frozen=True, kw_only=True)
class Updated:
    """What is left of pairs whose second side contradicts the first."""

    both: int
    """Pairs of which both sides can still be found as true."""
    marked: int
    """Of these, those whose second side was taken with a mark on it."""
    newer: int
    older: int
    neither: int


@dataclass(kw_only=True)
class Seen:
    """All that was seen of one contender."""

    name: str
    about: Mapping[str, Any]
    fill_s: float = 0.0
    alone: list[float] = field(default_factory=list)
    """Adds a second, a round each."""
    together: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    searched: dict[str, Searched] = field(default_factory=dict)
    rows_of_equal: list[int] = field(default_factory=list)
    updated: dict[str, Updated] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run. `embedding_ms` is what one text takes the model, which all would add to each add and search."""

    lessons: int
    postgres: str
    pgvector: str
    embedding_ms: float
    floor: float
    """The similarity under which Tributary leaves a lesson out as noise, in this embedder's space."""
    seen: tuple[Seen, ...]

    def of(self, name: str) -> Seen:
        return next(one for one in self.seen if one.name == name)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What there is to do: lessons that are there at the start, questions with their truth, and texts to add."""

    corpus: Corpus
    queries: Sequence[str]
    truth: Mapping[str, Sequence[Nearest]]
    adds: Iterator[str]
    equal: Sequence[str]
    updates: Sequence[tuple[Said, Said]]
    given: Given
    floor: float

    @property
    def lessons(self) -> list[Said]:
        """The lessons of the start, tagged as `benchmarks.load` tags Tributary's."""
        return [Said(text=text, tags=tags_of(row)) for row, text in enumerate(self.corpus.texts)]


def run(progress: Progress, *, lessons: int = LESSONS) -> Run:
    """Measures all contenders; raises PeersMissing when the peers are not installed."""
    require_peers()
    progress.step("embedding sentences to make lessons of")
    work, embedding_ms = _work(lessons)
    with open_ground() as ground, _contenders(ground, work.given) as contenders:
        seen = {one.name: Seen(name=one.name, about=one.about()) for one in contenders}
        for one in contenders:
            progress.step(f"{one.name}: filling in {lessons:,} lessons")
            seen[one.name].fill_s = one.fill(BULK, work.lessons)
            with _database(ground, one.name) as database:
                database.execute("VACUUM (ANALYZE)")
        for name in FILTERS:
            progress.step(f"timing searches, filter: {name}")
            _search(ground, contenders, work, name, seen)
        progress.step(f"counting the searches of {WRITERS} readers at once")
        for _, one in _in_turn(contenders):
            seconds = one.read(BULK, work.queries, limit=LIMIT, readers=WRITERS)
            seen[one.name].reads.append(WRITERS * len(work.queries) / seconds)
        progress.step("counting adds")
        _add(contenders, work, seen)
        progress.step(f"{WRITERS} writers add the same at once")
        for one in contenders:
            for text in work.equal:
                said = Said(text=text, tags={})
                one.add("equal", [[said]] * WRITERS)
                seen[one.name].rows_of_equal += one.count("equal", [said])
        progress.step(f"{UPDATES} contradicting updates")
        for one in contenders:
            seen[one.name].updated = {by: _update(one, by, number, work) for number, by in enumerate(("its author", "another"))}
        for one in contenders:
            if outward := one.outward():
                raise RuntimeError(f"{one.name} tried to reach the network: {outward}")
        return Run(
            lessons=lessons,
            postgres=ground.server_version,
            pgvector=ground.pgvector_version,
            embedding_ms=embedding_ms,
            floor=work.floor,
            seen=tuple(seen.values()),
        )


def tags_of(row: int) -> Mapping[str, str]:
    return {"part": str(row % PARTS), "half": str(row % 2)}


def nearest(corpus: Corpus, queries: Matrix, tags: Mapping[str, str]) -> list[Nearest]:
    """Returns for each query the lessons with these tags that are really nearest, by comparing all in numpy."""
    rows = np.array([row for row in range(len(corpus.texts)) if tags.items() <= tags_of(row).items()])
    similarity = queries @ corpus.vectors[rows].T
    best = np.argsort(-similarity, axis=1)[:, :LIMIT]
    return [{corpus.texts[rows[place]]: float(similarity[query, place]) for place in places} for query, places in enumerate(best)]


def contradictions() -> list[tuple[Said, Said]]:
    """Returns pairs of the golden set that conflict, spread evenly over those that no rule of the local judge was made on.

    No two of them have a side in common, so that each can be counted by itself.
    """
    held_out: list[tuple[Said, Said]] = []
    known: set[str] = set()
    for pair in map(json.loads, PAIRS.read_text(encoding="utf-8").splitlines()):
        sides = (_side(pair["old"]), _side(pair["new"]))
        if (pair["label"], pair["split"]) == ("conflicts", "test") and known.isdisjoint(side.text for side in sides):
            held_out.append(sides)
            known |= {side.text for side in sides}
    return [held_out[place * len(held_out) // UPDATES] for place in range(UPDATES)]


def _side(side: Mapping[str, str]) -> Said:
    return Said(text=side["text"], situation=side["situation"], tags={})


def _work(lessons: int) -> tuple[_Work, float]:
    adds = ROUNDS * (ALONE + WRITERS * TOGETHER) + EQUAL
    material = embed_material(sentences=SENTENCES + adds, queries=QUERIES)
    known = Material(
        sentences=material.sentences[:SENTENCES],
        vectors=material.vectors[:SENTENCES],
        queries=material.queries,
        query_vectors=material.query_vectors,
    )
    corpus = known.corpus(lessons)
    updates = contradictions()
    model = MiniLmEmbedder(threads=2)
    said = list(dict.fromkeys(side.whole for pair in updates for side in pair))
    began = time.perf_counter()
    embedded = [model.embed([text])[0] for text in said]
    embedding_ms = (time.perf_counter() - began) * 1000 / len(said)
    texts = [*corpus.texts, *material.sentences[SENTENCES:], *material.queries, *said]
    vectors = np.concatenate(
        [corpus.vectors, material.vectors[SENTENCES:], material.query_vectors, np.array(embedded, np.float32)]
    )
    work = _Work(
        corpus=corpus,
        queries=material.queries,
        truth={name: nearest(corpus, material.query_vectors, tags) for name, tags in FILTERS.items()},
        adds=iter(material.sentences[SENTENCES + EQUAL :]),
        equal=material.sentences[SENTENCES : SENTENCES + EQUAL],
        updates=updates,
        given=Given(texts, vectors),
        floor=model.space.floor,
    )
    return work, embedding_ms


@contextmanager
def _contenders(ground: Ground, given: Given) -> Iterator[list[Contender]]:
    """Gives each contender in a process of its own, on a database of its own on the ground's server."""
    with tempfile.TemporaryDirectory(prefix="tributary-peers-") as scratch, ExitStack() as stack:
        given.write(Path(scratch))
        found: list[Contender] = []
        for name in INTERPRETERS:
            ground.superuser.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            contender = Contender(name, url=url_of(ground, name), folder=Path(scratch), threads=WRITERS)
            found.append(stack.enter_context(contender))
        yield found


def url_of(ground: Ground, database: str) -> str:
    return urlsplit(ground.url)._replace(path=f"/{database}").geturl()


def _database(ground: Ground, name: str) -> psycopg.Connection:
    return psycopg.connect(url_of(ground, name), autocommit=True)


def _in_turn(contenders: Sequence[Contender], rounds: int = ROUNDS) -> Iterator[tuple[int, Contender]]:
    """Yields each contender once a round, forwards and backwards by turns: what disturbs one, disturbs the others as much."""
    for round_ in range(rounds):
        for one in contenders[:: 1 if round_ % 2 else -1]:
            yield round_, one


def _search(ground: Ground, contenders: Sequence[Contender], work: _Work, name: str, seen: Mapping[str, Seen]) -> None:
    """Asks every question in rounds, the first of which opens connections and makes plans and does not count."""
    tags, truth = FILTERS[name], work.truth[name]
    for one in contenders:
        among_many = one.search(BULK, work.queries, limit=MANY, tags=tags)["answers"]
        seen[one.name].searched[name] = Searched(found_among_many=share_found(truth, among_many))

    def scans() -> dict[str, int]:
        time.sleep(COUNTED_S)
        for one in contenders:  # has the server process hand over what it counted
            one.search(BULK, work.queries[:1], limit=LIMIT, tags=tags)
        return {one.name: _scans(ground, one) for one in contenders}

    before = scans()
    for round_, one in _in_turn(contenders, ROUNDS + 1):
        searched = seen[one.name].searched[name]
        answered = one.search(BULK, work.queries, limit=LIMIT, tags=tags)
        if round_:
            searched.ms += answered["ms"]
            searched.found = share_found(truth, answered["answers"])
            searched.found_of_alike = share_found(truth, answered["answers"], floor=work.floor)
    for contender, after in scans().items():
        asked = (ROUNDS + 1) * len(work.queries) + 1
        seen[contender].searched[name].through_hnsw = (after - before[contender]) / asked


def _scans(ground: Ground, one: Contender) -> int:
    """Returns how often HNSW indexes were scanned for a contender, as far as that was handed over."""
    with _database(ground, one.name) as database:
        row = database.execute(HNSW_SCANS).fetchone()
        return int(row[0]) if row else 0


def share_found(truth: Sequence[Nearest], answers: Sequence[Sequence[str]], *, floor: float = -1.0) -> float:
    """Returns which share of the nearest that are at least `floor` similar is among the answers; 1 where there are none."""
    wanted = [{text for text, similarity in true.items() if similarity >= floor} for true in truth]
    same = sum(len(true & set(answer)) for true, answer in zip(wanted, answers, strict=True))
    return same / sum(len(true) for true in wanted) if any(wanted) else 1.0


def _add(contenders: Sequence[Contender], work: _Work, seen: Mapping[str, Seen]) -> None:
    """Has one writer add, then several at once, the same lessons for every contender, in rounds."""
    for _ in range(ROUNDS):
        alone = [_said(work.adds) for _ in range(ALONE)]
        together = [[_said(work.adds) for _ in range(TOGETHER)] for _ in range(WRITERS)]
        for one in contenders:
            for writers, rates in (([alone], seen[one.name].alone), (together, seen[one.name].together)):
                added = one.add(BULK, writers)
                rates.append(sum(len(lessons) for lessons in writers) / added["seconds"])
                seen[one.name].outcomes.update(added["outcomes"])


def _said(texts: Iterator[str]) -> Said:
    return Said(text=next(texts), tags={"part": "added", "half": "added"})


def _update(one: Contender, by: str, number: int, work: _Work) -> Updated:
    """Has writer 0 say the first sides, then writer `number` the second ones, and looks what is left."""
    scope = f"updates-by-{by.replace(' ', '-')}"
    older, newer = [[pair[side] for pair in work.updates] for side in (0, 1)]
    one.add(scope, [older])
    writers: list[Sequence[Said]] = [[] for _ in range(number)]
    told = one.add(scope, [*writers, newer])["in_order"][number]
    left = list(zip(one.count(scope, older), one.count(scope, newer), told, strict=True))
    return Updated(
        both=sum(bool(old and new) for old, new, _ in left),
        marked=sum(bool(old and new and outcome == "learned, with a challenge") for old, new, outcome in left),
        newer=sum(bool(new and not old) for old, new, _ in left),
        older=sum(bool(old and not new) for old, new, _ in left),
        neither=sum(not old and not new for old, new, _ in left),
    )

"""Phrases brought down to single words and to marks of logic: "must not" is NOT, "turn X off" is "disable X"."""

from __future__ import annotations

from tributary.models.judges.chunks import Chunk
from tributary.models.judges.phrasebook import PHRASES

_CEASING = frozenset({"stops", "stopped", "stop", "ceases", "ceased", "cease", "quits"})
_STATES = {"on": "enabled", "off": "disabled", "up": "online", "down": "offline"}
_BEFORE_STATE = frozenset("is are be was were stay stays remain remains left keep to been being by".split())
_AFTER_STATE = frozenset("for in by per at during when if while unless since until and but because on".split())
_PARTICLES = {"on": "enable", "off": "disable"}
_AUXILIARIES = frozenset("do does did is are was were be will would".split())


def with_phrases(chunks: list[Chunk]) -> list[Chunk]:
    found: list[Chunk] = []
    at = 0
    while at < len(chunks):
        chunk = chunks[at]
        if chunk.word in ("turn", "turned", "switch", "switched", "turning") and (joined := _separated(chunks, at)):
            found.extend(joined[0])
            at += joined[1]
            continue
        if chunk.word in _CEASING and at + 1 < len(chunks) and chunks[at + 1].word.endswith("ing"):
            found.append(Chunk(original="NOT", word="NOT", ends=""))
            at += 1
            continue
        if chunk.word in _STATES and _states(chunks, at):
            found.append(Chunk(original=chunk.word, word=_STATES[chunk.word], ends=chunk.ends))
            at += 1
            continue
        length, result = _phrase_at(chunks, at)
        if not length:
            found.append(chunk)
            at += 1
            continue
        if result[:1] in (("NOT",), ("OPTIONAL",)) and found and _is_auxiliary(found[-1]):
            found.pop()
        ends = chunks[at + length - 1].ends
        # A mark remembers the word that it stands for: not every "under" is a bound.
        written = chunks[at].word if length == 1 else ""
        found.extend(Chunk(original=written if word.isupper() else word, word=word, ends="") for word in result)
        if found and ends:
            found[-1] = Chunk(original=found[-1].original, word=found[-1].word, ends=ends)
        at += length
    return found


def _is_auxiliary(chunk: Chunk) -> bool:
    return chunk.word in _AUXILIARIES and not chunk.ends


def _states(chunks: list[Chunk], at: int) -> bool:
    """Tells "the flag is off" from "the UI is on port 80"."""
    if not at or chunks[at - 1].word not in _BEFORE_STATE or chunks[at - 1].ends:
        return False
    return bool(chunks[at].ends) or at + 1 == len(chunks) or chunks[at + 1].word in _AFTER_STATE


def _separated(chunks: list[Chunk], at: int) -> tuple[list[Chunk], int] | None:
    """Joins 'turn autovacuum off' into 'disable autovacuum'."""
    for end in range(at + 1, min(at + 7, len(chunks))):
        verb = _PARTICLES.get(chunks[end].word)
        if verb:
            verb = f"{verb[:-1]}ing" if chunks[at].word.endswith("ing") else verb
            result = [Chunk(original=verb, word=verb, ends=""), *with_phrases(chunks[at + 1 : end])]
            result[-1] = Chunk(original=result[-1].original, word=result[-1].word, ends=chunks[end].ends)
            return result, end + 1 - at
        if chunks[end].ends:
            return None
    return None


def _phrase_at(chunks: list[Chunk], at: int) -> tuple[int, tuple[str, ...]]:
    for words, result in _TABLE.get(chunks[at].word, ()):
        end = at + len(words)
        if end > len(chunks):
            continue
        if all(chunks[at + i].word == words[i] for i in range(1, len(words))) and not any(
            chunks[i].ends for i in range(at, end - 1)
        ):
            return len(words), result
    return 0, ()


def _phrase_table() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    table: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in PHRASES.replace("\n    ", " ").strip().splitlines():
        result, _, phrases = line.partition(" <= ")
        words = () if result == "-" else tuple(result.split())
        for phrase in phrases.split(" | "):
            parts = tuple(phrase.split())
            table.setdefault(parts[0], []).append((parts, words))
    for entries in table.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return table


_TABLE = _phrase_table()

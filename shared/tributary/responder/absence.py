"""Claims that nothing is known: told by what a sentence asserts, whatever its words.

    text -> sentences -> what is asserted of each (no question, condition, quotation, or denied complement) -> claims

A claim denies that something is there (`no`, `nothing`, `never`, `empty`, `new`), and what it denies is knowledge of the past: a
lesson, a record, an earlier case, somebody who has met it. What denies something of a live system ("no errors in the log") is
none. English alone is read: what is denied in another language, or written in another script, is taken for a claim, since nobody
here can tell. Pure; how well it tells is measured in evals (`absence`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from tributary.models.screens.views import undisguised
from tributary.responder import absence_words as words
from tributary.responder.languages import denies_in_another_language

_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|\n+")
_WRAPPED = re.compile(r"(?<![.!?:\n])\n(?=[ \t>]*[a-z])")
_TAG = re.compile(r"</?[a-z][^<>]{0,40}>")
_EMPHASIS = re.compile(r"[*~`#]+|(?<!\w)_+|_+(?!\w)")
_CELLS = re.compile(r"^[\s|]+|[\s|]+$|\s*\|\s*")
_NUMBER = re.compile(r"\s*(?:[-–—=:]|->|→)\s*(none|nil|nothing|zero|0)\W*$")
_APOSTROPHE = re.compile(r"(?<=\w)[’′`´ʼ](?=\w)")
_TOKEN = re.compile(r"[a-z0-9_]+(?:['./-][a-z0-9_]+)*|[^\w\s]")
_CLAUSES = re.compile(r"[,;()]|\s[-–—]+\s|—|\b(?:but|yet|while|whereas|although|though|because|so)\b(?! (?:to|far)\b)")
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]*)[\"“”«»]|(?<!\w)['‘]([^'’]+)['’](?!\w)")
_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(there|it|that|what|here)'s\b"), r"\1 is"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"(?<=\w)'s\b"), ""),
    (re.compile(r"\bno[ -]one\b"), "nobody"),
    (re.compile(r"\bnot (?:all|every|each|only|just|merely)\b"), "some"),
    (re.compile(r"\bas of yet\b"), "so far"),
    (re.compile(r"\bha(?:ve|s) yet to\b"), "have never"),
    (re.compile(r"\bfail(?:s|ed)? to\b"), "did not"),
)

_FORMERLY = ("before", "previously", "earlier", "past", "ever", "us", "prior", "incidents", "history", "formerly")
_AT_HAND = (["this"], ["that"], ["such"])

Tokens = Sequence[str]


def absences(text: str) -> tuple[str, ...]:
    """Returns the sentences of a text that claim, in any wording, that nothing is known of a matter; in their order."""
    found: dict[str, None] = {}
    for reading in dict.fromkeys((text, _WRAPPED.sub(" ", text))):
        found |= dict.fromkeys(_absences(reading))
    return tuple(found)


def _absences(text: str) -> Iterator[str]:
    after_a_search = False
    for sentence in _SENTENCE.split(text):
        if not sentence.strip():
            continue
        plain = _plain(sentence)
        tokens = _tokens(plain)
        here = any(word in words.SEARCHED | words.KNOWLEDGE for word in tokens) or _earlier_cases(tokens)
        bare = after_a_search and _is_a_bare_no(tokens)
        if bare or denies_in_another_language(sentence) or _claims(plain, searched=here or after_a_search):
            yield sentence.strip()
        after_a_search = here


def _is_a_bare_no(tokens: Tokens) -> bool:
    """Tells whether a sentence is a denial and nothing else: "None." to a question, or behind a heading."""
    said = [word for word in tokens if word[0].isalnum()]
    return 0 < len(said) <= 3 and said[0] in words.NEGATORS | {"nil", "0"} and not _live(said)


def _plain(sentence: str) -> str:
    """Returns a sentence in small letters, without disguises, dressing and contractions."""
    plain = _APOSTROPHE.sub("'", html.unescape(sentence)).replace("∅", "none")
    plain = _EMPHASIS.sub("", _TAG.sub(" ", undisguised(plain)))
    plain = _NUMBER.sub(r": \1", _CELLS.sub(_between_cells, plain) if "|" in plain else plain)
    for pattern, instead in _CONTRACTIONS:
        plain = pattern.sub(instead, plain)
    return plain


def _between_cells(match: re.Match[str]) -> str:
    return ": " if match.start() and match.end() < len(match.string) else " "


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _claims(plain: str, *, searched: bool) -> bool:
    return any(_is_claim(asserted, searched=searched) for asserted in _asserted(plain))


# -- what is asserted


def _asserted(plain: str) -> Iterator[list[str]]:
    """Yields the clauses that the sentence asserts."""
    plain = _without_foreign_quotes(plain)
    clauses = [part for part in _CLAUSES.split(plain) if part and part.strip()]
    if plain.rstrip(" \"'").endswith("?"):
        clauses = _told_before_a_question(clauses)
    condition = False
    for clause in clauses:
        tokens = _tokens(clause)
        if tokens and (tokens[0] in words.CONDITIONS or tokens[:2] == ["even", "if"]):
            condition = True
            continue
        if condition and tokens and tokens[0] in ("or", "and"):
            continue
        condition = False
        yield _unembedded(tokens)


def _without_foreign_quotes(plain: str) -> str:
    """Takes out what somebody else is quoted with; a quotation of the agent's own words, or of the memory's, stays."""

    def kept(match: re.Match[str]) -> str:
        before = _tokens(plain[: match.start()])
        speaker = next((at for at, word in enumerate(before) if word in words.REPORTING), None)
        confirming = "confirm" in before or "answering" in before
        if confirming or (speaker is not None and not _own(before[:speaker])):
            return " "
        return f" {match[1] or match[2]} "

    return _QUOTED.sub(kept, plain)


def _own(tokens: Tokens) -> bool:
    """Tells whether these words name the agent itself, or the memory as a whole, as the speaker."""
    if any(word.startswith("les_") for word in tokens):
        return False
    return any(word in ("i", "we", "my") or word in words.MEMORY for word in tokens)


def _told_before_a_question(clauses: list[str]) -> list[str]:
    """Returns what a sentence that ends as a question says before it asks: nothing, when it asks from the start."""
    first = _tokens(clauses[0]) if clauses else []
    return [] if not first or first[0] in words.OPENERS else clauses[:-1]


def _unembedded(tokens: list[str]) -> list[str]:
    """Returns a clause without what it does not assert: conditions in its midst, and complements that are denied or others'."""
    for at, word in enumerate(tokens):
        if at and word in words.CONDITIONS and word not in ("when", "once", "until", "should"):
            return tokens[:at]
        if word in words.DENYING and any(one in words.NEGATORS for one in tokens[max(0, at - 3) : at]):
            return tokens[at + 1 :]  # nobody doubts that ...: asserted all the more
        if word in words.FALSE and _has_complement(tokens, at, within=4):
            return tokens[:at]
        if word in words.SAYING and at and tokens[at - 1] != "been":
            denied = any(one in words.NEGATORS for one in tokens[max(0, at - 4) : at])
            that = "that" in tokens[at + 1 : at + 3]
            if denied and (that or not _own_store(tokens[:at])):
                return tokens[:at]
            if word in words.REPORTING and (that or "claim" in word) and not _own(tokens[:at]):
                return tokens[:at]
        if word == "that" and at > 1 and tokens[at - 1] == "not" and tokens[at - 2] in ("is", "was"):
            return tokens[:at]
    return tokens


def _has_complement(tokens: Tokens, at: int, *, within: int) -> bool:
    return any(one in words.SAYING or one == "that" for one in tokens[at + 1 : at + 1 + within])


def _own_store(tokens: Tokens) -> bool:
    return any(word in words.MEMORY for word in tokens)


# -- what a claim is


def _is_claim(tokens: list[str], *, searched: bool) -> bool:
    return (
        _denies_a_noun(tokens, searched=searched)
        or _says_nothing_of_it(tokens, searched=searched)
        or _denies_that_it_was_met(tokens)
        or _is_a_silent_memory(tokens, searched=searched)
        or _denies_of_memory(tokens)
        or _is_new(tokens)
    )


def _about_the_past(tokens: Tokens) -> bool:
    return any(word in words.PRIOR for word in tokens) or _remembers(tokens)


def _remembers(tokens: Tokens) -> bool:
    """Tells whether the memory, or those who share it, are spoken of."""
    for at, word in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if word == "past" and (following in words.TIMES or following.isdigit()):
            continue
        if word in words.STORES and following not in words.COMPOUNDS and not word.startswith("les_"):
            return True
    return any(tokens[at : at + 2] in (["on", "file"], ["on", "record"], ["prior", "art"]) for at in range(len(tokens)))


def _live(tokens: Tokens) -> bool:
    """Tells whether a live system is spoken of; `this error` is the matter at hand, not what a look at a system brought."""
    for at, word in enumerate(tokens):
        if word.startswith("describe_") or (word in words.SYSTEM and tokens[max(0, at - 1) : at] not in _AT_HAND):
            return True
    return False


def _denied(tokens: Tokens, at: int, *, within: int = 4) -> bool:
    before = tokens[max(0, at - within) : at]
    return any(word in words.NEGATORS for word in before)


def _denies_a_noun(tokens: Tokens, *, searched: bool) -> bool:
    """No lesson, no record of it, none of the earlier cases, without precedent, previous occurrences: 0."""
    for at, word in enumerate(tokens):
        if word not in words.DETERMINERS or (word not in words.ALWAYS_DENY and not _denied(tokens, at, within=8)):
            continue
        if word in words.ALWAYS_DENY and _denied(tokens, at, within=2):
            continue  # not without precedent
        noun, rest = _noun_behind(tokens, at)
        if noun is None and ":" in tokens[:at]:
            noun, rest = _noun_behind(tokens, -1)
        if noun is not None and _is_knowledge(noun, tokens, rest, searched=searched):
            return True
    return False


def _noun_behind(tokens: Tokens, at: int) -> tuple[str | None, Tokens]:
    """Returns the first noun of those that matter in the few words behind `at`, and what follows it."""
    for place in range(at + 1, min(at + 8, len(tokens))):
        word = tokens[place]
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if word in words.KNOWLEDGE | words.RECORDS | words.CASES and following not in words.COMPOUNDS:
            return word, tokens[place + 1 :]
        if word in words.SYSTEM:
            return None, ()
    return None, ()


def _is_knowledge(noun: str, tokens: Tokens, rest: Tokens, *, searched: bool) -> bool:
    if any(word in words.LIFECYCLE for word in rest[:4]):
        return False
    if noun in words.KNOWLEDGE:
        return True
    others = [word for word in tokens if word != noun]
    if noun in words.RECORDS:
        return not _live(tokens) and (
            searched or _about_the_past(others) or any(one in ("of", "on", "about") for one in rest[:1])
        )
    if _live(tokens) and not any(word in ("prior", "previous", "earlier", "similar") for word in others):
        return False
    return _about_the_past(others)


def _says_nothing_of_it(tokens: Tokens, *, searched: bool) -> bool:
    """Nothing is known, nobody has met it, the memory has nothing on it, nothing to go on."""
    for at, word in enumerate(tokens):
        rest = tokens[at + 1 :]
        person = word in words.PEOPLE or (word in ("no", "none") and any(one in words.PERSONS for one in rest[:2]))
        if person and any(one in words.SEEING | words.MEETING for one in rest[:6]) and not _live(rest):
            return True
        if word == "none" and searched and (rest[:1] == ["of"] or tokens[at - 1 : at] in (["are"], ["is"])) and not _live(rest):
            return True
        if word != "nothing" and not (word == "anything" and _denied(tokens, at, within=6)):
            continue
        if any(one in words.LIFECYCLE - {"learned"} for one in rest[:4]) or _live(_denied_directly(rest)):
            continue
        if rest[:1] == ["like"] or rest[:3] == ["to", "go", "on"] or any(one in words.SEEING for one in rest[:3]):
            return True
        if word == "nothing" and ((searched and not _live(rest)) or _remembers(tokens) or _earlier_cases(rest)):
            return True
    return False


def _denies_that_it_was_met(tokens: Tokens) -> bool:
    """We have never met this, it has not happened before, the notes do not mention it, it is not in memory."""
    for at, word in enumerate(tokens):
        if word not in ("not", "never", "neither", "nor", "hardly", "unable", "no"):
            continue
        before, rest = tokens[:at], tokens[at + 1 :]
        near = rest[:5]
        if _live(rest):
            continue
        partly = any(one in ("completely", "fully", "whole") for one in rest)
        if any(one in words.TELLING for one in near[:3]) and any(_kept_of_the_past(before[-6:])) and not partly:
            return True
        knows = any(one in words.KNOWERS for one in (*before, *near)) or not before
        if word != "no" and knows and any(one in words.MEETING for one in near):
            return True
        seen = any(one in words.SEEING for one in near)
        this = any(one in words.SUBJECTS | {"anything", "one", "something"} for one in rest)
        if word != "no" and seen and _before_or_this([*before, word], rest, this=this):
            return True
        if near[:1] in (["aware"], ["familiar"]) or near[:2] in (["in", "memory"], ["on", "file"], ["on", "record"]):
            return True
        if word in ("neither", "nor") and any(one in words.MEMORY for one in near[:3]):
            return True
    return False


def _before_or_this(before: Tokens, rest: Tokens, *, this: bool) -> bool:
    """Tells whether what was not seen is the matter at hand, or is said not to have been seen in the past."""
    knower = any(one in words.KNOWERS for one in before)
    subject = any(one in words.SUBJECTS for one in before)
    past = any(one in _FORMERLY for one in rest) or rest[:1] == ["once"]
    return past or (knower and this) or (subject and "never" in before)


def _is_a_silent_memory(tokens: Tokens, *, searched: bool) -> bool:
    """The memory is silent, the search came back empty, the archive draws a blank."""
    for at, word in enumerate(tokens):
        if word not in words.EMPTY or _denied(tokens, at):
            continue
        if word in ("unaware", "ignorant"):
            return True
        stores = any(one in words.MEMORY for one in tokens)
        said = tokens[max(0, at - 1) : at]
        if word in ("nothing", "none") and not (stores and said in (["is"], ["was"], [":"])):
            continue
        before = any(one in words.MEMORY for one in tokens[max(0, at - 6) : at])
        if before or ((stores or searched) and not _live(tokens)):
            return True
    return False


def _denies_of_memory(tokens: Tokens) -> bool:
    """Whatever else denies something of what is remembered: the lessons do not exist, it is absent from our records."""
    if tokens[:2] == ["do", "not"]:
        return False
    for at, word in enumerate(tokens):
        if word not in words.NEGATORS | words.ABSENT or _denied(tokens, at, within=3):
            continue
        before, rest = tokens[:at], tokens[at + 1 :]
        if _live(_denied_directly(rest)) or any(one in words.CHECKING for one in rest[:5]):
            continue
        if any(one in words.LIFECYCLE for one in rest[:4]):
            continue
        if rest[:1] in (["a"], ["an"], ["the"]) and word in ("not", "never"):
            continue
        if word in ("unlike", "beyond", "outside") and not any(one in ("anything", "our", "team") for one in rest[:3]):
            continue
        kept = [*before[-6:], *(rest[len(_denied_directly(rest)) :] if _live(rest) else rest)]
        if word == "unlike" or any(_kept_of_the_past(kept)) or _earlier_cases(rest):
            return True
        if "bell" in rest[:4] or rest[:2] == ["track", "record"]:
            return True
    return False


def _denied_directly(rest: Tokens) -> Tokens:
    """Returns the few words that a negator denies, up to where something else begins to be said of them."""
    end = next((at for at, word in enumerate(rest[:5]) if word in words.PREPOSITIONS), min(5, len(rest)))
    return rest[: max(end, 1)]


def _earlier_cases(tokens: Tokens) -> bool:
    """Tells whether cases are spoken of that were before, or are alike."""
    return any(
        word in words.PRIOR and any(one in words.CASES for one in tokens[at + 1 : at + 3]) for at, word in enumerate(tokens)
    )


def _kept_of_the_past(tokens: Tokens) -> Iterator[bool]:
    """Yields whether each word stands for what the memory keeps as a whole, rather than for one lesson of it."""
    for at, word in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        one_of_it = word in ("lesson", "recall") and tokens[max(0, at - 1) : at] in (["the"], ["this"], ["that"], ["a"], ["one"])
        of_a_machine = tokens[max(0, at - 1) : at] in (["freeable"], ["free"], ["available"], ["working"])
        timely = word == "past" and (following in words.TIMES or following.isdigit())
        yield word in words.MEMORY | {"past"} and following not in words.COMPOUNDS and not (one_of_it or timely or of_a_machine)


def _is_new(tokens: Tokens) -> bool:
    """The first of its kind, unprecedented, new to us, a new kind of failure."""
    for at, word in enumerate(tokens):
        rest = tokens[at + 1 :]
        if _denied(tokens, at, within=5):
            continue
        if word in words.NOVEL:
            return True
        if word == "first" and any(one in words.FIRSTS for one in rest[:1]) and not any(one in words.SINCE for one in rest):
            return True
        ours = any(
            rest[place : place + 1] == ["for"] and rest[place + 1 : place + 2] in (["us"], ["me"]) for place in range(len(rest))
        )
        if word == "first" and (ours or any(one in ("kind", "sort") for one in rest[:6])):
            return True
        if word in ("new", "news") and (rest[:1] == ["to"] and any(one in words.SOMEBODY for one in rest[1:4])):
            return True
        if word == "new" and tokens[at - 1 : at] == ["a"] and any(one in words.SORTS for one in rest[:1]):
            return True
        if word == "unknown" and (
            any(one in ("hitherto", "previously") for one in tokens[max(0, at - 2) : at])
            or (rest[:1] == ["to"] and any(one in words.SOMEBODY for one in rest[1:4]))
        ):
            return True
        if word in ("scratch", "blind") and any(one in ("start", "from", "flying") for one in tokens[max(0, at - 2) : at]):
            return True
    return False

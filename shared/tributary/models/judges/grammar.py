"""The small closed classes of English words that show a sentence's structure."""

from __future__ import annotations

ARTICLES = frozenset({"a", "an", "the", "this", "that", "its", "their"})
PREPOSITIONS = frozenset(
    (
        "of for on in at to from by with per into onto between against within across about over under inside behind as "
        "through via"
    ).split()
)
NOUN_OPENERS = (ARTICLES | PREPOSITIONS) - {"to"}
"""Words after which a noun comes; after "to" a verb may."""
COPULAS = frozenset("is are was were be been being am has have had do does did will would could having get gets got".split())
PARTICIPLES = frozenset("sent lost kept held built written taken given found broken chosen made run set read put shown".split())
PRONOUNS = frozenset({"we", "they", "it"})
PARTICLES = frozenset({"off", "out", "up", "down"})
PAST = frozenset(
    "made took ran broke went sent lost kept gave grew fell rose threw began led held built froze chose wrote cut".split()
)
MODAL_MARKS = frozenset({"NEED", "OPTIONAL", "MAY", "NOT"})

PREDICATE_SIGN = "~"
"""Stands for whichever auxiliary is an item's neighbour."""

"""Embedding spaces: which one a tribe serves from and which it builds, the check for drift, and a tribe's own indexes."""

from tributary.spaces.drift import alike
from tributary.spaces.fill import MISSES, Progress, fill, missing_in, pages, put, vectors_of
from tributary.spaces.index import EXACT_LIMIT, build_index, drop_index, index_fresh, outgrown
from tributary.spaces.profile import Profiles, TribeProfile
from tributary.spaces.registry import FIRST, NEXT, Choice, Embedders
from tributary.spaces.standing import begin, definition, drop, space_named, spaces_of, switch
from tributary.spaces.vectors import Placed, as_text, embedded_text

__all__ = [
    "EXACT_LIMIT",
    "FIRST",
    "MISSES",
    "NEXT",
    "Choice",
    "Embedders",
    "Placed",
    "Profiles",
    "Progress",
    "TribeProfile",
    "alike",
    "as_text",
    "begin",
    "build_index",
    "definition",
    "drop",
    "drop_index",
    "embedded_text",
    "fill",
    "index_fresh",
    "missing_in",
    "outgrown",
    "pages",
    "put",
    "space_named",
    "spaces_of",
    "switch",
    "vectors_of",
]

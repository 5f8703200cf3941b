"""Embedding spaces: which one a tribe serves from, and its own index once it has outgrown exact search."""

from tributary.spaces.index import EXACT_LIMIT, build_index, index_fresh
from tributary.spaces.profile import Profiles, TribeProfile
from tributary.spaces.vectors import as_text

__all__ = ["EXACT_LIMIT", "Profiles", "TribeProfile", "as_text", "build_index", "index_fresh"]

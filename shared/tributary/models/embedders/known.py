"""Models that were measured, and what was found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """A model whose floor was calibrated, and whose weights may be held in more than one form."""

    name: str
    weights: str
    """SHA-256 of its float32 weights, as `sentence_models` reckons it: whatever file or folder they came from."""
    quantisation: str
    """Names the forms of the weights that may serve one space."""
    floor: float
    weights_apart: float
    """By how much the similarity of a pair moves at most from one form of the weights to another."""


ALL_MINILM_L6_V2 = KnownModel(
    name="all-MiniLM-L6-v2",
    weights="1009370bf5c35b70db0aeabf0ff92b661832aee74509501cc5ace0989bb4feea",
    # int8 weights, arithmetic in float32: against the float32 weights a sentence's vector has a cosine of 0.9996 in the
    # mean, a single word's 0.9993, and the similarity of a pair moves by 0.008 at most in 99 of 100 pairs.
    quantisation="float32-or-int8-weights",
    # benchmarks/floor.py: keeps 98.8 % of the pairs of a situation told and its answer (0.29 would keep 97 %; the margin
    # is for lessons whose situation says less), drops 51 % of those with another runbook's answers and the best hits of
    # 19 in 20 questions from outside of operations.
    floor=0.25,
    weights_apart=0.02,
)
KNOWN_BY_WEIGHTS = {known.weights: known for known in (ALL_MINILM_L6_V2,)}

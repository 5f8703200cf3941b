"""Embedders: texts to unit vectors of one space.

    MiniLmEmbedder                all-MiniLM-L6-v2 on this machine through ONNX Runtime; the default on a laptop
    SentenceTransformersEmbedder  any model that the sentence-transformers library loads
    HashedEmbedder                signed feature hashing; for tests only

None cuts a text off: what is longer than a model's window is embedded in overlapping windows (`windows.py`).
"""

from __future__ import annotations

from tributary.models.embedders.hashed import HashedEmbedder
from tributary.models.embedders.minilm import MiniLmEmbedder
from tributary.models.embedders.sentence_models import SentenceTransformersEmbedder

__all__ = ["HashedEmbedder", "MiniLmEmbedder", "SentenceTransformersEmbedder"]

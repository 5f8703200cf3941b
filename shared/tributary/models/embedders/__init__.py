"""Embedders: texts to unit vectors of one space.

    MiniLmEmbedder                all-MiniLM-L6-v2 on this machine through ONNX Runtime; the default on a laptop
    SentenceTransformersEmbedder  any model that the sentence-transformers library loads
    BedrockEmbedder               Titan and Cohere on Amazon Bedrock
    HashedEmbedder                signed feature hashing; for tests only

    CachedEmbedder                keeps the last vectors of an embedder over a wire

None cuts a text off: what is longer than a model's window is embedded in overlapping windows (`windows.py`).
"""

from __future__ import annotations

from tributary.models.embedders.bedrock import BedrockEmbedder
from tributary.models.embedders.cached import CachedEmbedder
from tributary.models.embedders.hashed import HashedEmbedder
from tributary.models.embedders.minilm import MiniLmEmbedder
from tributary.models.embedders.sentence_models import SentenceTransformersEmbedder

__all__ = ["BedrockEmbedder", "CachedEmbedder", "HashedEmbedder", "MiniLmEmbedder", "SentenceTransformersEmbedder"]

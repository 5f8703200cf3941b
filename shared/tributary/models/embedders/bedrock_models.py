"""The embedding models of Bedrock that can be used, and what each takes and gives over the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tributary.core.errors import BadSetting, ModelMalformed
from tributary.models.embedders.windows import TextWindowing
from tributary.models.prices import without_profile

FLOOR = 0.1
"""Similarity under which a hit is noise, until it is measured with an account that has the model (docs/embedders.md).

It is cautious: too low a floor shows hits that are beside the point, too high a one hides what is there.
"""

Answer = Mapping[str, object]


class Form(Protocol):
    """How one family of models is asked."""

    pooling: str
    """How a vector comes about, as far as a request decides it."""

    def request(self, texts: Sequence[str], *, dimension: int | None) -> Mapping[str, object]:
        """Returns the body of a request; `dimension` is None where the model leaves no choice."""
        ...

    def vectors(self, answer: Answer) -> Sequence[object]:
        """Returns what stands in the answer for vectors, one a text; raises ModelMalformed."""
        ...


class Titan:
    """Amazon Titan Text Embeddings V2: one text a request."""

    pooling = "provider"

    def request(self, texts: Sequence[str], *, dimension: int | None) -> Mapping[str, object]:
        (text,) = texts
        return {"inputText": text, "dimensions": dimension, "normalize": True}

    def vectors(self, answer: Answer) -> Sequence[object]:
        return [answer.get("embedding")]


class Cohere:
    """Cohere Embed: many texts a request.

    It tells documents and queries apart (`input_type`). Lessons are compared with each other as well as with questions, and a
    space has one vector a text, so all are embedded as documents; the space's name says so.
    """

    pooling = "provider-search_document"

    def request(self, texts: Sequence[str], *, dimension: int | None) -> Mapping[str, object]:
        body = {
            "texts": list(texts),
            "input_type": "search_document",
            "truncate": "NONE",  # refused rather than cut off unseen
            "embedding_types": ["float"],
        }
        return body if dimension is None else {**body, "output_dimension": dimension}

    def vectors(self, answer: Answer) -> Sequence[object]:
        found = answer.get("embeddings")
        if isinstance(found, Mapping):
            found = found.get("float")
        if not isinstance(found, list):
            raise ModelMalformed("the embedding model's answer has no 'embeddings'")
        return found


@dataclass(frozen=True, kw_only=True)
class BedrockModel:
    """A model as its space, and as requests to it."""

    name: str
    dimensions: tuple[int, ...]
    """Numbers that a vector may have, the model's own choice first."""
    batch: int
    """Most texts of one request."""
    windowing: TextWindowing
    form: Form

    @property
    def wire_dimensions(self) -> bool:
        """Whether a request names the dimension: those of models that have but one do not."""
        return len(self.dimensions) > 1

    def dimension(self, chosen: int | None, *, setting: str) -> int:
        """Returns the chosen dimension, or the model's own choice; raises BadSetting when it has no such dimension."""
        if chosen is None:
            return self.dimensions[0]
        if chosen not in self.dimensions:
            known = " or ".join(map(str, self.dimensions))
            raise BadSetting(f"{setting}_DIMENSION: must be {known} for '{self.name}' (it is {chosen})")
        return chosen


_MODELS = {
    model.name: model
    for model in (
        # takes 8,192 tokens and 50,000 characters
        BedrockModel(
            name="amazon.titan-embed-text-v2:0",
            dimensions=(1024, 512, 256),
            batch=1,
            windowing=TextWindowing(width=8000),
            form=Titan(),
        ),
        # take 512 tokens and 2,048 characters a text
        *(
            BedrockModel(
                name=f"cohere.embed-{kind}-v3",
                dimensions=(1024,),
                batch=96,
                windowing=TextWindowing(width=500),
                form=Cohere(),
            )
            for kind in ("english", "multilingual")
        ),
        # takes 128,000 tokens a text, more than the longest lesson has
        BedrockModel(
            name="cohere.embed-v4:0",
            dimensions=(1536, 1024, 512, 256),
            batch=96,
            windowing=TextWindowing(width=16_000),
            form=Cohere(),
        ),
    )
}


def model_named(model: str | None, *, setting: str) -> BedrockModel:
    """Returns the model of an id, an inference profile's id or the ARN of either; raises BadSetting, naming what there is."""
    known = _MODELS.get(without_profile(short(model or "")))
    if known is None:
        given = "is not set" if model is None else f"it is '{model}'"
        raise BadSetting(
            f"{setting}_MODEL: must be an embedding model of Bedrock that is known here: {', '.join(_MODELS)}, or an inference "
            f"profile of one, such as us.cohere.embed-v4:0 ({given})"
        )
    return known


def short(model: str) -> str:
    """Returns the id that an ARN ends in; an id as it is."""
    return model.rpartition("/")[2] if model.startswith("arn:") else model

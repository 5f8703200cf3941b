"""InvokeModel of Bedrock for embedding models, over hashed terms: the more of them two texts share, the more alike they are.

It is as strict as the service: what a model does not take is refused, not mended.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from tests.providers.server import Asked, ProviderServer, Reply
from tributary.models.embedders import HashedEmbedder

TITAN = "amazon.titan-embed-text-v2:0"
ENGLISH = "cohere.embed-english-v3"
MULTILINGUAL = "cohere.embed-multilingual-v3"
COHERE_V4 = "cohere.embed-v4:0"

INVOKE = r"/model/(?P<model>[^/]+(?:/[^/]+)?)/invoke"
_HASHED = HashedEmbedder(dimension=256)
_ACCESS_KEY = {"AWS_ACCESS_KEY_ID": "AKIATESTTESTTESTTEST", "AWS_SECRET_ACCESS_KEY": "secret-for-tests-only"}


def credentials() -> Mapping[str, str]:
    """Returns the environment in which the SDK signs its requests, and looks for credentials nowhere else."""
    return {
        **_ACCESS_KEY,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }


def invoked(asked: Asked) -> Reply:
    """Answers for the model that the path names."""
    if "authorization" not in asked.headers:
        return refusal("MissingAuthenticationTokenException", status=403)
    model = unquote(asked.match["model"])
    for area in ("us.", "eu.", "global."):
        model = model.removeprefix(area)
    if not isinstance(asked.body, dict):
        return invalid("Malformed input request, please reformat your input and try again.")
    if model == TITAN:
        return _titan(asked.body)
    if model in {ENGLISH, MULTILINGUAL}:
        return _cohere(asked.body, {None}, characters=2048, tokens=512)
    if model == COHERE_V4:
        return _cohere(asked.body, {None, 256, 512, 1024, 1536}, characters=None, tokens=128_000)
    return invalid("The provided model identifier is invalid.")


def _titan(body: Mapping[str, Any]) -> Reply:
    if unknown := set(body) - {"inputText", "dimensions", "normalize", "embeddingTypes"}:
        return invalid(f"Malformed input request: extraneous key {sorted(unknown)} is not permitted")
    text, dimension = body.get("inputText"), body.get("dimensions", 1024)
    if not isinstance(text, str) or not text or dimension not in {256, 512, 1024}:
        return invalid("Malformed input request: expected minLength: 1, or dimensions among 256, 512, 1024")
    if len(text) > 50_000 or _most_tokens(text) > 8192:
        return invalid("400 Bad Request: Too many input tokens. Max input tokens: 8192")
    vector, count = vector_of(text, dimension), _tokens(text)
    document = {"embedding": vector, "embeddingsByType": {"float": vector}, "inputTextTokenCount": count}
    return Reply(document=document, headers={"X-Amzn-Bedrock-Input-Token-Count": str(count)})


def _cohere(body: Mapping[str, Any], dimensions: set[int | None], *, characters: int | None, tokens: int) -> Reply:
    known = {"texts", "input_type", "truncate", "embedding_types"} | ({"output_dimension"} if len(dimensions) > 1 else set())
    if unknown := set(body) - known:
        return invalid(f"Malformed input request: extraneous key {sorted(unknown)} is not permitted")
    texts, dimension = body.get("texts"), body.get("output_dimension")
    if body.get("input_type") not in {"search_document", "search_query", "classification", "clustering"}:
        return invalid("Malformed input request: #: required key [input_type] not found")
    if not isinstance(texts, list) or not 1 <= len(texts) <= 96 or dimension not in dimensions:
        return invalid("Malformed input request: expected maxItems: 96")
    for text in texts:
        if not text or (characters is not None and len(text) > characters):
            return invalid("Malformed input request: expected maxLength: 2048")
        if _most_tokens(text) > tokens:
            return invalid(f"too many tokens: total number of tokens in the text cannot exceed {tokens}")
    width = dimension or (1536 if len(dimensions) > 1 else 1024)
    vectors = [vector_of(text, width) for text in texts]
    by_type = "embedding_types" in body
    document = {
        "id": "0a1b2c3d",
        "texts": texts,
        "response_type": "embeddings_by_type" if by_type else "embeddings_floats",
        "embeddings": {"float": vectors} if by_type else vectors,
    }
    return Reply(document=document, headers={"X-Amzn-Bedrock-Input-Token-Count": str(sum(map(_tokens, texts)))})


def vector_of(text: str, dimension: int) -> list[float]:
    """Returns the vector that the fake models give a text."""
    return [*_HASHED.embed([text])[0], *[0.0] * (dimension - 256)]


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


def _most_tokens(text: str) -> int:
    # of the most awkward tokenizer there is: one for each byte, or for each character that one stands for
    return sum(max(len(one.encode()), len(unicodedata.normalize("NFKC", one))) for one in text)


def refusal(code: str, message: str = "", *, status: int, retry_after: str | None = None) -> Reply:
    """Returns an error as the service gives it: its code in a header, its message in the body."""
    headers = {"x-amzn-ErrorType": f"{code}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return Reply(status=status, document={"message": message or f"{code} was raised"}, headers=headers)


def invalid(message: str) -> Reply:
    return refusal("ValidationException", message, status=400)


def throttled(retry_after: str | None = None) -> Reply:
    return refusal(
        "ThrottlingException", "Too many requests, please wait before trying again.", status=429, retry_after=retry_after
    )


ROUTES = [("POST", INVOKE, invoked)]

EXPIRED = refusal("ExpiredTokenException", "The security token included in the request is expired", status=403)
DENIED = refusal("AccessDeniedException", "You don't have access to the model with the specified model ID.", status=403)
AWAY = refusal("ServiceUnavailableException", "The service is unavailable.", status=503)
NO_SUCH = refusal("ResourceNotFoundException", "Could not resolve the foundation model", status=404)


def embeddings(vector: object) -> Reply:
    """Returns an answer of Titan's with `vector` in it, whatever that is."""
    return Reply(document={"embedding": vector, "inputTextTokenCount": 3})


def serving() -> ProviderServer:
    return ProviderServer(ROUTES)

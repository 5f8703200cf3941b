"""The settings in which the server is loaded: what is the same in all of them, and what each has of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

POOL = 16
MODEL_TIMEOUT_S = 5
JUDGE_MODEL = "slow-judge"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One setting. `environment` is what its server has besides what all have."""

    name: str
    about: str
    pool: int = POOL
    slow_models: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


AS_IT_IS = Scene(name="as it is", about="local models, as `tributary serve` comes")
POOL_OF_ONE = Scene(name="pool of one", about="one database connection for all requests", pool=1)
SLOW_MODELS = Scene(
    name="slow models",
    about="each pair is judged over a wire in 0.5 to 3 s; 3 in 100 questions fail, 2 in 100 hang",
    slow_models=True,
    environment={
        "TRIBUTARY_JUDGE": "openai",
        "TRIBUTARY_JUDGE_MODEL": JUDGE_MODEL,
        "TRIBUTARY_OPENAI_API_KEY": "sk-of-nobody",
        "TRIBUTARY_MODEL_TIMEOUT_S": str(MODEL_TIMEOUT_S),
        "TRIBUTARY_MODEL_ATTEMPTS": "2",
        "TRIBUTARY_MODEL_CONCURRENCY": "8",
    },
)
SCENES = (AS_IT_IS, POOL_OF_ONE, SLOW_MODELS)

"""What stands around the functions on AWS, on this computer: a pooler before the database, an embedder over a wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.integration.bouncer import make_login, pooled
from tests.network import Network
from tests.providers import bedrock_embeddings as bedrock
from tributary.service import Settings

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
_LOGIN = "pooled_app"

Environment = dict[str, str]


@contextmanager
def hosted_models() -> Iterator[Environment]:
    """Gives the settings and credentials of an embedder over a wire; this process has the credentials as well meanwhile."""
    with pytest.MonkeyPatch.context() as patch, bedrock.serving() as server:
        for name, value in bedrock.credentials().items():
            patch.setenv(name, value)
        yield {
            **bedrock.credentials(),
            "TRIBUTARY_EMBEDDER": "bedrock",
            "TRIBUTARY_AWS_REGION": "us-east-1",
            "TRIBUTARY_BEDROCK_URL": server.url,
        }


@contextmanager
def behind_pooler(url: str) -> Iterator[Environment]:
    """Gives the settings by which a function reaches the database at `url` as behind RDS Proxy, as what may only run."""
    make_login(url, _LOGIN)
    with pooled(url, user=_LOGIN) as proxy:
        yield {"TRIBUTARY_DATABASE_URL": proxy, "TRIBUTARY_OWNER_URL": NOWHERE}


@contextmanager
def straight(url: str) -> Iterator[Environment]:
    """Gives the settings by which a function reaches the database at `url` itself, with that login; over TCP, as on AWS."""
    parts = conninfo_to_dict(url)
    host, port = str(parts["host"]), parts.get("port", 5432)
    if not host.startswith("/"):
        yield {"TRIBUTARY_DATABASE_URL": url}
        return
    with Network(f"{host}/.s.PGSQL.{port}") as network:
        yield {"TRIBUTARY_DATABASE_URL": f"postgresql://{parts['user']}@127.0.0.1:{network.port}/{parts['dbname']}"}


def owner(url: str, models: Environment) -> Settings:
    """Returns the settings of the operator's side, with the same models."""
    return Settings.model_validate(
        {
            "TRIBUTARY_DATABASE_URL": url,
            "TRIBUTARY_AWS_REGION": models["TRIBUTARY_AWS_REGION"],
            "embedder": models["TRIBUTARY_EMBEDDER"],
            "bedrock_url": models["TRIBUTARY_BEDROCK_URL"],
        }
    )

"""S3 as moto speaks it over HTTP, for the real client of the AWS SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3

from tests.providers.queues import CREDENTIALS, REGION

NAME = "evidence-of-tests"


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket; `environment` leads the AWS SDK to it."""

    name: str
    client: Any
    environment: Mapping[str, str]

    def found(self) -> list[str]:
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=self.name).get("Contents", [])]


@contextmanager
def bucket_at(endpoint: str) -> Iterator[Bucket]:
    """Gives an empty bucket on a server, while the block runs."""
    session = boto3.session.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION)
    client = session.client("s3", endpoint_url=endpoint)
    client.create_bucket(Bucket=NAME, CreateBucketConfiguration={"LocationConstraint": REGION})
    try:
        yield Bucket(name=NAME, client=client, environment={**CREDENTIALS, "AWS_ENDPOINT_URL_S3": endpoint, "AWS_REGION": REGION})
    finally:
        client.close()

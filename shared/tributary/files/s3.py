"""Evidence files in a bucket of Amazon S3: `<tribe>/<hash>`. Their bytes go from the agent to S3 and back, past the function.

An address to send bytes to is signed for one file: its length, its SHA-256 and its type are part of the signature, and S3 itself
checks the sum. An address to fetch from is good for a minute.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol, cast
from uuid import UUID

from tributary.core.errors import Unavailable, WrongStanding
from tributary.core.evidence import EvidenceFile, Upload, disposition

UPLOAD_S = 300
"""For how long an address to send bytes to is good."""
FETCH_S = 60
_CONNECT_S = 2.0
_READ_S = 5.0
_GONE = ("403", "404")
"""How S3 answers about a file that is not there: the first to those who may not list the bucket, which no function may."""


class Client(Protocol):
    """The part of boto3's S3 client that is used here."""

    def generate_presigned_url(self, operation: str, *, Params: dict[str, Any], ExpiresIn: int) -> str: ...  # noqa: N803

    def head_object(self, *, Bucket: str, Key: str, ChecksumMode: str) -> dict[str, Any]: ...  # noqa: N803

    def delete_object(self, *, Bucket: str, Key: str) -> object: ...  # noqa: N803


class S3Store:
    """An `EvidenceStore` over S3. Thread-safe. Its library is loaded, and its client made, at the first use."""

    def __init__(self, bucket: str, *, region: str, make: Callable[[str], Client] | None = None) -> None:
        self._bucket = bucket
        self._region = region
        self._make = make or _client
        self._lock = threading.Lock()

    def upload(self, tribe_id: UUID, file: EvidenceFile) -> Upload:
        digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
        with _reaching():
            url = self._s3().generate_presigned_url(
                "put_object",
                Params={
                    **self._place(tribe_id, file.sha256),
                    "ContentType": file.content_type,
                    "ContentLength": file.size,
                    "ChecksumAlgorithm": "SHA256",
                    "ChecksumSHA256": digest,
                },
                ExpiresIn=UPLOAD_S,
            )
        headers = {
            "Content-Type": file.content_type,
            "x-amz-checksum-sha256": digest,
            "x-amz-sdk-checksum-algorithm": "SHA256",
        }
        return Upload(method="PUT", url=url, headers=headers)

    def put(self, tribe_id: UUID, file: EvidenceFile, content: bytes) -> None:
        """Raises WrongStanding: bytes are sent to S3 itself, which takes more of them than a function does."""
        del tribe_id, file, content
        raise WrongStanding("bytes of files are sent to the address that the announcement gives")

    def has(self, tribe_id: UUID, file: EvidenceFile) -> bool:
        """Tells whether S3 has the bytes, by their length and by the sum that S3 itself found."""
        from botocore.exceptions import ClientError

        with _reaching():
            try:
                found = self._s3().head_object(**self._place(tribe_id, file.sha256), ChecksumMode="ENABLED")
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in _GONE:
                    return False
                raise
        digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
        return found.get("ContentLength") == file.size and found.get("ChecksumSHA256") == digest

    def get(self, tribe_id: UUID, file: EvidenceFile) -> str:
        with _reaching():
            return self._s3().generate_presigned_url(
                "get_object",
                Params={
                    **self._place(tribe_id, file.sha256),
                    "ResponseContentType": file.content_type,
                    "ResponseContentDisposition": disposition(file),
                    "ResponseCacheControl": "no-store",
                },
                ExpiresIn=FETCH_S,
            )

    def delete(self, tribe_id: UUID, sha256: str) -> None:
        with _reaching():
            self._s3().delete_object(**self._place(tribe_id, sha256))

    def _place(self, tribe_id: UUID, sha256: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": f"{tribe_id}/{sha256}"}

    def _s3(self) -> Client:
        with self._lock:
            return self._client

    @cached_property
    def _client(self) -> Client:
        return self._make(self._region)


@contextmanager
def _reaching() -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("the bucket of evidence files cannot be used now") from error


def _client(region: str) -> Client:
    import boto3
    from botocore.config import Config

    config = Config(
        connect_timeout=_CONNECT_S,
        read_timeout=_READ_S,
        retries={"total_max_attempts": 2, "mode": "standard"},
        signature_version="s3v4",
        s3={"addressing_style": "virtual"},  # the region's own address: the old, global one redirects
        request_checksum_calculation="when_required",
    )
    # a session of its own: the default one is no thread's to share while a client is made
    return cast(Client, boto3.session.Session().client("s3", region_name=region, config=config))

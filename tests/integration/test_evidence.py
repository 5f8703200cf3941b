"""Evidence files, from the SDK through the gateway to where they are kept, and until nothing refers to them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx
import psycopg
import pytest

from tests.gardens import garden
from tests.providers.buckets import Bucket, bucket_at
from tests.providers.queues import serving
from tests.tribes import Tribal, open_tribal
from tributary.client import Forbidden as ForbiddenToClient
from tributary.client import InvalidRequest, NotFound, NotSetUp, WrongStanding, observed
from tributary.client import Memory as Client
from tributary.client.errors import RateLimited
from tributary.contract.limits import EVIDENCE_BYTES
from tributary.core.agent import Role
from tributary.core.errors import BadSetting, Corrupt, TributaryError, Unavailable
from tributary.core.evidence import EvidenceFile
from tributary.core.ids import Prefix, parse
from tributary.edges.gateway import running
from tributary.files.folder import FolderStore
from tributary.files.s3 import S3Store
from tributary.service import Settings, open_operator
from tributary.service.evidence import evidence_store

LOG = b"HTTP 429 Too Many Requests\n" * 3
PATIENCE_S = 30.0
SHA256 = hashlib.sha256(LOG).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A tribe with a place for files, served; `places` lists what is kept, by tribe and hash."""

    tribal: Tribal
    url: str
    token: str
    bucket: Bucket | None
    folder: Path

    @contextmanager
    def client(self, token: str | None = None) -> Iterator[Client]:
        with Client(self.url, token or self.token, environment={}) as memory:
            yield memory

    def places(self) -> list[str]:
        if self.bucket is not None:
            return self.bucket.found()
        return sorted(f"{one.parts[-3]}/{one.name}" for one in self.folder.rglob("*") if one.is_file())

    def passed(self, **time: float) -> None:
        self.tribal.clock.advance(**time)

    def teach(self, memory: Client, text: str, ref: object) -> UUID:
        learned = memory.learn(text, situation="deploying", source=observed("run:1"), evidence=[ref])  # type: ignore[list-item]
        assert learned.lesson is not None
        return parse(Prefix.LESSON, learned.lesson.id, field="id")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.fixture(params=["folder", "s3"])
def kept(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Kept]:
    with bucket_at(endpoint) as bucket:
        for name, value in bucket.environment.items():
            monkeypatch.setenv(name, value)
        chosen: dict[str, Any] = {
            "evidence": request.param,
            "evidence_folder": tmp_path,
            "evidence_bucket": bucket.name,
            "evidence_mb": 21,
        }
        region: dict[str, Any] = {"TRIBUTARY_AWS_REGION": bucket.environment["AWS_REGION"]}
        with open_tribal(database_url, **chosen, **region) as tribal, running(tribal.memory) as started:
            in_bucket = bucket if request.param == "s3" else None
            yield Kept(tribal=tribal, url=started.url, token=tribal.token("ann"), bucket=in_bucket, folder=tmp_path)
        for key in bucket.found():
            bucket.client.delete_object(Bucket=bucket.name, Key=key)
        bucket.client.delete_bucket(Bucket=bucket.name)


def test_attached_file_is_handed_out_to_its_tribe_and_kept_once(kept: Kept, tmp_path: Path) -> None:
    file = tmp_path / "deploy.log"
    file.write_bytes(LOG)
    with kept.client() as memory:
        evidence = memory.attach(file, content_type="text/plain")
        file.unlink()
        assert (evidence.type, evidence.ref, evidence.note) == ("file", f"sha256:{SHA256}", "deploy.log")
        assert memory.attach(LOG) == evidence.model_copy(update={"note": None})
        assert kept.places() == [f"{kept.tribal.tribe_id}/{SHA256}"]
        assert memory.evidence(evidence) == memory.evidence(SHA256) == LOG
        lesson = kept.teach(memory, "The deploy API answers 429 without a pause", evidence)
        assert memory.lesson(f"les_{lesson.hex}").lesson.evidence[0].ref == evidence.ref


def test_file_of_another_tribe_is_not_there(kept: Kept) -> None:
    with open_operator(kept.tribal.settings, adapters=kept.tribal.adapters) as operator:
        stranger = operator.create_tribe("another").token.secret
    with kept.client() as memory:
        memory.attach(LOG)
    with kept.client(stranger) as memory, pytest.raises(NotFound):
        memory.evidence(SHA256)
    with kept.client() as memory:
        assert memory.evidence(SHA256) == LOG


def test_reader_fetches_files_and_hands_none_in(kept: Kept) -> None:
    with kept.client() as memory:
        memory.attach(LOG)
    with kept.client(kept.tribal.token("eve", Role.READER)) as memory:
        assert memory.evidence(SHA256) == LOG
        with pytest.raises(ForbiddenToClient):
            memory.attach(b"mine")


def test_file_is_always_saved_and_never_shown(kept: Kept) -> None:
    with kept.client() as memory:
        memory.attach(b"<script>alert(1)</script>", name="r\u00e9port.html", content_type="text/plain")
    sha256 = hashlib.sha256(b"<script>alert(1)</script>").hexdigest()
    reply = httpx.get(
        f"{kept.url}/v1/evidence/{sha256}",
        headers={"authorization": f"Bearer {kept.token}"},
        trust_env=False,
        follow_redirects=True,
    )
    assert reply.content == b"<script>alert(1)</script>"
    assert reply.headers["content-type"] == "text/plain"
    assert reply.headers["content-disposition"] == "attachment; filename*=UTF-8''r%C3%A9port.html"
    if kept.bucket is None:
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_tribe_keeps_no_more_than_it_may_and_no_file_larger_than_ten_megabytes(kept: Kept) -> None:
    with kept.client() as memory:
        for number in range(2):
            memory.attach(bytes([number]) * EVIDENCE_BYTES)
        with pytest.raises(WrongStanding, match="more than the 21000000"):
            memory.attach(b"x" * (EVIDENCE_BYTES // 2))
        with pytest.raises(InvalidRequest):
            memory.attach(b"x" * (EVIDENCE_BYTES + 1))


def test_bytes_that_never_came_are_not_handed_out(kept: Kept) -> None:
    with kept.client() as memory:
        headers = {"authorization": f"Bearer {kept.token}"}
        announced = {"sha256": SHA256, "bytes": len(LOG), "content_type": "text/plain"}
        reply = httpx.post(f"{kept.url}/v1/evidence", json=announced, headers=headers, trust_env=False).json()
        assert reply["upload"]["method"] == "PUT"
        with pytest.raises(NotFound):
            memory.evidence(SHA256)
        assert memory.attach(LOG).ref == reply["id"]
        assert memory.evidence(SHA256) == LOG


def test_erasing_the_last_lesson_that_refers_to_a_file_removes_it(kept: Kept) -> None:
    with kept.client() as memory:
        evidence = memory.attach(LOG)
        lessons = [kept.teach(memory, text, evidence) for text in ("Deploys need a pause", "Builds need a longer pause")]
        kept.tribal.memory.curate.erase(kept.tribal.curator, lessons[0])
        garden(kept.tribal)
        assert memory.evidence(evidence) == LOG
        kept.tribal.memory.curate.erase(kept.tribal.curator, lessons[1])
        with pytest.raises(NotFound):
            memory.evidence(evidence)
        with pytest.raises(RateLimited):
            memory.attach(LOG)
        garden(kept.tribal, dry_run=True)
        assert len(kept.places()) == 1
        garden(kept.tribal)
        assert kept.places() == []
        assert memory.attach(LOG) is not None


def test_file_that_no_lesson_refers_to_is_removed_after_a_day_and_no_other(kept: Kept) -> None:
    with kept.client() as memory:
        loose, told = memory.attach(b"loose"), memory.attach(LOG)
        kept.teach(memory, "The deploy API answers 429 without a pause", told)
        kept.teach(memory, "The deploy API answers 429 without a pause", memory.attach(b"of a draft"))
        kept.passed(hours=23)
        garden(kept.tribal)
        assert memory.evidence(loose) == b"loose"
        kept.passed(hours=2)
        garden(kept.tribal)
        assert len(kept.places()) == 2
        with pytest.raises(NotFound):
            memory.evidence(loose)


def test_file_that_is_attached_again_waits_another_day_for_its_lesson(kept: Kept) -> None:
    with kept.client() as memory:
        memory.attach(LOG)
        kept.passed(hours=25)
        evidence = memory.attach(LOG)  # there already, so nothing was sent
        garden(kept.tribal)
        kept.teach(memory, "The deploy API answers 429 without a pause", evidence)
        assert memory.evidence(evidence) == LOG


def test_file_that_is_announced_while_it_is_swept_is_kept(kept: Kept) -> None:
    tribe = kept.tribal.tribe_id
    with kept.client() as memory, psycopg.connect(kept.tribal.url) as announcing, ThreadPoolExecutor(1) as threads:
        memory.attach(LOG)
        kept.passed(hours=25)
        announcing.execute("UPDATE tributary.evidence_file SET announced_at = now() + interval '9 years'")
        swept = threads.submit(garden, kept.tribal)
        waited_for(kept.tribal, "loose_files")
        announcing.commit()
        swept.result()
        assert kept.tribal.rows("SELECT released_at FROM tributary.evidence_file WHERE tribe_id = %s", tribe) == [
            {"released_at": None}
        ]
        assert memory.evidence(SHA256) == LOG


def waited_for(tribal: Tribal, statement: str) -> None:
    """Returns once a session waits for a lock in a statement that holds these words."""
    until = time.monotonic() + PATIENCE_S
    while not tribal.rows(
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE %s",
        f"%{statement}%",
    ):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_bytes_that_were_lost_are_sent_again(kept: Kept) -> None:
    with kept.client() as memory:
        evidence = memory.attach(LOG)
        place = kept.places()[0]
        if kept.bucket is not None:
            kept.bucket.client.delete_object(Bucket=kept.bucket.name, Key=place)
        else:
            next(one for one in kept.folder.rglob(SHA256)).unlink()
        assert memory.attach(LOG) == evidence
        assert memory.evidence(evidence) == LOG


def test_a_device_that_never_ends_is_no_file_of_evidence(tribal: Tribal) -> None:
    with (
        Client("http://127.0.0.1:9", tribal.curator_token, environment={}) as memory,
        pytest.raises(InvalidRequest, match="is larger than"),
    ):
        memory.attach("/dev/zero")


def file_of(content: bytes, **fields: object) -> EvidenceFile:
    known = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "content_type": "text/plain"}
    return EvidenceFile(**(known | fields))  # type: ignore[arg-type]  # the test's own keywords


TRIBE = UUID(int=1)


def test_address_to_send_to_is_signed_for_the_length_the_sum_and_the_type(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with bucket_at(endpoint) as bucket:
        for name, value in bucket.environment.items():
            monkeypatch.setenv(name, value)
        store = S3Store(bucket.name, region=bucket.environment["AWS_REGION"])
        asked = parse_qs(urlsplit(store.upload(TRIBE, file_of(LOG)).url).query)
        signed = asked["X-Amz-SignedHeaders"][0].split(";")
        assert {"content-length", "content-type", "host", "x-amz-checksum-sha256", "x-amz-sdk-checksum-algorithm"} <= set(signed)
        assert asked["X-Amz-Expires"] == ["300"]
        bucket.client.put_object(Bucket=bucket.name, Key=f"{TRIBE}/{SHA256}", Body=b"x" * len(LOG), ChecksumAlgorithm="SHA256")
        assert not store.has(TRIBE, file_of(LOG)), "as long, but another sum"
        store.delete(TRIBE, SHA256)
        bucket.client.delete_bucket(Bucket=bucket.name)
        with pytest.raises(Unavailable):
            store.delete(TRIBE, SHA256)


def test_address_is_the_regions_own_where_no_other_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    found = S3Store("files", region="eu-central-1").upload(TRIBE, file_of(LOG)).url
    assert urlsplit(found).netloc == "files.s3.eu-central-1.amazonaws.com"


def test_folder_hands_out_no_bytes_that_were_changed(tmp_path: Path) -> None:
    store, file = FolderStore(tmp_path), file_of(LOG)
    store.put(TRIBE, file, LOG)
    place = next(one for one in tmp_path.rglob("*") if one.is_file())
    assert place.stat().st_mode & 0o077 == 0
    place.write_bytes(b"x" * len(LOG))
    with pytest.raises(Corrupt):
        store.get(TRIBE, file)


def test_folder_that_cannot_be_written_is_unavailable_and_left_clean(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    with pytest.raises(Unavailable):
        FolderStore(tmp_path / "in the way").put(TRIBE, file_of(LOG), LOG)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"sha256": "5F" * 32}, "sha256"),
        ({"sha256": "../../etc/passwd"}, "sha256"),
        ({"size": 0}, "bytes"),
        ({"size": EVIDENCE_BYTES + 1}, "bytes"),
        ({"content_type": "text/html"}, "content_type"),
        ({"content_type": "image/svg+xml"}, "content_type"),
        ({"name": "a\r\nSet-Cookie: x"}, "name"),
        ({"name": "../x"}, "name"),
    ],
)
def test_file_that_breaks_a_rule_is_refused_by_field(tribal: Tribal, fields: dict[str, object], said: str) -> None:
    from tributary.core.errors import InvalidRequest as Refused

    with pytest.raises(Refused, match=f"^{said}:"):
        tribal.memory.files.announce(tribal.curator, file_of(LOG, **fields))


def test_nothing_is_kept_where_nothing_is_set_up(tribal: Tribal) -> None:
    with (
        running(tribal.memory) as started,
        Client(started.url, tribal.curator_token, environment={}) as memory,
        pytest.raises(NotSetUp),
    ):
        memory.attach(LOG)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"evidence": "s3"}, "TRIBUTARY_EVIDENCE_BUCKET: is needed"),
        ({"evidence": "s3", "evidence_bucket": "files"}, "AWS_REGION: is needed by TRIBUTARY_EVIDENCE=s3"),
        ({"evidence": "folder"}, "TRIBUTARY_EVIDENCE_FOLDER: is needed"),
    ],
)
def test_place_that_is_not_set_up_wholly_stops_the_start(settings: dict[str, str], said: str) -> None:
    with pytest.raises(BadSetting, match=said):
        evidence_store(Settings.model_validate(settings))


def test_home_has_a_folder_for_files_unless_that_is_off(tmp_path: Path) -> None:
    assert isinstance(evidence_store(Settings.model_validate({"home": tmp_path})), FolderStore)
    assert evidence_store(Settings.model_validate({"home": tmp_path, "evidence": "off"})) is None
    assert evidence_store(Settings()) is None


def test_bytes_that_are_not_the_announced_ones_are_refused_and_none_unannounced_are_taken(kept: Kept) -> None:
    from tributary.core import errors

    files, curator = kept.tribal.memory.files, kept.tribal.curator
    with pytest.raises(errors.NotFound):
        files.keep(curator, SHA256, LOG)
    files.announce(curator, file_of(LOG))
    for content in (LOG[:-1], LOG[:-1] + b"x"):
        with pytest.raises(errors.InvalidRequest, match="body"):
            files.keep(curator, SHA256, content)
    if kept.bucket is not None:
        with pytest.raises(errors.WrongStanding):
            files.keep(curator, SHA256, LOG)
    assert kept.places() == []


def test_files_go_into_a_folder_beside_the_export_and_back_and_what_is_there_stays(
    kept: Kept, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with kept.client() as memory:
        for content in (LOG, b"another"):
            kept.teach(memory, f"Deploys are {len(content)}", memory.attach(content, name="a.log"))
    places = kept.places()
    tribal, folder = kept.tribal, tmp_path_factory.mktemp("beside")
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        out = operator.export_evidence(tribal.name, folder)
        assert (out.files, out.there, out.size, out.lost) == (2, 0, len(LOG) + 7, ())
        again = operator.export_evidence(tribal.name, folder)
        assert (again.files, again.there) == (0, 2)
        copy = next(folder.rglob(SHA256))
        copy.write_bytes(b"x" * len(LOG))  # as long as it was, and not what it was
        assert operator.export_evidence(tribal.name, folder).files == 1
        if kept.bucket is not None:  # a bucket hands out what is under the key
            (key,) = (one for one in kept.bucket.found() if one.endswith(SHA256))
            kept.bucket.client.put_object(Bucket=kept.bucket.name, Key=key, Body=b"x" * len(LOG))
            copy.unlink()
            assert operator.export_evidence(tribal.name, folder).lost == (SHA256,)
            kept.bucket.client.put_object(Bucket=kept.bucket.name, Key=key, Body=LOG)
        _forget(kept)
        assert kept.places() == []
        copy.write_bytes(b"x" * len(LOG))
        back = operator.restore_evidence(tribal.name, folder)
        assert (back.files, back.lost) == (1, (SHA256,))  # what is no file of the tribe's is not taken for one
        copy.unlink()
        assert operator.restore_evidence(tribal.name, folder).lost == (SHA256,)
        copy.write_bytes(LOG)
        whole = operator.restore_evidence(tribal.name, folder)
        assert (whole.files, whole.there, whole.lost) == (1, 1, ())
    assert kept.places() == places
    with kept.client() as memory:
        assert memory.evidence(f"sha256:{SHA256}") == LOG


def _forget(kept: Kept) -> None:
    """Takes the bytes of every file away, as where a tribe was restored without them."""
    if kept.bucket is not None:
        for key in kept.bucket.found():
            kept.bucket.client.delete_object(Bucket=kept.bucket.name, Key=key)
        return
    for place in kept.places():
        FolderStore(kept.folder).delete(kept.tribal.tribe_id, place.rpartition("/")[2])


def test_files_are_not_carried_where_no_place_for_them_is_set_up(tribal: Tribal, tmp_path: Path) -> None:
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator, pytest.raises(TributaryError) as refused:
        operator.export_evidence(tribal.name, tmp_path)
    assert refused.value.code == "not_set_up"

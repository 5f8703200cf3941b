"""Requests that the SDK signs for AWS: with what, for which region, and what is told when it cannot be."""

from __future__ import annotations

import hashlib
import logging
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests import sigv4
from tests.iam_gateway import REGION, Caller, fault_of
from tests.unit.client_fakes import TOKEN, Hands, Tribe, receipt
from tributary.client import Aws, BadSetting, Forbidden, Memory, NotConfigured, Unauthenticated
from tributary.client.aws import Signing, SigV4
from tributary.client.place import find_place

API = f"https://abc123.execute-api.{REGION}.amazonaws.com"
OTHER = "https://memory.example.org"
CALLER = Caller(key_id="AKIDEXAMPLE", secret="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", arn="arn", session="session/token+of=x")


@pytest.fixture(autouse=True)
def _nobody_signs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test finds the credentials of whoever runs it."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture
def signs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CALLER.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TRIBUTARY_HOME": str(tmp_path)}


# Signature Version 4 as the tests work it out, against what AWS publishes


@pytest.mark.parametrize(
    ("method", "target", "headers", "service", "wanted"),
    [
        ("GET", "/", {}, "service", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", {}, "service", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "GET",
            "/?Param2=value2&Param1=value1",
            {},
            "service",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "GET",
            "/?Action=ListUsers&Version=2010-05-08",
            {"content-type": "application/x-www-form-urlencoded; charset=utf-8", "host": "iam.amazonaws.com"},
            "iam",
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        ),
    ],
    ids=["get-vanilla", "post-vanilla", "get-vanilla-query-order-key-case", "ListUsers"],
)
def test_the_tests_own_signature_is_the_one_that_aws_publishes(
    method: str, target: str, headers: dict[str, str], service: str, wanted: str
) -> None:
    date = "20150830T123600Z"
    signed = dict(sorted({"host": "example.amazonaws.com", "x-amz-date": date, **headers}.items()))
    canonical = sigv4.canonical_request(method, target, signed, ";".join(signed), b"")
    if service == "iam":
        digest = "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59"
        assert hashlib.sha256(canonical.encode()).hexdigest() == digest
    scope = f"20150830/us-east-1/{service}/aws4_request"
    assert sigv4.signature(canonical, date=date, scope=scope, secret=CALLER.secret) == wanted


def test_the_tests_own_canonical_path_is_encoded_twice_and_normalised() -> None:
    assert sigv4.canonical_path("/documents%20and%20settings/") == "/documents%2520and%2520settings/"
    assert sigv4.canonical_path("/a/./b/../c//d") == "/a/c/d"
    assert sigv4.canonical_path("") == "/"


# what is sent


def opened(tribe: Tribe, url: str = API, hands: Hands | None = None) -> Memory:
    hands = hands or Hands()
    return Memory(
        url,
        aws=Aws(),
        transport=httpx.MockTransport(tribe),
        environment={},
        clock=hands.clock,
        sleep=hands.sleep,
        jitter=lambda: 1.0,
    )


def fault(request: httpx.Request) -> str | None:
    target = request.url.raw_path.decode()
    return fault_of(request.method, target, dict(request.headers), request.content, CALLER)


@pytest.mark.usefixtures("signs")
@pytest.mark.parametrize("path", ["", "/prod", "/pr%20od", "/a+b,c;d=e:f@g", "/x/../y", "/%C3%A9", "/tilde~-_."])
def test_every_request_is_signed_as_it_is_sent_whatever_is_in_path_and_query(path: str) -> None:
    tribe = Tribe()
    tribe.before = lambda request: httpx.Response(
        200,
        json={"lessons": [], "next": None, "receipt": receipt(0)} if request.method == "GET" else tribe.replies["recall"],
    )
    with opened(tribe, API + path) as memory:
        memory.recall("où est-ce?", tags={"a": "b c"})
        list(memory.lessons(as_of=datetime(2026, 3, 1, 12, 30, tzinfo=UTC)))
    assert [fault(request) for request in tribe.requests] == [None, None]
    assert tribe.requests[1].url.raw_path.endswith(b"as_of=2026-03-01T12%3A30%3A00%2B00%3A00")


@pytest.mark.usefixtures("signs")
def test_each_try_is_signed_under_the_same_key() -> None:
    tribe = Tribe()
    left: list[httpx.Response | Exception] = [httpx.Response(503), httpx.ReadTimeout("slow")]

    def failing(_: httpx.Request) -> httpx.Response | None:
        if not left:
            return httpx.Response(200, json=tribe.replies["reinforce"])
        first = left.pop(0)
        if isinstance(first, Exception):
            raise first
        return first

    tribe.before = failing
    with opened(tribe) as memory:
        memory.reinforce("les_" + "1" * 32)
    assert [fault(request) for request in tribe.requests] == [None, None, None]
    assert len({request.headers["idempotency-key"] for request in tribe.requests}) == 1


@pytest.mark.usefixtures("signs")
def test_a_signature_is_of_the_moment_at_which_it_is_made() -> None:
    now = datetime.now(UTC)
    moments = iter([now, now + timedelta(seconds=90)])
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    signature = SigV4(Signing(region=REGION, profile=None), now=lambda: next(moments))
    with httpx.Client(transport=httpx.MockTransport(answer), auth=signature) as client:
        client.get(API)
        client.get(API)
    assert [fault(request) for request in sent] == [None, None]
    assert sent[0].headers["x-amz-date"] != sent[1].headers["x-amz-date"]


@pytest.mark.usefixtures("signs")
def test_neither_secret_nor_signature_nor_session_token_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    tribe = Tribe()
    tribe.before = lambda _: httpx.Response(200, json=tribe.replies["recall"])
    with caplog.at_level(logging.DEBUG), opened(tribe) as memory:
        memory.recall("q")
    made = tribe.requests[0].headers["authorization"].rpartition("=")[2]
    for secret in (CALLER.secret, str(CALLER.session), made):
        assert secret not in caplog.text


@pytest.mark.usefixtures("signs")
def test_whom_aws_itself_refuses_is_told_what_to_look_at() -> None:
    tribe = Tribe()
    tribe.before = lambda _: httpx.Response(403, json={"message": "Forbidden"})
    with opened(tribe) as memory, pytest.raises(Forbidden, match="execute-api:Invoke"):
        memory.recall("q")
    assert len(tribe.requests) == 1


# what signs


def test_without_credentials_nothing_is_sent_and_the_error_says_what_to_do() -> None:
    tribe = Tribe()
    with opened(tribe) as memory, pytest.raises(NotConfigured, match="AWS_PROFILE"):
        memory.recall("q")
    assert not tribe.requests


def test_a_profile_that_is_not_there_is_named() -> None:
    tribe = Tribe()
    memory = Memory(API, aws=Aws(profile="nobodys"), transport=httpx.MockTransport(tribe), environment={})
    with memory, pytest.raises(NotConfigured, match="'nobodys'"):
        memory.recall("q")
    assert not tribe.requests


def test_a_single_sign_on_that_has_ended_is_told_from_none(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(
        "[profile sso]\nsso_session = s\nsso_account_id = 123456789012\nsso_role_name = r\nregion = eu-central-1\n"
        "[sso-session s]\nsso_start_url = https://example.awsapps.com/start\nsso_region = eu-central-1\n"
    )
    memory = Memory(API, aws=Aws(profile="sso"), transport=httpx.MockTransport(Tribe()), environment={})
    with memory, pytest.raises(Unauthenticated, match="aws sso login"):
        memory.recall("q")


@pytest.fixture
def rotating(tmp_path: Path) -> list[Caller]:
    """A profile whose program hands out new credentials each time, each good for five minutes."""
    program = tmp_path / "credentials.py"
    program.write_text(
        "import datetime, json, pathlib\n"
        f"counter = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "count = int(counter.read_text()) + 1 if counter.exists() else 1\n"
        "counter.write_text(str(count))\n"
        "until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5)\n"
        "made = {'Version': 1, 'AccessKeyId': f'AKID{count}', 'SecretAccessKey': f'secret-{count}'}\n"
        "print(json.dumps(made | {'SessionToken': f's-{count}', 'Expiration': until.isoformat()}))\n"
    )
    (tmp_path / "config").write_text(f"[profile rotating]\ncredential_process = {sys.executable} {program}\nregion = {REGION}\n")
    return [Caller(key_id=f"AKID{n}", secret=f"secret-{n}", arn="arn", session=f"s-{n}") for n in range(1, 9)]


def test_credentials_that_are_about_to_expire_are_fetched_anew(rotating: list[Caller]) -> None:
    tribe = Tribe()
    tribe.before = lambda _: httpx.Response(200, json=tribe.replies["recall"])
    with Memory(OTHER, aws=Aws(profile="rotating"), transport=httpx.MockTransport(tribe), environment={}) as memory:
        memory.recall("q")
        memory.recall("q")
    signers = []
    for request in tribe.requests:
        target = request.url.raw_path.decode()
        signers += [
            one.key_id for one in rotating if fault_of("POST", target, dict(request.headers), request.content, one) is None
        ]
    assert len(signers) == len(set(signers)) == 2


def test_without_botocore_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(NotConfigured, match=r"tributary-memory\[aws\]"):
        Memory(API, aws=Aws(), environment={})


# which region


@pytest.mark.parametrize(
    ("url", "given", "environment", "region"),
    [
        (API, None, {"AWS_REGION": "us-east-1"}, REGION),
        (API, "us-west-2", {}, "us-west-2"),
        ("https://abc-vpce-1.execute-api.us-gov-west-1.amazonaws.com/x", None, {}, "us-gov-west-1"),
        ("https://abc.execute-api.cn-north-1.amazonaws.com.cn", None, {}, "cn-north-1"),
        (OTHER, None, {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "eu-west-1"}, "us-east-1"),
        (OTHER, None, {"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
    ],
)
def test_the_region_is_the_apis(url: str, given: str | None, environment: dict[str, str], region: str) -> None:
    place = find_place(url, None, environment, Aws(region=given))
    assert place.signing is not None
    assert place.signing.region == region


def test_the_region_of_the_profile_comes_last(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[profile p]\nregion = ap-south-1\n")
    place = find_place(OTHER, None, {}, Aws(profile="p"))
    assert place.signing is not None
    assert place.signing.region == "ap-south-1"
    with pytest.raises(NotConfigured, match="no AWS region"):
        find_place(OTHER, None, {}, Aws())
    with pytest.raises(NotConfigured, match="'q'"):
        find_place(OTHER, None, {}, Aws(profile="q"))


@pytest.mark.parametrize("region", ["eu", "europe", "EU-CENTRAL-1", "eu-central-1/../x", "eu-central-1 "])
def test_what_is_no_region_is_refused(region: str) -> None:
    with pytest.raises(BadSetting, match="no region"):
        find_place(OTHER, None, {}, Aws(region=region))


# token or signature


def test_the_environment_chooses_between_token_and_signature(home: dict[str, str]) -> None:
    set_up = {**home, "TRIBUTARY_URL": API, "TRIBUTARY_AUTH": "iam"}
    place = find_place(None, None, set_up)
    assert (place.token, place.signing) == (None, Signing(region=REGION, profile=None))
    with pytest.raises(NotConfigured, match="no token for"):
        find_place(None, None, {**set_up, "TRIBUTARY_AUTH": "token"})
    with pytest.raises(NotConfigured, match="TRIBUTARY_AUTH must be token or iam"):
        find_place(None, None, {**set_up, "TRIBUTARY_AUTH": "sigv4"})
    with pytest.raises(NotConfigured, match="did you mean TRIBUTARY_AUTH"):
        find_place(None, None, {**home, "TRIBUTARY_URL": API, "TRIBUTARY_AUHT": "iam"})


def test_a_token_and_a_signature_together_are_refused_by_name(home: dict[str, str]) -> None:
    with pytest.raises(NotConfigured, match="TRIBUTARY_TOKEN and TRIBUTARY_AUTH=iam"):
        find_place(None, None, {**home, "TRIBUTARY_URL": API, "TRIBUTARY_AUTH": "iam", "TRIBUTARY_TOKEN": TOKEN})
    with pytest.raises(NotConfigured, match="token or aws, not both"):
        Memory(API, TOKEN, aws=Aws(), environment={})


def test_an_argument_goes_before_the_environment(home: dict[str, str]) -> None:
    assert find_place(API, TOKEN, {**home, "TRIBUTARY_AUTH": "iam"}).token == TOKEN
    place = find_place(None, None, {**home, "TRIBUTARY_URL": API, "TRIBUTARY_TOKEN": TOKEN}, Aws())
    assert (place.token, place.signing is not None) == (None, True)


def test_nothing_is_signed_for_the_local_server(home: dict[str, str]) -> None:
    with pytest.raises(NotConfigured, match="TRIBUTARY_URL"):
        find_place(None, None, {**home, "TRIBUTARY_AUTH": "iam"})

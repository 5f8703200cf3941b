"""Who logs in where, and what is refused at the start; how tokens look is told by boto3, whose clients we do without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

import boto3
import pytest

from tests.token_front import CREDENTIALS, KEY_ID, REGION, SECRET, SESSION
from tributary.core.errors import BadSetting
from tributary.service import Settings, open_memory, open_operator
from tributary.service.logins import logins_of
from tributary.service.tokens import token_for
from tributary.store import OWNER, RUNTIME

PROXY = "postgresql://tributary_recall@proxy.example:5432/tributary?sslmode=verify-full&sslrootcert=/opt/certs/rds.pem"
WRITER = "postgresql://tributary_admin@writer.example/tributary?sslmode=verify-full"


def by_token(**urls: str | None) -> Settings:
    return Settings.model_validate({"database_auth": "iam", "AWS_REGION": REGION, **urls})


def test_a_password_login_is_as_it_was_and_makes_no_token() -> None:
    found = logins_of(Settings.model_validate({"database_url": PROXY}))
    assert found is not None
    assert (found.serving().assume, found.owner().assume, found.migrating().assume) == (RUNTIME, OWNER, None)
    assert (found.serving().password, found.owner().password) == (None, None)
    apart = logins_of(Settings.model_validate({"database_url": PROXY, "owner_url": WRITER}))
    assert apart is not None
    assert (apart.serving().assume, apart.owner().url) == (None, WRITER)


def test_one_login_under_both_urls_steps_down_as_without_the_owners() -> None:
    found = logins_of(Settings.model_validate({"database_url": WRITER, "owner_url": WRITER.replace("example", "example:5432")}))
    assert found is not None
    assert (found.serving().assume, found.serving().lesser) == (RUNTIME, False)
    for taken_as_it_is in ({"database_url": PROXY, "owner_url": WRITER}, {"database_url": PROXY, "database_auth": "iam"}):
        found = logins_of(Settings.model_validate({"AWS_REGION": REGION, **taken_as_it_is}))
        assert found is not None
        assert (found.serving().assume, found.serving().lesser) == (None, True)


@pytest.mark.parametrize(
    "url", ["postgresql://u:hunter2@h:abc/x", "postgresql://u:hunter2@h:0/x", "postgresql://u:hunter2@h/%zz"]
)
def test_a_url_that_leads_nowhere_is_told_at_the_start_without_its_password(url: str) -> None:
    for name in ("database_url", "reader_url", "owner_url"):
        with pytest.raises(BadSetting, match=f"TRIBUTARY_{name.upper()}: ") as caught:
            logins_of(Settings.model_validate({"database_url": PROXY, name: url}))
        assert "hunter2" not in caught.value.detail


def test_a_login_by_token_is_the_functions_role_itself() -> None:
    found = logins_of(by_token(database_url=PROXY, reader_url=PROXY, owner_url=WRITER))
    assert found is not None
    assert found.replica is not None
    assert (found.serving().assume, found.replica.assume, found.owner().assume) == (None, None, OWNER)
    assert all(target.password is not None for target in (found.serving(), found.replica, found.owner(), found.migrating()))


def test_by_token_the_owners_url_alone_is_for_operators_and_the_databases_for_functions() -> None:
    with pytest.raises(BadSetting, match="TRIBUTARY_DATABASE_URL: is needed to serve"):
        open_memory(by_token(owner_url=WRITER))
    with pytest.raises(BadSetting, match="TRIBUTARY_OWNER_URL: is needed for this"):
        open_operator(by_token(database_url=PROXY))
    open_operator(by_token(owner_url=WRITER)).close()
    open_memory(by_token(database_url=PROXY)).close()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "TRIBUTARY_DATABASE_AUTH: iam needs TRIBUTARY_DATABASE_URL"),
        ({"reader_url": PROXY}, "TRIBUTARY_READER_URL: is set without TRIBUTARY_DATABASE_URL"),
        ({"owner_url": WRITER, "reader_url": PROXY}, "TRIBUTARY_READER_URL: is set without TRIBUTARY_DATABASE_URL"),
        ({"database_url": PROXY, "AWS_REGION": None}, "AWS_REGION: is needed by TRIBUTARY_DATABASE_AUTH=iam"),
        ({"database_url": PROXY, "AWS_REGION": "nowhere"}, "AWS_REGION: must be a region of AWS"),
        ({"database_url": PROXY.replace("recall@", "recall:hunter2@")}, "TRIBUTARY_DATABASE_URL: has a password"),
        ({"database_url": f"{PROXY}&password=hunter2"}, "TRIBUTARY_DATABASE_URL: has a password"),
        ({"database_url": PROXY.replace("tributary_recall@", "")}, "TRIBUTARY_DATABASE_URL: must name a user and one host"),
        ({"database_url": "postgresql://u@/tributary?sslmode=verify-full"}, "must name a user and one host"),
        ({"database_url": "postgresql://u@/tributary?host=/run/postgresql"}, "must name a user and one host"),
        ({"database_url": PROXY.replace("example:5432", "example,other")}, "must name a user and one host"),
        ({"database_url": f"{PROXY}&hostaddr=192.0.2.1"}, "must name a user and one host"),
        ({"database_url": "postgresql://u@localhost/x?hostaddr=192.0.2.1"}, "must name a user and one host"),
        ({"database_url": PROXY.replace("verify-full", "require")}, "must have sslmode=verify-full"),
        ({"database_url": "postgresql://u@proxy.example/tributary"}, "must have sslmode=verify-full"),
        ({"database_url": "postgresql://u@localhost.example/tributary"}, "must have sslmode=verify-full"),
        *(
            ({"database_url": f"postgresql://u@{host}/x"}, "must name a user and one host")
            for host in ("localhost%2Fx", "localhost%3Fx.evil.com", "localhost%23x", "x%40localhost", "localhost%5C.evil.com")
        ),
        *(({"database_url": f"{PROXY}&{name}=x"}, f"must not have {name}") for name in ("service", "passfile", "gssencmode")),
        ({"database_url": f"{PROXY}&port=abc"}, "TRIBUTARY_DATABASE_URL: must have a port"),
        ({"database_url": f"{PROXY}&port=5432,6000"}, "must name a user and one host"),
        ({"database_url": "postgresql://u@host:port/%zz"}, "TRIBUTARY_DATABASE_URL: is no URL of a PostgreSQL database"),
        ({"database_url": PROXY, "owner_url": WRITER.replace("admin@", "admin:hunter2@")}, "TRIBUTARY_OWNER_URL: has a password"),
        ({"database_url": PROXY, "reader_url": "postgresql://u@far/x"}, "TRIBUTARY_READER_URL: must have sslmode"),
    ],
)
def test_what_cannot_be_signed_for_or_would_leak_a_token_is_refused_by_name(given: dict[str, str | None], told: str) -> None:
    with pytest.raises(BadSetting, match=told) as caught:
        logins_of(by_token(**given))
    assert "hunter2" not in caught.value.detail
    assert "example" not in caught.value.detail


@pytest.mark.parametrize("name", ["PGHOSTADDR", "PGSERVICE", "PGPORT"])
def test_what_leads_a_token_elsewhere_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "192.0.2.1")
    with pytest.raises(BadSetting, match=f"{name}: must not be set"):
        logins_of(by_token(database_url="postgresql://u@localhost/x"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_a_token_may_go_to_this_computer_without_tls(host: str) -> None:
    assert logins_of(by_token(database_url=f"postgresql://u@{host}:5432/x")) is not None


@pytest.mark.parametrize("session", [SESSION, None])
@pytest.mark.parametrize(
    ("url", "host", "port", "user"),
    [
        (PROXY, "proxy.example", 5432, "tributary_recall"),
        (WRITER.replace("example", "example:6000"), "writer.example", 6000, "tributary_admin"),
        (WRITER.replace("tributary_admin", "an%20odd%2Fone"), "writer.example", 5432, "an odd/one"),
    ],
)
def test_a_token_is_what_boto3_makes(
    monkeypatch: pytest.MonkeyPatch, url: str, host: str, port: int, user: str, session: str | None
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    if session is None:
        monkeypatch.delenv("AWS_SESSION_TOKEN")
    ours = token_for("X", url, region=REGION)()
    client = boto3.client(
        "rds", region_name=REGION, aws_access_key_id=KEY_ID, aws_secret_access_key=SECRET, aws_session_token=session
    )
    theirs = client.generate_db_auth_token(DBHostname=host, Port=port, DBUsername=user)

    def settled(token: str) -> tuple[str, dict[str, list[str]]]:
        place, _, query = token.partition("?")
        return place, {**parse_qs(query, strict_parsing=True), "X-Amz-Date": [], "X-Amz-Signature": []}

    assert settled(ours) == settled(theirs)


def test_a_signer_shows_nothing_of_what_it_signs_with_and_loads_no_client(tmp_path: Path) -> None:
    program = (
        "import sys; from tributary.service.tokens import token_for;"
        f"sign = token_for('X', {PROXY!r}, region={REGION!r}); assert 'botocore' not in sys.modules;"
        "sign(); print(repr(sign));"
        "print(sorted({'boto3', 'botocore.session', 'botocore.client', 'botocore.loaders'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **CREDENTIALS}, capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().endswith("[]")
    assert SECRET not in done.stdout

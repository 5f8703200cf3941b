"""What the functions ask of AWS, as it went over the wire, held against what their roles allow."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pytest

from infra.table import FUNCTIONS
from tests.contract.deployed import Deployed
from tests.contract.event_tribe import EventTribe, settle
from tests.contract.samples import event_of
from tests.contract.test_events import EVENTS, load
from tests.infra.conftest import EVERYTHING, Deployment
from tests.providers import bedrock, bedrock_embeddings, bedrock_guardrails, mind
from tests.providers.server import Asked, ProviderServer, Reply
from tributary.service import Settings

ACCOUNT, REGION = "123456789012", "eu-central-1"
QUEUE = f"/{ACCOUNT}/pending"
BUCKET = "files"
SECRET = str(EVERYTHING["secret_arn"])
_OF_LAMBDA = ("logs:", "ec2:", "xray:", "sqs:Receive", "sqs:Delete", "sqs:Change", "sqs:GetQueue")
"""What Lambda itself does in a function's name: its log, its network, traces, and reading the queue."""
_BY_SIGNATURE = {"s3:PutObject", "s3:DeleteObject"}
"""An address is signed, for whoever has the file, with the rights of the function; and the gardener has nothing to remove here:
tests/integration/test_evidence.py."""
_BY_LOGIN = "rds-db:connect"
"""A token is signed and sent as a password, never to an API: tests/integration/test_iam_login.py."""

Call = tuple[str, str]
"""An action and what it is about."""


@pytest.fixture(scope="module")
def aws() -> Iterator[ProviderServer]:
    """Bedrock, SQS and Secrets Manager, as far as the functions speak to them."""
    routes = [
        *bedrock.converse_routes(mind.answering),
        ("POST", bedrock_embeddings.INVOKE, bedrock_embeddings.invoked),
        *bedrock_guardrails.ROUTES,
        ("POST", "/", _by_target),
        ("HEAD", f"/{BUCKET}/.+", _missing_then_there),
    ]
    with ProviderServer(routes) as server:
        yield server


_looked_for: list[str] = []


def _missing_then_there(asked: Asked) -> Reply:
    """Answers as S3 does about a file that is not there, to those who may not list; the second time it is there."""
    _looked_for.append(asked.path)
    if len(_looked_for) == 1:
        return Reply(status=403, raw=b"")
    body = load(EVENTS / "learn" / "evidence-announce.json")["body"]
    announced = json.loads(body)
    digest = base64.b64encode(bytes.fromhex(announced["sha256"])).decode()
    return Reply(raw=b"", length=announced["bytes"], headers={"x-amz-checksum-sha256": digest})


def _by_target(asked: Asked) -> Reply:
    operation = asked.headers.get("x-amz-target", "")
    if operation == "AmazonSQS.SendMessage":
        body = asked.body["MessageBody"]
        return Reply(document={"MessageId": "1", "MD5OfMessageBody": hashlib.md5(body.encode()).hexdigest()})
    if operation == "secretsmanager.GetSecretValue":
        kept = json.dumps({"TRIBUTARY_OPENAI_API_KEY": "sk-kept", "TRIBUTARY_DASHBOARD_TOKEN": f"trb_{'t' * 43}"})
        return Reply(document={"ARN": SECRET, "Name": "tributary", "VersionId": "v" * 32, "SecretString": kept})
    return Reply(status=400, document={"__type": "UnknownOperationException"})


def call(asked: Asked) -> Call:
    """Returns what a request needs permission for; raises LookupError for one that is new."""
    operation = asked.headers.get("x-amz-target", "")
    if operation == "AmazonSQS.SendMessage":
        return "sqs:SendMessage", "queue"
    if operation == "secretsmanager.GetSecretValue":
        return "secretsmanager:GetSecretValue", str(asked.body["SecretId"])
    if found := re.fullmatch(r"/model/(.+)/(?:invoke|converse)", asked.path):
        return "bedrock:InvokeModel", unquote(found[1])
    if found := re.fullmatch(r"/guardrail/([^/]+)/version/[^/]+/apply", asked.path):
        return "bedrock:ApplyGuardrail", unquote(found[1])
    if asked.method == "HEAD" and asked.path.startswith(f"/{BUCKET}/"):
        return "s3:GetObject", "EvidenceBucket"
    raise LookupError(f"what does {asked.method} {asked.path} {operation} need?")


@dataclass(frozen=True, kw_only=True)
class Running:
    """The functions, started one by one, with all that they asked of AWS so far."""

    functions: dict[str, Deployed]
    aws: ProviderServer
    tribe: EventTribe

    def calls(self, function: str, *events: Any, until: Call | None = None) -> set[Call]:
        """Returns what a function asks of AWS for events of the tribe, the first time that it runs.

        `until` is waited for: a message may be on its way still when the reply has come.
        """
        before = len(self.aws.asked)
        for event in events:
            answer = self.functions[function](self.tribe.of(event))
            assert answer.get("statusCode", 200) < 300, answer
            assert "raised" not in answer
        patience = time.monotonic() + 20
        while until and until not in map(call, self.aws.asked[before:]) and time.monotonic() < patience:
            time.sleep(0.05)
        return {call(one) for one in self.aws.asked[before:]}


@pytest.fixture(scope="module")
def running(server_url: str, template: str, aws: ProviderServer) -> Iterator[Running]:
    from tests.conftest import new_database

    with ExitStack() as stack:
        url = stack.enter_context(new_database(server_url, template))
        settings = {**json.loads(str(EVERYTHING["settings"])), "TRIBUTARY_EMBEDDER": "bedrock"}
        given = {
            **bedrock_embeddings.credentials(),
            **settings,
            "TRIBUTARY_BEDROCK_URL": aws.url,
            "TRIBUTARY_PENDING_QUEUE_URL": f"{aws.url}{QUEUE}",
            "TRIBUTARY_SECRET_ARN": SECRET,
            "AWS_ENDPOINT_URL_SQS": aws.url,
            "AWS_ENDPOINT_URL_SECRETS_MANAGER": aws.url,
            "AWS_ENDPOINT_URL_S3": aws.url,
            "TRIBUTARY_EVIDENCE": "s3",
            "TRIBUTARY_EVIDENCE_BUCKET": BUCKET,
            "AWS_REGION": REGION,
            "TRIBUTARY_DATABASE_URL": url,
        }
        telling = {spec.folder for spec in FUNCTIONS if spec.tells_queue}
        functions = {
            spec.folder: stack.enter_context(
                Deployed(spec.folder, {k: v for k, v in given.items() if spec.folder in telling or "QUEUE" not in k})
            )
            for spec in FUNCTIONS
            if spec.folder == spec.name
        }
        with _also_here(given):
            owner = Settings.model_validate(
                {"TRIBUTARY_DATABASE_URL": url, "TRIBUTARY_AWS_REGION": REGION, "embedder": "bedrock", "bedrock_url": aws.url}
            )
            tribe = settle(owner, authorizer=functions["authorizer"], learn=functions["learn"])
        yield Running(functions=functions, aws=aws, tribe=tribe)


@contextmanager
def _also_here(given: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED"):
            patch.setenv(name, given[name])
        yield


def learned(text: str, role: str, **more: object) -> Any:
    body = {
        "text": text,
        "situation": "operating the cache",
        "subject": "cache",
        "source": {"how": "observed", "ref": "run:1"},
        **more,
    }
    event = event_of("POST", "/v1/lessons", body=json.dumps(body).encode())
    event["requestContext"]["authorizer"] = {"lambda": {"role": role}}
    return event


def test_roles_allow_what_is_asked_and_nothing_that_nobody_asks(running: Running, everything: Deployment) -> None:
    asked = {
        "recall": running.calls("recall", load(EVENTS / "recall" / "recall.json")),
        "learn": running.calls(
            "learn",
            learned("The cache listens on port 6379", "writer"),
            learned("The cache listens on port 6380", "writer"),
            learned("The cache is cleared at night", "writer", wait=False),
            load(EVENTS / "learn" / "evidence-announce.json"),
            until=("sqs:SendMessage", "queue"),
        ),
        "curate": running.calls("curate", load(EVENTS / "curate" / "disputes.json")),
        "mcp": running.calls(
            "mcp",
            load(EVENTS / "mcp" / "recall.json"),
            load(EVENTS / "mcp" / "learn.json"),
        ),
        "gardener": running.calls("gardener", load(EVENTS / "gardener" / "scheduler.json")),
        "operator": running.calls("operator", load(EVENTS / "operator" / "create-tribe.json")),
        "migrate": running.calls("migrate", load(EVENTS / "migrate" / "trigger.json")),
    }
    profile = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"
    assert asked["recall"] >= {("bedrock:InvokeModel", "amazon.titan-embed-text-v2:0"), ("secretsmanager:GetSecretValue", SECRET)}
    assert asked["learn"] >= {
        ("bedrock:InvokeModel", "amazon.titan-embed-text-v2:0"),
        ("bedrock:InvokeModel", profile),
        ("bedrock:ApplyGuardrail", "ab12cd34ef56"),
        ("sqs:SendMessage", "queue"),
    }
    for function, calls in asked.items():
        allowed = _allowed(everything, function)
        for action, about in calls:
            assert any(_is(about, resource) for resource in allowed.get(action, ())), (function, action, about)
    seen = {action for calls in asked.values() for action, _ in calls}
    # a dead-letter queue is written to by Lambda, with the permission of its function
    assert seen | {_BY_LOGIN} | _BY_SIGNATURE == {action for function in asked for action in _allowed(everything, function)}


def test_the_pages_ask_for_nothing_that_their_role_forbids(running: Running, everything: Deployment) -> None:
    """The container's role: it is given by the same line of the table as the function's (infra/table.py)."""
    form = load(EVENTS / "dashboard" / "sign-in-refused.json")
    form["body"] = f"token={running.tribe.tokens['curator']}&next=%2F"
    page = load(EVENTS / "dashboard" / "status.json")
    before = len(running.aws.asked)
    signed_in = running.functions["dashboard"](form)
    page["cookies"] = [one.partition(";")[0] for one in signed_in["cookies"]]
    page["rawPath"] = page["requestContext"]["http"]["path"] = "/lessons"
    page["rawQueryString"] = "query=clear+the+cache"
    found = running.functions["dashboard"](page)
    assert (signed_in["statusCode"], found["statusCode"]) == (303, 200)
    assert running.tribe.lesson_id in found["body"]
    asked = {call(one) for one in running.aws.asked[before:]}
    assert asked == {("bedrock:InvokeModel", "amazon.titan-embed-text-v2:0"), ("secretsmanager:GetSecretValue", SECRET)}
    service = everything.only("AWS::AppRunner::Service")
    allowed = _by_action(everything.statements_of(service["InstanceConfiguration"]["InstanceRoleArn"]["Fn::GetAtt"][0]))
    for action, about in asked:
        assert any(_is(about, resource) for resource in allowed.get(action, ())), (action, about)


def test_addresses_of_files_are_signed_by_those_alone_who_may_use_them(running: Running, everything: Deployment) -> None:
    announce, fetch = load(EVENTS / "learn" / "evidence-announce.json"), load(EVENTS / "recall" / "evidence.json")
    told = [json.loads(running.functions["learn"](running.tribe.of(announce))["body"]) for _ in range(2)]
    assert told[-1]["upload"] is None, "by then its bytes are there"
    answer = running.functions["recall"](running.tribe.of(fetch))
    assert answer["statusCode"] == 307
    assert f"/{BUCKET}/" in answer["headers"]["Location"]
    files = {
        name: {one for one in _allowed(everything, name) if one.startswith("s3:")} for name in ("learn", "recall", "gardener")
    }
    assert files == {
        "learn": {"s3:GetObject", "s3:PutObject"},
        "recall": {"s3:GetObject"},
        "gardener": {"s3:DeleteObject"},
    }


def test_the_authorizer_asks_aws_for_nothing_but_its_settings(running: Running, everything: Deployment) -> None:
    assert running.calls("authorizer", load(EVENTS / "authorizer" / "known.json")) <= {("secretsmanager:GetSecretValue", SECRET)}
    assert set(_allowed(everything, "authorizer")) == {_BY_LOGIN, "secretsmanager:GetSecretValue"}


def test_a_call_that_no_role_allows_would_be_noticed(everything: Deployment) -> None:
    """The control: the comparison tells another model from the one that is allowed."""
    allowed = _allowed(everything, "recall")["bedrock:InvokeModel"]
    assert any(_is("amazon.titan-embed-text-v2:0", resource) for resource in allowed)
    assert not any(_is("amazon.nova-pro-v1:0", resource) for resource in allowed)
    with pytest.raises(LookupError):
        call(Asked(method="GET", path="/foundation-models", headers={}, body=None, match={}))


def _allowed(deployment: Deployment, function: str) -> dict[str, list[str]]:
    """Returns the resources of each action that a function's code may take."""
    return _by_action(deployment.statements(function))


def _by_action(statements: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for statement in statements:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        for action in actions:
            if statement["Effect"] == "Allow" and not action.startswith(_OF_LAMBDA):
                found.setdefault(action, []).extend(json.dumps(one) for one in resources)
    return found


def _is(about: str, resource: str) -> bool:
    """Tells whether a resource of a policy covers what a call is about; a queue's is a reference to it."""
    return about in resource or (about == "queue" and "PendingQueue" in resource)

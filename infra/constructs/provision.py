"""What code of ours is given wherever it runs, in a function or in a container: its environment, and what its role may do."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Stack, Token
from aws_cdk import aws_iam as iam

from infra.acknowledged import acknowledge
from infra.constructs.evidence import EvidenceBucket
from infra.constructs.ground import CERTIFICATES, Ground
from infra.constructs.queues import PendingQueue
from infra.models import invoked_by
from infra.table import FunctionSpec


@dataclass(frozen=True, kw_only=True)
class Provision:
    """What there is to give: the way to the database, the queue of pending lessons, the bucket of evidence files."""

    ground: Ground
    pending: PendingQueue
    evidence: EvidenceBucket

    def environment(self, spec: FunctionSpec, *, connections: int, certificates: str = CERTIFICATES) -> dict[str, str]:
        """Returns the variables of a function's code."""
        config = self.ground.config
        told = {"TRIBUTARY_PENDING_QUEUE_URL": self.pending.queue.queue_url} if spec.tells_queue else {}
        kept = self.evidence.environment if spec.files else {}
        public = {"TRIBUTARY_DASHBOARD_PUBLIC": config.dashboard_public} if spec.shows_pages and config.dashboard_public else {}
        return self.ground.environment(spec, connections=connections, certificates=certificates) | told | kept | public

    def allow(self, role: iam.Role, spec: FunctionSpec) -> None:
        """Lets a role do what a function's code does, on what it does it to, and nothing else."""
        config, stack = self.ground.config, Stack.of(role)
        allow(role, ["rds-db:connect"], [self.ground.door(spec).login_arn])
        models = invoked_by(config.models, spec.models, partition=stack.partition, region=stack.region, account=stack.account)
        allow(role, ["bedrock:InvokeModel"], models.models)
        elsewhere = [_as_reported(stack, arn) for arn in models.models if ":bedrock:*:" in arn]
        acknowledge(role, {f"IAM5[Resource::{arn}]": "An inference profile chooses the region" for arn in elsewhere})
        allow(role, ["bedrock:ApplyGuardrail"], models.guardrails)
        if spec.files:
            self.evidence.allow(role, spec.files)
        if spec.tells_queue:
            allow(role, ["sqs:SendMessage"], [self.pending.queue.queue_arn])
        if config.secret_arn:
            allow(role, ["secretsmanager:GetSecretValue"], [config.secret_arn])


def allow(role: iam.Role, actions: list[str], resources: list[str] | tuple[str, ...]) -> None:
    """Adds what a role may do; nothing where there is nothing to do it to."""
    if resources:
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=list(resources)))


def _as_reported(stack: Stack, arn: str) -> str:
    """Returns an ARN as cdk-nag writes it: where the region is open, so is the partition."""
    return arn.replace(stack.partition, "<AWS::Partition>") if Token.is_unresolved(stack.partition) else arn

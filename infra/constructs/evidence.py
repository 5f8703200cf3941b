"""The bucket of evidence files: closed to everybody but the functions, and those whom they sign an address for."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.acknowledged import acknowledge


class EvidenceBucket(Construct):
    """`bucket` outlives its stack: what a tribe was given as evidence is not thrown away with a deployment."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            lifecycle_rules=[
                s3.LifecycleRule(id="unfinished", abort_incomplete_multipart_upload_after=Duration.days(1)),
                s3.LifecycleRule(
                    id="seldom-read",
                    transitions=[
                        s3.Transition(storage_class=s3.StorageClass.INTELLIGENT_TIERING, transition_after=Duration.days(30))
                    ],
                ),
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
        acknowledge(self, {"S1": "Who asks for which file is in the log of the function that signs the address"})

    @property
    def environment(self) -> dict[str, str]:
        return {"TRIBUTARY_EVIDENCE": "s3", "TRIBUTARY_EVIDENCE_BUCKET": self.bucket.bucket_name}

    def allow(self, role: iam.Role, actions: Iterable[str]) -> None:
        """Lets a role act on the files, and on nothing else of the bucket."""
        role.add_to_policy(iam.PolicyStatement(actions=sorted(actions), resources=[self.bucket.arn_for_objects("*")]))
        known = Stack.of(self).get_logical_id(self.bucket.node.default_child)  # type: ignore[arg-type]  # a bucket's is one
        acknowledge(role, {f"IAM5[Resource::<{known}.Arn>/*]": "Each file is an object of its own, named by what is in it"})

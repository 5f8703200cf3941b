"""What constructs are made of, where a property has no way in through the construct itself."""

from __future__ import annotations

from typing import TypeVar

from aws_cdk import CfnResource, Stack
from constructs import Construct, IConstruct

Resource = TypeVar("Resource", bound=CfnResource)


def resource_of(made: IConstruct, kind: type[Resource]) -> Resource:
    """Returns the CloudFormation resource behind a construct; raises TypeError when it is of another kind."""
    resource = made.node.default_child
    if not isinstance(resource, kind):
        raise TypeError(f"the resource behind {made.node.path} is a {type(resource).__name__}, not a {kind.__name__}")
    return resource


def login_arn(scope: Construct, resource_id: str, user: str) -> str:
    """Returns the resource of `rds-db:connect` by which `user` logs in to a cluster or a proxy."""
    stack = Stack.of(scope)
    return f"arn:{stack.partition}:rds-db:{stack.region}:{stack.account}:dbuser:{resource_id}/{user}"

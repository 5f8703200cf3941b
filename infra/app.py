"""Builds the app: the stacks of one profile, checked by cdk-nag's AwsSolutions."""

from __future__ import annotations

import os
from typing import Any

from aws_cdk import App, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from infra.config import Config, config_from
from infra.stacks import AppStack, DataStack


def config_of(app: App) -> Config:
    """Returns the options that an app is given; raises BadOption."""
    return config_from(_context(app))


def build(app: App, config: Config) -> tuple[DataStack, AppStack]:
    """Adds the stacks to `app`; raises BadOption."""
    data = DataStack(app, config)
    running = AppStack(app, config, data.ground)
    running.add_stack_dependency(data)
    Tags.of(app).add("application", config.prefix, exclude_resource_types=["AWS::RDS::DBProxyTargetGroup"])
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return data, running


def _context(app: App) -> dict[str, Any]:
    """Returns the app's context; account and region are the CLI's own where the options name none."""
    context: dict[str, Any] = dict(app.node.get_all_context())
    for name, variable in (("account", "CDK_DEFAULT_ACCOUNT"), ("region", "CDK_DEFAULT_REGION")):
        if os.environ.get(variable):
            context.setdefault(name, os.environ[variable])
    return context

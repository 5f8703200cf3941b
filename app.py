"""The CDK app: `cdk synth -c profile=prod` or `-c profile=dev`; docs/deploy.md lists every option."""

from __future__ import annotations

import sys

from aws_cdk import App

from infra.app import build
from infra.config import BadOption


def main() -> None:
    app = App()
    try:
        build(app)
    except BadOption as error:
        sys.exit(f"tributary: {error}")
    app.synth()


main()

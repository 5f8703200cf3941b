"""The CDK app: `cdk synth -c profile=prod` or `-c profile=dev`; docs/deploy.md lists every option.

Here, and not in `infra/`, the settings of the functions are held to the library's own rules: a deployment whose functions all
refuse to start is refused before it is made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from aws_cdk import App

from infra.app import build, config_of
from infra.config import BadOption
from tributary.core.errors import BadSetting
from tributary.service import load_settings


def main() -> None:
    app = App()
    try:
        config = config_of(app)
        check(config.models)
        build(app, config)
    except (BadOption, BadSetting) as error:
        sys.exit(f"tributary: {error}")
    app.synth()


def check(settings: Mapping[str, str]) -> None:
    """Raises BadSetting for a setting that the functions would refuse."""
    for name in [name for name in os.environ if name.startswith("TRIBUTARY_")]:
        del os.environ[name]  # what is set on this computer is none of the functions'
    os.environ.update(settings)
    load_settings()


main()

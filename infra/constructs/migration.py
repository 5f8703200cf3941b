"""The schema is brought up before any new code serves; when that fails, the deployment fails and the old code goes on."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, triggers
from constructs import Construct

from infra.constructs.functions import Functions
from infra.table import BY_NAME


class Migration(Construct):
    """Runs `migrate` whenever its code, its layer or its settings changed, and before all else that serves is."""

    def __init__(self, scope: Construct, id_: str, functions: Functions, *, besides: Sequence[Construct] = ()) -> None:
        super().__init__(scope, id_)
        others: list[Construct] = [function for name, function in functions.functions.items() if name != "migrate"]
        self.trigger = triggers.Trigger(
            self,
            "Trigger",
            handler=functions.functions["migrate"],
            timeout=Duration.seconds(BY_NAME["migrate"].timeout_s),
            invocation_type=triggers.InvocationType.REQUEST_RESPONSE,
            execute_before=[*others, *besides],
        )

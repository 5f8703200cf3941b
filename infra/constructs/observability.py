"""One CloudWatch dashboard, and alarms that each have a section in docs/runbook.md."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.alarms import Alarm, Watched, alarms
from infra.config import Config
from infra.graphs import rows

RUNBOOK = "docs/runbook.md"


class Observability(Construct):
    """Alarms tell a topic; `alarm_email` reads it."""

    def __init__(self, scope: Construct, id_: str, config: Config, watched: Watched) -> None:
        super().__init__(scope, id_)
        topic = sns.Topic(self, "Alarms", display_name=f"Tributary {config.profile}", enforce_ssl=True)
        # a topic with a policy of its own has no other: without this, alarms of the same account are refused
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                actions=["sns:Publish"],
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )
        if config.alarm_email:
            topic.add_subscription(subscriptions.EmailSubscription(config.alarm_email))
        made = [self._alarm(config, one, topic) for one in alarms(config, watched)]
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=config.prefix)
        board.add_widgets(cloudwatch.AlarmStatusWidget(title="Alarms", alarms=made, width=24, height=4))
        for row in rows(config, watched):
            board.add_widgets(*row)
        region = Stack.of(self).region
        self.url = f"https://console.aws.amazon.com/cloudwatch/home?region={region}#dashboards:name={config.prefix}"

    def _alarm(self, config: Config, one: Alarm, topic: sns.Topic) -> cloudwatch.Alarm:
        made = cloudwatch.Alarm(
            self,
            one.id,
            alarm_name=f"{config.prefix}-{one.name}",
            alarm_description=f"{one.means}. What to do: {RUNBOOK}#{one.section or one.name}",
            metric=one.metric,
            threshold=one.threshold,
            comparison_operator=one.comparison,
            evaluation_periods=one.periods,
            datapoints_to_alarm=one.periods,
            treat_missing_data=one.missing,
        )
        made.add_alarm_action(actions.SnsAction(topic))
        made.add_ok_action(actions.SnsAction(topic))
        return made

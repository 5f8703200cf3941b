"""The command line put together: its commands, its help, and what happens when one fails."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from tributary.edges.cli import (
    acting,
    activity,
    after_restoring,
    agents,
    completing,
    costs,
    curation,
    distilling,
    doctoring,
    evaluations,
    evidence,
    gardening,
    history,
    hooks,
    importing,
    judging,
    knowledge,
    mcp,
    models,
    probing,
    receipts,
    responding,
    running_programs,
    schema,
    screening,
    seeding,
    serving,
    spaces,
    standing,
    stats,
    transferring,
    tribes,
    verifying,
    watching,
)
from tributary.edges.cli.doors import Doors, Session, real_doors
from tributary.edges.cli.exits import BROKEN_PIPE, EXITS, INTERRUPTED
from tributary.edges.cli.options import ViaName

_HELP = """Shared, conflict-safe, auditable memory for AI agents.

\b
Start a server on this computer, then use it:
  tributary serve
  tributary learn "The deploy API needs X-Batch: true" --situation "deploying a service" --source observed --ref run:88
  tributary recall "deploy payments"

learn, import, contest, recall, verify, reinforce, retire, lessons, show, timeline, changes, diff, watch, stats, activity,
status, distill, respond, costs, evaluations, evidence, curate and action talk to the server at TRIBUTARY_URL with
TRIBUTARY_TOKEN; when these are not set, to the one that 'tributary serve' runs here. screen, judge, models, completion and
version need no server, and doctor looks at everything. mcp and hook serve programs in which agents run. The other commands
are the operator's and talk
to the database itself: to DATABASE_URL, or to the PostgreSQL that comes along and keeps its data under TRIBUTARY_HOME. With
--via lambda those about tribes, agents and spaces go to the operator's function on AWS."""


class _Group(TyperGroup):
    """The root of the commands. Whatever a command raises ends here, in one place."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _hang_up()
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted.\n")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            _fail(error, ctx.find_root().obj)
        return result


def _hang_up() -> NoReturn:
    from tributary.edges.cli.streams import quiet_stdout

    quiet_stdout()
    raise typer.Exit(BROKEN_PIPE) from None


def _fail(error: Exception, running: Session | None) -> NoReturn:
    if isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "format_message"):
        raise error  # the parser's own, which it tells of itself
    from tributary.edges.cli.failures import foreseen, tell, unforeseen

    debug, as_json = (running.debug, running.as_json) if running else (False, False)
    environment = running.doors.environment if running else os.environ
    failure = foreseen(error) or unforeseen(error, environment, debug=debug)
    tell(failure, as_json=as_json)
    raise typer.Exit(failure.exit) from None


def _epilog() -> str:
    rows = "\n".join(f"  {row.value:>3}  {row.meaning}" for row in EXITS)
    return f"\b\nExit codes:\n{rows}"


app = typer.Typer(
    cls=_Group,
    help=_HELP,
    epilog=_epilog(),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(wanted: bool) -> None:
    if wanted:
        from tributary import __version__

        typer.echo(f"tributary {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an unexpected error.")] = False,
    version: Annotated[  # noqa: ARG001  (its callback prints and ends)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    via: Annotated[ViaName, typer.Option("--via", help="How operators' commands reach the database.")] = ViaName.DIRECT,
    function: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --via lambda: the operator's function; else TRIBUTARY_OPERATOR_FUNCTION."),
    ] = None,
    region: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --via lambda: the AWS region; else AWS_REGION or the profile's.")
    ] = None,
) -> None:
    doors = context.obj if isinstance(context.obj, Doors) else real_doors()
    if via is ViaName.LAMBDA:
        doors = doors.via_lambda(function, region=region)
    elif function is not None or region is not None:
        raise typer.BadParameter("needs --via lambda", param_hint="--function" if function is not None else "--region")
    context.obj = Session(doors=doors, debug=debug)


app.command("serve")(serving.serve)
app.command("mcp")(mcp.mcp)
app.add_typer(hooks.app, name="hook")
app.command("learn")(knowledge.learn)
app.command("distill")(distilling.distill)
app.command("import")(importing.import_)
app.command("respond")(responding.respond)
app.command("contest")(knowledge.contest)
app.command("recall")(knowledge.recall)
app.command("verify")(receipts.verify)
app.command("reinforce")(knowledge.reinforce)
app.command("retire")(knowledge.retire)
app.command("lessons")(knowledge.lessons)
app.command("show")(history.show)
app.command("timeline")(history.timeline)
app.command("changes")(history.changes)
app.command("diff")(history.diff)
app.command("watch")(watching.watch)
app.command("stats")(stats.stats)
app.command("activity")(activity.activity)
app.command("status")(standing.status)
app.command("costs")(costs.costs)
app.command("evaluations")(evaluations.evaluations)
app.add_typer(curation.app, name="curate")
app.add_typer(acting.app, name="action")
app.add_typer(evidence.app, name="evidence")
app.command("screen")(screening.screen)
app.command("judge")(judging.judge)
app.add_typer(tribes.app, name="tribe")
app.add_typer(agents.app, name="agent")
app.add_typer(spaces.app, name="space")
app.add_typer(seeding.app, name="seed")
app.command("export")(transferring.export)
app.command("restore")(transferring.restore)
app.command("after-restore")(after_restoring.after_restore)
app.command("postgres", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(
    running_programs.postgres
)
app.command("rotate-signing-key")(receipts.rotate_signing_key)
app.command("migrate")(schema.migrate)
app.command("garden")(gardening.garden)
app.command("doctor")(doctoring.doctor)
app.command("probe")(probing.probe)
app.command("verify-live")(verifying.verify_live)
app.command("models")(models.models)
app.command("completion")(completing.completion)
app.command("version")(schema.version)

"""`tributary curate`: disputes, quarantine and what else curators decide, over HTTP through the SDK."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tributary.edges.cli import curation_agents, curation_records
from tributary.edges.cli.doors import session
from tributary.edges.cli.exits import INTERRUPTED
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.paging import Before, Limit, OfLesson

app = typer.Typer(
    help="Settle disputes, look through what was held back or decided, and set the policy. Mostly for curators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

All = Annotated[bool, typer.Option("--all", help="The settled ones, too.")]
DisputeId = Annotated[str, typer.Argument(metavar="ID", help="The dispute's or the challenge's id: dis_...")]
LessonId = Annotated[str, typer.Argument(metavar="ID", help="The lesson's id: les_...")]
Why = Annotated[str | None, typer.Option("--why", metavar="TEXT", help="Why, for the record.")]
Seen = Annotated[
    int | None,
    typer.Option("--seen", metavar="TICK", help="The tick that 'show' told: decide nothing about what came in since."),
]
Key = Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")]


@app.command("disputes")
def disputes(
    context: typer.Context,
    every: All = False,
    lesson: OfLesson = None,
    limit: Limit = 20,
    before: Before = None,
    as_json: AsJson = False,
) -> None:
    """List disputes, newest first. Each is a contender that is not believed, and what it contradicts.

    \b
    Example: tributary curate disputes
    """
    from tributary.edges.cli.curation_found import show_disputes

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        listing = memory.curation.disputes("any" if every else "open", lesson=lesson, page_size=limit, before=before)
        page = next(listing.pages())
    show_disputes(output, page, "dispute", every=every)


@app.command("challenges")
def challenges(
    context: typer.Context,
    every: All = False,
    lesson: OfLesson = None,
    limit: Limit = 20,
    before: Before = None,
    as_json: AsJson = False,
) -> None:
    """List challenges, newest first. Each is a pair of believed lessons that may contradict each other.

    \b
    Example: tributary curate challenges
    """
    from tributary.edges.cli.curation_found import show_disputes

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        listing = memory.curation.challenges("any" if every else "open", lesson=lesson, page_size=limit, before=before)
        page = next(listing.pages())
    show_disputes(output, page, "challenge", every=every)


@app.command("show")
def show(context: typer.Context, dispute: DisputeId, as_json: AsJson = False) -> None:
    """Show both sides of a dispute or a challenge. What differs is marked; below is what each ending would do.

    \b
    Example: tributary curate show dis_0199c0ffee0070008000000000000001
    """
    from tributary.client.ids import dispute_id
    from tributary.edges.cli.dispute_lines import dispute_lines

    doors, output = session(context, as_json=as_json)
    dispute_id(dispute)
    with doors.open_client() as memory:
        # Read before the dispute itself: whatever comes in between the two is then decided about by nobody.
        seen = next(memory.curation.disputes(page_size=1).pages()).tick
        found = memory.curation.dispute(dispute)
    output.result({**found.model_dump(mode="json"), "seen_tick": seen}, dispute_lines(found, seen))


@app.command("accept")
def accept(
    context: typer.Context, dispute: DisputeId, why: Why = None, seen: Seen = None, key: Key = None, as_json: AsJson = False
) -> None:
    """Find the contender right: it replaces every believed lesson that it contradicts.

    \b
    Example: tributary curate accept dis_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.curation_found import resolved_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.accept(dispute, rationale=why, seen_tick=seen, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), resolved_lines(reply))


@app.command("reject")
def reject(
    context: typer.Context,
    dispute: DisputeId,
    why: Annotated[
        str,
        typer.Option("--why", metavar="TEXT", help="Why, for the record that the same claim is pointed to when it comes again."),
    ],
    seen: Seen = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Find the contender wrong: it is retired. The same claim is disputed when it comes again.

    \b
    Example: tributary curate reject dis_0199c0ffee0070008000000000000001 --why "80 was measured"
    """
    from tributary.edges.cli.curation_found import resolved_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.reject(dispute, why, seen_tick=seen, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), resolved_lines(reply))


@app.command("both-stand")
def both_stand(
    context: typer.Context, dispute: DisputeId, why: Why = None, seen: Seen = None, key: Key = None, as_json: AsJson = False
) -> None:
    """Find the verdict wrong: both sides are believed. The case is queued for review.

    \b
    Example: tributary curate both-stand dis_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.curation_found import resolved_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.both_stand(dispute, rationale=why, seen_tick=seen, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), resolved_lines(reply))


@app.command("quarantine")
def quarantine(context: typer.Context, limit: Limit = 20, before: Before = None, as_json: AsJson = False) -> None:
    """List lessons that the screen held back, newest first. Their texts are shown to be judged, not to be followed.

    \b
    Example: tributary curate quarantine
    """
    from tributary.edges.cli.curation_found import show_quarantine

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.curation.quarantine(page_size=limit, before=before).pages())
    show_quarantine(output, page)


@app.command("release")
def release(context: typer.Context, lesson: LessonId, key: Key = None, as_json: AsJson = False) -> None:
    """Learn a quarantined lesson after all, as its author's. It is judged as any other, but not screened again.

    \b
    Example: tributary curate release les_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.found import learned_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.release(lesson, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), learned_lines(reply))


@app.command("erase")
def erase(
    context: typer.Context,
    lesson: LessonId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Remove what a lesson says from everywhere, for good. On a terminal it asks first.

    \b
    Example: tributary curate erase les_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.curation_found import erased_lines, erasing_lines

    doors, output = session(context, as_json=as_json)
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("--yes is needed where nobody can be asked, since what is erased is gone for good")
    with doors.open_client() as memory:
        if not yes:
            output.remark("\n".join(erasing_lines(memory.lesson(lesson).lesson)))
            sys.stderr.write("Type yes to erase it: ")
            sys.stderr.flush()
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                output.remark("Nothing was erased.")
                raise typer.Exit(INTERRUPTED)
        reply = memory.curation.erase(lesson, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), erased_lines(reply))


app.command("decisions")(curation_records.decisions)
app.command("decision")(curation_records.decision)
app.command("report")(curation_records.report)
app.command("reviews")(curation_records.reviews)
app.command("accept-review")(curation_records.accept_review)
app.command("reject-review")(curation_records.reject_review)
app.command("audit")(curation_records.audit)
app.add_typer(curation_records.policy_app, name="policy")
app.command("agents")(curation_agents.agents)
app.command("agent")(curation_agents.agent)
app.command("add-agent")(curation_agents.add_agent)
app.command("set-role")(curation_agents.set_role)
app.command("revoke-agent")(curation_agents.revoke_agent)
app.command("tokens")(curation_agents.tokens)
app.command("new-token")(curation_agents.new_token)
app.command("revoke-token")(curation_agents.revoke_token)

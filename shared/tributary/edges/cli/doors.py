"""What the commands reach out to: the environment, the SDK, the operator's side, the service and the gateway.

One object holds them all, made when the command line starts, so that a test hands in its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

    from tributary import client
    from tributary.edges.cli.faces import GardenerFace, Gateway, OperatorFace, ProberFace, ServedMemory
    from tributary.edges.cli.output import Output
    from tributary.edges.dashboard.port import Asgi, FrontDoor
    from tributary.edges.gateway import Started
    from tributary.service import Settings
    from tributary.service.model_listing import ModelsSeen
    from tributary.service.seeding import Seeded


@dataclass(frozen=True, kw_only=True)
class Doors:
    """The ways out of the command line."""

    environment: Mapping[str, str]
    open_client: Callable[[], client.Memory]
    load_settings: Callable[[bool], Settings]
    """Reads the settings and sets the logs up; told True by `serve`, whose events are worth a line each."""
    open_operator: Callable[[Settings], AbstractContextManager[OperatorFace]]
    open_memory: Callable[[Settings], AbstractContextManager[ServedMemory]]
    open_gardener: Callable[[Settings], AbstractContextManager[GardenerFace]]
    open_prober: Callable[[Settings], AbstractContextManager[ProberFace]]
    list_models: Callable[[Settings], ModelsSeen]
    seed_demo: Callable[[Settings, str], Sequence[Seeded]]
    serve: Gateway
    open_remote_operator: Callable[[str | None], AbstractContextManager[OperatorFace]] | None = None
    """Opens the operator's side of a cell where it is not this process: set by `--via lambda`."""

    def via_lambda(self, function: str | None, *, region: str | None) -> Doors:
        """Returns doors behind which the operator is a Lambda function; those that lead to a database or a server are shut."""

        def remote(cell: str | None) -> AbstractContextManager[OperatorFace]:
            from tributary.edges.cli.invoking import OperatorFunction
            from tributary.edges.cli.remote import RemoteOperator

            return RemoteOperator(OperatorFunction(function, region=region, environment=self.environment, cell=cell))

        def shut(*_: object) -> NoReturn:
            from tributary.edges.cli.failures import CommandFailed

            rule = "only what operators do goes through the Lambda function (tribe, agent, space ...); leave --via out for this"
            raise CommandFailed("invalid_request", rule)

        return replace(self, open_remote_operator=remote, load_settings=shut, open_client=shut)


@dataclass(kw_only=True)
class Session:
    """One run of the command line."""

    doors: Doors
    debug: bool = False
    as_json: bool = False


@dataclass(frozen=True, kw_only=True)
class _Real:
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def open_client(self) -> client.Memory:
        from tributary.client import Memory

        return Memory(environment=self.environment)

    def load_settings(self, serving: bool) -> Settings:
        from tributary.contract.home import home
        from tributary.service import load_settings
        from tributary.telemetry import log, traces

        # One rule for where the home is, the clients' too, which also expands '~'.
        folder = home(self.environment)
        settings = load_settings(home=folder).model_copy(update={"home": folder})
        quiet = not serving and "TRIBUTARY_LOG_LEVEL" not in self.environment
        level = "WARNING" if quiet else settings.log_level
        log.configure(form=settings.log_format, level=level, file=settings.log_file)
        traces.configure(settings.traces, url=settings.traces_url)
        return settings

    def open_operator(self, settings: Settings) -> AbstractContextManager[OperatorFace]:
        from tributary.service import open_operator

        return open_operator(settings)

    @contextmanager
    def open_memory(self, settings: Settings) -> Iterator[ServedMemory]:
        """Opens the memory with the worker that settles its pending lessons and gardens: here no queue and no schedule does."""
        from tributary.contract.limits import CHANGES_WAIT_S
        from tributary.service import open_cells, open_operator, tending_cells

        if settings.changes_wait_s is None:  # here a held request costs a thread that waits, and no Lambda
            settings = settings.model_copy(update={"changes_wait_s": CHANGES_WAIT_S})

        def build_index(cell: str | None, tribe: str) -> None:
            with open_operator(settings.in_cell(cell)) as operator:
                operator.build_index(tribe)

        with (
            open_cells(settings) as cells,
            tending_cells(cells, garden_every_s=settings.garden_every_s, build_index=build_index),
        ):
            yield cells

    @contextmanager
    def open_gardener(self, settings: Settings) -> Iterator[GardenerFace]:
        from tributary.service import open_cells

        with open_cells(settings) as cells:
            cells.health()
            yield cells.gardener

    def open_prober(self, settings: Settings) -> AbstractContextManager[ProberFace]:
        from tributary.service import open_prober

        return open_prober(settings)

    def list_models(self, settings: Settings) -> ModelsSeen:
        from tributary.service.model_listing import list_models

        return list_models(settings)

    def seed_demo(self, settings: Settings, tribe: str) -> Sequence[Seeded]:
        from tributary.service.seeding import seed_demo

        return seed_demo(settings, tribe)

    def serve(
        self,
        memory: FrontDoor,
        *,
        settings: Settings,
        host: str,
        port: int,
        started: Callable[[Started], None],
    ) -> None:
        from tributary.edges.dashboard import local_app
        from tributary.edges.gateway import DASHBOARD_PATH, serve

        with ExitStack() as opened:

            def dashboard(stopping: threading.Event) -> Asgi:
                return local_app(memory, settings, root=DASHBOARD_PATH, stopping=stopping, opened=opened)

            serve(memory, host=host, port=port, cors_origins=settings.cors_origins, dashboard=dashboard, started=started)


def real_doors() -> Doors:
    """Returns the doors that lead to the real things, none of which is opened or imported yet."""
    real = _Real()
    return Doors(
        environment=real.environment,
        open_client=real.open_client,
        load_settings=real.load_settings,
        open_operator=real.open_operator,
        open_memory=real.open_memory,
        open_gardener=real.open_gardener,
        open_prober=real.open_prober,
        list_models=real.list_models,
        seed_demo=real.seed_demo,
        serve=real.serve,
    )


def session(context: typer.Context, *, as_json: bool) -> tuple[Doors, Output]:
    """Returns the doors and the voice of the running command, and notes for a failure how it is to be told."""
    from tributary.edges.cli.output import Output

    running = context.find_root().obj
    running.as_json = as_json
    return running.doors, Output(as_json=as_json)


def operator_of(doors: Doors, cell: str | None = None) -> AbstractContextManager[OperatorFace]:
    """Returns the operator's side: of the settings' database or a cell's, or what `--via` leads to; NotFound for no such cell."""
    if doors.open_remote_operator is not None:
        return doors.open_remote_operator(cell)
    return doors.open_operator(doors.load_settings(False).in_cell(cell))

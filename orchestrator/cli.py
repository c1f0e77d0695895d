"""The command line: `orchestrate` runs a search, its subcommands look at runs, programs and the machine.

The only composition root. Commands import what they need when they run, so that `--help` answers at once.
"""

import os
import signal
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from orchestrator import (
    commands_bundle,
    commands_calibration,
    commands_compare,
    commands_machine,
    commands_program,
    commands_run,
    commands_search,
    console,
)
from search_spaces.errors import OrchestratorError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 + SIGINT."""


class Boundary(TyperGroup):
    """Turns the project's own errors into a message and an exit code; anything else keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except OrchestratorError as error:
            console.messages().print(console.shown(str(error), style="red", lines=True))
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of standard output went away (`orchestrate show RUN | head`); Python would complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None


def build_app() -> typer.Typer:
    """Return the command line."""
    app = typer.Typer(
        cls=Boundary,
        add_completion=False,
        pretty_exceptions_show_locals=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(commands_search.search)
    app.command()(commands_program.check)
    app.command()(commands_program.train)
    app.command()(commands_run.evaluate)
    app.command()(commands_run.show)
    app.command()(commands_run.report)
    app.command()(commands_run.ui)
    app.command()(commands_compare.compare)
    app.command()(commands_calibration.calibration)
    app.command()(commands_bundle.export)
    app.command("import")(commands_bundle.import_)
    app.command()(commands_machine.doctor)
    return app


def main() -> None:
    """Run the command line; a request to end, however it comes, ends it as cleanly as Ctrl-C."""
    for request in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(request, signal.default_int_handler)
    build_app()(prog_name="orchestrate")

"""The command that sets searches side by side: `compare`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import console, options
from search_spaces.errors import MachineError, UsageError

_Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs: folders, or their names in runs/.")]
_Reach = Annotated[
    float | None,
    typer.Option("--reach", metavar="X", min=0, max=1, help="Tell after how many steps a candidate had this fitness."),
]


def compare(runs: _Runs, reach: _Reach = None, as_json: options.Json = None) -> None:
    """Compare searches: repeats of one plan together, with intervals and the probability of improvement."""
    from orchestrator.compare import compare as compared_of
    from orchestrator.compare_table import print_comparison
    from orchestrator.runs import find_run

    found = {run.location: run for run in map(find_run, runs)}
    if len(found) < len(runs):
        raise UsageError("compare: a run is named twice; it would count twice")
    compared = compared_of({run.shown: run.record() for run in found.values()}, reach)
    text = json.dumps(compared.to_json(), indent=2) + "\n"
    if as_json == "-":
        sys.stdout.write(text)
        return
    print_comparison(console.results(), compared)
    if as_json is not None:
        try:
            Path(as_json).write_text(text, encoding="utf-8")
        except OSError as error:
            raise MachineError(f"{as_json} cannot be written: {error.strerror}") from error

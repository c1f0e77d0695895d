"""The command that looks back at many runs: `calibration`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import console, options
from search_spaces.errors import MachineError, UsageError

_Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs: folders, or their names in runs/.")]


def calibration(runs: _Runs, as_json: options.Json = None) -> None:
    """Show how often gate, screen, linter and rungs were right about the programs that runs have trained."""
    from actors.calibration_cases import calibrate_runs
    from orchestrator.calibration_table import print_calibration
    from orchestrator.runs import find_run

    found = {run.location: run for run in map(find_run, runs)}
    if len(found) < len(runs):
        raise UsageError("calibration: a run is named twice; its programs would count twice")
    calibrated = calibrate_runs({location: run.record() for location, run in found.items()})
    text = json.dumps(calibrated.to_json(), indent=2) + "\n"
    if as_json == "-":
        sys.stdout.write(text)
        return
    print_calibration(console.results(), calibrated)
    if as_json is not None:
        try:
            Path(as_json).write_text(text, encoding="utf-8")
        except OSError as error:
            raise MachineError(f"{as_json} cannot be written: {error.strerror}") from error

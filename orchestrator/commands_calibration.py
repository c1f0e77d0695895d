"""The command that asks how right the verdicts of many runs were: `calibration`."""

from orchestrator import console, options


def calibration(runs: options.Runs, as_json: options.Json = None) -> None:
    """Show how often gate, screen, linter and rungs were right about the programs that runs have trained."""
    from actors.calibration_cases import calibrate_runs
    from orchestrator.calibration_table import print_calibration
    from orchestrator.runs import find_runs

    calibrated = calibrate_runs({run.location: run.record() for run in find_runs(runs)})
    if as_json != console.STANDARD_OUTPUT:
        print_calibration(console.results(), calibrated)
    if as_json is not None:
        console.write_json(as_json, calibrated.to_json())

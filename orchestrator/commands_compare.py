"""The command that sets searches side by side: `compare`."""

from typing import Annotated

import typer

from orchestrator import console, options

_Reach = Annotated[
    float | None,
    typer.Option("--reach", metavar="X", min=0, max=1, help="Tell after how many steps a candidate had this fitness."),
]


def compare(runs: options.Runs, reach: _Reach = None, as_json: options.Json = None) -> None:
    """Compare searches: repeats of one plan together, with intervals and the probability of improvement."""
    from orchestrator.compare import compare as compared_of
    from orchestrator.compare_table import print_comparison
    from orchestrator.runs import find_runs

    compared = compared_of({run.shown: run.record() for run in find_runs(runs)}, reach)
    if as_json != console.STANDARD_OUTPUT:
        print_comparison(console.results(), compared)
    if as_json is not None:
        console.write_json(as_json, compared.to_json())

"""Commands about one program: `check` and `train`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import options
from search_spaces.errors import UsageError


def check(
    program: Annotated[Path | None, typer.Argument(metavar="PROGRAM", help="A reward program.")] = None,
    reply: Annotated[
        Path | None, typer.Option("--reply", metavar="FILE", help="A model's reply that holds a program.")
    ] = None,
    jsonl: Annotated[
        Path | None, typer.Option("--jsonl", metavar="CASES", help="Cases, one JSON object a line; answers likewise.")
    ] = None,
    lint: Annotated[bool, options.switch("--lint", "Say what the gate and the reward linter make of it too.")] = False,
) -> None:
    """Say whether a reward program is accepted: code, line, message and hint. Exits 0 for accept, 1 for reject."""
    from orchestrator.check import check_cases, check_file

    given = [path for path in (program, reply, jsonl) if path is not None]
    if len(given) != 1:
        raise UsageError("check: expected one of PROGRAM, --reply FILE and --jsonl CASES")
    if jsonl is not None:
        if lint:
            raise UsageError("check: --lint goes with PROGRAM or --reply FILE, not with --jsonl CASES")
        code = check_cases(jsonl, write=_write_line)
    else:
        code = check_file(given[0], reply=reply is not None, lint=lint, write=_write_line)
    raise typer.Exit(code)


def _write_line(line: str) -> None:
    sys.stdout.write(line + "\n")


def train(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM", help="A reward program.")],
    config: options.Config = None,
    settings: options.Set = None,
    steps: options.Steps = None,
    seed: options.Seed = None,
    out: options.Out = None,
    despite_gate: Annotated[
        bool, options.switch("--despite-gate", "Train a program that the gate refuses all the same.")
    ] = False,
) -> None:
    """Train, measure, criticise and film one program as a candidate of a search would be."""
    from orchestrator.single import train_file

    plan_settings = [*(settings or []), "population=1", "generations=1", "baselines=false", "llm.spec=null"]
    plan_settings.append("finals.finalists=0")
    raise typer.Exit(train_file(program, config, plan_settings, {"steps": steps, "seed": seed}, out, despite_gate))

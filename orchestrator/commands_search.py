"""The command without a name: run a search, or go on with one."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import typer

from orchestrator import options
from search_spaces.errors import UsageError

_ON_RESUME = frozenset({"resume", "local", "address", "gpus_per_trial", "keys", "debug", "take_over"})
"""Options that may go with --resume; the others would change the search."""


def search(
    ctx: typer.Context,
    config: options.Config = None,
    settings: options.Set = None,
    goal: options.Goal = None,
    population: options.Population = None,
    generations: options.Generations = None,
    steps: options.Steps = None,
    seed: options.Seed = None,
    strategy: options.Strategy = None,
    start_from: options.StartFrom = None,
    finals: options.Finals = None,
    archive: options.Archive = None,
    early_stop: options.EarlyStop = False,
    llm: options.Llm = None,
    keys: options.Keys = None,
    allow_http: options.AllowHttp = False,
    out: options.Out = None,
    resume: options.Resume = None,
    local: options.Local = False,
    address: options.Address = None,
    cluster: options.Cluster = None,
    gpus_per_trial: options.GpusPerTrial = None,
    debug: options.Debug = False,
    take_over: options.TakeOver = False,
) -> None:
    """Search for a reward: write programs, check, train, measure, criticise and improve them."""
    given = _given(ctx.params)
    if ctx.invoked_subcommand is not None:
        if given:
            raise UsageError(f"{_flag(given[0])} belongs to a search, not before `{ctx.invoked_subcommand}`")
        return
    if cluster is not None:
        from orchestrator.cluster import run_on_head

        raise typer.Exit(run_on_head(cluster, sys.argv[1:]))

    asked = {
        "goal": goal,
        "population": population,
        "generations": generations,
        "steps": steps,
        "seed": seed,
        "strategy": strategy,
        "start_from": [str(path) for path in start_from] if start_from else None,
        "finals.finalists": finals,
        "archive": None if archive is None else str(archive),
        "early_stopping": early_stop or None,
        "llm.allow_http": allow_http or None,
        "gpus_per_trial": gpus_per_trial,
    }
    if resume is None:
        from orchestrator.config import load_config

        load_config(
            config, settings or (), asked, debug=debug
        )  # refused before the seconds that the rest takes to load

    from orchestrator.launch import Asked, Conditions, go_on, start

    conditions = Conditions(
        local=local, address=address, gpus_per_trial=gpus_per_trial, debug=debug, keys=keys, take_over=take_over
    )
    if resume is not None:
        changed = [name for name in given if name not in _ON_RESUME]
        if changed:
            raise UsageError(f"{_flag(changed[0])} would change the search; a resumed one keeps its plan")
        go_on(resume, conditions, os.environ)
        return
    start(Asked(file=config, settings=settings or (), options=asked, llm=llm), conditions, out, os.environ)


def _given(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of the options that were given a value."""
    return [name for name, value in parameters.items() if value not in (None, [], ()) and value is not False]


def _flag(name: str) -> str:
    return "--set" if name == "settings" else "--" + name.replace("_", "-")

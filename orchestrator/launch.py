"""A search with everything around it: keys, Ray, display, tracking, and what is said at the end."""

import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from actors.keys import Credentials, take_credentials
from actors.patience import SystemClock
from actors.providers import open_provider
from actors.storage import Storage
from orchestrator import leaderboard
from orchestrator.config import SearchConfig, load_config, saved_config
from orchestrator.console import results, shown
from orchestrator.follower import Follower
from orchestrator.machine import Machine
from orchestrator.options import spec_of
from orchestrator.place import find_place
from orchestrator.progress import Display, PlainDisplay, display
from orchestrator.provenance import note_session
from orchestrator.report.write import FOLDER, HTML_NAME, write_report
from orchestrator.runs import ROOT, Run, find_run, root_of
from orchestrator.search import Search, new_search, resumed, run_debug, run_search
from orchestrator.tracking import Store, chart_link
from orchestrator.ui import PORT, is_server
from orchestrator.verdict import say_verdict
from search_spaces.errors import MachineError, OrchestratorError, UsageError

LEADERBOARD_ROWS = 20
"""Candidates on the leaderboard that a search ends with; `show` has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says about the search itself.

    Attributes:
        file: `--config`.
        settings: `--set`, each `a.b=c`.
        options: Dotted setting to the value of its own option; None where it was not given.
        llm: `--llm`.
    """

    file: Path | None
    settings: Sequence[str]
    options: Mapping[str, Any]
    llm: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the command line says about how it is run.

    Attributes:
        local: Whether `--local` was given.
        address: `--address`.
        gpus_per_trial: `--gpus-per-trial`.
        debug: Whether everything happens in this process.
        keys: `--keys`.
        take_over: Whether an abandoned lease of the run may be taken.
    """

    local: bool
    address: str | None
    gpus_per_trial: float | None
    debug: bool
    keys: Path | None
    take_over: bool


def start(asked: Asked, conditions: Conditions, out: str | None, environ: MutableMapping[str, str]) -> None:
    """Run a new search and print what came of it.

    Args:
        asked: What is searched.
        conditions: How.
        out: Folder or URI of the run; None: a new folder under `runs/`.
        environ: The environment; keys are taken out of it.

    Raises:
        OrchestratorError: See `run_search`.
    """
    config = configure(asked, conditions, environ)
    credentials = _unlocked(config.plan("unnamed").llm.spec, config, conditions, environ)
    machine = _machine(config, conditions, environ)
    search = new_search(config, out, ROOT.absolute(), datetime.now().astimezone())
    _run(replace(search, take_over=conditions.take_over), machine, credentials, root_of(out), conditions)


def go_on(named: str, conditions: Conditions, environ: MutableMapping[str, str]) -> None:
    """Go on with a search and print what came of it.

    Args:
        named: The run.
        conditions: How.
        environ: The environment; keys are taken out of it.

    Raises:
        OrchestratorError: See `run_search`.
    """
    run = find_run(named)
    if run.record().finished:
        _catch_up(run)
        return
    search = resumed(run.location, take_over=conditions.take_over)
    config = saved_config(run.location)
    credentials = _unlocked(search.plan.llm.spec, config, conditions, environ)
    _run(search, _machine(config, conditions, environ), credentials, run.root, conditions)


def configure(asked: Asked, conditions: Conditions, environ: Mapping[str, str]) -> SearchConfig:
    """Return the configuration: defaults, file, `--set`, options, and Groq where there is a key and nothing is said.

    Raises:
        UsageError: See `load_config`.
    """
    settings = [*asked.settings, *(["llm.spec=null"] if asked.llm == "none" else [])]
    config = load_config(asked.file, settings, asked.options, debug=conditions.debug)
    plan = config.plan("unnamed")
    # Whoever asks for random programs does not ask for a model, whatever keys there are.
    decided = asked.llm is None and (plan.llm.spec is not None or plan.strategy == "random")
    spec = plan.llm.spec if decided else spec_of(asked.llm, conditions.keys, environ)
    return load_config(asked.file, settings, {**asked.options, "llm.spec": spec}, debug=conditions.debug)


def _unlocked(
    spec: str | None, config: SearchConfig, conditions: Conditions, environ: MutableMapping[str, str]
) -> Credentials:
    """Take the keys out of the environment; refuse a provider that cannot be opened before anything is started."""
    credentials = take_credentials(spec, environ, conditions.keys)
    if spec is not None:
        open_provider(config.plan("unnamed").llm, credentials, SystemClock(threading.Event())).close()
    return credentials


def _machine(config: SearchConfig, conditions: Conditions, environ: Mapping[str, str]) -> Machine:
    """Return where it runs, and say so in one line."""
    console = results()
    if conditions.debug:
        if conditions.address is not None:
            raise UsageError("--debug runs in this process; leave --address out")
        console.print("Ray: none to speak of (--debug: everything happens in this process)")
        return config.machine("local")
    place = find_place(conditions.local, conditions.address or config.address, environ)
    console.print(shown(place.sentence))
    machine = config.machine(place.address)
    if conditions.gpus_per_trial is not None:
        machine = replace(machine, gpus_per_trial=conditions.gpus_per_trial)
    return machine


def _run(search: Search, machine: Machine, credentials: Credentials, root: Path, conditions: Conditions) -> None:
    console = results()
    run = Run(search.location, Storage.at(search.location), root)
    console.print(shown(f"run: {run.shown}   (Ctrl-C ends it cleanly; orchestrate --resume {run.shown} goes on)"))
    if search.plan.llm.spec is not None:
        console.print(shown(f"LLM: {search.plan.llm.spec}"))
    # A table that is redrawn would take the terminal away from a debugger.
    screen: Display = PlainDisplay(console) if conditions.debug else display(console)
    follower = Follower(run.storage, root, screen.say)
    _note(run)
    with screen:
        follower.start()
        try:
            if conditions.debug:
                run_debug(search, credentials, screen.show)
            else:
                run_search(search, machine, credentials, screen.show)
            _report(run, screen.say, videos=not conditions.debug)
        finally:
            follower.close()
    conclude(console, run)


def _note(run: Run) -> None:
    """Write down the command and the versions of this start, unless another process has the run."""
    if not run.is_being_written():
        try:
            note_session(run.storage, sys.argv[1:], datetime.now().astimezone())
        except OSError as error:
            raise MachineError(f"{run.shown} cannot be written: {error}") from error


def _report(run: Run, say: Callable[[str], None], *, videos: bool) -> None:
    """Write the report of a search that has ended; where that fails, it is said, and the search stays finished."""
    say("writing the report")
    try:
        write_report(run, videos=videos)
    except OrchestratorError as error:
        say(f"no report: {error}; orchestrate report {run.shown} tries again")


def _catch_up(run: Run) -> None:
    """Show a search that has finished, and write what is missing: its report, and what MLflow lacks."""
    console = results()
    console.print(shown(f"{run.shown} has finished; nothing is left to do"))
    follower = Follower(run.storage, run.root, lambda sentence: console.print(shown(sentence)))
    follower.start()
    if HTML_NAME not in run.storage.names(FOLDER):
        _report(run, lambda sentence: console.print(shown(sentence)), videos=True)
    follower.close()
    conclude(console, run)


def conclude(console: Console, run: Run) -> None:
    """Print the leaderboard, where the results lie and which commands show them.

    Args:
        console: Where to.
        run: The run.

    Raises:
        SimulatorMismatchError: The champion's episodes differ in highway-env, on a machine where none may.
    """
    record = run.record()
    plan = record.plan
    console.print()
    console.print(leaderboard.table(record, limit=LEADERBOARD_ROWS))
    console.print(leaderboard.LEGEND, style="dim")
    for sentence in leaderboard.broken(record):
        console.print(shown(sentence, style="red"))
    console.print()
    say_verdict(console, record)
    if record.champion is not None:
        console.print(shown(f"champion: {record.champion}, in {run.shown}/candidates/{record.champion}/"))
    console.print(shown(f"results:  {run.shown}/   (orchestrate show {run.shown})"))
    if HTML_NAME in run.storage.names(FOLDER):
        console.print(shown(f"report:   {run.shown}/{FOLDER}/{HTML_NAME}   (open it in a browser)"))
    if plan is not None:
        console.print(shown(f"MLflow:   {_mlflow_sentence(run, plan.search_id)}"))
    if plan is not None and plan.llm.spec is None and plan.strategy != "random":
        console.print(
            "No LLM was used: programs were evolved. To have one write them: GROQ_API_KEY=... orchestrate, "
            "or --llm openai:URL#MODEL"
        )
    if record.replay is not None:
        record.replay.refuse(f"{run.shown} {record.replay.name}")


def _mlflow_sentence(run: Run, search_id: str) -> str:
    """Return the link to a run in MLflow, and what makes it answer."""
    try:
        store = Store(run.root)
    except MachineError as error:
        return str(error)
    if is_server(store.uri):
        return chart_link(store.uri, store.experiment, search_id)
    link = chart_link(f"http://127.0.0.1:{PORT}", store.experiment, search_id)
    return f"{link}   (orchestrate ui {run.shown} serves it)"

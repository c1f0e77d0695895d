"""One given program, trained, measured, judged, criticised and filmed as a candidate of a search would be.

The result is a run of one generation with one candidate, so that `show`, `evaluate` and `ui` work on it.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from actors.comparison import intervals, judge
from actors.critic import criticise
from actors.deliveries import sound_outcome, store_critique, store_delivery, store_program
from actors.drives import read_drives
from actors.gate import Gate
from actors.keys import take_credentials
from actors.ledger import Ledger
from actors.linter import Linter
from actors.measurement import measurement_digest
from actors.messages import ArchiveEntry, Assignment, Candidate
from actors.outcome import Delivery
from actors.plan import SearchPlan
from actors.storage import Storage
from actors.summary import write_summary
from actors.trainer import train_candidate
from driving.episodes import from_parquet
from orchestrator.config import load_config
from orchestrator.console import messages, results, shown
from orchestrator.follower import Follower
from orchestrator.runs import ROOT, Run, root_of
from orchestrator.search import new_search
from orchestrator.show import show_candidate
from orchestrator.starts import read_text
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram, Violation

CANDIDATE = "g00-c00"
"""Id of the only candidate."""

_SAY_EVERY_S = 2.0


def train_file(
    program: Path,
    config: Path | None,
    settings: Sequence[str],
    options: Mapping[str, Any],
    out: str | None,
    despite_gate: bool,
) -> int:
    """Train the program of a file, print what came of it, and keep it as a run.

    Args:
        program: The file.
        config: `--config`.
        settings: `--set`, and what makes the plan one of a single candidate.
        options: Dotted setting to the value of its own option.
        out: Folder or URI of the run; None: a new folder under `runs/`.
        despite_gate: See `accept`.

    Returns:
        0 when it was trained, 1 when it was refused or its training failed.

    Raises:
        UsageError: The file cannot be read, or settings are refused.
    """
    take_credentials(None, os.environ)  # no key is needed here, and none is to reach a worker
    configured = load_config(config, settings, options)
    plan = configured.plan("unnamed")
    candidate = accept(read_text(program, str(program)), plan, despite_gate=despite_gate)
    if isinstance(candidate, Violation):
        place = program if candidate.line is None else f"{program}, line {candidate.line}"
        messages().print(shown(f"{place}: {candidate.code}: {candidate.message}. {candidate.hint}", style="red"))
        return 1
    for warning in (*candidate.warnings, *(f"{each.name}: {each.sentence}" for each in candidate.lint)):
        messages().print(shown(f"warning: {warning}", style="yellow"))
    search = new_search(configured, out, ROOT.absolute(), datetime.now().astimezone())
    run = Run(search.location, Storage.at(search.location), root_of(out))
    follower = Follower(run.storage, run.root, lambda sentence: messages().print(shown(sentence)))
    follower.start()
    try:
        entry = train(candidate, search.plan, run.storage, _teller(search.plan.steps))
    finally:
        follower.close()
    console = results()
    show_candidate(console, run.record(), entry)
    console.print(shown(f"results: {run.shown}/   (orchestrate ui {run.shown}, orchestrate evaluate {run.shown})"))
    return 0 if entry.outcome is not None and entry.outcome.status == "trained" else 1


def _teller(steps: int) -> Callable[[int, float], None]:
    """Return what says how far the training is, now and then."""
    spoken = time.monotonic()

    def tell(done: int, steps_per_s: float) -> None:
        nonlocal spoken
        if time.monotonic() - spoken >= _SAY_EVERY_S:
            spoken = time.monotonic()
            messages().print(f"{done:,} of {steps:,} steps, {steps_per_s:,.0f} steps/s")

    return tell


def accept(source: str, plan: SearchPlan, *, despite_gate: bool) -> Candidate | Violation:
    """Check a program as a search would: language, gate and linter.

    Args:
        source: The program.
        plan: Settings of the training.
        despite_gate: Whether what gate or linter refuse is trained all the same, with the refusal as a warning.
    """
    program = compile_program(source)
    if not isinstance(program, RewardProgram):
        return program
    lint = Linter(plan.scenario, plan.ppo.discount).lint(program)
    refusal = Gate(plan.scenario).judge(program) or lint.refusal
    if refusal is not None and not despite_gate:
        return refusal
    return Candidate(
        id=CANDIDATE,
        generation=0,
        source=program.source,
        digest=program.digest,
        seed=plan.seed,
        origin="user",
        move="write",
        warnings=() if refusal is None else (f"{refusal.code}: {refusal.message}",),
        lint=lint.findings,
    )


def train(
    candidate: Candidate, plan: SearchPlan, storage: Storage, on_progress: Callable[[int, float], None]
) -> ArchiveEntry:
    """Train a program in this process and write the run.

    Args:
        candidate: The program.
        plan: Settings of the training, with one generation of one candidate.
        storage: The run's folder, empty.
        on_progress: Takes environment steps so far and steps per second.

    Raises:
        RunLockedError: Another process writes there.
        JournalError: The folder cannot be written.
    """
    ledger = Ledger(storage)
    try:
        ledger.write("search_started", {"plan": plan.to_json(), "measurement": measurement_digest()})
        ledger.write("opened", {"session": "train"})
        store_program(storage, candidate)
        ledger.write("accepted", candidate.to_json())
        ledger.write("assigned", {"candidate_id": candidate.id, "trial_id": "train"})
        delivery = train_candidate(
            Assignment(
                candidate_id=candidate.id,
                source=candidate.source,
                seed=candidate.seed,
                steps=plan.steps,
                ppo=plan.ppo,
                scenario=plan.scenario,
                held_out=plan.held_out,
            ),
            on_progress,
        )
        delivery = replace(delivery, outcome=sound_outcome(delivery.outcome))
        store_delivery(storage, delivery)
        ledger.write("delivered", delivery.outcome.to_json())
        if delivery.outcome.status == "trained":
            _conclude(ledger, storage, delivery, plan)
        score = ledger.record.score(0)
        ledger.write("generation_finished", {"generation": 0, **score.to_json()})
        ledger.write("search_finished", {"champion": candidate.id if score.best is not None else None})
        write_summary(storage, ledger.record)
        return ledger.record.archive.entry(candidate.id)
    finally:
        ledger.close()


def _conclude(ledger: Ledger, storage: Storage, delivery: Delivery, plan: SearchPlan) -> None:
    candidate_id = delivery.outcome.candidate_id
    tables = [] if delivery.episodes is None else [from_parquet(delivery.episodes)]
    judged = judge(tables, plan.scenario) if tables else None
    ledger.write("judged", {"candidate_id": candidate_id, "fitness": judged.to_json() if judged else None})
    if tables:
        ledger.write("intervals", {"name": candidate_id, "intervals": intervals(tables, plan.scenario)})
    entry = ledger.record.archive.entry(candidate_id)
    critique = criticise(entry, (), read_drives(storage, entry, (), plan))
    store_critique(storage, critique)
    ledger.write("criticised", critique.to_json())

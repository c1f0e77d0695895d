"""A driver process for tests that kill it: python -m tests.orchestrator.driver RUN SETTINGS."""

import json
import os
import sys

from actors.keys import take_credentials
from actors.plan import SearchPlan
from actors.progress import Progress
from actors.storage import Storage
from orchestrator.machine import Machine
from orchestrator.search import Search, resumed, run_search
from search_spaces.errors import OrchestratorError


def show(progress: Progress) -> None:
    line = " ".join(f"{trial.id}:{trial.status}" for trial in progress.trials)
    sys.stderr.write(f"{progress.phase} {line}\n")


def main() -> None:
    run, settings = sys.argv[1], json.loads(sys.argv[2])
    if Storage.at(run).names("events"):
        search = resumed(run)
    else:
        search = Search(plan=SearchPlan.from_json(settings), location=run)
    credentials = take_credentials(search.plan.llm.spec, os.environ)
    try:
        run_search(search, Machine(cpus=2), credentials, show)
    except OrchestratorError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()

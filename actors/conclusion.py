"""What follows once a champion is confirmed: highway-env's own word on it, roads that it never saw, and other scores.

The champion's policies are those of its confirming trainings; the first one stands for it where one is enough.
"""

import threading
from collections.abc import Mapping

from actors.backstage import Job
from actors.evaluator import PolicyDriver
from actors.finals import TRAINED_BASELINES, members, starting_program
from actors.generalisation import EPISODES, Compatibility, matrix
from actors.ledger import Ledger
from actors.message import Message
from actors.plan import SearchPlan
from actors.policy import Policy
from actors.record import SearchRecord
from actors.run_files import episodes_file, policy_file
from actors.storage import Storage
from actors.upstream_comparison import Replay, compared
from actors.upstream_judge import UpstreamJudge
from driving.drivers import DRIVERS, Driver, driver_named
from driving.episodes import from_parquet
from driving.lampilot import LampilotScores, lampilot_scores
from search_spaces.errors import MachineError, RunError
from search_spaces.scenarios import REPORT

SCORED = 100
"""Report episodes that LaMPilot-Bench's scores are taken on at most."""


def stand_ins(record: SearchRecord, name: str) -> tuple[str, ...]:
    """Return the trainings whose policies stand for a candidate or a trained baseline.

    Those are its confirming ones; where there are none, itself. Trainings that broke are left out.
    """
    confirming = [each.id for each in members(record, "confirming", name)] or [name]
    outcomes = record.archive.outcomes
    return tuple(each for each in confirming if each in outcomes and outcomes[each].status == "trained")


def entrants(record: SearchRecord, storage: Storage, champion: str) -> dict[str, list[Driver]]:
    """Return a candidate and the trained ones that it is compared with, each with its policies.

    One without a training that came to its end is left out.

    Raises:
        PolicyError: A policy file is damaged.
        RunError: A policy file is gone.
    """
    names = dict.fromkeys((champion, *TRAINED_BASELINES, starting_program(record)))
    found = {name: _policies(record, storage, name) for name in names if name is not None}
    return {name: policies for name, policies in found.items() if policies}


def _policies(record: SearchRecord, storage: Storage, name: str) -> list[Driver]:
    return [PolicyDriver(Policy.from_bytes(_policy(storage, each))) for each in stand_ins(record, name)]


def _policy(storage: Storage, name: str) -> bytes:
    content = storage.read(policy_file(name))
    if content is None:
        raise RunError(f"{policy_file(name)} is missing, although {name} was trained; restore the file and resume")
    return content


class Conclusion:
    """Writes down what follows the confirmation. Each part is written once; doing it again is harmless.

    Args:
        plan: The search.
        ledger: Its journal and record.
        storage: The run's folder.
    """

    def __init__(self, plan: SearchPlan, ledger: Ledger, storage: Storage) -> None:
        self._plan, self._ledger, self._storage = plan, ledger, storage
        self._judge = UpstreamJudge()
        self._closed = threading.Event()

    def close(self) -> None:
        """Give up what is under way; nothing of it is written."""
        self._closed.set()
        self._judge.close()

    def due(self) -> Mapping[str, Job]:
        """Return what is still to be done, by name; nothing where no champion was confirmed, or none is asked for."""
        record = self._ledger.record
        if not self._plan.finals.replays or record.confirmed is None or self._champion() is None:
            return {}
        jobs: Mapping[str, tuple[Message | None, Job]] = {
            "replay": (record.replay, self.replay),
            "matrix": (record.generalisation, self.generalise),
            "scores": (record.compatibility, self.score),
        }
        return {name: job for name, (known, job) in jobs.items() if known is None}

    def _champion(self) -> str | None:
        """Return the champion's name, if a policy of it came out of its confirming trainings."""
        record = self._ledger.record
        confirmed = record.confirmed
        return confirmed.champion if confirmed is not None and stand_ins(record, confirmed.champion) else None

    def replay(self) -> None:
        """Have the champion drive report episodes in highway-env itself, and compare them with the kernel's."""
        name = self._champion()
        if name is None or self._ledger.record.replay is not None:
            return
        first = stand_ins(self._ledger.record, name)[0]
        found = self._replayed(first, REPORT.seeds(self._plan.finals.replays))
        if found is not None:
            self._ledger.write("replayed", found.to_json())

    def _replayed(self, name: str, seeds: range) -> Replay | None:
        """Return the comparison of a training's episodes, or why there is none; None when the judge was closed."""
        policy, episodes = _policy(self._storage, name), self._storage.read(episodes_file(name))
        try:
            both = self._judge.drive(policy, self._plan.scenario, seeds)
        except MachineError as error:
            return Replay(name=name, episodes=0, first_seed=seeds[0], reason=str(error))
        return None if both is None else compared(name, both, None if episodes is None else from_parquet(episodes))

    def generalise(self) -> None:
        """Have the champion, and all that it is compared with, drive on roads that nobody was trained on."""
        name = self._champion()
        if name is None or self._ledger.record.generalisation is not None:
            return
        drivers = entrants(self._ledger.record, self._storage, name)
        episodes = min(EPISODES, self._plan.held_out)
        found = matrix(name, drivers, self._plan.scenario, episodes=episodes, wanted=lambda: not self._closed.is_set())
        if found is not None:
            self._ledger.write("generalised", found.to_json())

    def score(self) -> None:
        """Take LaMPilot-Bench's scores of the champion's first policy, and of all that it is compared with."""
        name = self._champion()
        if name is None or self._ledger.record.compatibility is not None:
            return
        trained = entrants(self._ledger.record, self._storage, name)
        drivers: dict[str, Driver] = {each: policies[0] for each, policies in trained.items()}
        drivers |= {each: driver_named(each) for each in DRIVERS}
        scores: dict[str, LampilotScores] = {}
        seeds = REPORT.seeds(min(SCORED, self._plan.held_out))
        for each, driver in drivers.items():
            if self._closed.is_set():
                return
            scores[each] = lampilot_scores(self._plan.scenario, seeds, driver)
        self._ledger.write("scored", Compatibility(scores=scores).to_json())

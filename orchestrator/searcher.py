"""Tune's side of ask and tell: a searcher that asks the coordinator which candidate comes next."""

import json
from pathlib import Path
from typing import Any

import ray
from ray.tune.search import Searcher


class CandidateSearcher(Searcher):
    """Asks and tells a named coordinator. Holds nothing but its name, because Tune writes searchers to disk.

    Args:
        name: The actor's name.
        namespace: Its Ray namespace.
    """

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(metric=None, mode=None)
        self._name, self._namespace = name, namespace

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Return the next candidate's configuration; None to be asked again; `FINISHED` at the end."""
        answer = ray.get(self._coordinator().ask.remote(trial_id))
        if answer.verdict == "train":
            return {"candidate": answer.candidate_id, "coordinator": self._name, "namespace": self._namespace}
        return Searcher.FINISHED if answer.verdict == "finished" else None

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Tell the coordinator that a trial ended."""
        reason = "its process died or its node was lost" if error else None
        ray.get(self._coordinator().tell.remote(trial_id, reason))

    def save(self, checkpoint_path: str) -> None:
        """Write the coordinator's name; the search itself is in its journal."""
        Path(checkpoint_path).write_text(json.dumps([self._name, self._namespace]))

    def restore(self, checkpoint_path: str) -> None:
        """Read the coordinator's name."""
        self._name, self._namespace = json.loads(Path(checkpoint_path).read_text())

    def _coordinator(self) -> Any:
        return ray.get_actor(self._name, namespace=self._namespace)

"""Outcomes on their way into the journal, and files on their way into the run's folder."""

import json
from dataclasses import replace

from actors.critique_text import as_markdown
from actors.messages import Candidate, Critique
from actors.outcome import Delivery, Outcome
from actors.run_files import critique_file, episodes_file, film_file, policy_file, program_file
from actors.storage import Storage


def sound_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome, or a failed one in its place when it holds a number that is not finite."""
    try:
        json.dumps(outcome.to_json(), allow_nan=False)
    except ValueError:
        broken = sorted(name for name, value in outcome.metrics.items() if not abs(value) < float("inf"))
        what = f"the measures {', '.join(broken)}" if broken else "the learning curve or a component trace"
        reason = f"delivered numbers that are not finite in {what}; expected undefined ones to be absent"
        return replace(outcome, status="failed", reason=reason, metrics={}, curve=(), rungs=(), traces=())
    return outcome


def store_delivery(storage: Storage, delivery: Delivery) -> None:
    """Store the files of a delivery.

    Raises:
        OSError: The storage fails.
    """
    name = delivery.outcome.candidate_id
    if delivery.policy is not None:
        storage.write(policy_file(name), delivery.policy)
    if delivery.film is not None:
        storage.write(film_file(name), delivery.film)
    if delivery.episodes is not None:
        storage.write(episodes_file(name), delivery.episodes)


def store_program(storage: Storage, candidate: Candidate) -> None:
    """Store a candidate's program.

    Raises:
        OSError: The storage fails.
    """
    storage.write(program_file(candidate.id), candidate.source.encode())


def store_critique(storage: Storage, critique: Critique) -> None:
    """Store what was said about a candidate as Markdown.

    Raises:
        OSError: The storage fails.
    """
    storage.write(critique_file(critique.candidate_id), as_markdown(critique).encode())

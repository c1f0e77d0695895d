"""What each event of the journal means in MLflow.

A parent run per search; below it a run per candidate and per baseline. Names: tags `role`, `generation`, `candidate`,
`parent`, `gate`, `program_sha`; metrics `fitness/*` (judged), `eval/*` (measured on held-out episodes), `train/*` (the
candidate's own training, not comparable between candidates) and, on the parent, `generation/*`. Program, prompt and
reply are artifacts, never parameters. Every write can be repeated.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from actors.chat import ChatReply, Exchange
from actors.journal import Event
from actors.messages import Candidate
from actors.plan import SearchPlan
from actors.record import SearchRecord
from actors.run_files import critique_file, film_file
from actors.storage import Storage
from driving.film import contact_sheet
from orchestrator import leaderboard
from orchestrator.curves import learning_curve
from orchestrator.finals_points import SAID, Said, figures, text
from orchestrator.points import bounded, conversation, foretold, judged, label, measured, settings, trained
from orchestrator.tracking import Point, Store
from search_spaces.errors import MachineError, UsageError

POSITION = "journal_position"
"""Tag of the parent run: sequence of the last event that is in the store."""

BASELINE = "baseline"
"""The role of a baseline, and its tag `generation`."""
FINALS = "finals"
"""Tag `generation` of what is trained in the finals."""

_SHEET_SIZE = 9
"""Films in the contact sheet of a generation at most."""


class Mirror:
    """Writes one search's events to a store, in order.

    Args:
        store: Where to.
        files: The run's folder, for films and critiques.
    """

    def __init__(self, store: Store, files: Storage) -> None:
        self._record = SearchRecord()
        self._asked: dict[str, Exchange] = {}
        self._store = store
        self._files = files
        self._parent = ""
        self._search_id = ""
        self._children: dict[str, str] = {}
        self._position = -1
        self._handlers: Mapping[str, Callable[[Mapping[str, Any], int], None]] = {
            "opened": self._opened,
            "accepted": self._accepted,
            "assigned": self._assigned,
            "trial_failed": self._died,
            "delivered": self._delivered,
            "judged": self._judged,
            "intervals": self._bounded,
            "criticised": self._criticised,
            "baseline": self._baseline,
            "llm_replied": self._answered,
            "llm_failed": self._answered,
            "generation_finished": self._generation_finished,
            **{kind: partial(self._said, said) for kind, said in SAID.items()},
            "search_finished": self._finished,
        }

    def fold(self, event: Event) -> None:
        """Take note of an event."""
        self._record = self._record.after(event)
        if event.kind == "llm_asked":
            exchange = Exchange.from_json(event.data)
            self._asked[exchange.id] = exchange

    def write(self, event: Event) -> None:
        """Write an event that has been folded, unless the store has it."""
        if self._record.plan is None:
            return
        if not self._parent:
            self._open(self._record.plan, int(event.time * 1000))
        if event.sequence <= self._position:
            return
        handler = self._handlers.get(event.kind)
        if handler is not None:
            handler(event.data, int(event.time * 1000))
        self._store.log(self._parent, tags={POSITION: event.sequence})
        self._position = event.sequence

    def interrupt(self, time_ms: int) -> None:
        """Mark what is still running as killed: the search ends here for now."""
        if self._parent and not self._record.finished:
            self._close_children(time_ms)
            for run in self._store.unfinished([self._parent]):
                self._store.end(run, "KILLED", time_ms)

    def _open(self, plan: SearchPlan, time_ms: int) -> None:
        """Find the search's runs in the store, or make its parent run."""
        mine = {"search_id": plan.search_id}
        found = self._store.find(mine | {"role": "search"})
        if found:
            (parent,) = found.values()
            self._position = int(self._store.tags(parent).get(POSITION, -1))
            self._children = self._store.find({"mlflow.parentRunId": parent})
        else:
            tags = mine | {"role": "search", "strategy": plan.strategy, "goal": plan.goal}
            parent = self._store.create(plan.search_id, tags, started_ms=time_ms)
        charts = ["fitness/value", *(f"eval/{column.metric}" for column in leaderboard.COLUMNS)]
        self._store.share_view(plan.search_id, charts)
        self._store.log(parent, params=dict(settings(plan.to_json())))
        self._parent, self._search_id = parent, plan.search_id

    def _child(self, name: str, time_ms: int, role: str = "candidate") -> str:
        """Return the run of a candidate or baseline; make it when there is none."""
        if name not in self._children:
            tags = {"search_id": self._search_id, "role": role, "candidate": name}
            self._children[name] = self._store.create(name, tags, started_ms=time_ms, parent=self._parent)
        return self._children[name]

    def _opened(self, data: Mapping[str, Any], time_ms: int) -> None:
        """A driver has started: what an earlier one left running is dead."""
        self._close_children(time_ms)
        self._store.begin(self._parent)

    def _accepted(self, data: Mapping[str, Any], time_ms: int) -> None:
        candidate = self._record.archive.candidates[data["id"]]
        run = self._child(candidate.id, time_ms, candidate.role)
        generation = _generation(candidate)
        shared: dict[str, object] = {"origin": candidate.origin, "move": candidate.move}
        if candidate.role == "candidate":
            self._store.log(run, params={"generation": candidate.generation})
        tags = {
            "generation": generation,
            "parent": " ".join(candidate.parents),
            "gate": "; ".join(candidate.warnings) or "passed",
            "lint": ", ".join(each.name for each in candidate.lint) or "none",
            "program_sha": candidate.digest,
            "status": "waiting",
            **({"stage": candidate.stage, "of": candidate.of} if candidate.stage else {}),
        }
        self._store.log(run, params=shared | {"seed": candidate.seed}, tags=shared | tags)
        if candidate.source:
            self._store.put_text(run, candidate.source, "reward_program.py")
        if candidate.screen is not None and candidate.screen.tau is not None:
            self._store.log(run, points=[Point("screen/tau", candidate.screen.tau)], time_ms=time_ms)
        exchange = candidate.exchange or ""
        if exchange in self._asked:
            self._store.put_text(run, conversation(self._asked[exchange]), "prompt.txt")
        if exchange in self._record.replies:
            self._store.put_text(run, self._record.replies[exchange].text, "reply.txt")

    def _assigned(self, data: Mapping[str, Any], time_ms: int) -> None:
        run = self._child(data["candidate_id"], time_ms)
        self._store.begin(run)
        self._store.log(run, tags={"status": "training"})

    def _died(self, data: Mapping[str, Any], time_ms: int) -> None:
        """A trial's process died: another trial takes the candidate, or the failure is delivered."""
        run = self._child(data["candidate_id"], time_ms)
        self._store.log(run, tags={"status": "waiting", "died": data["attempt"]})

    def _delivered(self, data: Mapping[str, Any], time_ms: int) -> None:
        name = data["candidate_id"]
        run, outcome = self._child(name, time_ms), self._record.archive.outcomes[name]
        tags = {"status": outcome.status, **({"reason": outcome.reason} if outcome.reason else {})}
        points = [*measured(outcome.metrics), *trained(outcome)]
        self._store.log(run, points=points, tags=tags, time_ms=time_ms)
        picture = learning_curve(outcome)
        if picture is not None:
            self._store.put_bytes(run, picture, "learning_curve.png")
        film = self._film(name)
        if film is not None:
            self._store.put_bytes(run, film, "episode.mp4")
        if outcome.status != "trained":
            self._store.end(run, "FINISHED" if outcome.status == "stopped" else "FAILED", time_ms)

    def _judged(self, data: Mapping[str, Any], time_ms: int) -> None:
        name = data["candidate_id"]
        fitness = self._record.archive.fitnesses.get(name)
        run = self._child(name, time_ms)
        if fitness is not None:
            self._store.log(run, points=judged(fitness), time_ms=time_ms)
        if self._record.archive.candidates[name].stage:  # nobody criticises it
            self._store.end(run, "FINISHED", time_ms)

    def _bounded(self, data: Mapping[str, Any], time_ms: int) -> None:
        self._store.log(self._child(data["name"], time_ms), points=bounded(data["intervals"]), time_ms=time_ms)

    def _criticised(self, data: Mapping[str, Any], time_ms: int) -> None:
        name = data["candidate_id"]
        run = self._child(name, time_ms)
        text = self._files.read(critique_file(name))
        if text is not None:
            self._store.put_bytes(run, text, "critique.md")
        if self._record.archive.outcomes[name].status == "trained":
            self._store.end(run, "FINISHED", time_ms)

    def _baseline(self, data: Mapping[str, Any], time_ms: int) -> None:
        name = data["name"]
        baseline = self._record.archive.baselines[name]
        run = self._child(name, time_ms, BASELINE)
        points = [*measured(baseline.metrics), *([] if baseline.fitness is None else judged(baseline.fitness))]
        self._store.log(run, points=points, tags={"generation": BASELINE, "status": "measured"}, time_ms=time_ms)
        self._store.end(run, "FINISHED", time_ms)

    def _answered(self, data: Mapping[str, Any], time_ms: int) -> None:
        exchange = data["exchange"]
        asked = self._asked.get(exchange)
        if asked is None:  # refused by the token budget before it was asked
            return
        answer = self._record.replies.get(exchange) or self._record.failures[exchange]
        took_s = answer.wall_s if isinstance(answer, ChatReply) else 0.0
        attributes = {"purpose": asked.purpose, "generation": str(asked.generation), "model": str(asked.model)}
        tokens = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
        said = {"text": answer.text} if isinstance(answer, ChatReply) else {"failure": answer.reason}
        self._store.span(
            self._parent,
            exchange,
            request={"messages": [message.to_json() for message in asked.messages]},
            response={**said, **tokens},
            attributes=attributes,
            started_ns=int((time_ms / 1000 - took_s) * 1e9),
            ended_ns=time_ms * 1_000_000,
            failed=not isinstance(answer, ChatReply),
        )

    def _generation_finished(self, data: Mapping[str, Any], time_ms: int) -> None:
        generation = data["generation"]
        score = self._record.generations[str(generation)]
        mine = self._record.archive.entries(generation)
        points = [
            Point(f"generation/{name}_fitness", value, generation)
            for name, value in (("best", score.best), ("mean", score.mean))
            if value is not None
        ]
        ranked = [entry for entry in self._record.archive.ranked() if entry.candidate.generation == generation]
        stopped = sum(each.outcome is not None and each.outcome.status == "stopped" for each in mine)
        refused = sum(each.generation == generation for each in self._record.archive.refusals.values())
        points += [
            Point("generation/trained", len(ranked), generation),
            Point("generation/failed", len(mine) - len(ranked) - stopped, generation),
            Point("generation/stopped", stopped, generation),
            Point("generation/refused", refused, generation),
        ]
        points += foretold(self._record.archive, generation)
        self._store.log(self._parent, points=points, time_ms=time_ms)
        self._tables()
        films = [(label(entry), self._film(entry.candidate.id)) for entry in ranked[:_SHEET_SIZE]]
        found = [(title, film) for title, film in films if film is not None]
        if not found:
            return
        try:
            self._store.put_bytes(self._parent, contact_sheet(found), f"contact_sheets/g{generation:02d}.mp4")
        except (MachineError, UsageError) as error:  # one damaged film must not hold up what comes after it
            self._store.put_text(self._parent, f"{error}\n", f"contact_sheets/g{generation:02d}.txt")

    def _film(self, name: str) -> bytes | None:
        return self._files.read(film_file(name))

    def _said(self, kind: type[Said], data: Mapping[str, Any], time_ms: int) -> None:
        self._store.log(self._parent, points=list(figures(kind.from_json(data))), time_ms=time_ms)
        self._store.put_text(self._parent, text(self._record), "verdict.txt")

    def _finished(self, data: Mapping[str, Any], time_ms: int) -> None:
        self._tables()
        if self._record.champion is not None:
            best = self._record.archive.candidates[self._record.champion]
            self._store.log(self._parent, tags={"champion": best.id})
            self._store.put_text(self._parent, best.source, "champion/reward_program.py")
        self._close_children(time_ms)
        self._store.end(self._parent, "FINISHED", time_ms)

    def _close_children(self, time_ms: int) -> None:
        """Mark children that run no more as killed; one whose trial starts again is marked as running by that event."""
        for run in self._store.unfinished(self._children.values()):
            self._store.end(run, "KILLED", time_ms)

    def _tables(self) -> None:
        self._store.put_text(self._parent, leaderboard.as_csv(self._record), "leaderboard.csv")
        lines = [
            json.dumps(each.to_json(), ensure_ascii=True) + "\n" for each in self._record.archive.refusals.values()
        ]
        self._store.put_text(self._parent, "".join(lines), "refused.jsonl")


def _generation(candidate: Candidate) -> int | str:
    """Return the value of the tag by which charts are grouped."""
    if candidate.role == "candidate":
        return candidate.generation
    return FINALS if candidate.stage else BASELINE

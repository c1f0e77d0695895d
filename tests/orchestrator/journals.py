"""A run as a search would have written it, for tests of what reads runs: journal, policies, films, critiques."""

from pathlib import Path

from actors.chat import ChatMessage, ChatReply, Exchange
from actors.fitness import fitness
from actors.journal import Journal
from actors.messages import Candidate, Critique, Finding, Refusal
from actors.outcome import CurvePoint, Outcome, TracePoint
from actors.plan import SearchPlan
from actors.storage import Storage
from driving.lampilot import LampilotScores

SOURCE = 'def compute_reward(state):\n    return state["speed_ms"] / 30.0 - 3.0 * state["collided"]\n'
METRICS = {
    "episodes": 500.0,
    "crash_rate": 0.04,
    "speed_ms": 23.0,
    "progress_ms": 22.5,
    "completion": 0.98,
    "overtakes_per_min": 4.0,
    "ttc_low_share": 0.01,
    "accel_rms_ms2": 2.0,
    "native_return": 22.4,
}
SCORES = LampilotScores(
    episodes=100,
    success_rate=0.97,
    collision_rate=0.03,
    ttc=92.0,
    speed=90.0,
    time=50.0,
    score=83.0,
    driving_score=65.5,
)


def plan(**changes: object) -> SearchPlan:
    values: dict[str, object] = {"search_id": "night-owl", "population": 2, "generations": 2}
    return SearchPlan(**{**values, **changes})  # type: ignore[arg-type]


def candidate(name: str, generation: int, **changes: object) -> Candidate:
    values: dict[str, object] = {
        "id": name,
        "generation": generation,
        "source": SOURCE,
        "digest": f"sha-{name}",
        "seed": 7,
        "origin": "evolver",
        "move": "weight",
    }
    return Candidate(**{**values, **changes})  # type: ignore[arg-type]


def outcome(name: str, **changes: object) -> Outcome:
    curve = tuple(
        CurvePoint(steps=4096 * n, own_return=n, native_return=20 + n, crash_rate=0.5 / n, length_s=25.0, episodes=100)
        for n in (1, 2, 3)
    )
    traces = tuple(
        TracePoint(component=part, steps=4096 * n, low=-1.0, mean=0.1 * n, high=1.0)
        for part in ("progress", "total")
        for n in (1, 2, 3)
    )
    values: dict[str, object] = {
        "metrics": METRICS,
        "curve": curve,
        "traces": traces,
        "env_steps": 12288,
        "status": "trained",
    }
    return Outcome(candidate_id=name, **{**values, **changes})  # type: ignore[arg-type]


class Script:
    """Writes the events of a search, in the order in which a search writes them."""

    def __init__(self, folder: Path, film: bytes | None = None) -> None:
        self.files = Storage.at(folder)
        self.journal = Journal(self.files)
        self.film = film

    def start(self, **changes: object) -> None:
        self.journal.append("search_started", {"plan": plan(**changes).to_json()})
        self.open("first")

    def open(self, session: str) -> None:
        self.journal.append("opened", {"session": session})

    def accept(self, name: str, generation: int, **changes: object) -> None:
        self.journal.append("accepted", candidate(name, generation, **changes).to_json())

    def assign(self, name: str) -> None:
        self.journal.append("assigned", {"candidate_id": name, "trial_id": f"trial-{name}"})

    def die(self, name: str, attempt: int) -> None:
        death = {"candidate_id": name, "trial_id": f"trial-{name}", "reason": "killed", "attempt": attempt}
        self.journal.append("trial_failed", death)

    def deliver(self, name: str, *, better: bool = False, **changes: object) -> None:
        if better:
            changes["metrics"] = {**METRICS, "speed_ms": 24.5, "progress_ms": 24.0}
        delivered = outcome(name, **changes)
        if self.film is not None and delivered.status == "trained":
            self.files.write(f"candidates/{name}/episode.mp4", self.film)
        self.journal.append("delivered", delivered.to_json())
        judged = fitness(delivered.metrics) if delivered.status == "trained" else None
        if judged is not None:
            self.journal.append("judged", {"candidate_id": name, "fitness": judged.to_json()})
        finding = Finding(name="weaving", sentence="9 lane changes per km", evidence={"lane_changes_per_km": 9.0})
        self.files.write(f"candidates/{name}/critique.md", b"# Critique\n\nweaving: 9 lane changes per km\n")
        self.journal.append("criticised", Critique(candidate_id=name, findings=(finding,)).to_json())

    def ask(self, exchange: str, reply: str) -> None:
        message = ChatMessage(role="user", content="Write a reward program.")
        asked = Exchange(id=exchange, purpose="design", generation=0, messages=(message,), model="a-model")
        self.journal.append("llm_asked", asked.to_json())
        answer = ChatReply(exchange=exchange, text=reply, model="a-model", prompt_tokens=11, completion_tokens=5)
        self.journal.append("llm_replied", answer.to_json())

    def refuse(self, name: str, generation: int, code: str) -> None:
        refusal = Refusal(id=name, generation=generation, code=code, reason="reads no state", origin="llm")
        self.journal.append("refused", refusal.to_json())

    def baseline(self, name: str) -> None:
        judged = fitness(METRICS)
        assert judged is not None
        self.journal.append("baseline", {"name": name, "metrics": METRICS, "fitness": judged.to_json()})

    def finish_generation(self, generation: int, best: float | None, mean: float | None) -> None:
        self.journal.append("generation_finished", {"generation": generation, "best": best, "mean": mean})

    def finish(self, champion: str | None) -> None:
        self.journal.append("search_finished", {"champion": champion})

    def close(self) -> None:
        self.journal.close()

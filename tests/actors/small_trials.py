"""Small trials, and a coordinator reduced to what a trial talks to. Imports little, since it runs in a worker."""

import json
import os
from pathlib import Path
from typing import Any

from actors.messages import Assignment
from actors.outcome import Delivery, RungPoint
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import Scenario

ROAD = Scenario(vehicles=8, duration=10)
SETTINGS = PPOSettings(environments=16, batch=512, minibatch=256, epochs=2, hidden=(16, 16))

SHAPED = """
def compute_reward(state):
    progress = state["speed_ms"] / 32.0
    crash = -2.0 * state["collided"]
    return {scale} * (progress + crash - 0.1), {{"progress": {scale} * progress, "crash": {scale} * crash}}
"""
BREAKS_AT_A_CRASH = """
def compute_reward(state):
    speed = state["speed_ms"] / 30.0
    odd = 1.0 / (1.0 - state["collided"])
    return speed + odd, {"speed": speed, "odd": odd}
"""


def assignment(candidate_id: str = "g00-c00", **changes: Any) -> Assignment:
    values = {
        "candidate_id": candidate_id,
        "source": SHAPED.format(scale="1.0"),
        "seed": 4,
        "steps": 2048,
        "ppo": SETTINGS,
        "scenario": ROAD,
        "held_out": 20,
        "film": False,
    }
    return Assignment(**(values | changes))


class Desk:
    """A coordinator reduced to what a trial talks to, which dies once in the middle of a delivery."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def assignment(self, candidate_id: str) -> Assignment:
        if candidate_id == "g00-c02":
            return assignment(candidate_id, source=BREAKS_AT_A_CRASH)
        if candidate_id == "g00-c03":
            return assignment(candidate_id, source="def compute_reward(state): return state['sped_ms']")
        if candidate_id in ("g00-c04", "g00-c05"):
            return assignment(candidate_id, rungs=(512, 1000))
        return assignment(candidate_id, seed=5 if candidate_id == "g00-c01" else 4)

    def training(self, candidate_id: str, steps: int, steps_per_s: float) -> None:
        (self._folder / f"{candidate_id}.progress").write_text(f"{steps} {steps_per_s}")

    def rung(self, candidate_id: str, point: RungPoint) -> str | None:
        return "enough" if candidate_id == "g00-c05" and point.steps > 512 else None

    def deliver(self, delivery: Delivery) -> None:
        name = delivery.outcome.candidate_id
        crashed = self._folder / "crashed"
        if name == "g00-c01" and not crashed.exists():
            crashed.touch()
            os._exit(1)
        (self._folder / f"{name}.json").write_text(json.dumps(delivery.outcome.to_json()))
        (self._folder / f"{name}.npz").write_bytes(delivery.policy or b"")

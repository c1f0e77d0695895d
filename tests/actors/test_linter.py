import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from actors import linter
from actors.gate import Gate
from actors.lint_bank import DENSITIES, STARTS, Bank, record_bank
from actors.lint_table import RULES
from actors.linter import Linter
from actors.replies import extract_program
from search_spaces.edits import MOVES
from search_spaces.graph import GraphBuilder
from search_spaces.hand_tuned import HAND_TUNED
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import PRESETS
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import FIELD_INDEX

ROAD = PRESETS["highway-fast-v0"]
CASES = Path(__file__).parents[1] / "cases"
ZOO = {path.stem: path.read_text(encoding="utf-8") for path in sorted((CASES / "zoo").glob("*.py"))}
EXPECTED: Mapping[str, Any] = json.loads((CASES / "zoo" / "expected.json").read_text(encoding="utf-8"))
LINTER = Linter(ROAD, 0.9)
GATE = Gate(ROAD)
ROUND_TRIP = 'state["overtook"] - {0} * state["was_overtaken"]'
CLOSE = 'state["time_headway"] < 0.9'
BASE = 'state["speed_ms"] / 30.0 - 3.0 * state["collided"]'
SCALES = ("scale_large", "scale_small", "clipped")


def program(text: str) -> RewardProgram:
    compiled = compile_program(text if "def " in text else f"def compute_reward(state):\n    return {text}\n")
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


def found(text: str) -> list[str]:
    return [finding.name for finding in LINTER.lint(program(text)).findings]


def measured(of: RewardProgram, linter: Linter = LINTER) -> dict[str, float]:
    """The number of each rule that has one, finding or not."""
    return {each.rule: each.value for each in linter.lint(of).measures}


def number(text: str, rule: str) -> float:
    return measured(program(text))[rule]


@pytest.fixture(scope="module")
def bank() -> Bank:
    return record_bank(ROAD)


def test_the_zoo_is_complete() -> None:
    assert set(ZOO) == set(EXPECTED)
    assert len(ZOO) >= 12
    assert all(set(each) == {"gate", "linter", "detectors"} for each in EXPECTED.values())
    named = {name for each in EXPECTED.values() for name in each["linter"]}
    assert named <= set(RULES)


@pytest.mark.parametrize("name", ZOO)
def test_every_hacking_reward_is_named_before_it_is_trained(name: str) -> None:
    expected = EXPECTED[name]
    refusal = GATE.judge(program(ZOO[name]))
    assert (None if refusal is None else refusal.code) == expected["gate"]
    assert set(expected["linter"]) <= set(found(ZOO[name]))
    assert expected["linter"] or expected["gate"] or expected["detectors"]


@pytest.mark.parametrize("name", STARTING_PROGRAMS)
def test_starting_programs_are_clean(name: str) -> None:
    # The overtaking one does pay for a round trip, and for nothing else.
    assert found(STARTING_PROGRAMS[name]) == (["overtake_farming", "saturated"] if name == "overtake" else [])


def test_the_hand_tuned_reward_is_clean() -> None:
    assert found(HAND_TUNED) == []


def test_benign_programs_are_never_refused_and_seldom_warned_about() -> None:
    counts = []
    for line in (CASES / "benign_rewards.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        source = extract_program(case["source"])
        compiled = compile_program(source) if isinstance(source, str) else None
        if case["tier"] != "must" or not isinstance(compiled, RewardProgram):
            continue
        lint = LINTER.lint(compiled)
        assert lint.refusal is None, case["id"]
        counts.append(len(lint.findings))
    assert len(counts) > 30
    assert np.mean(counts) < 1.0


@pytest.mark.parametrize(
    ("rule", "without", "with_it"),
    [
        ("crash_bonus", BASE, 'state["speed_ms"] / 30.0 + state["collided"]'),
        ("weaving", BASE, f'{BASE} + 0.5 * state["lane_changed"]'),
        ("overtake_farming", f"{BASE} + {ROUND_TRIP.format(1.0)}", f"{BASE} + 2.0 * {ROUND_TRIP.format(0.0)}"),
        ("acceleration_spam", f'{BASE} + 0.1 * state["accel_ms2"]', f'{BASE} + 0.1 * abs(state["accel_ms2"])'),
        ("lane_request_farming", BASE, f'{BASE} + 0.5 * abs(state["lateral_offset"])'),
        ("tailgating", f"{BASE} - 0.5 * ({CLOSE})", f"{BASE} + 0.5 * ({CLOSE})"),
        ("crowding", BASE, f'{BASE} + 0.2 * state["nearby_vehicles"]'),
        ("suicide", BASE, f"{BASE} - 1.5"),
        ("parking", BASE, '1.0 - 3.0 * state["collided"]'),
        ("recklessness", BASE, 'state["speed_ms"] - 25.0'),
        ("negated", BASE, f"-({BASE})"),
        ("return_order", BASE, f"-({BASE})"),
        ("scale_large", BASE, f"5000.0 * ({BASE})"),
        ("scale_small", BASE, f"0.0001 * ({BASE})"),
        ("clipped", BASE, '1e6 * state["collided"] + 1e5 * state["speed_ms"]'),
        ("saturated", BASE, 'clip(state["speed_ms"], 0.0, 1.0) - state["collided"]'),
        ("dead_field", BASE, f'{BASE} + 0.0 * min(state["ttc"], 30.0)'),
        ("dead_field", f'{BASE} + state["lanes_count"]', f'{BASE} + (1.0 if state["ttc"] > 90.0 else 0.0)'),
    ],
)  # fmt: skip
def test_each_rule_tells_a_reward_with_the_flaw_from_one_without(rule: str, without: str, with_it: str) -> None:
    assert rule not in found(without)
    assert rule in found(with_it)


def test_rules_about_components() -> None:
    text = 'def compute_reward(state):\n    a = state["speed_ms"]\n    return a, {{"a": a, "b": {0}, "c": 1.0}}\n'
    assert "dead_component" in found(text.format('0.5 if state["ttc"] < -1.0 else 0.0'))
    assert "dead_component" not in found(text.format('0.5 if state["ttc"] < 5.0 else 0.0'))
    assert "dead_component" not in found(text.format("1.0"))
    assert "dominant_component" in found(text.format('0.001 * state["ttc"]'))
    assert "dominant_component" not in found(text.format('state["ttc"]'))


def test_numbers_of_events_are_gains_in_usual_decisions(bank: Bank) -> None:
    assert number('2.0 + state["lane_changed"]', "weaving") == pytest.approx(
        1.0 / (2.0 + bank.states[:, FIELD_INDEX["lane_changed"]].mean())
    )
    assert number('1.0 - 0.25 * state["collided"]', "crash_bonus") == pytest.approx(-0.25, abs=0.01)


def test_a_crash_is_weighed_against_the_discounted_future() -> None:
    # Driving on is worth about 1 / (1 - 0.9) = 10 decisions to come.
    assert number("-1.0 * (1.0 - state['collided']) - 9.0 * state['collided']", "suicide") == 1.0
    assert number("-1.0 * (1.0 - state['collided']) - 11.0 * state['collided']", "suicide") == 0.0
    patient = Linter(ROAD, 0.5)
    text = "-1.0 * (1.0 - state['collided']) - 3.0 * state['collided']"
    assert measured(program(text), patient)["suicide"] == 0.0
    assert number(text, "suicide") == 1.0


def test_findings_carry_number_threshold_and_source() -> None:
    [finding] = [each for each in LINTER.lint(program(ZOO["weaving"])).findings if each.name == "weaving"]
    assert finding.value is not None
    assert finding.threshold == RULES["weaving"].threshold
    assert finding.value > RULES["weaving"].threshold
    assert finding.source
    assert f"{finding.value:.2g}" in finding.sentence


def test_a_reward_that_is_not_finite_has_no_numbers() -> None:
    lint = LINTER.lint(program('math.log(state["collided"])'))
    assert lint.measures == ()
    assert lint.embedding is None
    assert lint.refusal is None


def test_the_table_says_what_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    lint = LINTER.lint(program(ZOO["suicide"]))
    assert lint.refusal is None
    changed = {**RULES, "suicide": replace(RULES["suicide"], effect="refuses")}
    monkeypatch.setattr(linter, "RULES", changed)
    assert lint.refusal is not None
    assert lint.refusal.code == "LINT_SUICIDE"
    assert "crashes" in lint.refusal.message


@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(STARTING_PROGRAMS)))
@settings(max_examples=15)
def test_numbers_are_finite_repeatable_and_mostly_free_of_scale(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    edited = program(STARTING_PROGRAMS[name])
    for move in rng.choice(sorted(MOVES), 3):
        edited = MOVES[str(move)](edited, rng)
    numbers = measured(edited)
    assert numbers == measured(program(edited.source))
    assert set(numbers) <= set(RULES)
    assert all(map(math.isfinite, numbers.values()))
    # A power of two scales every number exactly.
    scaled = measured(scaled_by(edited, 4.0))
    for rule in set(numbers) - set(SCALES):
        assert scaled[rule] == pytest.approx(numbers[rule], rel=1e-9, abs=1e-12), rule


def scaled_by(base: RewardProgram, factor: float) -> RewardProgram:
    """The program with its total and its components times a factor."""
    builder = GraphBuilder()
    places = builder.include(base.graph.nodes)
    times = builder.const(factor)
    components = {name: builder.node("mul", times, places[index]) for name, index in base.graph.components}
    return RewardProgram(builder.finish(builder.node("mul", times, places[base.graph.total]), components))


def test_every_driver_starts_from_the_same_states(bank: Bank) -> None:
    known = np.arange(bank.before.shape[1]) != FIELD_INDEX["target_speed_ms"]  # traffic models aim for their own
    first = bank.before[bank.step == 0][:, known].reshape(len(DENSITIES), len(bank.drivers), STARTS, -1)
    assert_array_equal(first, np.broadcast_to(first[:, :1], first.shape))


def test_decisions_follow_each_other(bank: Bank) -> None:
    same = bank.episode[1:] == bank.episode[:-1]
    assert_array_equal(bank.before[1:][same], bank.states[:-1][same])
    assert_array_equal(bank.step[1:][same], bank.step[:-1][same] + 1)
    crashed = bank.states[:, FIELD_INDEX["collided"]] > 0.0
    assert not crashed[~bank.last].any()
    assert_array_equal(crashed[bank.last], bank.crashed.reshape(-1))


def test_the_drivers_have_their_habits(bank: Bank) -> None:
    fitness = dict(zip(bank.drivers, bank.fitness[1], strict=True))
    assert fitness["overtaker"] > fitness["mobil"] > fitness["slower"]
    assert fitness["wobbler"] < 0.05
    changes = bank.by_start(np.bincount(bank.episode, weights=bank.states[:, FIELD_INDEX["lane_changed"]])).mean(
        axis=-1
    )
    rate = dict(zip(bank.drivers, changes[0], strict=True))
    assert rate["weaver"] > 3 * rate["overtaker"]
    assert rate["wobbler"] > 3 * rate["overtaker"]


def test_the_page_has_the_table_in_use() -> None:
    page = (Path(__file__).parents[2] / "docs" / "linter.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    shown = {row[0].strip("`"): row[1:] for row in rows}
    assert list(shown) == list(RULES)
    for name, rule in RULES.items():
        limit = f"{'>' if rule.side == 'above' else '<'} {rule.threshold:g}"
        assert shown[name] == [rule.number, limit, rule.effect, rule.source]

import pytest

from actors.evidence import RECKLESS, Evidence, corner_states, record_evidence
from actors.gate import Gate
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import PRESETS
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import FIELD_INDEX, FIELDS

GATE = Gate(PRESETS["highway-fast-v0"])


def program(text: str) -> RewardProgram:
    compiled = compile_program(text if text.startswith("def") else f"def compute_reward(state):\n    return {text}\n")
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


def code(text: str) -> str | None:
    refusal = GATE.judge(program(text))
    return None if refusal is None else refusal.code


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return record_evidence(PRESETS["highway-fast-v0"])


@pytest.mark.parametrize("name", STARTING_PROGRAMS)
def test_starting_programs_pass(name: str) -> None:
    assert GATE.judge(program(STARTING_PROGRAMS[name])) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('math.log(state["ttc"])', "E_NONFINITE"),
        ('1.0 / state["front_dist"]', "E_NONFINITE"),
        ('math.exp(state["speed_ms"] * 100)', "E_NONFINITE"),
        ('(state["rel_vel_ms"]) ** 0.5', "E_NONFINITE"),
        ("1.0", "GATE_STATELESS"),
        ('state["speed_ms"] * 0.0', "GATE_CONSTANT"),
        ('state["lanes_count"]', "GATE_CONSTANT"),
        ('1.0 if state["speed_ms"] > -50.0 else 0.0', "GATE_CONSTANT"),
        ('2e5 * max(state["speed_ms"], 10.0)', "GATE_CONSTANT"),
        ('-100.0 if state["collided"] else -5.0', "GATE_RECKLESS"),
        ('state["speed_ms"] - 25.0', "GATE_RECKLESS"),
        ('state["collided"] + 0.0001 * state["overtook"]', "GATE_RECKLESS"),
        ('clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0) - state["collided"]', "GATE_RECKLESS"),
        ('-80.0 if state["collided"] else 3.0', None),
        ('state["speed_ms"] / 30.0', None),
        ('state["speed_ms"] / 30.0 + 2.0 * state["collided"]', None),
        ('40000.0 * state["speed_ms"]', None),
    ],
)
def test_verdicts(text: str, expected: str | None) -> None:
    assert code(text) == expected


def test_a_component_that_is_not_finite_is_refused_too() -> None:
    text = 'def compute_reward(state):\n    return state["speed_ms"], {"gap": 1.0 / state["front_dist"]}\n'
    assert code(text) == "E_NONFINITE"


def test_refusals_say_where_and_what_to_do() -> None:
    refusal = GATE.judge(program('state["speed_ms"] / state["front_dist"]'))
    assert refusal is not None
    assert 'state["speed_ms"] / state["front_dist"]' in refusal.message
    assert "front_dist = 0" in refusal.message
    assert refusal.hint
    reckless = GATE.judge(program('-1.0 - state["collided"]'))
    assert reckless is not None
    assert "pairs" in reckless.message
    assert reckless.hint


def test_verdicts_do_not_depend_on_what_was_judged_before() -> None:
    asked = program(STARTING_PROGRAMS["native"])
    assert Gate(PRESETS["highway-fast-v0"]).judge(asked) == GATE.judge(asked)


def test_evidence_is_pairs_of_real_episodes_from_the_same_start(evidence: Evidence) -> None:
    collided = evidence.states[: evidence.recorded, FIELD_INDEX["collided"]]
    crashed = evidence.returns(collided)
    assert len(evidence.cautious) > 300
    assert (crashed[evidence.cautious] == 0.0).all()
    assert (crashed[evidence.reckless] == 1.0).all()
    lengths = evidence.returns(collided * 0.0 + 1.0)
    assert (lengths[evidence.cautious] == 40.0).all()
    assert len(set(evidence.reckless.tolist())) > 20 * len(RECKLESS)


def test_recorded_states_lie_inside_the_state_table(evidence: Evidence) -> None:
    for column, field in enumerate(FIELDS):
        values = evidence.states[: evidence.recorded, column]
        assert field.low <= values.min(), field.name
        assert values.max() <= field.high, field.name


def test_corner_states_reach_both_ends_of_every_field() -> None:
    states = corner_states()
    for column, field in enumerate(FIELDS):
        assert states[:, column].min() == field.low
        assert states[:, column].max() == field.high

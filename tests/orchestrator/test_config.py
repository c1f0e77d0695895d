import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.plan import SearchPlan
from orchestrator.config import DEBUG_BUDGET, SearchConfig, load_config, saved_config
from search_spaces.errors import RunError, UsageError
from search_spaces.scenarios import PRESETS

PROGRAM = 'def compute_reward(state):\n    return state["speed_ms"]\n'


def test_defaults_are_those_of_the_plan() -> None:
    assert load_config().plan("x") == SearchPlan(search_id="x")
    machine = load_config().machine()
    assert (machine.address, machine.gpus_per_trial, machine.cpus) == ("local", 0.0, None)


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_file_then_set_then_options(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"search.{suffix}"
    values = {"population": 3, "steps": 1000, "goal": "go", "ppo": {"learning_rate": 0.001, "hidden": [32, 32]}}
    file.write_text(
        json.dumps(values)
        if suffix == "json"
        else "population: 3\nsteps: 1000\ngoal: go\nppo: {learning_rate: 1.0e-3, hidden: [32, 32]}\n"
    )
    plan = load_config(file, ["steps=2000", "ppo.clip=0.1", "population=4"], {"population": 5, "seed": None}).plan("x")
    assert (plan.population, plan.steps, plan.goal, plan.seed) == (5, 2000, "go", 0)
    assert (plan.ppo.learning_rate, plan.ppo.clip, plan.ppo.hidden) == (0.001, 0.1, (32, 32))


def test_scenarios_by_name_by_settings_and_both() -> None:
    dense = PRESETS["dense"]
    assert load_config(settings=["scenario=dense"]).plan("x").scenario == dense
    assert load_config(settings=["scenario=dense", "scenario.lanes=4"]).plan("x").scenario == dense.changed(
        {"lanes": 4}
    )
    assert load_config(settings=["scenario.preset=dense"]).plan("x").scenario == dense
    assert load_config(settings=["scenario.lanes=4"]).plan("x").scenario == PRESETS["highway-fast-v0"].changed(
        {"lanes": 4}
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("populaton=3", "unknown setting 'populaton': did you mean population?"),
        ("ppo.learning_rat=1", "unknown setting 'ppo.learning_rat': did you mean learning_rate?"),
        ("llm.temprature=1", "did you mean temperature?"),
        ("scenario.lane=3", "did you mean lanes?"),
        ("scenario=dens", "did you mean dense?"),
        ("search_id=x", "unknown setting 'search_id'"),
        ("population=0", "population: expected 1 to 1000, found 0"),
        ("population=many", "population: input should be a valid integer"),
        ("held_out=-3", "held_out: expected 1"),
        ("llm.temperature=9", "llm.temperature: expected 0 to 2, found 9"),
        ("gpus_per_trial=-1", "gpus_per_trial >= 0"),
        ("cpus=0", "cpus >= 1"),
        ("ppo.batch=100", "multiple of environments"),
        ("scenario.policy_frequency=2", "must divide"),
        ("population", "expected NAME=VALUE"),
        ("goal.x=1", "unknown|valid string"),
        ("goal=[", "neither YAML nor JSON"),
        ("start_from=[/nowhere/a.py]", "/nowhere/a.py: cannot be read"),
    ],
)
def test_what_is_refused_says_why(setting: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_config(settings=[setting])
    assert caught.value.exit_code == 2


def test_a_setting_below_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="population is 4 and has no settings"):
        load_config(settings=["population=4", "population.x=1"])
    for text, message in (("- 1\n", "found list"), ("a: [", "neither YAML nor JSON"), ("\udcff", "UTF-8")):
        file = tmp_path / "bad.yaml"
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(UsageError, match=message):
            load_config(file)
    with pytest.raises(UsageError, match="cannot be read"):
        load_config(tmp_path / "missing.yaml")
    (tmp_path / "empty.yaml").write_text("")
    assert load_config(tmp_path / "empty.yaml").plan("x") == SearchPlan(search_id="x")


def test_debug_changes_defaults_and_nothing_that_is_said(tmp_path: Path) -> None:
    plan = load_config(settings=["steps=9000"], debug=True).plan("x")
    assert (plan.population, plan.steps) == (DEBUG_BUDGET["population"], 9000)


def test_the_resolved_copy_gives_the_same_search(tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(PROGRAM)
    config = load_config(settings=["scenario=dense", "ppo.hidden=[8]", f"start_from=[{program}]", "gpus_per_trial=0.5"])
    config.save(str(tmp_path / "run"))
    program.unlink()
    saved = saved_config(str(tmp_path / "run"))
    assert config.plan("x").start_from == (PROGRAM,)
    assert saved.plan("x") == SearchPlan.from_json({**config.plan("x").to_json(), "start_from": []})
    assert saved.machine() == config.machine()
    with pytest.raises(RunError, match=r"config\.json"):
        saved_config(str(tmp_path))


def test_a_recording_is_found_again_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config(settings=["llm.spec='replay:some/run'"])
    assert config.plan("x").llm.spec == config.to_json()["llm"]["spec"] == f"replay:{tmp_path}/some/run"


@given(
    st.dictionaries(
        st.sampled_from(["population", "steps", "goal", "ppo", "llm", "scenario", "x", "start_from", "cpus"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dictionaries(st.text(), st.integers()),
    )
)
def test_whatever_it_is_given_it_is_a_plan_or_a_usage_error(values: dict[str, object]) -> None:
    try:
        plan = SearchConfig(values).plan("x")
    except UsageError:
        return
    assert SearchPlan.from_json(plan.to_json()) == plan


def test_a_starting_program_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text('def compute_reward(state):\n    return state["overtake"]\n')
    with pytest.raises(UsageError, match=r'mine\.py, line 2: E_KEY: .*state\["overtook"\]'):
        load_config(settings=[f"start_from=[{program}]"])

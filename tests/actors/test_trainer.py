import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import ray
import small_trials
import torch
from ray import tune
from ray.rllib.core.columns import Columns
from small_trials import BREAKS_AT_A_CRASH, ROAD, SETTINGS, SHAPED, Desk, assignment

from actors.advantages import ReturnScale
from actors.evaluator import PolicyDriver, evaluate
from actors.fitness import fitness
from actors.outcome import Delivery, Outcome
from actors.policy import Policy, observation_scaling
from actors.rollout import first_training_seed
from actors.trainer import CandidateTrainer, train_candidate
from actors.training import Training
from driving.drivers import run_episodes
from driving.film import Film
from driving.vector_env import HighwayVectorEnv
from search_spaces.errors import UsageError
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import SELECTION, Scenario


def timeless(outcome: Outcome, candidate_id: str = "same") -> Outcome:
    """Drop what may differ between two runs of one assignment: names and seconds."""
    return replace(outcome, candidate_id=candidate_id, wall_s=0.0)


@pytest.fixture(scope="module")
def first() -> Iterator[Delivery]:
    """The first trial of this process, which starts a Ray without workers."""
    ray.shutdown()
    yield train_candidate(assignment())
    ray.shutdown()


def test_a_trial_delivers_measures_curve_traces_and_policy(first):
    outcome = first.outcome
    assert (outcome.status, outcome.reason, outcome.env_steps) == ("trained", "", 2048)
    assert outcome.metrics["episodes"] == 20
    assert 0.0 <= outcome.metrics["crash_rate"] <= 1.0
    assert {point.component for point in outcome.traces} == {"progress", "crash", "total", "residual"}
    last = {point.component: point for point in outcome.traces if point.steps == 2048}
    assert last["residual"].mean == pytest.approx(-0.1)
    assert last["total"].mean == pytest.approx(last["progress"].mean + last["crash"].mean - 0.1)
    assert last["crash"].low in (-2.0, 0.0)
    assert outcome.curve[-1].steps == 2048
    assert all(point.own_return != point.native_return for point in outcome.curve)
    assert first.film is None
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_the_delivered_policy_drives_the_measured_episodes_again(first):
    policy = Policy.from_bytes(first.policy)
    metrics, _ = evaluate(PolicyDriver(policy), ROAD, 20)
    assert metrics == dict(first.outcome.metrics)


def test_the_film_shows_the_first_held_out_episode(first, tmp_path):
    delivery = train_candidate(assignment(film=True, steps=512))
    assert delivery.film is not None
    _, table = evaluate(PolicyDriver(Policy.from_bytes(delivery.policy)), ROAD, 1)
    path = tmp_path / "episode.mp4"
    path.write_bytes(delivery.film)
    with Film.open(path) as film:
        frames = sum(1 for _ in film.pictures())
    assert frames == table.columns["decisions"][0] * ROAD.frames_per_decision + 1


def test_an_assignment_has_one_outcome_whatever_the_process_did_before(first):
    other = train_candidate(assignment(seed=5))
    faulted = train_candidate(assignment(source=BREAKS_AT_A_CRASH))
    with pytest.raises(UsageError, match="refused"):
        train_candidate(assignment(source="def compute_reward(state): return state['sped_ms']"))
    np.random.seed(1)
    torch.manual_seed(1)
    again = train_candidate(assignment())
    assert other.policy != first.policy
    assert faulted.outcome.status == "faulted"
    assert again.policy == first.policy
    assert timeless(again.outcome) == timeless(first.outcome)


def test_training_leaves_the_random_state_of_the_process_alone(first):
    torch.manual_seed(11)
    np.random.seed(11)
    expected = torch.rand(3).tolist(), np.random.random(3).tolist()
    torch.manual_seed(11)
    np.random.seed(11)
    train_candidate(assignment(steps=512))
    assert (torch.rand(3).tolist(), np.random.random(3).tolist()) == expected


def test_a_reward_and_its_multiple_train_the_same_policy(first):
    doubled = train_candidate(assignment(source=SHAPED.format(scale="64.0")))
    halved = train_candidate(assignment(source=SHAPED.format(scale="0.015625")))
    assert doubled.policy == halved.policy == first.policy
    assert doubled.outcome.metrics == first.outcome.metrics
    assert doubled.outcome.curve[-1].own_return == 64 * first.outcome.curve[-1].own_return
    for scale in ("0.01", "100.0"):
        near = Policy.from_bytes(train_candidate(assignment(source=SHAPED.format(scale=scale))).policy)
        for mine, its in zip(Policy.from_bytes(first.policy).weights, near.weights, strict=True):
            assert mine == pytest.approx(its, abs=1e-3)


def test_without_return_normalisation_the_scale_of_a_reward_matters(first):
    raw = replace(SETTINGS, normalise_returns=False)
    one = train_candidate(assignment(ppo=raw))
    other = train_candidate(assignment(ppo=raw, source=SHAPED.format(scale="64.0")))
    assert one.policy != other.policy


def test_a_reward_that_is_not_finite_ends_the_candidate_and_names_the_state(first):
    delivery = train_candidate(assignment(source=BREAKS_AT_A_CRASH))
    outcome = delivery.outcome
    assert outcome.status == "faulted"
    assert "1.0 / (1.0 - " in outcome.reason
    assert "collided=1" in outcome.reason
    assert "speed_ms=" in outcome.reason
    assert "ttc" not in outcome.reason
    assert outcome.env_steps < 2048
    assert (delivery.policy, delivery.film, dict(outcome.metrics)) == (None, None, {})


@pytest.mark.parametrize("learning_rate", [1e20, 3e37])
def test_a_training_that_diverges_fails_and_says_so(first, learning_rate):
    delivery = train_candidate(assignment(ppo=replace(SETTINGS, learning_rate=learning_rate)))
    assert delivery.outcome.status == "failed"
    assert "training diverged after" in delivery.outcome.reason
    assert delivery.policy is None


def test_the_delivered_weights_are_means_over_the_last_batches(first):
    averaged = assignment(ppo=replace(SETTINGS, averaging=0.5))
    batches = averaged.ppo.averaged_batches(averaged.steps)
    assert batches > 1
    networks = []
    with Training(averaged) as training:
        while not training.finished:
            training.advance()
            networks.append({name: array.copy() for name, array in training.runner.module.get_state().items()})
        policy = training.policy()
    assert len(networks) == 2 * batches
    expected = np.mean([each["pi.net.mlp.0.weight"].T for each in networks[-batches:]], axis=0)
    assert policy.weights[-1] == pytest.approx(expected, abs=1e-7)
    assert np.abs(policy.weights[-1] - networks[-1]["pi.net.mlp.0.weight"].T).max() > 1e-5


def test_averaging_leaves_the_training_alone(first):
    raw = train_candidate(assignment(ppo=replace(SETTINGS, averaging=0.0))).outcome
    averaged = train_candidate(assignment(ppo=replace(SETTINGS, averaging=0.5))).outcome
    assert raw.curve == averaged.curve
    assert raw.traces == averaged.traces


def test_native_reward_is_highway_envs_own(first):
    outcome = train_candidate(assignment(source=None)).outcome
    assert outcome.status == "trained"
    assert {point.component for point in outcome.traces} == {"total"}
    assert all(point.own_return == point.native_return for point in outcome.curve)
    assert all(0.0 <= point.low <= point.high <= 1.0 for point in outcome.traces)


def test_the_exported_policy_acts_as_the_trained_network(first):
    with Training(assignment()) as training:
        while not training.finished:
            training.advance()
        assert training.device == "cpu"
        policy = training.policy()
        network = training.runner.module
        differing, total, tables = 0, 0, []

        def as_trained(observations: np.ndarray) -> np.ndarray:
            nonlocal differing, total
            scaled = torch.from_numpy(observations * policy.factor + policy.offset)
            with torch.no_grad():
                logits = network.forward_inference({Columns.OBS: scaled})[Columns.ACTION_DIST_INPUTS]
            assert policy.logits(observations) == pytest.approx(logits.numpy(), abs=1e-4)
            actions = logits.argmax(-1).numpy()
            differing += int((actions != policy.act(observations)).sum())
            total += len(actions)
            return actions

        seeds = SELECTION.seeds(100)
        tables = [run_episodes(ROAD, seeds, driver) for driver in (as_trained, PolicyDriver(policy))]
    assert (differing, total) == (0, 1000)
    for name, column in tables[0].columns.items():
        assert np.array_equal(column, tables[1].columns[name]), name


def test_a_rollout_is_what_the_road_did(first):
    """Replays the actions of a rollout in an environment of its own and compares all that PPO learns from."""
    short = Scenario(vehicles=12, duration=5)
    settings = replace(SETTINGS, environments=32, batch=32 * 30)
    with Training(assignment(source=None, scenario=short, ppo=settings)) as training:
        (fragment,) = training.runner.sample()
    factor, offset = observation_scaling(True)
    env = HighwayVectorEnv(32, short)
    observation, _ = env.reset(seed=first_training_seed(4, 32))
    rewards, finals = [], []
    for row, actions in enumerate(fragment.actions.numpy()):
        assert np.array_equal(fragment.observations[row].numpy(), observation * factor + offset)
        observation, reward, crashed, out_of_time, info = env.step(actions)
        rewards.append(reward)
        assert np.array_equal(fragment.terminated[row], crashed)
        assert np.array_equal(fragment.truncated[row], out_of_time)
        for index, final in zip(info.get("final_index", ()), info.get("final_obs", ()), strict=True):
            if not crashed[index]:
                finals.append(final * factor + offset)
    assert np.array_equal(fragment.observations[30].numpy(), observation * factor + offset)
    assert np.array_equal(fragment.final_observations.numpy(), np.array(finals))
    assert len(finals) > 10
    assert fragment.terminated.any()
    scaled = ReturnScale(32, settings.discount).normalise(np.array(rewards), fragment.terminated | fragment.truncated)
    assert np.array_equal(fragment.rewards, scaled.astype(np.float32))
    chosen = torch.log_softmax(fragment.logits, -1).gather(-1, fragment.actions[..., None])[..., 0]
    assert torch.equal(fragment.log_probabilities, chosen)


def test_progress_is_told_and_may_end_the_training(first):
    seen: list[int] = []

    def watch(steps: int, steps_per_s: float) -> None:
        assert steps_per_s > 0
        seen.append(steps)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_candidate(assignment(), watch)
    assert seen == [512, 1024]
    assert train_candidate(assignment()).policy == first.policy


def test_measuring_on_the_way_changes_nothing(first):
    seen = []
    measured = train_candidate(assignment(rungs=(1, 600, 700, 2048)), on_rung=seen.append)
    assert measured.policy == first.policy
    assert timeless(replace(measured.outcome, rungs=())) == timeless(first.outcome)
    assert [point.steps for point in measured.outcome.rungs] == [512, 1024]
    assert tuple(seen) == measured.outcome.rungs


def test_a_rung_is_what_a_training_of_that_length_ends_with(first):
    (point,) = train_candidate(assignment(rungs=(1024,))).outcome.rungs
    metrics = train_candidate(assignment(steps=1024)).outcome.metrics
    judged = fitness(metrics)
    assert (point.steps, point.native_return, point.crash_rate) == (
        1024,
        metrics["native_return"],
        metrics["crash_rate"],
    )
    assert point.fitness == (judged.value if judged else None)


def test_a_stopped_trial_delivers_what_it_was_at_the_rung(first):
    stopped = train_candidate(assignment(rungs=(512, 1024), film=True), on_rung=lambda point: f"at {point.steps}")
    short = train_candidate(assignment(steps=512))
    assert (stopped.outcome.status, stopped.outcome.reason) == ("stopped", "at 512")
    assert stopped.outcome.env_steps == 512
    assert len(stopped.outcome.rungs) == 1
    assert stopped.policy == short.policy
    assert stopped.outcome.metrics == short.outcome.metrics
    assert stopped.film is None


@pytest.mark.gpu
def test_a_trial_learns_on_the_gpu_that_it_is_given(first):
    ray.shutdown()
    ray.init(address="local", num_cpus=1, num_gpus=1, include_dashboard=False, log_to_driver=False)
    ray.cloudpickle.register_pickle_by_value(small_trials)

    @ray.remote(num_cpus=1, num_gpus=0.5)
    def trial() -> tuple[str, Delivery]:
        with Training(assignment()) as training:
            while not training.finished:
                training.advance()
            return training.device, training.outcome()

    (device, one), (_, other) = ray.get([trial.remote(), trial.remote()])
    assert device.startswith("cuda")
    assert one.outcome.status == "trained"
    assert one.policy == other.policy


def test_trials_leave_no_folders_behind(first):
    with Training(assignment()) as training:
        folder = Path(training.folder)
        assert folder.is_dir()
    assert not folder.exists()


def test_the_reward_makes_a_driver(first):
    """Learning itself: 20 000 steps under a reward for speed drive faster than under one for slowness."""
    settings = PPOSettings(environments=64, batch=2048, minibatch=512, epochs=4)
    slow = "def compute_reward(state):\n    return 1.0 - state['speed_ms'] / 30.0"
    fast = "def compute_reward(state):\n    return state['speed_ms'] / 10.0 - 2.0"
    metrics = [
        train_candidate(assignment(source=source, ppo=settings, steps=20_000, held_out=50)).outcome.metrics
        for source in (slow, fast)
    ]
    assert metrics[0]["speed_ms"] < 22
    assert metrics[1]["speed_ms"] > 25


def test_under_tune_a_reused_worker_delivers_the_same_and_survives_its_coordinators_death(first, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AIR_NEW_OUTPUT", "0")
    monkeypatch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    ray.shutdown()
    ray.init(address="local", num_cpus=1, include_dashboard=False, namespace="test", log_to_driver=False)
    ray.cloudpickle.register_pickle_by_value(small_trials)
    actor = ray.remote(Desk).options(name="desk", num_cpus=0, max_restarts=1).remote(str(tmp_path))
    names = [f"g00-c{number:02d}" for number in range(6)]
    grid = tune.Tuner(
        tune.with_resources(CandidateTrainer, {"cpu": 1}),
        param_space={"candidate": tune.grid_search(names), "coordinator": "desk", "namespace": "test"},
        tune_config=tune.TuneConfig(reuse_actors=True, max_concurrent_trials=1),
        run_config=tune.RunConfig(
            storage_path=str(tmp_path / "tune"),
            verbose=0,
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
        ),
    ).fit()
    del actor
    assert grid.num_errors == 0
    assert len({result.metrics["pid"] for result in grid}) == 1, "the worker is not reused"
    assert all(result.metrics["done"] for result in grid)
    outcomes = {name: Outcome.from_json(json.loads((tmp_path / f"{name}.json").read_text())) for name in names}
    statuses = [outcomes[name].status for name in names]
    assert statuses == ["trained", "trained", "faulted", "failed", "trained", "stopped"]
    assert "UsageError" in outcomes["g00-c03"].reason
    assert (tmp_path / "crashed").exists()
    assert (tmp_path / "g00-c00.progress").exists()
    for name in ("g00-c00", "g00-c04"):
        assert (tmp_path / f"{name}.npz").read_bytes() == first.policy
        assert timeless(replace(outcomes[name], rungs=())) == timeless(first.outcome)
    assert [point.steps for point in outcomes["g00-c04"].rungs] == [512, 1024]
    assert (outcomes["g00-c05"].env_steps, outcomes["g00-c05"].reason) == (1024, "enough")
    assert Policy.from_bytes((tmp_path / "g00-c05.npz").read_bytes())
    assert (tmp_path / "g00-c01.npz").read_bytes() != first.policy

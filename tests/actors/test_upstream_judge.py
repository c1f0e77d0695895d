import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from actors.evaluator import PolicyDriver
from actors.upstream_child import Errand
from actors.upstream_comparison import BothWays, Replay, compared, differences
from actors.upstream_judge import UpstreamJudge
from driving.drivers import driver_named, run_episodes
from driving.measures import EpisodeTable
from driving.probe import DISABLED_FEATURES
from search_spaces.errors import MachineError
from search_spaces.scenarios import REPORT, Scenario
from tests.policies import drawn_policy

SHORT = Scenario(duration=6)
SEEDS = REPORT.seeds(6)
ENDLESS = Scenario(duration=600, vehicles=60)


@pytest.fixture(scope="module")
def table() -> EpisodeTable:
    return run_episodes(SHORT, SEEDS, driver_named("random"))


def changed(table: EpisodeTable, name: str, row: int) -> EpisodeTable:
    """The same episodes with the last bit of one number flipped."""
    column = table.columns[name].copy()
    column[row] = np.nextafter(column[row], np.inf)
    return EpisodeTable(table.seeds, {**table.columns, name: column}, table.histograms)


def test_a_policy_drives_the_same_episodes_in_highway_env_bit_for_bit() -> None:
    policy = drawn_policy(1, leaning=3, strength=0.1)
    both = UpstreamJudge().drive(policy.to_bytes(), SHORT, SEEDS)
    assert both is not None
    delivered = run_episodes(SHORT, REPORT.seeds(9), PolicyDriver(policy))
    replay = compared("champion-r0", both, delivered)
    assert both.kernel.seeds.tolist() == list(SEEDS)
    assert 0 < both.upstream.columns["crashed"].sum() < len(SEEDS), "neither all nor none should crash"
    assert replay.redelivered == 0
    if replay.maths_equal:
        assert (replay.differing, replay.broken) == ((), False)
        assert replay.sentence() == "6 of 6 report episodes of champion-r0 are identical in highway-env"
    else:
        assert not replay.broken
        assert "no verdict" in replay.sentence()
    assert Replay.from_json(replay.to_json()) == replay


@pytest.mark.parametrize("name", ["crashed", "decisions", "native_return", "jerk_squares"])
def test_one_bit_in_one_episode_is_a_difference(table: EpisodeTable, name: str) -> None:
    wrong = changed(table, name, 4)
    (found,) = differences(table, wrong)
    assert found.seed == SEEDS[4]
    assert list(found.kernel) == [name]
    assert found.kernel[name] != found.upstream[name]
    assert differences(table, table) == ()


def test_a_histogram_that_differs_is_a_difference(table: EpisodeTable) -> None:
    counts = table.histograms["ttc"].copy()
    counts[2, :2] += (1, -1)
    wrong = EpisodeTable(table.seeds, table.columns, {**table.histograms, "ttc": counts})
    (found,) = differences(table, wrong)
    assert (found.seed, list(found.kernel)) == (SEEDS[2], ["ttc"])


def test_only_where_the_maths_are_equal_a_difference_breaks_the_verdict(table: EpisodeTable) -> None:
    wrong = changed(table, "native_return", 0)
    sure = compared("c", BothWays(table, wrong, ()))
    unsure = compared("c", BothWays(table, wrong, ("tan",)))
    assert (sure.broken, unsure.broken) == (True, False)
    assert sure.sentence().startswith(
        f"5 of 6 report episodes of c are identical in highway-env; episode {SEEDS[0]}: native_return"
    )
    assert "NumPy's tan round differently" in unsure.sentence()
    assert not compared("c", BothWays(table, table, ())).broken


def test_what_a_trial_delivered_is_compared_by_seed(table: EpisodeTable) -> None:
    order = np.array([3, 1, 0, 2, 5, 4])
    both = BothWays(table, table, ())
    assert compared("c", both, table.take(order)).redelivered == 0
    assert compared("c", both, table.take(order[:2])).redelivered == 0, "a trial may have measured fewer"
    told = compared("c", both, changed(table, "distance_m", 1).take(order))
    assert told.redelivered == 1
    assert "1 of them differ from what the trial delivered" in told.sentence()


def test_closing_ends_the_children_and_gives_no_verdict() -> None:
    judge = UpstreamJudge(processes=1)
    threading.Timer(1.0, judge.close).start()
    began = time.monotonic()
    assert judge.drive("slower", ENDLESS, SEEDS) is None
    assert time.monotonic() - began < 20
    assert judge.drive("slower", SHORT, SEEDS) is None


def test_a_child_that_fails_says_why() -> None:
    with pytest.raises(MachineError, match=r"died without an answer: policy: not a policy\.npz"):
        UpstreamJudge().drive(b"no policy", SHORT, SEEDS[:1])


def test_a_child_ends_when_nobody_waits_for_it() -> None:
    """Should this process be killed, its children notice at their next decision."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "actors.upstream_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "NPY_DISABLE_CPU_FEATURES": DISABLED_FEATURES,
        },
    )
    errand = Errand(scenario=ENDLESS, seeds=(SEEDS[0],), driver="slower")
    out, words = child.communicate(json.dumps(errand.to_json()).encode() + b"\n", timeout=100)
    assert (child.returncode, out) == (1, b"")
    assert b"nobody waits" in words

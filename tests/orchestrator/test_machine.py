import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.machine import SETTINGS, Machine, nodes_to_come, refuse_too_large, start_ray
from search_spaces.errors import MachineError


def node(alive: bool = True, **resources: float) -> dict[str, object]:
    return {"Alive": alive, "Resources": resources}


def test_counts_how_many_trials_run_together() -> None:
    two = [node(CPU=2.0), node(CPU=1.0, GPU=1.0), node(memory=1e9), node(alive=False, CPU=64.0)]
    assert refuse_too_large({"CPU": 1.0}, 8, two) == 3
    assert refuse_too_large({"CPU": 1.0}, 2, two) == 2
    assert refuse_too_large({"CPU": 1.0, "GPU": 0.25}, 8, two) == 1
    assert refuse_too_large({"CPU": 1.0, "GPU": 0.1}, 20, [node(CPU=64.0, GPU=1.0)]) == 10


def test_shows_the_sum_of_what_cannot_be_held() -> None:
    # There are a CPU and a GPU, but not together on one node.
    apart = [node(CPU=1.0), node(GPU=1.0)]
    with pytest.raises(MachineError, match=r"4 trials need 4 CPU, 2 GPU in all, 2 node.s. hold 1 CPU, 1 GPU"):
        refuse_too_large(Machine(gpus_per_trial=0.5).per_trial, 4, apart)
    with pytest.raises(MachineError, match="0 node"):
        refuse_too_large({"CPU": 1.0}, 4, [])


def test_an_address_where_nothing_is_says_what_to_do() -> None:
    environ: dict[str, str] = {"RAY_AIR_NEW_OUTPUT": "1"}
    with pytest.raises(MachineError, match=r"is a Ray running at 127\.0\.0\.1:1\?"):
        start_ray(Machine(address="127.0.0.1:1"), environ)
    assert environ == {**SETTINGS, "RAY_AIR_NEW_OUTPUT": "1"}


def test_nodes_that_an_autoscaler_may_start_count(tmp_path: Path) -> None:
    config = tmp_path / "ray_bootstrap_config.yaml"
    assert nodes_to_come(config) == []
    config.write_text(
        "max_workers: 3\nhead_node_type: head\navailable_node_types:\n"
        "  head: {resources: {CPU: 0}, max_workers: 0}\n"
        "  big: {resources: {CPU: 8, GPU: 1}, max_workers: 2}\n"
        "  small: {resources: {CPU: 2}}\n"
    )
    found = nodes_to_come(config)
    assert sorted(each["Resources"]["CPU"] for each in found) == [2, 2, 2, 8, 8]
    assert refuse_too_large(Machine(gpus_per_trial=0.25).per_trial, 20, [node(CPU=0.0), *found]) == 8
    config.write_text("[]")
    with pytest.raises(MachineError, match="expected the configuration of a Ray cluster"):
        nodes_to_come(config)


TERMINATED = """
import os, signal, ray
from orchestrator.machine import Machine, start_ray
signal.signal(signal.SIGTERM, signal.default_int_handler)
start_ray(Machine(cpus=0))
try:
    os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    print("asked to end")
finally:
    ray.shutdown()
"""


def test_a_request_to_end_is_still_heard_once_ray_runs() -> None:
    ended = subprocess.run([sys.executable, "-c", TERMINATED], capture_output=True, text=True, timeout=90, check=False)
    assert (ended.returncode, ended.stdout) == (0, "asked to end\n"), ended.stderr

import re
from pathlib import Path

import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

from orchestrator.cluster import head_command
from search_spaces.errors import UsageError

CLUSTER = Path(__file__).parents[2] / "cluster.yaml"


def cluster() -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load(CLUSTER.read_text())
    return loaded


def test_the_cluster_file_is_valid_for_ray() -> None:
    prepared = prepare_config(cluster())
    validate_config(prepared)
    types = prepared["available_node_types"]
    assert types["head"]["max_workers"] == 0
    assert types["worker"]["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}


def test_the_cluster_file_installs_the_project_on_every_node() -> None:
    prepared = prepare_config(cluster())
    (mounted,) = prepared["file_mounts"]
    for kind in ("head_setup_commands", "worker_setup_commands"):
        assert any(
            "pip install" in command and "~/reward-orchestrator " in f"{command} " for command in prepared[kind]
        ), kind
    assert mounted == "/home/ubuntu/reward-orchestrator"


def test_no_trial_runs_on_the_head_and_nothing_listens_beyond_loopback() -> None:
    started = "\n".join(prepare_config(cluster())["head_start_ray_commands"])
    assert "--num-cpus=0" in started
    assert set(re.findall(r"--(?:dashboard-)?host[= ](\S+)", started)) == {"127.0.0.1"}


def test_the_cluster_file_holds_no_secret() -> None:
    text = CLUSTER.read_text()
    assert not re.search(r"(gsk_|sk-|AKIA)[A-Za-z0-9]{8,}|BEGIN [A-Z ]*PRIVATE KEY", text)
    assert "RAY_AUTH_MODE=token" in text


def test_a_command_for_the_head_leaves_the_cluster_file_here_and_takes_input_files_along(tmp_path: Path) -> None:
    config, keys, program = tmp_path / "my config.yaml", tmp_path / "keys", tmp_path / "p.py"
    for path in (config, keys, program):
        path.write_text("x")
    typed = ["--cluster", "cluster.yaml", "--population", "8", "--goal", "drive; rm -rf ~", f"--config={config}"]
    command = head_command([*typed, "--keys", str(keys), "--start-from", str(program)])
    assert command.arguments == (
        *("--population", "8", "--goal", "drive; rm -rf ~", "--config", "~/orchestrate-inputs/0"),
        *("--keys", "~/orchestrate-inputs/1", "--start-from", "~/orchestrate-inputs/2"),
    )
    assert [path for path, _ in command.uploads] == [config, keys, program]
    assert command.line().startswith("orchestrate --population 8 --goal 'drive; rm -rf ~' --config ~/orchestrate")


@pytest.mark.parametrize("argument", ["--local", "--address", "--debug"])
def test_a_command_for_the_head_runs_on_the_cluster_alone(argument: str) -> None:
    with pytest.raises(UsageError, match=f"leave {argument} out"):
        head_command(["--cluster", "cluster.yaml", argument])


def test_a_file_that_is_missing_here_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match="no file here"):
        head_command(["--cluster", "cluster.yaml", "--keys", "nowhere"])

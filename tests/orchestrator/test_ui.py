import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient

from orchestrator import ui
from search_spaces.errors import MachineError
from tests.orchestrator.journals import Script


def test_ui_serves_the_run_on_loopback_and_leaves_nothing_behind(root: Path) -> None:
    script = Script(root / "looked-at")
    script.start(search_id="looked-at")
    script.accept("g00-c00", 0)
    script.close()
    port = ui.free_port(None)
    command = [sys.executable, "-c", "from orchestrator.cli import main; main()", "ui", str(root / "looked-at")]
    keys = {"GROQ_API_KEY": "gsk_0123456789abcdef"}
    child = subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.PIPE, text=True, env={**os.environ, **keys}
    )
    assert child.stdout is not None
    with child:
        link = child.stdout.readline()
        assert link.startswith(f"http://127.0.0.1:{port}/#/experiments/")
        assert "viewStateShareKey=looked-at" in link
        experiment = re.findall(r"experiments/(\d+)", link)
        found = MlflowClient(f"http://127.0.0.1:{port}").search_runs(experiment, "tags.search_id = 'looked-at'")
        assert {run.info.run_name for run in found} == {"looked-at", "g00-c00"}
        (server,) = [int(each) for each in Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()]
        environment = Path(f"/proc/{server}/environ").read_bytes().split(b"\0")
        assert b"MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false" in environment
        assert b"MLFLOW_DISABLE_TELEMETRY=true" in environment
        assert not any(b"gsk_" in each for each in environment)
        group = os.getpgid(server)
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="ended at once"), ui.server("nonsense://", ui.free_port(None)):
        pass


def test_a_port_that_is_taken_is_refused_when_it_was_asked_for() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(MachineError, match="is taken"):
            ui.free_port(port)
    assert ui.free_port(port) == port


def test_a_tracking_server_needs_no_server_of_its_own() -> None:
    assert ui.is_server("http://127.0.0.1:5000")
    assert not ui.is_server("sqlite:////tmp/mlflow.db")

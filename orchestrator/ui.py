"""The MLflow server on loopback, and the link to a search in it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from orchestrator.console import plain
from search_spaces.errors import MachineError

PORT = 5000
"""Port that is tried first; MLflow's own default."""

_START_S = 60.0
_POLL_S = 0.2
_STOP_S = 10.0


def is_server(uri: str) -> bool:
    """Return whether a tracking address is a running server rather than a store that needs one."""
    return uri.startswith(("http://", "https://", "databricks"))


def free_port(wanted: int | None) -> int:
    """Return a loopback port to listen on.

    Args:
        wanted: A port that it must be; None: `PORT`, or any free one if that is taken.

    Raises:
        MachineError: The wanted port is taken.
    """
    for port in (wanted,) if wanted is not None else (PORT, 0):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(listener.getsockname()[1])
    raise MachineError(f"port {wanted} of 127.0.0.1 is taken; name another with --port, or leave it out")


@contextmanager
def server(uri: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run an MLflow server over a store on 127.0.0.1 until the block ends.

    Its job processes (2 GB that outlive it) and its telemetry are switched off.

    Args:
        uri: The store.
        port: Port to listen on.

    Raises:
        MachineError: It does not come up.
    """
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", "1", "--backend-store-uri", uri]
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(
            command,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait_until_up(child, port, log)
            yield child
        finally:
            _stop(child)


def _environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the server's environment: no telemetry, no job processes, no LLM keys, no other store."""
    kept = {name: value for name, value in inherited.items() if not name.endswith("_API_KEY")}
    kept.pop("MLFLOW_TRACKING_URI", None)
    return kept | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


def _wait_until_up(child: subprocess.Popen[bytes], port: int, log: IO[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if child.poll() is not None:
            log.seek(0)
            said = plain(log.read().decode(errors="replace")[-2000:], lines=True)
            raise MachineError(f"the MLflow server ended at once (exit code {child.returncode}): {said}")
        with socket.socket() as probe:
            probe.settimeout(_POLL_S)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(_POLL_S)
    raise MachineError(f"the MLflow server did not answer on 127.0.0.1:{port} within {_START_S:.0f} s")


def _stop(child: subprocess.Popen[bytes]) -> None:
    """End the server and its workers, which form a process group of their own."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, how)
        except ProcessLookupError:
            break
        try:
            child.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            continue
        break

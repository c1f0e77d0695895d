"""`--cluster FILE`: the same command, typed on the head of a cluster that `ray up FILE` started."""

import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from search_spaces.errors import MachineError, UsageError

MLFLOW_PORT = 5000
"""Port of the MLflow server that `cluster.yaml` starts on the head; forwarded to the same port here."""

_INPUTS = "~/orchestrate-inputs"
_FILE_OPTIONS = ("--config", "--keys", "--start-from")
_CLUSTER_OPTION = "--cluster"


@dataclass(frozen=True, slots=True)
class HeadCommand:
    """A command for the head and the local files that it reads.

    Attributes:
        uploads: Local file to its place on the head.
        arguments: Arguments of `orchestrate` there.
    """

    uploads: tuple[tuple[Path, str], ...]
    arguments: tuple[str, ...]

    def line(self) -> str:
        """Return the command as the head's shell takes it."""
        places = {place for _, place in self.uploads}
        # The shell there has to expand the `~` of an upload's place, which holds nothing that needs quotes.
        quoted = (each if each in places else shlex.quote(each) for each in self.arguments)
        return " ".join(["orchestrate", *quoted])


def head_command(arguments: Sequence[str]) -> HeadCommand:
    """Return what to type on the head for a command line that was typed here.

    Args:
        arguments: The command line without the program's name.

    Raises:
        UsageError: It names a local file that does not exist, or this machine or another cluster as well.
    """
    kept: list[str] = []
    uploads: list[tuple[Path, str]] = []
    pending = ""
    for argument in _split(arguments):
        if pending == _CLUSTER_OPTION:
            pending = ""
        elif pending:
            kept.append(_uploaded(Path(argument), uploads))
            pending = ""
        elif argument == _CLUSTER_OPTION:
            pending = argument
        elif argument in ("--local", "--address", "--debug"):
            raise UsageError(f"--cluster runs on the cluster's own Ray; leave {argument} out")
        else:
            kept.append(argument)
            pending = argument if argument in _FILE_OPTIONS else ""
    return HeadCommand(tuple(uploads), tuple(kept))


def _split(arguments: Sequence[str]) -> list[str]:
    """Write `--option=value` of options that name files as two arguments."""
    found: list[str] = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        found += [name, value] if equals and name in (*_FILE_OPTIONS, _CLUSTER_OPTION) else [argument]
    return found


def _uploaded(path: Path, uploads: list[tuple[Path, str]]) -> str:
    if not path.is_file():
        raise UsageError(f"{path} is no file here; it would be copied to the head")
    place = f"{_INPUTS}/{len(uploads)}"
    uploads.append((path, place))
    return place


def run_on_head(cluster: Path, arguments: Sequence[str]) -> int:
    """Type a command on the head, with a terminal, and forward MLflow's port until it ends.

    Args:
        cluster: The file that `ray up` was given.
        arguments: The command line that was typed here.

    Returns:
        0 when the command ended well, else 1: Ray keeps no more of its exit code.

    Raises:
        UsageError: See `head_command`.
        MachineError: MLflow's port is taken here, or a file cannot be copied to the head.
    """
    if not cluster.is_file():
        raise UsageError(f"--cluster {cluster}: no such file; it is the one that `ray up` was given")
    command = head_command(arguments)
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", MLFLOW_PORT)) == 0:
            raise MachineError(f"port {MLFLOW_PORT} of this machine is taken; MLflow's on the head is forwarded to it")
    ray = str(Path(sys.executable).with_name("ray"))
    if command.uploads:
        _run([ray, "exec", str(cluster), f"mkdir -p {_INPUTS}"])
    for path, place in command.uploads:
        _run([ray, "rsync-up", str(cluster), str(path), place])
    typed = "orchestrate " + " ".join(_quoted(each) for each in command.arguments)
    return subprocess.run(
        [ray, "exec", str(cluster), "--port-forward", str(MLFLOW_PORT), typed], check=False
    ).returncode


def _quoted(argument: str) -> str:
    """Quote for the head's shell; the folder of uploads begins with a `~` that it must expand."""
    return argument if argument.startswith(f"{_INPUTS}/") and " " not in argument else shlex.quote(argument)


def _run(command: list[str]) -> None:
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
        raise MachineError(f"{shlex.join(command)} failed; is the cluster up? `ray up` starts it")

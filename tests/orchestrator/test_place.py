import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import place
from orchestrator.place import find_place
from search_spaces.errors import UsageError


@pytest.fixture
def listening() -> Iterator[str]:
    """An address at which something answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str | None) -> None:
    """Put the file there in which `ray start` writes its address."""
    if address is not None:
        (tmp_path / "ray_current_cluster").write_text(address)
    monkeypatch.setattr("ray._private.utils.get_ray_address_file", lambda _: str(tmp_path / "ray_current_cluster"))


def test_what_was_asked_for_comes_before_what_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listening: str
) -> None:
    left_behind(monkeypatch, tmp_path, listening)
    environ = {"RAY_ADDRESS": "10.0.0.1:6379"}
    assert find_place(True, None, environ).address == place.LOCAL
    assert find_place(False, "10.0.0.2:6379", environ).address == "10.0.0.2:6379"
    assert find_place(False, None, environ).address == "10.0.0.1:6379"
    assert find_place(False, None, {}).address == listening
    assert "RAY_ADDRESS" in find_place(False, None, environ).sentence


@pytest.mark.parametrize("address", [None, "", "127.0.0.1:1", "nonsense"])
def test_without_a_ray_that_answers_the_search_starts_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str | None
) -> None:
    left_behind(monkeypatch, tmp_path, address)
    found = find_place(False, None, {})
    assert found.address == place.LOCAL
    assert "this machine alone" in found.sentence


def test_ray_client_is_refused() -> None:
    with pytest.raises(UsageError, match="type this on the head"):
        find_place(False, None, {"RAY_ADDRESS": "ray://10.0.0.1:10001"})

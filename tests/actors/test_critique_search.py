"""What detectors and a model say of a candidate, on its way through a search: journal, files, the next prompt."""

from pathlib import Path

import pytest

from actors.coordinator import Coordinator
from actors.detector_table import DETECTORS
from actors.journal import JournalReader
from actors.keys import Credentials, Secret
from actors.ledger import replay
from actors.plan import LLMSettings
from actors.storage import Storage
from search_spaces.scenarios import SELECTION
from tests.groq_server import GroqServer, Received, Response, SearchScript, answer
from tests.searches import finish, small_plan

READING = "It coasts into whoever is ahead.\n\nAGREE weaving\nDISAGREE parking: it hardly moves.\n"


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Received]]:
    """A search of two generations whose model reads every candidate the same way."""
    designs = SearchScript("10ms")

    def script(received: Received) -> Response:
        reads = "compute_reward" not in received.messages[0]["content"]
        return answer(READING) if reads else designs(received)

    run = tmp_path_factory.mktemp("search") / "run"
    plan = small_plan(population=2, held_out=4, baselines=False, llm=LLMSettings(spec="groq:m", timeout_s=10.0))
    with GroqServer(script) as server:
        coordinator = Coordinator(str(run), plan, session="s", threads=False)
        coordinator.unlock(Credentials((Secret("gsk_" + "x" * 20),), server.url))
        finish(coordinator)
        coordinator.close()
        return run, list(server.received)


def test_what_was_measured_and_said_is_in_the_journal(searched: tuple[Path, list[Received]]) -> None:
    entries = replay(JournalReader(Storage.at(searched[0]))).archive.entries()
    assert len(entries) == 4
    for entry in entries:
        critique = entry.critique
        assert critique is not None
        measured = {each.name for each in (*critique.findings, *critique.cleared)} & set(DETECTORS)
        assert measured >= {"weaving", "tailgating", "parking", "off_road_between_decisions"}
        assert all(each.seed in SELECTION.seeds(4) for each in critique.findings if each.frames)
        assert critique.comment == "It coasts into whoever is ahead."
        assert [each.detector for each in critique.disagreements] == ["parking"]


def test_both_sides_are_in_the_file_beside_the_policy(searched: tuple[Path, list[Received]]) -> None:
    text = (searched[0] / "candidates" / "g00-c00" / "critique.md").read_text()
    assert "- parking: drives below 20.5 m/s, as slowly as the car can, for" in text
    assert "> - parking: not found by its detector; the reading disagrees: it hardly moves" in text


def test_the_next_designer_is_told_of_both(searched: tuple[Path, list[Received]]) -> None:
    asked = [each.messages[1]["content"] for each in searched[1] if "Improve g00-c0" in each.messages[-1]["content"]]
    assert asked
    for prompt in asked:
        assert "> parking: not found by its detector; the reading disagrees: it hardly moves" in prompt.split("\n")

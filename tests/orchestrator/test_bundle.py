"""A run into a bundle, a bundle into programs, and programs into another search."""

import hashlib
import json
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.archive import Archive
from actors.coordinator import Coordinator
from actors.evolver import Evolver
from actors.journal import Journal
from actors.keys import Credentials, Secret
from actors.plan import IMPORTED_LIMIT, ImportedProgram, SearchPlan
from actors.protocols import DesignBrief
from actors.storage import Storage
from orchestrator.bundle.importing import Imported, import_bundle, programs_in
from orchestrator.bundle.packing import pack
from orchestrator.cli import build_app
from orchestrator.config import load_config, saved_config
from search_spaces.errors import BundleError, RunError, UsageError
from search_spaces.language import compile_program
from search_spaces.operations import MAX_COMPONENT_NAME
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS
from tests.bundles import LOUD, MP4, PROSE, packable_run, sound_members, with_manifest, write_tar
from tests.golden_files import assert_golden
from tests.groq_server import GroqServer, answer
from tests.orchestrator.journals import Script
from tests.searches import finish, small_plan


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"}).invoke(
        build_app(), list(arguments), prog_name="orchestrate"
    )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as a bundle."""
    folder = tmp_path_factory.mktemp("packed")
    return pack(packable_run(folder / "owl"), folder / "owl.tar.gz").path


@pytest.fixture(scope="module")
def imported(bundle: Path) -> Imported:
    """The same, imported."""
    return import_bundle(bundle, bundle.parent / "imported")


def contents(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as tar:
        return {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]


def test_a_bundle_holds_what_the_run_was_and_a_hash_of_each_file(bundle: Path) -> None:
    found = contents(bundle)
    manifest = json.loads(found["MANIFEST.json"])
    assert next(iter(found)) == "MANIFEST.json"
    assert manifest["members"] == {
        name: hashlib.sha256(content).hexdigest() for name, content in found.items() if name != "MANIFEST.json"
    }
    assert {"candidates.json", "summary.json", "journal.jsonl", "lock.txt", "config.json", "report.html"} <= set(found)
    assert found["candidates/g00-c00/reward_program.py"] == LOUD.encode()
    assert found["candidates/g00-c01/episode.mp4"] == MP4
    assert "candidates/g00-c01/episodes.parquet" in found
    assert "candidates/g00-c01/policy.npz" in found
    exchange = json.loads(found["exchanges/g00-a0-p00.json"])
    assert exchange["asked"]["messages"][0]["content"] == "Write a reward program."
    assert exchange["answered"]["text"] == PROSE
    assert "numpy==" in found["lock.txt"].decode()
    assert [json.loads(line)["sequence"] for line in found["journal.jsonl"].splitlines()] == list(
        range(manifest["events"])
    )
    listed = json.loads(found["candidates.json"])["candidates"][0]
    assert (listed["id"], listed["seed"], listed["status"]) == ("g00-c00", 7, "trained")
    assert "candidates/g00-c07/reward_program.py" not in found
    assert not any(name.startswith("events/") for name in found)


def test_what_does_not_belong_in_a_bundle_is_named(tmp_path: Path) -> None:
    packed = pack(packable_run(tmp_path / "owl"), tmp_path / "owl.zip", films=False)
    assert set(packed.left_out) == {"notes.pkl", *(f"candidates/g00-c0{number}/episode.mp4" for number in range(3))}
    with zipfile.ZipFile(packed.path) as archive:
        assert len(archive.namelist()) == packed.members
        assert not any(name.endswith(".mp4") for name in archive.namelist())
    assert import_bundle(packed.path, tmp_path / "out").programs


def test_the_same_moment_gives_the_same_bytes(tmp_path: Path) -> None:
    storage = packable_run(tmp_path / "owl")
    for suffix in (".tar.gz", ".zip"):
        first, second = (pack(storage, tmp_path / f"{number}{suffix}").path for number in range(2))
        assert first.read_bytes() == second.read_bytes()


def test_a_running_search_is_packed_as_it_stood(tmp_path: Path) -> None:
    storage = packable_run(tmp_path / "owl", finished=False)
    early = contents(pack(storage, tmp_path / "early.tar.gz").path)
    journal = Journal(storage)
    journal.append("search_finished", {"champion": "g00-c01"})
    # A program is stored before its candidate is accepted: a candidate without an outcome is not packed.
    storage.write("candidates/g00-c08/reward_program.py", b"")
    journal.close()
    late = contents(pack(storage, tmp_path / "late.tar.gz").path)
    manifests = [json.loads(each["MANIFEST.json"]) for each in (early, late)]
    assert [each["finished"] for each in manifests] == [False, True]
    assert manifests[0]["events"] == manifests[1]["events"] - 1
    assert set(early) == set(late)
    assert early["journal.jsonl"] == late["journal.jsonl"][: len(early["journal.jsonl"])]
    assert import_bundle(tmp_path / "early.tar.gz", tmp_path / "out").programs


def moved_run(folder: Path, moves: Sequence[str]) -> Storage:
    """A search of one candidate for each move."""
    script = Script(folder)
    script.start(population=len(moves), generations=1)
    sources = STARTING_PROGRAMS.values()
    for number, move in enumerate(moves):
        name = f"g00-c{number:02d}"
        source = next(iter(sources)).replace("-3.0", f"-{number + 2}.0")
        script.accept(name, 0, source=source, move=move)
        script.files.write(f"candidates/{name}/reward_program.py", source.encode())
        script.deliver(name)
    script.finish("g00-c00")
    script.close()
    return script.files


def test_whatever_the_evolver_did_can_be_packed_and_read_again(tmp_path: Path) -> None:
    brief = DesignBrief(archive=Archive(), generation=1, attempt=0, count=200, seed=1, examine=compile_program)
    moves = sorted({each.move for each in Evolver().propose(brief)})
    assert any("+" in move for move in moves)
    moves.append(f"without {'x' * MAX_COMPONENT_NAME}")  # what an ablation of the longest name is called
    packed = pack(moved_run(tmp_path / "owl", moves), tmp_path / "owl.tar.gz").path
    assert len(import_bundle(packed, tmp_path / "out").candidates) == len(moves)
    assert {each["move"] for each in json.loads(contents(packed)["candidates.json"])["candidates"]} == set(moves)


def test_what_no_bundle_can_hold_is_an_error_that_says_what(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"holds what a bundle cannot: move: String should match"):
        pack(moved_run(tmp_path / "owl", ["a/path"]), tmp_path / "owl.tar.gz")
    assert not (tmp_path / "owl.tar.gz").exists()


def test_bundles_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = packable_run(tmp_path / "owl")
    with pytest.raises(BundleError, match="ends in"):
        pack(storage, tmp_path / "owl.rar")
    (tmp_path / "there.zip").write_bytes(b"")
    with pytest.raises(BundleError, match="exists already"):
        pack(storage, tmp_path / "there.zip")
    with pytest.raises(BundleError, match="cannot be written"):
        pack(storage, tmp_path / "there.zip" / "owl.zip")
    with monkeypatch.context() as patch:
        patch.setattr("orchestrator.bundle.packing.TOTAL_LIMIT", 1000)
        with pytest.raises(BundleError, match="--no-films"):
            pack(storage, tmp_path / "owl.zip")
    script = Script(tmp_path / "empty")
    script.close()
    with pytest.raises(RunError, match="empty journal"):
        pack(script.files, tmp_path / "owl.zip")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty", "owl", "there.zip"]


def test_candidates_are_judged_anew(imported: Imported) -> None:
    """By their episodes the second drives best; the bundle's own figures are the same for all three."""
    assert [each.name for each in imported.candidates] == ["g00-c01", "g00-c00", "g00-c02"]
    assert [each.basis for each in imported.candidates] == ["episodes", "episodes", "metrics"]
    assert len({each.told for each in imported.candidates}) == 1
    assert imported.candidates[2].fitness == pytest.approx(imported.candidates[2].told)
    best = imported.candidates[0]
    assert best.fitness is not None
    assert best.told is not None
    assert best.fitness > best.told
    assert best.program is not None
    assert best.program.fitness == best.fitness


def test_no_word_of_a_bundle_is_left_in_its_programs(bundle: Path, imported: Imported) -> None:
    by_name = {each.name: each.source for each in imported.programs}
    assert by_name["night-owl/g00-c00"] == (
        "def compute_reward(state):\n"
        '    part = state["speed_ms"] / 30.0\n'
        '    crash = -3.0 * state["collided"]\n'
        "    total = part + crash\n"
        '    return total, {"part": part, "crash": crash}\n'
    )
    saved = (bundle.parent / "imported" / "imported.json").read_text()
    assert "ignore" not in saved.lower()
    assert programs_in(bundle.parent / "imported") == imported.programs
    assert programs_in(bundle) == imported.programs


def test_programs_that_the_language_refuses_are_left_out_and_named(tmp_path: Path) -> None:
    members = {
        **sound_members(),
        "candidates/g00-c00/reward_program.py": b"import os\ndef compute_reward(state):\n    return os.system('x')\n",
    }
    found = import_bundle(write_tar(tmp_path / "b.tar.gz", with_manifest(members)), tmp_path / "out")
    assert found.programs == ()
    assert found.candidates[0].refused.startswith("E_IMPORT")
    with pytest.raises(UsageError, match="no program that the language accepts"):
        load_config(None, (), {"archive": str(tmp_path / "out")})


def test_an_imported_folder_is_checked_again_when_it_is_used(imported: Imported, tmp_path: Path) -> None:
    programs = [
        {"name": "a/g00-c00", "source": LOUD, "fitness": 0.4},
        {"name": "a/g00-c01", "source": "def compute_reward(state):\n    return open('x')\n", "fitness": 0.5},
    ]
    (tmp_path / "imported.json").write_text(json.dumps({"format": 1, "sha256": "", "programs": programs}))
    (found,) = programs_in(tmp_path)
    assert found.name == "a/g00-c00"
    assert "ignore" not in found.source


def test_a_search_starts_from_imported_programs_and_no_word_of_the_bundle_reaches_a_prompt(
    imported: Imported, tmp_path: Path
) -> None:
    """The model is asked for the second generation too, when it is shown what was trained in the first."""
    values = small_plan(population=4, generations=2, baselines=False, replacements=0).to_json()
    llm = {"spec": "groq:m", "proposals_per_slot": 1, "repairs": 0}
    plan = SearchPlan.from_json({**values, "llm": llm, "imported": [each.to_json() for each in imported.programs]})
    with GroqServer(lambda _: answer("no program")) as server:
        coordinator = Coordinator(str(tmp_path / "run"), plan, session="s", threads=False)
        coordinator.unlock(Credentials((Secret("gsk_" + "x" * 20),), server.url))
        finish(coordinator)
        coordinator.close()
        asked = json.dumps([each.body for each in server.received])
    first = [each.candidate for each in coordinator.record.archive.entries(0)]
    # Half of the population at most, the best first.
    given = [each.source for each in first if each.origin == "imported"]
    assert given == [each.source for each in imported.programs[:2]]
    assert "g00-c00" in asked
    assert not [word for word in (PROSE, PROSE.lower(), "ignore_all", "night-owl") if word in asked]


def test_the_plan_takes_the_best_of_an_archive(tmp_path: Path) -> None:
    programs = [
        {"name": f"a/{number}", "source": f"def compute_reward(state):\n    return state['lane'] * {number}.5\n"}
        for number in range(IMPORTED_LIMIT + 5)
    ]
    values = {"format": 1, "sha256": "", "programs": [{**each, "fitness": None} for each in programs]}
    (tmp_path / "imported.json").write_text(json.dumps(values))
    config = load_config(None, (), {"archive": str(tmp_path)})
    plan = config.plan("x")
    assert len(plan.imported) == IMPORTED_LIMIT
    assert plan.imported[0].name == "a/0"
    assert isinstance(compile_program(plan.imported[0].source), RewardProgram)
    config.save(str(tmp_path / "run"))
    assert saved_config(str(tmp_path / "run")).plan("x").imported == ()
    too_many = tuple(ImportedProgram(name="a", source="b") for _ in range(IMPORTED_LIMIT + 1))
    with pytest.raises(UsageError, match="at most 50 programs"):
        small_plan(imported=too_many)


def test_commands_export_and_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    packable_run(tmp_path / "runs" / "owl")
    exported = run("export", "owl")
    assert exported.exit_code == 0
    assert (tmp_path / "owl.tar.gz").is_file()
    assert "left out notes.pkl" in exported.output
    assert "22 files in owl.tar.gz" in exported.output
    result = run("import", "owl.tar.gz")
    assert result.exit_code == 0
    assert "orchestrate --archive imports/owl" in result.output
    assert "g00-c01" in result.output
    again = run("import", "owl.tar.gz")
    assert again.exit_code == 1
    assert "exists already" in again.output


@pytest.mark.parametrize("command", ["export", "import"])
def test_help_is_as_it_was_agreed(command: str) -> None:
    text = "\n".join(line.rstrip() for line in run(command, "--help").output.splitlines()) + "\n"
    assert_golden(f"help_{command}.txt", text)

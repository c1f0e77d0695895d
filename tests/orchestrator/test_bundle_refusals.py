"""Bundles that are refused, with nothing written."""

import gzip
import io
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.episodes import to_parquet
from driving.measures import EpisodeTable
from orchestrator.bundle import members, unpacking
from orchestrator.bundle.importing import import_bundle, programs_in
from search_spaces.errors import BundleError
from tests.bundles import listing, manifest, sound_members, with_manifest, write_tar, write_zip
from tests.tables import episodes

Writer = Callable[..., Path]
WRITERS = pytest.mark.parametrize(("write", "suffix"), [(write_tar, ".tar.gz"), (write_zip, ".zip")])


def refused(bundle: Path, match: str) -> None:
    """Import into a folder beside an innocent file, and see that nothing else is there afterwards."""
    place = bundle.parent / "place"
    place.mkdir()
    with pytest.raises(BundleError, match=match):
        import_bundle(bundle, place / "out")
    assert list(place.iterdir()) == []
    assert sorted(each.name for each in bundle.parent.iterdir()) == sorted([bundle.name, "place"])


def test_the_smallest_bundle_is_accepted(tmp_path: Path) -> None:
    for number, write in enumerate((write_tar, write_zip)):
        bundle = write(tmp_path / f"{number}.bundle", with_manifest(sound_members()))
        found = import_bundle(bundle, tmp_path / f"out{number}")
        assert [each.name for each in found.programs] == ["night-owl/g00-c00"]


NAMES = [
    "/etc/passwd.txt",
    "../outside.txt",
    "candidates/../../outside.txt",
    "candidates/./x.txt",
    "./x.txt",
    "candidates//x.txt",
    "candidates\\x.txt",
    "C:/x.txt",
    "c:x.txt",
    "~/x.txt",
    "a b.txt",
    "line\nfeed.txt",
    "esc\x1b[2J.txt",
    "\u202egnp.txt",
    ".hidden.txt",
    "candidates/.hidden/x.txt",
    "a/b/c/d/e/f.txt",
    "x" * 200 + ".txt",
    "folder/",
    "CON:.txt",
]


@WRITERS
@pytest.mark.parametrize("name", NAMES)
def test_names_that_could_lead_elsewhere(tmp_path: Path, write: Writer, suffix: str, name: str) -> None:
    if write is write_tar and len(name) > 100:
        header = tarfile.TarInfo("x")
        header.type = tarfile.GNUTYPE_LONGNAME
        header.size = len(name)
        bundle = write_tar(tmp_path / "b.tar.gz", with_manifest(sound_members()), [(header, name.encode())])
    else:
        bundle = write(tmp_path / f"b{suffix}", {**with_manifest(sound_members()), name: b"text"})
    refused(bundle, "member|not a tar")


@WRITERS
@pytest.mark.parametrize("name", ["x.pkl", "x.pt", "x.so", "x.sh", "x", "x.npy", "other.npz", "x.pyc", "x.tar", "x.PY"])
def test_kinds_of_file_that_no_bundle_has(tmp_path: Path, write: Writer, suffix: str, name: str) -> None:
    refused(write(tmp_path / f"b{suffix}", with_manifest({**sound_members(), name: b"text"})), "bundles hold")


TAR_TYPES = {
    "symbolic link": tarfile.SYMTYPE,
    "hard link": tarfile.LNKTYPE,
    "device": tarfile.CHRTYPE,
    "a device": tarfile.BLKTYPE,
    "pipe": tarfile.FIFOTYPE,
    "folder": tarfile.DIRTYPE,
    "entry of type": tarfile.CONTTYPE,
    "type b'S'": tarfile.GNUTYPE_SPARSE,
    "type b'x'": tarfile.XHDTYPE,
    "type b'g'": tarfile.XGLTYPE,
    "type b'L'": tarfile.GNUTYPE_LONGNAME,
}


@pytest.mark.parametrize("what", TAR_TYPES)
def test_tar_entries_that_are_no_plain_files(tmp_path: Path, what: str) -> None:
    header = tarfile.TarInfo("candidates/g00-c00/extra.txt")
    header.type = TAR_TYPES[what]
    header.linkname = "/etc/passwd"
    refused(write_tar(tmp_path / "b.tar.gz", with_manifest(sound_members()), [(header, b"")]), what)


@pytest.mark.parametrize("mode", [0o120777, 0o040755, 0o020666, 0o010644])
def test_zip_entries_that_are_no_plain_files(tmp_path: Path, mode: int) -> None:
    info = zipfile.ZipInfo("candidates/g00-c00/extra.txt")
    info.external_attr = mode << 16
    refused(write_zip(tmp_path / "b.zip", with_manifest(sound_members()), [(info, b"/etc/passwd")]), "no plain file")


@WRITERS
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("again", ["candidates.json", "Candidates.json"])
def test_a_name_twice_on_any_system(tmp_path: Path, write: Writer, suffix: str, again: str) -> None:
    bundle = tmp_path / f"b{suffix}"
    content = sound_members()["candidates.json"]
    if write is write_zip:
        write_zip(bundle, with_manifest(sound_members()), [(zipfile.ZipInfo(again), content)])
    else:
        header = tarfile.TarInfo(again)
        header.size = len(content)
        write_tar(bundle, with_manifest(sound_members()), [(header, content)])
    refused(bundle, "twice")


@WRITERS
def test_a_file_that_is_also_a_folder(tmp_path: Path, write: Writer, suffix: str) -> None:
    refused(write(tmp_path / f"b{suffix}", {"a.txt": b"x", "a.txt/b.txt": b"y"}), "both a file and a folder")
    (tmp_path / f"b{suffix}").unlink()
    (tmp_path / "place").rmdir()
    refused(write(tmp_path / f"b{suffix}", {"a.txt/b.txt": b"y", "a.txt": b"x"}), "both a file and a folder")


def test_a_bomb_is_stopped_where_the_limit_is(tmp_path: Path) -> None:
    """Sixteen times what is allowed, from a small file; no more than the limit is ever written."""
    limit = 2**20
    content = bytes(limit)
    written = 0
    measure = unpacking._write

    def counted(*arguments: object) -> tuple[int, str]:
        nonlocal written
        size, digest = measure(*arguments)  # type: ignore[arg-type]
        written += size
        return size, digest

    many = {f"a{number}.html": content for number in range(16)}
    for number, write in enumerate((write_tar, write_zip)):
        bundle = write(tmp_path / f"{number}", many)
        assert bundle.stat().st_size < limit // 10
        written = 0
        with (
            patch.object(unpacking, "TOTAL_LIMIT", 2 * limit + 10),
            patch.object(unpacking, "_write", counted),
            pytest.raises(BundleError, match="unpacked, found more"),
        ):
            import_bundle(bundle, tmp_path / "out")
        assert written == 2 * limit
        assert not (tmp_path / "out").exists()


@WRITERS
def test_a_member_too_large_for_its_kind(tmp_path: Path, write: Writer, suffix: str) -> None:
    refused(write(tmp_path / f"b{suffix}", {"program.py": bytes(2**20 + 1)}), "at most 1048576 bytes")


def test_a_tar_header_that_lies_about_its_size(tmp_path: Path) -> None:
    header = tarfile.TarInfo("candidates/g00-c00/extra.txt")
    header.size = 8 * 2**30 - 1
    refused(
        write_tar(tmp_path / "b.tar.gz", with_manifest(sound_members()), [(header, b"short")]), "expected 8589934591"
    )
    (tmp_path / "place").rmdir()
    header.size = -1
    refused(write_tar(tmp_path / "b.tar.gz", with_manifest(sound_members()), [(header, b"")]), "a size of -1")


def test_a_zip_header_that_lies_about_its_size(tmp_path: Path) -> None:
    bundle = write_zip(tmp_path / "b.zip", {"a.html": bytes(5000)})
    content = bytearray(bundle.read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = (100).to_bytes(4, "little")
    bundle.write_bytes(content)
    refused(bundle, "damaged|expected 100 bytes")


def test_a_zip_whose_list_of_members_is_too_long(tmp_path: Path) -> None:
    bundle = write_zip(tmp_path / "b.zip", with_manifest(sound_members()))
    content = bytearray(bundle.read_bytes())
    place = content.rindex(b"PK\x05\x06")
    content[place + 8 : place + 12] = (65_000).to_bytes(2, "little") * 2
    bundle.write_bytes(content)
    refused(bundle, "at most 20000 members")


def test_too_many_members(tmp_path: Path) -> None:
    with patch.object(unpacking, "COUNT_LIMIT", 5):
        for number, write in enumerate((write_tar, write_zip)):
            bundle = write(tmp_path / f"{number}", {f"{name}.txt": b"" for name in range(6)})
            with pytest.raises(BundleError, match="at most 5 members"):
                import_bundle(bundle, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_encrypted_zip_and_other_ways_of_packing(tmp_path: Path) -> None:
    bundle = write_zip(tmp_path / "b.zip", {"a.txt": b"x"})
    content = bytearray(bundle.read_bytes())
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + place] |= 1
    bundle.write_bytes(content)
    refused(bundle, "damaged")
    bundle.unlink()
    (tmp_path / "place").rmdir()
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", b"x")
    refused(bundle, "packed in an unknown way")


@WRITERS
def test_what_is_missing_added_or_changed(tmp_path: Path, write: Writer, suffix: str) -> None:
    sound = sound_members()
    cases = {
        "MANIFEST.json, found none": sound,
        "report.md' is missing": {**sound, "MANIFEST.json": manifest({**sound, "report.md": b""})},
        "report.md: its SHA-256": {**with_manifest(sound), "report.md": b"added"},
        "candidates.json: its SHA-256": {**with_manifest(sound), "candidates.json": listing(finished=False)},
        "MANIFEST.json: not one of this release": {**sound, "MANIFEST.json": b'{"format": 2}'},
        "candidates.json, found none": with_manifest({"report.md": b""}),
        "has no reward_program.py": with_manifest({"candidates.json": listing()}),
    }
    for number, (match, content) in enumerate(cases.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        refused(write(folder / f"b{suffix}", content), match)


def huge_table() -> bytes:
    """A few hundred bytes that stand for half a billion numbers."""
    sink = io.BytesIO()
    column = pa.array(np.zeros(2**20))
    with pq.ParquetWriter(sink, pa.schema([("seed", pa.float64())])) as writer:
        for _ in range(64):
            writer.write_table(pa.table({"seed": column}))
    return sink.getvalue()


CONTENTS = {
    "a.json": [b"{", b"\xff", pickle.dumps({"a": 1}), b"[" * 200_000],
    "a.jsonl": [b"{}\n{", b'{"a": ' * 100_000],
    "a.md": [b"a\0b", b"\xff\xfe"],
    "a.html": [b"\0"],
    "candidates/g00-c00/policy.npz": [pickle.dumps(np.zeros(3)), b"PK\x03\x04", b""],
    "candidates/g00-c00/episodes.parquet": [b"PAR1", b"x" * 100, to_parquet(episodes(5, 1))[:-9]],
    "a.parquet": [huge_table()],
    "a.mp4": [b"#!/bin/sh", pickle.dumps(1)],
    "a.png": [b"GIF89a"],
}


@pytest.mark.parametrize(("name", "number"), [(name, n) for name, each in CONTENTS.items() for n in range(len(each))])
def test_contents_that_are_not_what_the_name_says(tmp_path: Path, name: str, number: int) -> None:
    content = {**sound_members(), name: CONTENTS[name][number]}
    refused(write_tar(tmp_path / "b.tar.gz", with_manifest(content)), "not what its name says")


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e308, 1e308])
def test_absurd_episodes_earn_no_fitness_that_is_none(tmp_path: Path, value: float) -> None:
    table = episodes(5, 1)
    absurd = EpisodeTable(table.seeds, {name: np.full(5, value) for name in table.columns}, {})
    content = {**sound_members(), "candidates/g00-c00/episodes.parquet": to_parquet(absurd)}
    (found,) = import_bundle(write_tar(tmp_path / "b.tar.gz", with_manifest(content)), tmp_path / "out").programs
    assert found.fitness is None or 0.0 <= found.fitness <= 1.0


def test_episodes_of_another_release_are_passed_over_for_the_measures(tmp_path: Path) -> None:
    table = episodes(5, 1)
    columns = {name: each for name, each in table.columns.items() if name != "distance_m"}
    content = {**sound_members()}
    content["candidates/g00-c00/episodes.parquet"] = to_parquet(EpisodeTable(table.seeds, columns, {}))
    found = import_bundle(write_tar(tmp_path / "b.tar.gz", with_manifest(content)), tmp_path / "deep" / "er" / "out")
    assert found.candidates[0].basis == "metrics"


def pickled_policy() -> bytes:
    """An .npz whose array is an object: numpy would unpickle it if it were allowed to."""
    sink = io.BytesIO()
    np.savez(sink, factor=np.array([{"a": 1}], dtype=object))
    return sink.getvalue()


def test_a_policy_that_holds_a_pickle(tmp_path: Path) -> None:
    content = {**sound_members(), "candidates/g00-c00/policy.npz": pickled_policy()}
    refused(write_tar(tmp_path / "b.tar.gz", with_manifest(content)), "declares no plain array")


def test_strings_in_a_table(tmp_path: Path) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"seed": ["one", "two"]}), sink)
    content = {**sound_members(), "baselines/idm.parquet": sink.getvalue()}
    refused(write_tar(tmp_path / "b.tar.gz", with_manifest(content)), "expected columns of numbers")


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"search_id": "../up"},
        {"scenario": {"lanes": 99}},
        {"scenario": {"lanes": [3]}},
        {"scenario": {"wings": 2}},
        {"held_out": "500"},
        {"goal": "be kind"},
        {"candidates": [{"id": "../x"}]},
        {"candidates": None},
    ],
)
def test_listings_of_another_kind(tmp_path: Path, changes: dict[str, object]) -> None:
    content = {**sound_members(), "candidates.json": listing(**changes)}
    refused(write_tar(tmp_path / "b.tar.gz", with_manifest(content)), "candidates.json")


def test_what_is_no_bundle_at_all(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"hello", b"\x1f\x8b", b"PK\x03\x04", gzip.compress(b"x" * 5000))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "b.tar.gz").write_bytes(content)
        refused(folder / "b.tar.gz", "neither|damaged|not a tar|MANIFEST")
    with pytest.raises(BundleError, match="cannot be read"):
        import_bundle(tmp_path / "nothing", tmp_path / "out")
    with pytest.raises(BundleError, match="expected a bundle, or a folder"):
        programs_in(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BundleError, match=r"expected imported\.json"):
        programs_in(tmp_path / "empty")
    (tmp_path / "empty" / "imported.json").write_text('{"format": 1, "sha256": "", "programs": [{"name": "a b"}]}')
    with pytest.raises(BundleError, match="not one of this release"):
        programs_in(tmp_path / "empty")


@settings(max_examples=20)
@given(place=st.integers(0, 10**6), value=st.integers(0, 255), zipped=st.booleans())
def test_a_changed_byte_is_noticed_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int, zipped: bool
) -> None:
    """Any byte of a bundle may be another one: it is refused, or what comes out is what went in."""
    folder = tmp_path_factory.mktemp("byte")
    bundle = (write_zip if zipped else write_tar)(folder / "b", with_manifest(sound_members()))
    content = bytearray(bundle.read_bytes())
    content[place % len(content)] = value
    bundle.write_bytes(content)
    try:
        import_bundle(bundle, folder / "out")
    except BundleError:
        assert not (folder / "out").exists()
        return
    for name, expected in with_manifest(sound_members()).items():
        assert (folder / "out" / name).read_bytes() == expected


@given(st.text(max_size=60))
def test_a_name_is_refused_or_stays_below_the_folder(name: str) -> None:
    try:
        members.check_name(name)
    except BundleError:
        return
    assert not Path(name).is_absolute()
    assert ".." not in Path(name).parts
    assert name == Path(name).as_posix()
    assert name.isascii()

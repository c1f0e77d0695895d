import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from actors.policy import Policy, observation_scaling
from driving.drivers import driver_named, run_episodes
from driving.side_by_side import film_side_by_side
from orchestrator.cli import build_app
from orchestrator.report.document import Code, Document, Paragraph, Quote, Section
from orchestrator.report.html import to_html
from orchestrator.report.markdown import escaped, to_markdown
from orchestrator.report.write import write_report
from orchestrator.runs import find_run
from search_spaces.errors import RunError
from search_spaces.scenarios import REPORT, Scenario
from tests.golden_files import assert_golden
from tests.orchestrator.journals import SOURCE, Script

HOSTILE = (
    '</style><script>alert(1)</script>" onload="x\' \x1b[2J \u202egnidaer ```\n# head ![p](http://x.y/z) <img src=x>'
)
VOID = {"meta", "source", "img", "br"}


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def idle_policy() -> bytes:
    factor, offset = observation_scaling(True)
    bias = np.array([0, 1, 0, 0, 0], np.float32)
    return Policy(factor, offset, (np.zeros((25, 5), np.float32),), (bias,)).to_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search of two generations whose texts are hostile."""
    folder = tmp_path_factory.mktemp("report") / "night-owl"
    script = Script(folder)
    script.start(goal=f"Drive well {HOSTILE}", scenario=Scenario(duration=4))
    script.baseline("slower")
    script.refuse("g00-r000", 0, "GATE_CONSTANT")
    script.accept("g00-c00", 0)
    script.deliver("g00-c00")
    script.accept("g00-c01", 0)
    script.deliver("g00-c01", status="faulted", reason=f"log of -1 {HOSTILE}", metrics={}, curve=(), traces=())
    script.finish_generation(0, best=0.3, mean=0.3)
    script.ask("g01-a0-p00", f"Here it is. {HOSTILE}")
    changed = SOURCE.replace("30.0", "25.0")
    script.accept("g01-c00", 1, parents=("g00-c00",), source=changed, move=HOSTILE, exchange="g01-a0-p00", origin="llm")
    script.deliver("g01-c00", better=True)
    script.files.write("candidates/g01-c00/policy.npz", idle_policy())
    script.finish_generation(1, best=0.4, mean=0.4)
    script.finish("g01-c00")
    script.close()
    return folder


@pytest.fixture(scope="module")
def written(finished: Path) -> Path:
    """Its report, with films."""
    write_report(find_run(str(finished)))
    return finished / "report"


def test_the_page_is_well_formed_holds_everything_and_loads_nothing(written: Path) -> None:
    text = (written / "report.html").read_text()
    page = Page(text)
    assert page.open == []
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    sources = [each["src"] for tag in ("img", "video") for each in page.named(tag)]
    sources += [each["srcset"] for each in page.named("source")]
    assert len(sources) > 20
    assert all(each and each.startswith("data:") for each in sources)
    assert all((each["href"] or "").startswith("#") for each in page.named("a"))
    assert not re.search(r"url\(|@import", text)
    (policy,) = [each["content"] for each in page.named("meta") if each.get("http-equiv")]
    assert policy == "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'"
    assert len(page.named("video")) == 3


def test_every_contents_entry_leads_to_a_section(written: Path) -> None:
    page = Page((written / "report.html").read_text())
    sections = [each["id"] for each in page.named("section")]
    assert [(each["href"] or "").removeprefix("#") for each in page.named("a")] == sections
    assert len(set(sections)) == len(sections) > 15


def test_hostile_text_is_shown_and_never_read_as_markup(written: Path) -> None:
    page = Page((written / "report.html").read_text())
    assert page.text.count("</style><script>alert(1)</script>") >= 3
    assert not [attributes for _, attributes in page.tags if "onload" in attributes]
    assert all(each.get("src") != "x" for each in page.named("img"))
    for name in ("report.html", "report.md"):
        assert not set((written / name).read_text()) & {"\x1b", "\u202e", "\x07"}
    assert "\\x1b[2J \\u202egnidaer" in page.text


def test_plots_hold_hostile_names_as_text(written: Path) -> None:
    pictures = list((written / "images").glob("*.svg"))
    assert pictures
    for each in pictures:
        assert "<script" not in each.read_text()


def test_the_markdown_refers_to_files_that_are_there(written: Path) -> None:
    text = (written / "report.md").read_text()
    named = re.findall(r"\]\(((?:images|films)/[^)]+)\)", text)
    assert len(named) > 5
    assert all((written / each).is_file() for each in named)
    assert "http://x.y/z" not in re.sub(r"```+.*?\n```+", "", text, flags=re.DOTALL).replace(
        "\\!\\[p\\](http://x.y/z)", ""
    )


def test_what_is_absent_is_said(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert "No stage of the finals has been decided." in text
    assert "by value alone, without intervals, it lies above SLOWER" in text
    assert "The run keeps no single episodes that a comparison could be paired over." in text
    assert "The champion was not trained without its components." in text


def test_the_lineage_answers_the_critique_of_the_parent(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert '-    return state["speed_ms"] / 30.0' in text
    assert '+    return state["speed_ms"] / 25.0' in text
    assert "weaving: 9 lane changes per km. In g01-c00: still found" in text


def test_a_search_that_has_only_begun_can_be_reported(tmp_path: Path) -> None:
    script = Script(tmp_path / "busy")
    script.start(search_id="busy")
    text = Page(_html(tmp_path / "busy", tmp_path / "out")).text
    assert "The search is still running. No candidate has been judged." in text
    script.accept("g00-c00", 0)
    script.assign("g00-c00")
    script.close()
    text = Page(_html(tmp_path / "busy", tmp_path / "out")).text
    assert "The search was interrupted and can go on." in text


def _html(run: Path, out: Path) -> str:
    write_report(find_run(str(run)), out, videos=False)
    return (out / "report.html").read_text()


def test_a_run_that_has_not_started_is_refused(tmp_path: Path) -> None:
    (tmp_path / "new" / "events").mkdir(parents=True)
    with pytest.raises(RunError, match="has not started yet"):
        write_report(find_run(str(tmp_path / "new")), tmp_path / "out")


def test_the_command_writes_where_it_is_told_the_same_again(finished: Path, written: Path, tmp_path: Path) -> None:
    out = tmp_path / "there"
    result = CliRunner().invoke(build_app(), ["report", str(finished), "--out", str(out), "--no-videos"])
    assert result.exit_code == 0
    assert str(out / "report.html") in result.output.replace("\n", "")
    assert "There are no films: they were left out (--no-videos)." in Page((out / "report.html").read_text()).text
    assert not (out / "films").exists()
    for each in (written / "images").iterdir():
        assert each.read_text() == (out / "images" / each.name).read_text()


def test_films_side_by_side_agree_with_the_measures() -> None:
    scenario, seed = Scenario(), REPORT.first
    names = ("faster", "idm")
    film = film_side_by_side(scenario, seed, [(name, driver_named(name)) for name in names])
    for name, ending in zip(names, film.endings, strict=True):
        columns = run_episodes(scenario, [seed], driver_named(name)).columns
        assert ending.crashed == bool(columns["crashed"][0])
        assert ending.seconds == columns["time_s"][0]
        assert ending.metres == pytest.approx(columns["distance_m"][0], abs=1e-6)


def test_the_markdown_of_a_small_report_is_as_it_was_agreed() -> None:
    sections = (
        Section("one", "A heading", (Paragraph("1. not a list * nor emphasis"), Quote("fence ``` in it", "Someone"))),
        Section("two", "Code", (Code("a = 1\n```\nb", "python"),)),
    )
    assert_golden("report_small.md", to_markdown(Document("night-owl", "finished", sections)))


@settings(max_examples=20)
@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=60))
def test_any_text_survives_the_page(text: str) -> None:
    document = Document(text, "", (Section("one", "t", (Code(text), Paragraph(text))),))
    page = Page(to_html(document))
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= {
        "html", "head", "meta", "title", "style", "body", "header", "p", "h1", "nav", "details", "summary", "ol", "li",
        "a", "main", "section", "h2", "pre", "code",
    }  # fmt: skip


@given(st.text(max_size=60))
def test_escaped_markdown_is_one_line_without_markup(text: str) -> None:
    line = escaped(text)
    assert "\n" not in line
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>#|~$]", line)
    assert not re.match(r"\s*(?:[-+=>]|\d+[.)](?:\s|$))", line)


def test_numbers_stay_as_they_are_and_numbered_lists_do_not() -> None:
    assert escaped("0.147 over IDM") == "0.147 over IDM"
    assert escaped("3. third") == "3\\. third"
    assert escaped("3)") == "3\\)"

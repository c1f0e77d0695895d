"""The report of a search that held finals, was confirmed, replayed and driven elsewhere."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from actors.detector_table import DETECTORS
from actors.difference import Difference
from actors.generalisation import Cell, Compatibility, Generalisation, Road
from actors.message import Message
from actors.messages import Critique, Finding, Fitness, Opinion
from actors.standings import Ablation, AblationRow, Confirmation, Standing, StandingRow
from actors.upstream_comparison import EpisodeDifference, Replay
from driving.drivers import driver_named, run_episodes
from driving.episodes import to_parquet
from orchestrator.report import against, champion, course, elsewhere, evidence, opening, plots, standings, style
from orchestrator.report.document import Document, Picture, Section
from orchestrator.report.films import clips
from orchestrator.report.gather import ReportData, gather
from orchestrator.report.markdown import to_markdown
from orchestrator.runs import find_run
from search_spaces.scenarios import REPORT, SELECTION, Scenario, seed_sets_digest
from tests.orchestrator.journals import SCORES, Script
from tests.policies import drawn_policy

DRIVERS = ("slower", "idm", "mobil")


def judged(value: float) -> Fitness:
    return Fitness(value=value, terms={}, gate=1.0, low=value - 0.02, high=value + 0.02)


def ahead(value: float) -> Difference:
    return Difference(value=value, low=value - 0.03, high=value + 0.03, probability_of_improvement=0.8)


def standing_row(of: str, value: float | None, **changes: object) -> StandingRow:
    fitness = None if value is None else judged(value)
    return replace(StandingRow(of=of, fitness=fitness, replicates=3), **changes)


def cell(name: str, value: float, lead: float | None = None) -> Cell:
    difference = None if lead is None else ahead(lead)
    return Cell(name=name, fitness=judged(value), crash_rate=0.05, crash_low=0.03, crash_high=0.09, lead=difference)


def road(name: str, *, own: bool = False, feasible: bool = True) -> Road:
    cells = (cell("g00-c00", 0.5), cell("ppo-native", 0.3, 0.2), cell("mobil", 0.5, 0.01))
    return Road(name=name, scenario=Scenario(), own=own, feasible=feasible, cells=cells)


CONFIRMED = Confirmation(
    champion="g00-c00",
    episodes=500,
    replicates=5,
    steps=1_000_000,
    selection=0.61,
    finals=0.55,
    fitness=judged(0.52),
    shrinkage_of_selection=0.09,
    shrinkage_of_finals=0.03,
    differences={"slower": ahead(0.5), "idle": ahead(0.51), "ppo-native": ahead(0.2), "ppo-hand-tuned": ahead(0.0)},
    native_returns={"ppo-native": ahead(1.5)},
    seeds_digest=seed_sets_digest(),
)
SAID: dict[str, Message] = {
    "standing": Standing(
        stage="qualifying",
        rows=(standing_row("g00-c00", 0.55), standing_row("g00-c01", None, replicates=0, failed=3, reason="log of -1")),
    ),
    "confirmed": CONFIRMED,
    "ablated": Ablation(
        champion="g00-c00",
        steps=300_000,
        rows=(
            AblationRow(component="progress", fitness=judged(0.1), difference=ahead(-0.4)),
            AblationRow(component="crash", reason="crash is no summand of the total"),
        ),
    ),
    "replayed": Replay(name="g00-c00-r0", episodes=100, first_seed=REPORT.first, redelivered=0),
    "generalised": Generalisation(
        champion="g00-c00",
        episodes=200,
        roads=(road("3 lanes, density 1", own=True), road("4 lanes, density 2", feasible=False)),
    ),
    "scored": Compatibility(scores={"g00-c00": SCORES, "faster": replace(SCORES, score=None, ttc=None)}),
}
CRITIQUE = Critique(
    candidate_id="g00-c00",
    findings=(
        Finding(
            name="weaving",
            sentence="changes lanes 3.5 times a km for nothing",
            value=3.5,
            threshold=2.0,
            interval=(3.1, 3.9),
            seed=SELECTION.first,
            frames=(0, 5),
        ),
        Finding(name="weakest_term", sentence="loses most on speed"),
    ),
    cleared=(Finding(name="parking", sentence="drives on", value=0.1, threshold=0.9, interval=(0.05, 0.2)),),
    opinions=(Opinion(detector="weaving", agrees=False, why="it is <b>overtaking</b>"),),
)


def gathered(folder: Path, others: Mapping[str, str] = MappingProxyType({}), **said: Message | None) -> ReportData:
    """A run of which this was said, with other candidates that ended so."""
    script = Script(folder)
    script.start(held_out=20)
    script.accept("g00-c00", 0)
    script.files.write("candidates/g00-c00/policy.npz", drawn_policy(1, leaning=0).to_bytes())
    table = run_episodes(Scenario(), SELECTION.seeds(20), driver_named("mobil"))
    script.files.write("candidates/g00-c00/episodes.parquet", to_parquet(table))
    script.journal.append("criticised", CRITIQUE.to_json())  # the first critique counts
    script.deliver("g00-c00")
    for name in DRIVERS:
        script.baseline(name)
        episodes = run_episodes(Scenario(), SELECTION.seeds(20), driver_named(name))
        script.files.write(f"baselines/{name}.parquet", to_parquet(episodes))
    for kind, message in (SAID | said).items():
        if message is not None:
            script.journal.append("standing" if isinstance(message, Standing) else kind, message.to_json())
    for name, status in others.items():
        script.accept(name, 0)
        script.deliver(name, status=status, better=True)
    script.finish("g00-c00")
    script.close()
    return gather(find_run(str(folder)))


def text_of(section: Section) -> str:
    return to_markdown(Document("", "", (section,))).replace("\\", "")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    return gathered(tmp_path_factory.mktemp("finals") / "night-owl")


def test_the_verdict_claims_what_was_confirmed(data: ReportData) -> None:
    text = text_of(opening.verdict(data))
    assert "a fitness of 0.520 (0.500 to 0.540) over 5 fresh trainings, each measured on 500 episodes" in text
    assert "better than doing nothing; better than native-reward PPO; not told apart from hand-tuned PPO" in text
    assert "highway-env itself agrees: in all 100 episodes" in text
    assert "ahead of native-reward PPO: **+0.200** (+0.170 to +0.230)" in text


@pytest.mark.parametrize(
    ("replay", "told"),
    [
        ({"differing": (EpisodeDifference(seed=7, kernel={"crashed": 0.0}, upstream={"crashed": 1.0}),)}, "disagrees"),
        ({"reason": "the child died", "episodes": 0}, "could not be asked"),
    ],
)
def test_the_verdict_says_when_highway_env_does_not_agree(tmp_path: Path, replay: dict[str, object], told: str) -> None:
    said = replace(SAID["replayed"], **replay)  # type: ignore[type-var]
    assert f"highway-env itself {told}" in text_of(opening.verdict(gathered(tmp_path / "run", replayed=said)))


def test_without_a_confirmation_the_selection_is_compared_and_called_luck(tmp_path: Path) -> None:
    data = gathered(tmp_path / "run", confirmed=None, replayed=None)
    text = text_of(opening.verdict(data))
    assert "on the 500 episodes that selected it, so that some of it may be luck" in text
    assert "level with IDM + MOBIL (who is ahead, level or behind is so in a single training: another may" in text
    assert "better than" not in text
    assert "highway-env itself has not been asked" in text
    text = text_of(against.differences(data))
    assert "another training may come out 0.05 to 0.07 higher or lower, so that it shows nothing" in text
    assert data.claim is not None
    assert {plots.verdict_colour(each) for each in data.claim.differences.values()} == {style.MUTED}


def test_a_driver_that_looks_at_nothing_is_told_of_where_it_is_not_beaten(tmp_path: Path) -> None:
    rivals = {**CONFIRMED.differences, "faster": ahead(-0.1), "left": ahead(0.4), "random": ahead(0.0)}
    text = text_of(opening.verdict(gathered(tmp_path / "run", confirmed=replace(CONFIRMED, differences=rivals))))
    assert "not told apart from hand-tuned PPO and random actions; worse than FASTER." in text
    assert "LEFT" not in text


def test_trainings_that_broke_are_told_beside_the_figure(tmp_path: Path) -> None:
    row = standing_row("g00-c00", 0.52, replicates=3, failed=2, reason="inf")
    confirmed = replace(CONFIRMED, replicates=3)
    data = gathered(tmp_path / "run", confirmed=confirmed, broken=Standing(stage="confirming", rows=(row,)))
    assert "over 3 fresh trainings (2 more broke and are left out), each" in text_of(opening.verdict(data))
    assert "| **3 of 5** |" in text_of(standings.finals(data))


def test_episodes_that_the_trial_had_driven_otherwise_are_told(tmp_path: Path) -> None:
    data = gathered(tmp_path / "run", replayed=replace(SAID["replayed"], redelivered=7))  # type: ignore[type-var]
    assert "exactly the same, but 7 of these went otherwise in the trial" in text_of(opening.verdict(data))


def test_who_was_stopped_is_not_drawn_among_those_who_were_trained(data: ReportData, tmp_path: Path) -> None:
    def drawn(found: ReportData) -> str:
        (picture,) = course.pareto(found).blocks
        assert isinstance(picture, Picture)
        return picture.wide

    assert drawn(gathered(tmp_path / "stopped", {"g00-c01": "stopped"})) == drawn(data)
    assert drawn(gathered(tmp_path / "trained", {"g00-c01": "trained"})) != drawn(data)


def test_the_finals_show_stages_and_shrinkage(data: ReportData) -> None:
    text = text_of(standings.finals(data))
    assert "After the qualifying stage, " in text
    assert "3 broke: log of -1" in text
    assert (
        "the score that selected it (0.610) was 0.090 higher than this, and its score in the finals (0.550) was" in text
    )
    assert "(0.550) was 0.030 higher than this." in text


def test_differences_are_paired_with_intervals_and_chances(data: ReportData) -> None:
    text = text_of(against.differences(data))
    assert "| native-reward PPO | +0.200 (+0.170 to +0.230) | 80 % | +1.50 (+1.47 to +1.53) |" in text


def test_components_that_were_dropped_are_shown_with_what_that_changed(data: ReportData) -> None:
    text = text_of(champion.ablation(data))
    assert "| progress | 0.100 (0.080 to 0.120) | -0.400 (-0.430 to -0.370) |" in text
    assert "crash is no summand of the total" in text


def test_roads_and_other_scores_are_shown(data: ReportData) -> None:
    text = text_of(elsewhere.generalisation(data))
    assert "| 3 lanes, density 1 (its own road) | 0.500 (5 % crash) | 0.300 (+0.200 *) | 0.500 (+0.010) |" in text
    assert "infeasible for everyone" in text
    assert "Of the 2 roads, 1 can be driven with the five actions at all. g00-c00 is ahead of native-reward PPO" in text
    assert "| **g00-c00** | **65.5** |" in text_of(elsewhere.lampilot(data))


def test_detectors_show_what_was_measured_and_where_a_reading_disagrees(data: ReportData) -> None:
    text = text_of(evidence.detectors(data, ()))
    assert "FOUND | 3.5 (3.1 to 3.9) | 2 |" in text
    assert "| no | 0.1 (0.05 to 0.2) | 0.9 |" in text
    assert DETECTORS["weaving"].looks_for in text
    assert "weakest_term: loses most on speed" in text
    assert "the reading disagrees: it is <b>overtaking</b>" in text


def test_a_finding_is_shown_by_a_clip_of_its_frames_as_far_as_there_is_room(data: ReportData) -> None:
    (shot,) = clips(data, 1_000_000)
    assert shot.caption.startswith("weaving in g00-c00: changes lanes 3.5 times a km for nothing.")
    assert shot.mp4[4:8] == b"ftyp"
    assert clips(data, len(shot.mp4) - 1) == ()

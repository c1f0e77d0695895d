import io
from dataclasses import replace
from typing import Any

from rich.console import Console

from actors.archive import Baseline
from actors.difference import Difference
from actors.messages import Fitness
from actors.record import SearchRecord
from actors.standings import Ablation, AblationRow, Confirmation, Standing, StandingRow
from orchestrator.verdict import say_verdict, sentences, standing_sentence
from tests.entries import archive_of, trained

HOSTILE = "[red]x[/] \x1b[2J"


def fitness(value: float, reach: float = 0.05) -> Fitness:
    return Fitness(value=value, terms={}, gate=1.0, low=value - reach, high=value + reach)


def more(value: float, reach: float = 0.05) -> Difference:
    return Difference(value=value, low=value - reach, high=value + reach, probability_of_improvement=0.9)


def confirmed(**changes: Any) -> Confirmation:
    settings: dict[str, Any] = {
        "champion": "g01-c00",
        "episodes": 500,
        "replicates": 5,
        "steps": 1_000_000,
        "selection": 0.56,
        "finals": 0.53,
        "fitness": fitness(0.51),
        "shrinkage_of_selection": 0.05,
        "shrinkage_of_finals": 0.02,
        "differences": {
            "ppo-native": more(0.2),
            "ppo-hand-tuned": more(0.02),
            "g00-c01": more(-0.1),
            **{name: more(0.5) for name in ("slower", "idle", "left", "random")},
            "faster": more(0.03),
        },
        "native_returns": {"ppo-native": more(1.0), "idm": more(2.0)},
        "seeds_digest": "d",
    }
    return Confirmation(**{**settings, **changes})


def searched(**changes: Any) -> SearchRecord:
    start = trained("g00-c01", "steady_speed")
    start = replace(start, candidate=replace(start.candidate, origin="seed"))
    return SearchRecord(archive=archive_of(trained("g01-c00"), start), **changes)


def printed(record: SearchRecord) -> str:
    out = io.StringIO()
    say_verdict(Console(file=out, width=200, markup=False, color_system=None), record)
    return out.getvalue()


def test_the_champion_is_told_of_with_interval_baselines_and_shrinkage() -> None:
    assert sentences(searched(confirmed=confirmed(), finished=True, champion="g01-c00")) == [
        "champion g01-c00: fitness 0.510 [0.460, 0.560] on 500 report episodes x 5 training seeds of 1,000,000 steps",
        "better than doing nothing: +0.500 [+0.450, +0.550] over slower, +0.500 [+0.450, +0.550] over idle",
        "beats ppo-native by +0.200 [+0.150, +0.250]; in highway-env's own return more: +1.00 [+0.95, +1.05]",
        "cannot be told apart from ppo-hand-tuned: +0.020 [-0.030, +0.070]",
        "loses to the best starting program g00-c01 by -0.100 [-0.150, -0.050]",
        "cannot be told apart from faster: +0.030 [-0.020, +0.080]",
        "beats left, random by at least +0.450",
        "selected with 0.560, won the finals with 0.530, confirmed with 0.510: shrinkage from selection +0.050, "
        "from the finals +0.020; that these are other episodes alone makes up to 0.04",
    ]


def test_a_champion_that_nobody_wrote_in_this_search_is_called_so() -> None:
    first, *others = sentences(searched(confirmed=confirmed(champion="g00-c01"), finished=True, champion="g00-c01"))
    assert first.startswith("champion g00-c01, one of the programs that every search starts from: fitness 0.510")
    assert not any("every search starts from" in each for each in others)


def test_what_is_not_shown_is_not_claimed() -> None:
    idle = {"slower": more(0.5), "idle": more(0.04)}
    said = sentences(searched(confirmed=confirmed(differences=idle), finished=True, champion="g01-c00"))
    assert said[1].startswith("NOT shown to be better than doing nothing")
    nothing = confirmed(fitness=None, differences={}, shrinkage_of_selection=None)
    (only,) = sentences(searched(confirmed=nothing, finished=True, champion="g01-c00"))
    assert "nothing is claimed" in only


def test_a_single_training_beats_nobody() -> None:
    single = {
        name: replace(more(value), alone=True)
        for name, value in {
            "slower": 0.5,
            "idle": 0.4,
            "faster": 0.3,
            "ppo-native": 0.1,
            "idm": -0.1,
            "mobil": 0,
        }.items()
    }
    said = sentences(searched(confirmed=confirmed(replicates=1, differences=single), finished=True))
    assert said[1].startswith("in a single training better than doing nothing: +0.500")
    assert said[2:6] == [
        "ahead of faster in a single training, and another may turn it: +0.300 [+0.250, +0.350]",
        "ahead of ppo-native in a single training, and another may turn it: +0.100 [+0.050, +0.150]; in "
        "highway-env's own return more: +1.00 [+0.95, +1.05]",
        "behind idm in a single training, and another may turn it: -0.100 [-0.150, -0.050]",
        "level with mobil in a single training, and another may turn it: +0.000 [-0.050, +0.050]",
    ]
    assert not any("beats" in each for each in said)


def test_a_return_that_is_not_shown_to_differ_is_not_claimed() -> None:
    level = {"ppo-native": Difference(value=0.05, low=-0.26, high=0.36, probability_of_improvement=0.5, alone=False)}
    said = sentences(searched(confirmed=replace(confirmed(), native_returns=level), finished=True))
    assert "in highway-env's own return not shown to differ: +0.05 [-0.26, +0.36]" in "\n".join(said)


def test_trainings_that_broke_are_not_passed_over() -> None:
    rows = (
        StandingRow(of="g01-c00", fitness=fitness(0.51), replicates=3, failed=2, reason=HOSTILE),
        StandingRow(of="ppo-native", fitness=fitness(0.3), replicates=5),
        StandingRow(of="ppo-hand-tuned", fitness=None, replicates=0, failed=5, reason="the trial died"),
    )
    standings = {"confirming": Standing(stage="confirming", rows=rows)}
    record = searched(confirmed=confirmed(replicates=3), standings=standings, finished=True)
    assert sentences(record)[-2:] == [
        f"2 of the 5 confirming trainings of g01-c00 broke, and its figure leaves them out: {HOSTILE}",
        "ppo-hand-tuned has no figure on the report episodes: its trainings broke: the trial died",
    ]
    assert "\x1b" not in printed(record)


def test_without_finals_the_figure_is_called_what_it_is() -> None:
    baselines = {name: Baseline(name=name, metrics={}, fitness=fitness(0.01)) for name in ("slower", "idle")}
    record = searched(finished=True, champion="g01-c00")
    record = replace(record, archive=replace(record.archive, baselines=baselines))
    first, second = sentences(record)
    assert "the best of 2 trained once each, so that part of it is luck" in first
    assert "still to come" not in first
    assert second.startswith("in a single training better than doing nothing: slower 0.010 [-0.040, 0.060]")
    assert "still to come" in sentences(replace(record, finished=False))[0]
    assert sentences(SearchRecord()) == []
    assert "no champion" in sentences(SearchRecord(finished=True))[0]
    assert "every finalist" in sentences(replace(record, champion=None))[0]


def test_standings_and_components_are_shown_and_untrusted_text_is_escaped() -> None:
    rows = (
        StandingRow(of="g01-c00", fitness=fitness(0.4), bounds=(0.3, 0.5), replicates=3),
        StandingRow(of="g00-c01", fitness=fitness(0.3), bounds=(0.2, 0.4), replicates=2, failed=1, reason=HOSTILE),
        StandingRow(of="g00-c02", fitness=None, replicates=0, failed=3, reason=HOSTILE),
    )
    standing = Standing(stage="qualifying", rows=rows)
    assert standing_sentence(standing) == (
        "finals, qualifying: 1. g01-c00 0.400 [0.300, 0.500] (3 training seeds), "
        "2. g00-c01 0.300 [0.200, 0.400] (2 of 3 training seeds), 3. g00-c02 out (0 of 3 training seeds)"
    )
    ablation = Ablation(
        champion="g01-c00",
        steps=1000,
        rows=(
            AblationRow(component="crash", fitness=fitness(0.1), difference=more(-0.3)),
            AblationRow(component="speed", reason=f"nothing is left {HOSTILE}"),
        ),
    )
    report = {"slower": Baseline(name="slower", metrics={}, fitness=fitness(0.01))}
    confirming = Standing(stage="confirming", rows=rows[:1])
    text = printed(
        searched(
            standings={"qualifying": standing, "confirming": confirming},
            ablation=ablation,
            confirmed=confirmed(),
            report_baselines=report,
        )
    )
    for expected in (
        "2 of 3",
        "out",
        "[0.350, 0.450]",
        "slower",
        "-0.350 to -0.250",
        "nothing is left [red]x[/] \\x1b[2J",
    ):
        assert expected in text
    assert "\x1b" not in text

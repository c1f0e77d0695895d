import re
from pathlib import Path

import numpy as np
import pytest

from actors.detector_table import DETECTORS
from actors.drives import EPISODES as LOGGED
from actors.drives import WINDOW_S
from actors.fitness import CONSTANTS, fitness, gate
from driving.drivers import driver_named, run_episodes
from driving.film import CLIP_MARGIN_S
from driving.measures import summarise
from search_spaces.scenarios import PRESETS, SELECTION

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
EPISODES = 500
MEASURES = ("speed_ms", "progress_ms", "overtakes_per_min", "accel_rms_ms2", "ttc_low_share", "crash_rate")
TERMS = ("speed", "overtake", "comfort", "ttc", "completion")


def worked_examples() -> dict[str, list[float]]:
    """The numbers of each row of the table, by driver."""
    section = PAGE.split("### Worked examples", 1)[1].split("###", 1)[0]
    rows = [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\|(.*)\|$", section, re.MULTILINE)]
    return {driver: [float(number) for number in numbers] for driver, *numbers in rows[2:]}


EXAMPLES = worked_examples()


@pytest.mark.parametrize("driver", EXAMPLES)
def test_worked_examples_are_what_the_code_computes(driver: str) -> None:
    numbers = EXAMPLES[driver]
    judged = fitness(dict(zip(MEASURES, numbers, strict=False)))
    assert judged is not None
    shown = dict(zip((*TERMS, "gate", "fitness"), numbers[len(MEASURES) :], strict=True))
    computed = {**judged.terms, "gate": judged.gate, "fitness": judged.value}
    assert computed == pytest.approx(shown, abs=3e-3)


@pytest.mark.parametrize("driver", ["slower", "faster", "idm", "mobil"])
def test_baselines_still_drive_as_the_page_says(driver: str) -> None:
    road = PRESETS["highway-fast-v0"]
    metrics = summarise(run_episodes(road, SELECTION.seeds(EPISODES), driver_named(driver)), road)
    shown = EXAMPLES[driver][: len(MEASURES)]
    assert [metrics[name] for name in MEASURES] == pytest.approx(shown, abs=6e-3)


def test_what_the_gate_leaves_is_as_shown() -> None:
    rows = re.findall(r"^\| (\d+) % \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 7
    for crash_rate, left in rows:
        assert gate(np.array(int(crash_rate) / 100)) == pytest.approx(float(left), abs=5e-4)


def test_the_formula_has_the_weights_in_use() -> None:
    [formula] = re.findall(r"fitness    = gate \* \((.*)\)$", PAGE, re.MULTILINE)
    weights = {name: float(weight) for weight, name in (term.split() for term in formula.split(" + "))}
    assert weights == dict(CONSTANTS.weights)


def test_the_table_of_detectors_is_that_of_the_code() -> None:
    section = PAGE.split("## Detectors", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\|(.*)\|$", section, re.MULTILINE)][2:]
    assert rows == [
        [f"`{name}`", each.looks_for, each.measure, f"{each.threshold:g}", each.source]
        for name, each in DETECTORS.items()
    ]
    assert f"the first {LOGGED} episodes" in section
    assert f"at most {WINDOW_S:g} s" in section
    assert f"with {CLIP_MARGIN_S:g} s before and after" in section

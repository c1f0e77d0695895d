"""The reward linter: what is odd about a program, seconds before any training and milliseconds from the second on.

    lint_table.py            the rules: name, threshold, and whether a finding warns or refuses
    lint_bank.py             recorded drives that programs are tried on
    lint_rules_returns.py    whom it pays best: order, crashes, parking
    lint_rules_events.py     what it pays for, all else equal: collisions, overtaking, weaving, tailgating
    lint_rules_shape.py      its size, its components, the fields that it reads
    epic.py                  whether it is a known program up to scale and shaping

Most findings only warn: they say what to look at. `orchestrate calibration` says how often each was right.
"""

import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from actors.epic import Embedding, Epic, distance
from actors.lint_bank import Bank, Drives, driven, record_bank
from actors.lint_rules_events import event_measures
from actors.lint_rules_returns import return_measures
from actors.lint_rules_shape import sensitivity, shape_measures
from actors.lint_table import RULES, Measure
from actors.messages import Finding
from search_spaces.program import RewardProgram
from search_spaces.scenarios import Scenario


@dataclass(frozen=True, slots=True, eq=False)
class Lint:
    """What the linter says about a program by itself.

    Attributes:
        measures: The number of each rule that has one for this program.
        embedding: What it is compared with other programs by; None where the reward is not finite.
    """

    measures: tuple[Measure, ...]
    embedding: Embedding | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What lies beyond its threshold, in the order of the table."""
        return tuple(_finding(each) for each in self.measures if RULES[each.rule].found(each.value))


class Linter:
    """Lints programs on drives that it records at the first one. Safe to use from several threads.

    Args:
        scenario: Road of the search.
        gamma: Discount of the training.
    """

    def __init__(self, scenario: Scenario, gamma: float) -> None:
        self._scenario = scenario
        self._gamma = gamma
        self._lock = threading.Lock()
        self._recorded: tuple[Bank, Epic] | None = None

    def lint(self, program: RewardProgram) -> Lint:
        """Say what is odd about a program; nothing where its reward is not finite on the bank."""
        bank, epic = self._bank()
        drives = driven(bank, program)
        if not math.isfinite(drives.size):
            return Lint((), None)
        order = {name: place for place, name in enumerate(RULES)}
        measures = sorted(_measures(drives, self._gamma), key=lambda each: order[each.rule])
        return Lint(tuple(measures), epic.embedded(program))

    def measure(self, program: RewardProgram) -> Mapping[str, float]:
        """Return the number of each rule that has one for this program, finding or not, by the rule's name."""
        return {each.rule: each.value for each in self.lint(program).measures}

    def sensitivity(self, program: RewardProgram) -> Mapping[str, float]:
        """Return, for each field that the program reads, the share of states whose reward changes with it, 0 to 1."""
        bank, _ = self._bank()
        return sensitivity(driven(bank, program))

    def _bank(self) -> tuple[Bank, Epic]:
        with self._lock:
            if self._recorded is None:
                bank = record_bank(self._scenario)
                self._recorded = bank, Epic(bank.before, bank.states, bank.decision_s, self._gamma)
            return self._recorded


def nearest(embedding: Embedding | None, known: Mapping[str, Embedding]) -> tuple[str, Measure] | None:
    """Compare a program with known ones.

    Args:
        embedding: The program's.
        known: Embedding of each known program, by the name that it is called.

    Returns:
        The name of the nearest one and the distance as a measure of `duplicate`; None without any.
    """
    if embedding is None or not known:
        return None
    gaps = {name: distance(embedding, other) for name, other in known.items()}
    name = min(gaps, key=lambda each: gaps[each])
    sentence = f"duplicate of {name} up to scale and shaping, distance {gaps[name]:.2g}"
    return name, Measure(rule="duplicate", value=gaps[name], sentence=sentence)


def _measures(drives: Drives, gamma: float) -> Iterator[Measure]:
    for each in (*return_measures(drives, gamma), *event_measures(drives), *shape_measures(drives)):
        # A state that was made for a comparison may be one in which the reward is not finite.
        if math.isfinite(each.value):
            yield each


def _finding(measure: Measure) -> Finding:
    rule = RULES[measure.rule]
    return Finding(
        name=rule.name,
        sentence=measure.sentence,
        evidence=measure.evidence,
        value=measure.value,
        threshold=rule.threshold,
        source=rule.source,
    )

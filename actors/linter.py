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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from actors.epic import Embedding, Epic, distance, scaled_distance
from actors.lint_bank import Bank, Earnings, earned, record_bank
from actors.lint_rules_events import event_measures
from actors.lint_rules_returns import return_measures
from actors.lint_rules_shape import sensitivity, shape_measures
from actors.lint_table import RULES, Measure
from actors.messages import Finding
from search_spaces.program import RewardProgram, Violation
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
        return findings(self.measures)

    @property
    def refusal(self) -> Violation | None:
        """Why the program may not be trained, by the table; None when it may."""
        finding = refusing(self.findings)
        if finding is None:
            return None
        return Violation(
            code=f"LINT_{finding.name.upper()}",
            message=finding.sentence,
            line=None,
            hint=f"the linter refuses what is {RULES[finding.name].side} {finding.threshold:g} here",
        )


class Linter:
    """Lints programs on drives that it records at the first one. Safe to use from several threads.

    Args:
        scenario: Road of the search.
        discount: Discount of the training.
    """

    def __init__(self, scenario: Scenario, discount: float) -> None:
        self._scenario = scenario
        self._discount = discount
        self._lock = threading.Lock()
        self._recorded: tuple[Bank, Epic] | None = None

    def lint(self, program: RewardProgram) -> Lint:
        """Say what is odd about a program; nothing where its reward is not finite on the bank."""
        bank, epic = self._bank()
        earnings = earned(bank, program)
        if not math.isfinite(earnings.size):
            return Lint((), None)
        order = {name: place for place, name in enumerate(RULES)}
        measures = sorted(_measures(earnings, self._discount), key=lambda each: order[each.rule])
        return Lint(tuple(measures), epic.embedded(program))

    def embedded(self, program: RewardProgram) -> Embedding | None:
        """Return what a program is compared with others by; None where its reward is not finite on the bank."""
        return self._bank()[1].embedded(program)

    def sensitivity(self, program: RewardProgram) -> Mapping[str, float]:
        """Return, for each field that the program reads, the share of states whose reward changes with it, 0 to 1."""
        bank, _ = self._bank()
        return sensitivity(earned(bank, program))

    def _bank(self) -> tuple[Bank, Epic]:
        with self._lock:
            if self._recorded is None:
                bank = record_bank(self._scenario)
                self._recorded = bank, Epic(bank.before, bank.states, bank.decision_s, self._discount)
            return self._recorded


def compared(embedding: Embedding | None, known: Sequence[tuple[str, Embedding]]) -> tuple[Measure, ...]:
    """Measure how far a program is from the nearest known one.

    Args:
        embedding: The program's.
        known: What to call each known program, and its embedding.

    Returns:
        Measures of `duplicate` and `scaled_copy`; none without an embedding or a known program.
    """
    if embedding is None or not known:
        return ()
    gap, name = min((distance(embedding, other), name) for name, other in known)
    scaled, copied = min((scaled_distance(embedding, other), name) for name, other in known)
    return (
        Measure(
            rule="duplicate",
            value=gap,
            sentence=f"duplicate of {name} up to scale and shaping, distance {gap:.2g}",
        ),
        Measure(rule="scaled_copy", value=scaled, sentence=f"a copy of {copied} at another scale"),
    )


def findings(measures: Iterable[Measure]) -> tuple[Finding, ...]:
    """Return the measures that lie beyond their thresholds, as findings."""
    return tuple(_finding(each) for each in measures if RULES[each.rule].found(each.value))


def refusing(found: Iterable[Finding]) -> Finding | None:
    """Return the first finding whose rule refuses; None when all only warn."""
    return next((each for each in found if RULES[each.name].effect == "refuses"), None)


def _measures(earnings: Earnings, discount: float) -> Iterator[Measure]:
    for each in (*return_measures(earnings, discount), *event_measures(earnings), *shape_measures(earnings)):
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

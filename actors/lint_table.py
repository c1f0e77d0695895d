"""The one table of what the reward linter looks for: name, threshold, what follows, and where the threshold is from.

`docs/linter.md` shows it to readers. A rule gives one number for each program; it is a finding beyond its threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Effect = Literal["warns", "refuses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that the linter looks for.

    Attributes:
        name: Stable name of the finding.
        number: What its number is, with its range and unit.
        side: Whether the number is a finding `above` or `below` the threshold.
        threshold: The threshold, in the unit of the number.
        effect: Whether it `warns`, or `refuses` the program.
        source: Where the threshold comes from.
    """

    name: str
    number: str
    side: Literal["above", "below"]
    threshold: float
    effect: Effect = "warns"
    source: str

    def found(self, value: float) -> bool:
        """Say whether `value` is a finding."""
        return value > self.threshold if self.side == "above" else value < self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The number of one rule for one program.

    Attributes:
        rule: Name of the rule.
        value: The number.
        sentence: What it is, with its numbers, worded for a finding.
        evidence: Further numbers.
    """

    rule: str
    value: float
    sentence: str
    evidence: Mapping[str, float] = field(default_factory=dict)


_RULES = (
    Rule(
        name="return_order",
        number="Kendall's tau between the drivers' returns and their fitness, mean of three roads, -1 to 1",
        side="below",
        threshold=0.3,
        source="convention: what the starting programs exceed",
    ),
    Rule(
        name="negated",
        number="the same",
        side="below",
        threshold=-0.2,
        source="convention: the reward's opposite orders the drivers better",
    ),
    Rule(
        name="recklessness",
        number="share of pairs from one start, one crashed and one not, in which the crashed one earned more, 0 to 1",
        side="above",
        threshold=0.5,
        source="majority; the gate refuses by it on highway-v0",
    ),
    Rule(
        name="suicide",
        number="share of crashes that earn more than the best driver's discounted future without one, 0 to 1",
        side="above",
        threshold=0.5,
        source="majority",
    ),
    Rule(
        name="parking",
        number="return of always braking over the best sound driver's, dimensionless",
        side="above",
        threshold=0.97,
        source="convention: highway-env's own reward reaches 0.93, an alive bonus 1",
    ),
    Rule(
        name="crash_bonus",
        number="gain of a decision by its collision, in usual decisions",
        side="above",
        threshold=0.0,
        source="no gain",
    ),
    Rule(
        name="overtake_farming",
        number="gain by overtaking once and being overtaken once, in usual decisions",
        side="above",
        threshold=1.0,
        source="convention: a round trip that pays a decision's reward",
    ),
    Rule(
        name="weaving",
        number="gain of a decision by a lane change, in usual decisions",
        side="above",
        threshold=0.1,
        source="convention: a tenth of a decision",
    ),
    Rule(
        name="lane_request_farming",
        number="gain of a decision by standing off the lane's centre or swaying, in usual decisions",
        side="above",
        threshold=0.1,
        source="convention: a tenth of a decision",
    ),
    Rule(
        name="acceleration_spam",
        number="gain by speeding up and braking in turn at the same mean speed, in usual decisions",
        side="above",
        threshold=0.1,
        source="convention: a tenth of a decision",
    ),
    Rule(
        name="tailgating",
        number="gain by a time headway of 0.3 to 0.8 s over one of 2 s at the same speed, in usual decisions",
        side="above",
        threshold=0.1,
        source="convention: a tenth of a decision",
    ),
    Rule(
        name="crowding",
        number="gain by vehicles close beside and behind, in usual decisions",
        side="above",
        threshold=0.1,
        source="convention: a tenth of a decision",
    ),
    Rule(
        name="dead_component",
        number="components that read the state and never vary in the bank, count",
        side="above",
        threshold=0.0,
        source="none",
    ),
    Rule(
        name="dominant_component",
        number="largest share of one component in what moves all (standard deviations), 0 to 1",
        side="above",
        threshold=0.95,
        source="convention: the other components hardly count",
    ),
    Rule(
        name="scale_large",
        number="mean size of a decision's reward",
        side="above",
        threshold=1e3,
        source="convention: a thousandth of the clip at 1e6",
    ),
    Rule(
        name="scale_small",
        number="the same",
        side="below",
        threshold=1e-3,
        source="convention: training divides by the spread of returns, so smaller ones only lose digits",
    ),
    Rule(
        name="clipped",
        number="share of decisions at the clip of 1e6, 0 to 1",
        side="above",
        threshold=0.0,
        source="none",
    ),
    Rule(
        name="saturated",
        number="share of decisions with one and the same reward, 0 to 1",
        side="above",
        threshold=0.9,
        source="convention: what is left to learn from is rarer than one decision in ten",
    ),
    Rule(
        name="dead_field",
        number="state fields that are read and change nothing, count",
        side="above",
        threshold=0.0,
        source="none",
    ),
    Rule(
        name="duplicate",
        number="EPIC distance to the nearest known program, up to scale and potential shaping, 0 to 1",
        side="below",
        threshold=0.005,
        source="convention: one in fifteen small changes of constants is nearer",
    ),
    Rule(
        name="scaled_copy",
        number="distance to the nearest known program up to scale, 0 to 1",
        side="below",
        threshold=1e-3,
        effect="refuses",
        source="rounding of weights; training divides by the spread of returns, so that scaled copies train alike",
    ),
)

RULES: Mapping[str, Rule] = MappingProxyType({each.name: each for each in _RULES})
"""All rules by name, in the order of their findings."""

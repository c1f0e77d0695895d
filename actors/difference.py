"""What one driver has more than another, and when that is shown.

A claim of the kind "better than" is made by `above` and `below` alone, wherever it is made; `words` are those for it.
"""

from dataclasses import dataclass

from actors.message import Message

WORDS = ("better than", "ahead of", "not told apart from", "level with", "behind", "worse than")
"""How the one stands to the other, from best to worst: what is shown, and between that what a single training says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Message):
    """What one driver has more than another, in the unit of the measure.

    Attributes:
        value: Mean of the one's replicates less the mean of the other's.
        low: Lower end of its 95 % interval, paired over episodes.
        high: Upper end.
        probability_of_improvement: Share of all pairs of replicates in which the one's is the larger, ties counting
            half (Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", NeurIPS
            2021, as rliable has it). With one replicate each it is 0, 0.5 or 1.
        alone: Whether one of the two is known by a single training: then only the episodes vary, and another training
            could turn what the interval says.
    """

    value: float
    low: float
    high: float
    probability_of_improvement: float
    alone: bool = False

    @property
    def above(self) -> bool:
        """Whether the one is shown to have more: the whole interval says so, and it knows how trainings vary."""
        return self.low > 0.0 and not self.alone

    @property
    def below(self) -> bool:
        """Whether the one is shown to have less, likewise."""
        return self.high < 0.0 and not self.alone

    @property
    def words(self) -> str:
        """How the one stands to the other: one of `WORDS`."""
        better, ahead, undecided, level, behind, worse = WORDS
        if self.alone:
            return ahead if self.low > 0.0 else behind if self.high < 0.0 else level
        return better if self.above else worse if self.below else undecided

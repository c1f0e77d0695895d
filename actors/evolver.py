"""The designer that needs no language model: typed edits of what drove best so far.

A plain evolution, mu + lambda: parents are the best candidates of the whole search, chosen by tournaments of two. The
first generation starts from readable programs and the user's own. Every proposal is a legal program, and the same brief
gives the same proposals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from actors.messages import Proposal
from actors.protocols import DesignBrief
from search_spaces.edits import MOVES, cross
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS

PARENTS = 6
"""How many of the best are parents (mu)."""
TOURNAMENT = 2
"""How many parents compete to be edited."""
MIX: Mapping[str, float] = MappingProxyType(
    {"weight": 0.25, "constant": 0.25, "add": 0.25, "crossover": 0.20, "wrap": 0.05}
)
"""How often each move is made: in searches of 290 trained candidates new bests came from these moves alone, although
the average child is worse than its parent, by 0.045 (weight) to 0.11 (crossover) in fitness."""
SECOND_EDIT = 0.25
"""How often a child is edited once more: some terms pay only together."""
DRAWS_PER_PROPOSAL = 20
"""Edits tried for each proposal before fewer are returned: small programs run out of neighbours that are new."""


@dataclass(frozen=True, slots=True)
class _Parent:
    """A program to edit.

    Attributes:
        program: The program.
        ids: Its candidate id; empty for a starting program, which is no candidate.
    """

    program: RewardProgram
    ids: tuple[str, ...] = ()


class Evolver:
    """Proposes edits of the best programs; see `protocols.Designer`.

    Args:
        start_from: The user's own starting programs, as text; the first generation is edited from them too.
        mix: How often each move is made; the shares sum to 1.
    """

    def __init__(self, start_from: Sequence[str] = (), mix: Mapping[str, float] = MIX) -> None:
        self._start_from = tuple(start_from)
        self._mix = mix

    def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
        """See `protocols.Designer`."""
        rng = np.random.default_rng(brief.seed)
        parents = self._parents(brief)
        seen = {*brief.archive.digests(), *(parent.program.digest for parent in parents)}
        proposals: list[Proposal] = []
        if brief.generation == 0 and brief.attempt == 0:
            texts = list(STARTING_PROGRAMS.values())[: brief.count]
            proposals = [Proposal(source=text, origin="seed", move="start") for text in texts]
        for _ in range(DRAWS_PER_PROPOSAL * brief.count):
            if len(proposals) >= brief.count:
                break
            move, used, program = _edited(parents, rng, self._mix)
            if rng.random() < SECOND_EDIT:
                second, _, program = _edited([_Parent(program)], rng, self._mix)
                move = f"{move}+{second}"
            if program.digest not in seen:
                seen.add(program.digest)
                ids = tuple(dict.fromkeys(each for parent in used for each in parent.ids))
                proposals.append(Proposal(source=program.source, origin="evolver", parents=ids, move=move))
        return proposals

    def _parents(self, brief: DesignBrief) -> list[_Parent]:
        """Return the programs to edit, best first.

        While nothing was judged, be it that nothing was trained or that all of it failed, these are the starting
        programs, without those that became non-finite in training.
        """
        candidates = [each.candidate for each in brief.archive.top(PARENTS)]
        texts: list[tuple[str, tuple[str, ...]]] = [(each.source, (each.id,)) for each in candidates]
        if not texts:
            texts = [(text, ()) for text in (*self._start_from, *STARTING_PROGRAMS.values())]
        compiled = [(compile_program(text), ids) for text, ids in texts]
        outcomes = ((each.candidate.digest, each.outcome) for each in brief.archive.entries())
        faulty = {digest for digest, outcome in outcomes if outcome is not None and outcome.status == "faulted"}
        parents = [_Parent(program, ids) for program, ids in compiled if isinstance(program, RewardProgram)]
        return [each for each in parents if each.program.digest not in faulty] or parents


def _edited(
    parents: Sequence[_Parent], rng: np.random.Generator, mix: Mapping[str, float]
) -> tuple[str, tuple[_Parent, ...], RewardProgram]:
    move = str(rng.choice(list(mix), p=list(mix.values())))
    first = _tournament(parents, rng)
    if move != "crossover":
        return move, (parents[first],), MOVES[move](parents[first].program, rng)
    others = [index for index in range(len(parents)) if index != first]
    if not others:
        return "add", (parents[first],), MOVES["add"](parents[first].program, rng)
    second = others[_tournament(others, rng)]
    pair = (parents[first], parents[second])
    return move, pair, cross(pair[0].program, pair[1].program, rng)


def _tournament(ranked: Sequence[object], rng: np.random.Generator) -> int:
    """Return the index of the best of `TOURNAMENT` drawn; `ranked` has the best first."""
    return int(rng.integers(len(ranked), size=TOURNAMENT).min())

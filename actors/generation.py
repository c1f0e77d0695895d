"""Designing one generation: propose, examine, replace what is refused, screen, accept.

A pure function of the archive and of what designers answer: designing a generation again gives the same candidates and
the same refusals under the same ids.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from actors.archive import Archive
from actors.epic import Embedding, distance
from actors.examiner import Examiner, Passed
from actors.messages import Candidate, Proposal, Refusal, ScreenVerdict
from actors.plan import SearchPlan
from actors.protocols import DesignBrief, Designer
from actors.screen import Screen, choose
from search_spaces.errors import RunError
from search_spaces.program import RewardProgram, Violation


def derived_seed(seed: int, *names: str | int) -> int:
    """Return a seed of 31 bits for one purpose of a search, from the search's seed and the purpose's name."""
    digest = hashlib.sha256("/".join(str(each) for each in (seed, *names)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A designed generation.

    Attributes:
        candidates: What will be trained; as many as the population.
        refusals: What was turned down on the way.
        verdicts: What the screen said about each proposal that passed: digest, its `ScreenVerdict`, and the candidate
            that it became (null: not chosen).
        filled: How many slots the evolver filled because the model's proposals were refused or missing.
        silent: Whether the model left a whole attempt unanswered.
    """

    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]
    verdicts: tuple[dict[str, Any], ...]
    filled: int = 0
    silent: bool = False


@dataclass(slots=True)
class _Pool:
    """Proposals of one generation as they come in."""

    generation: int
    known: dict[str, str]
    passed: list[tuple[Proposal, Passed]] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


class _Gaps:
    """EPIC distances of proposals from known programs and from each other.

    Args:
        known: Embeddings of the programs that were trained before.
        proposed: Embedding of each proposal; None: it has none, and lies apart from everything.
    """

    def __init__(self, known: Sequence[Embedding], proposed: Sequence[Embedding | None]) -> None:
        self._known = known
        self._proposed = proposed
        self._from_known: dict[int, float] = {}

    def of(self, index: int, taken: Sequence[int]) -> float:
        """Return the distance of a proposal to the nearest known one or one of `taken`, 0 to 1."""
        own = self._proposed[index]
        if own is None:
            return 1.0
        if index not in self._from_known:
            self._from_known[index] = min((distance(own, each) for each in self._known), default=1.0)
        others = (self._proposed[each] for each in taken)
        return min([self._from_known[index], *(distance(own, each) for each in others if each is not None)])


class GenerationDesigner:
    """Designs generations.

    Args:
        plan: The search.
        designer: Who proposes.
        evolver: Who fills slots that the designer leaves empty; may be the designer itself.
        examiner: Says what may be trained.
        screen: Ranks what may be trained; None: nothing is ranked, and no more is proposed than is trained.
    """

    def __init__(
        self, plan: SearchPlan, designer: Designer, evolver: Designer, examiner: Examiner, screen: Screen | None
    ) -> None:
        self._plan = plan
        self._designer = designer
        self._evolver = evolver
        self._examiner = examiner
        self._screen = screen

    def design(self, archive: Archive, generation: int) -> Design:
        """Design a generation.

        Args:
            archive: What is known before it.
            generation: Its number, from 0.

        Raises:
            ProviderError: The model can never answer.
            RunError: The evolver finds too few programs that pass.
        """
        self._examiner.learn(archive.candidates.values())
        pool = _Pool(generation, dict(archive.digests()))
        if generation == 0:
            self._examine(pool, [Proposal(source=each, origin="user") for each in self._plan.start_from])
            best = self._plan.imported[: max(1, self._plan.population // 2)]
            self._examine(pool, [Proposal(source=each.source, origin="imported", move="start") for each in best])
        per_slot = self._proposals_per_slot()
        silent, attempt = False, 0
        while not silent and self._missing(pool) and attempt <= self._plan.replacements:
            count = self._missing(pool) * (per_slot if attempt == 0 else 1)
            silent = not self._attempt(self._designer, pool, archive, attempt, count)
            attempt += 1
        filled = self._missing(pool)
        if filled:
            self._fill(pool, archive, attempt)
        candidates, verdicts = self._accept(pool, archive)
        return Design(
            candidates=candidates, refusals=tuple(pool.refusals), verdicts=verdicts, filled=filled, silent=silent
        )

    def _proposals_per_slot(self) -> int:
        if self._screen is None:
            return 1
        own = self._designer is self._evolver
        return self._plan.proposals_per_slot if own else self._plan.llm.proposals_per_slot

    def _missing(self, pool: _Pool) -> int:
        return max(0, self._plan.population - len(pool.passed))

    def _attempt(self, designer: Designer, pool: _Pool, archive: Archive, attempt: int, count: int) -> bool:
        """Ask for proposals and examine them; return whether there were any."""
        known = dict(pool.known)

        def examine(text: str) -> RewardProgram | Violation:
            verdict = self._examiner.examine(Proposal(source=text, origin="llm"), known)
            return verdict.program if isinstance(verdict, Passed) else verdict

        brief = DesignBrief(
            archive=archive,
            generation=pool.generation,
            attempt=attempt,
            count=count,
            seed=derived_seed(self._plan.seed, "design", pool.generation, attempt),
            refused=tuple(pool.refusals),
            examine=examine,
        )
        proposals = designer.propose(brief)
        self._examine(pool, proposals)
        return bool(proposals)

    def _fill(self, pool: _Pool, archive: Archive, attempt: int) -> None:
        last = attempt + self._plan.replacements
        while self._missing(pool) and attempt <= last:
            count = self._missing(pool) * self._plan.proposals_per_slot
            self._attempt(self._evolver, pool, archive, attempt, count)
            attempt += 1
        if self._missing(pool):
            raise RunError(
                f"generation {pool.generation}: expected {self._plan.population} programs that pass the gate, found "
                f"{len(pool.passed)} in {attempt} attempts; a smaller population or another --seed may help"
            )

    def _examine(self, pool: _Pool, proposals: Sequence[Proposal]) -> None:
        for proposal in proposals:
            verdict = self._examiner.examine(proposal, pool.known)
            if isinstance(verdict, Passed):
                pool.known[verdict.program.digest] = "another proposal of this generation"
                pool.passed.append((proposal, verdict))
            else:
                pool.refusals.append(_refusal(pool, proposal, verdict))

    def _accept(self, pool: _Pool, archive: Archive) -> tuple[tuple[Candidate, ...], tuple[dict[str, Any], ...]]:
        """Rank what passed; take the given programs, the best that lie apart, and one at random."""
        population = self._plan.population
        if self._screen is None:
            first = range(min(population, len(pool.passed)))
            return tuple(self._candidate(pool, number, number, None) for number in first), ()
        verdicts = self._screen.rank([passed.program for _, passed in pool.passed])
        given = self._given(pool, verdicts)
        others = [index for index in range(len(pool.passed)) if index not in given]
        rng = np.random.default_rng(derived_seed(self._plan.seed, "choose", pool.generation))
        gaps = self._gaps(pool, archive)

        def gap(place: int, taken: Sequence[int]) -> float:
            return gaps.of(others[place], [*given, *(others[each] for each in taken)])

        chosen = [(index, verdicts[index]) for index in given]
        for place, verdict in choose([verdicts[index] for index in others], population - len(given), rng, gap):
            chosen.append((others[place], verdict))
        candidates = [self._candidate(pool, number, index, verdict) for number, (index, verdict) in enumerate(chosen)]
        became = {index: candidate.id for (index, _), candidate in zip(chosen, candidates, strict=True)}
        said = dict(chosen)
        recorded = [
            {**said.get(index, verdict).to_json(), "digest": passed.program.digest, "candidate": became.get(index)}
            for index, (verdict, (_, passed)) in enumerate(zip(verdicts, pool.passed, strict=True))
        ]
        return tuple(candidates), tuple(recorded)

    def _given(self, pool: _Pool, verdicts: Sequence[ScreenVerdict]) -> list[int]:
        """Return what is trained whatever the screen says.

        The user's and imported programs, and of the project's own starting programs the best, up to half of the
        population: the screen knows little yet, and what comes later is compared with them.
        """
        population = self._plan.population
        origins = [proposal.origin for proposal, _ in pool.passed]
        given = [index for index, origin in enumerate(origins) if origin in ("user", "imported")][:population]
        seeds = sorted(
            (index for index, origin in enumerate(origins) if origin == "seed"), key=lambda index: verdicts[index].rank
        )
        return [*given, *seeds[: max(0, population // 2 - len(given))]]

    def _gaps(self, pool: _Pool, archive: Archive) -> "_Gaps":
        embedded = self._examiner.embedding
        known = (embedded(digest) for digest in archive.digests())
        return _Gaps(
            known=[each for each in known if each is not None],
            proposed=[embedded(passed.program.digest) for _, passed in pool.passed],
        )

    def _candidate(self, pool: _Pool, number: int, index: int, verdict: ScreenVerdict | None) -> Candidate:
        proposal, passed = pool.passed[index]
        candidate_id = f"g{pool.generation:02d}-c{number:02d}"
        return Candidate(
            id=candidate_id,
            generation=pool.generation,
            source=passed.program.source,
            digest=passed.program.digest,
            seed=derived_seed(self._plan.seed, candidate_id),
            parents=proposal.parents,
            origin=proposal.origin,
            move=proposal.move,
            exchange=proposal.exchange,
            screen=verdict,
            lint=passed.lint,
        )


def _refusal(pool: _Pool, proposal: Proposal, violation: Violation) -> Refusal:
    return Refusal(
        id=f"g{pool.generation:02d}-r{len(pool.refusals):03d}",
        generation=pool.generation,
        code=violation.code,
        reason=violation.message,
        origin=proposal.origin,
        line=violation.line,
        hint=violation.hint,
        exchange=proposal.exchange,
        source="" if proposal.exchange or violation.code == "GATE_DUPLICATE" else proposal.source,
    )

from collections.abc import Callable, Sequence

import pytest

from actors.archive import Archive
from actors.epic import distance
from actors.evolver import Evolver
from actors.examiner import Examiner
from actors.gate import Gate
from actors.generation import Design, GenerationDesigner, derived_seed
from actors.linter import Linter
from actors.messages import Candidate, Proposal
from actors.plan import SearchPlan
from actors.protocols import DesignBrief, Designer
from actors.screen import APART, Screen
from search_spaces.errors import RunError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram, Violation
from search_spaces.scenarios import Scenario
from tests.searches import small_plan

GATE, LINTER, SCREEN = Gate(Scenario()), Linter(Scenario(), 0.9), Screen(Scenario())
GOOD = 'def compute_reward(state):\n    return state["speed_ms"] / {0}.0 - 3.0 * state["collided"]\n'
BAD = "def compute_reward(state):\n    return state['sped_ms']\n"


class Scripted:
    """A designer that answers each brief with the next list of texts, and remembers what it was told."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.briefs: list[DesignBrief] = []

    def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
        self.briefs.append(brief)
        texts = self._answers.pop(0) if self._answers else []
        return [
            Proposal(source=text, origin="llm", exchange=brief.exchange_id(index)) for index, text in enumerate(texts)
        ]


def designed(designer: Designer, plan: SearchPlan | None = None, archive: Archive | None = None) -> Design:
    examiner = Examiner(GATE, compile_program, compile_program, LINTER)
    return GenerationDesigner(plan or small_plan(), designer, Evolver(), examiner, SCREEN).design(
        archive or Archive(), 0
    )


def test_what_passes_is_screened_and_the_rest_is_refused() -> None:
    designer = Scripted([GOOD.format(20), BAD, GOOD.format(25), GOOD.format(30), GOOD.format(20), GOOD.format(35)])
    design = designed(designer)
    assert designer.briefs[0].count == 6
    assert len(design.candidates) == 3
    assert [(each.id, each.code) for each in design.refusals] == [
        ("g00-r000", "E_KEY"),
        ("g00-r001", "GATE_DUPLICATE"),
    ]
    assert design.refusals[0].line == 2
    assert design.refusals[0].exchange == "g00-a0-p01"
    assert len(design.verdicts) == 4
    assert (design.filled, design.silent) == (0, False)


def test_refused_proposals_are_replaced_and_the_designer_hears_why() -> None:
    designer = Scripted([BAD] * 6, [BAD, GOOD.format(20), BAD], [GOOD.format(25), GOOD.format(30)])
    design = designed(designer)
    assert [(each.attempt, each.count, len(each.refused)) for each in designer.briefs] == [
        (0, 6, 0),
        (1, 3, 6),
        (2, 2, 8),
    ]
    assert len({each.seed for each in designer.briefs}) == 3
    assert len(design.candidates) == 3
    assert design.filled == 0


def test_after_so_many_replacements_the_evolver_fills_the_slots() -> None:
    designer = Scripted([GOOD.format(20), BAD, BAD], *([[BAD, BAD]] * 9))
    design = designed(designer, small_plan(replacements=2))
    assert len(designer.briefs) == 3
    assert design.filled == 2
    assert len(design.candidates) == 3
    assert {each.origin for each in design.candidates} & {"evolver", "seed"}


def test_a_model_that_says_nothing_is_not_asked_again() -> None:
    designer = Scripted()
    design = designed(designer)
    assert len(designer.briefs) == 1
    assert (design.filled, design.silent, len(design.candidates)) == (3, True, 3)


def test_an_evolver_that_finds_nothing_is_a_fault() -> None:
    class Empty:
        def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
            return []

    examiner = Examiner(GATE, compile_program, compile_program, LINTER)
    with pytest.raises(RunError, match="expected 3 programs that pass the gate, found 0"):
        GenerationDesigner(small_plan(), Empty(), Empty(), examiner, SCREEN).design(Archive(), 0)


def test_the_same_archive_gives_the_same_design_and_another_seed_another() -> None:
    evolver = Evolver()

    def design(seed: int) -> Design:
        examiner = Examiner(GATE, compile_program, compile_program, LINTER)
        plan = small_plan(seed=seed, proposals_per_slot=4)
        return GenerationDesigner(plan, evolver, evolver, examiner, SCREEN).design(Archive(), 0)

    assert design(1) == design(1)
    assert [each.digest for each in design(1).candidates] != [each.digest for each in design(2).candidates]


def test_half_of_the_first_generation_are_starting_programs_and_all_lie_apart() -> None:
    evolver = Evolver()
    examiner = Examiner(GATE, compile_program, compile_program, LINTER)
    plan = small_plan(population=6, proposals_per_slot=16)
    design = GenerationDesigner(plan, evolver, evolver, examiner, SCREEN).design(Archive(), 0)
    assert [each.origin for each in design.candidates[:3]] == ["seed"] * 3
    assert len(design.candidates) == 6
    embeddings = [examiner.embedding(each.digest) for each in design.candidates[:-1]]
    for index, one in enumerate(embeddings):
        for other in embeddings[max(3, index + 1) :]:
            assert one is not None
            assert other is not None
            assert distance(one, other) >= APART[0]


def test_examining_knows_earlier_programs_and_checks_a_text_once() -> None:
    checked: list[str] = []

    def check(text: str) -> RewardProgram | Violation:
        checked.append(text)
        return compile_program(text)

    examiner = Examiner(GATE, check, compile_program, LINTER)
    proposal = Proposal(source=GOOD.format(20), origin="llm")
    program = compile_program(proposal.source)
    assert isinstance(program, RewardProgram)
    verdict = examiner.examine(proposal, {program.digest: "g00-c01"})
    assert isinstance(verdict, Violation)
    assert (verdict.code, "g00-c01" in verdict.message) == ("GATE_DUPLICATE", True)
    assert not isinstance(examiner.examine(proposal, {}), Violation)
    assert len(checked) == 1


def proposal(text: str) -> Proposal:
    return Proposal(source=f"def compute_reward(state):\n    return {text}\n", origin="llm")


def digest(text: str) -> str:
    program = compile_program(proposal(text).source)
    assert isinstance(program, RewardProgram)
    return program.digest


PROGRESS = 'state["speed_ms"] / 20.0 - 3.0 * state["collided"]'


def test_a_copy_at_another_scale_is_refused_and_a_shaped_one_warned_about() -> None:
    examiner = Examiner(GATE, compile_program, compile_program, LINTER)
    known = {digest(PROGRESS): "g00-c01"}
    assert not isinstance(examiner.examine(proposal(PROGRESS), {}), Violation)
    copy = examiner.examine(proposal(f"7.0 * ({PROGRESS})"), known)
    assert isinstance(copy, Violation)
    assert (copy.code, "a copy of g00-c01 at another scale" in copy.message) == ("GATE_DUPLICATE", True)
    shaped = examiner.examine(proposal('state["speed_ms"] / 20.0 + 0.3 * (1.0 - state["collided"])'), known)
    assert not isinstance(shaped, Violation)
    [finding] = shaped.lint
    assert (finding.name, "g00-c01 up to scale and shaping" in finding.sentence) == ("duplicate", True)
    other = examiner.examine(proposal(f'{PROGRESS} + 0.5 * state["overtook"]'), known)
    assert not isinstance(other, Violation)
    assert other.lint == ()
    assert not isinstance(examiner.examine(proposal(f"7.0 * ({PROGRESS})"), {}), Violation)


def test_candidates_of_an_earlier_process_are_known_too() -> None:
    source = proposal(PROGRESS).source
    candidate = Candidate(id="g00-c01", generation=0, source=source, digest=digest(PROGRESS), seed=1, origin="llm")
    archive = Archive(candidates={candidate.id: candidate})
    copies = Scripted([proposal(f"{factor}.0 * ({PROGRESS})").source for factor in range(2, 8)])
    examiner = Examiner(GATE, compile_program, compile_program, LINTER)
    design = GenerationDesigner(small_plan(), copies, Evolver(), examiner, SCREEN).design(archive, 1)
    assert len(design.refusals) >= 6
    assert all("a copy of g00-c01" in each.reason for each in design.refusals[:6])


def test_candidates_carry_what_the_linter_found() -> None:
    weaving = f'{PROGRESS} + state["lane_changed"]'
    design = designed(Scripted([proposal(weaving).source, GOOD.format(20), GOOD.format(25)]))
    found = {each.digest: [finding.name for finding in each.lint] for each in design.candidates}
    assert "weaving" in found[digest(weaving)]


def test_seeds_are_derived_by_name_and_differ() -> None:
    seeds = [derived_seed(seed, *names) for seed in (0, 1) for names in (("a",), ("b",), ("a", 1), ("a", 2))]
    assert len(set(seeds)) == 8
    assert all(0 <= each < 2**31 for each in seeds)
    assert derived_seed(0, "g00-c00") == derived_seed(0, "g00-c00")


def test_a_designer_may_examine_before_it_hands_over() -> None:
    seen: list[RewardProgram | Violation] = []

    class Careful:
        def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
            examine: Callable[[str], RewardProgram | Violation] = brief.examine
            seen.extend([examine(BAD), examine(GOOD.format(20))])
            return [Proposal(source=GOOD.format(n), origin="llm") for n in (20, 25, 30)]

    designed(Careful())
    assert isinstance(seen[0], Violation)
    assert isinstance(seen[1], RewardProgram)

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.archive import Archive
from actors.chat import ChatFailure, ChatReply, Exchange
from actors.examiner import Examiner
from actors.gate import Gate
from actors.generation import Design, GenerationDesigner
from actors.messages import Assignment, Proposal
from actors.outcome import Delivery
from actors.plan import LLMSettings, SearchPlan, Strategy
from actors.protocols import DesignBrief
from actors.screen import Screen
from actors.strategies import SCREENING, best_alone, designers, without_feedback
from search_spaces.errors import UsageError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import Scenario
from search_spaces.starting_programs import STARTING_PROGRAMS
from tests.entries import archive_of, trained
from tests.groq_server import GOOD
from tests.searches import Deliver, delivery, finish, made_up, opened, small_plan, speed_of

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
NAMES = [f"g00-c{number:02d}" for number in range(len(STARTING_PROGRAMS))]


def archive(speeds: Sequence[float]) -> Archive:
    """The starting programs as candidates that drove at these speeds, m/s."""
    entries = []
    for name, program, speed in zip(NAMES, STARTING_PROGRAMS, speeds, strict=True):
        entry = trained(name, program, speed_ms=speed, progress_ms=speed)
        digest = compiled(entry.candidate.source).digest
        entries.append(replace(entry, candidate=replace(entry.candidate, digest=digest)))
    return archive_of(*entries)


def compiled(text: str) -> RewardProgram:
    program = compile_program(text)
    assert isinstance(program, RewardProgram), program
    return program


def brief(known: Archive, generation: int = 1, seed: int = 1, count: int = 12) -> DesignBrief:
    return DesignBrief(
        archive=known, generation=generation, attempt=0, count=count, seed=seed, examine=lambda text: compiled(text)
    )


def proposed(strategy: Strategy, asked: DesignBrief) -> Sequence[Proposal]:
    return designers(small_plan(strategy=strategy), None)[0].propose(asked)


speeds = st.lists(st.floats(20.5, 29.5), min_size=len(NAMES), max_size=len(NAMES), unique=True)


@settings(max_examples=8)
@given(st.sampled_from(STRATEGIES), st.integers(0, 2**31), st.integers(0, 3), speeds)
def test_every_strategy_proposes_legal_new_programs_as_a_function_of_the_brief(
    strategy: Strategy, seed: int, generation: int, drove: list[float]
) -> None:
    asked = brief(archive(drove) if generation else Archive(), generation, seed)
    proposals = proposed(strategy, asked)
    assert proposals == proposed(strategy, asked)
    digests = [compiled(each.source).digest for each in proposals]
    assert len(set(digests)) == len(digests) == asked.count
    assert not set(digests) & set(asked.archive.digests())


@settings(max_examples=8)
@given(st.sampled_from(["best-of-n", "random"]), st.integers(0, 2**31), speeds, speeds)
def test_without_feedback_outcomes_change_nothing(
    strategy: Strategy, seed: int, drove: list[float], other: list[float]
) -> None:
    assert proposed(strategy, brief(archive(drove), seed=seed)) == proposed(strategy, brief(archive(other), seed=seed))


def test_evolution_and_eureka_do_look_at_outcomes() -> None:
    rising, falling = [21.0, 22.0, 23.0, 24.0, 25.0, 26.0], [26.0, 25.0, 24.0, 23.0, 22.0, 21.0]
    for strategy in ("evolve", "eureka"):
        found = [proposed(strategy, brief(archive(drove))) for drove in (rising, falling)]
        assert found[0] != found[1]


@settings(max_examples=5)
@given(st.integers(0, 2**31))
def test_random_programs_never_depend_on_the_archive(seed: int) -> None:
    known = archive([21.0, 22.0, 23.0, 24.0, 25.0, 26.0])
    found = [proposed("random", brief(each, seed=seed)) for each in (known, Archive())]
    assert found[0] == found[1]
    assert {(each.move, each.parents) for each in found[0]} == {("random", ())}


@settings(max_examples=5)
@given(st.integers(0, 2**31), speeds)
def test_eureka_edits_the_single_best_and_never_crosses(seed: int, drove: list[float]) -> None:
    known = archive(drove)
    best = known.top(1)[0].candidate.id
    proposals = proposed("eureka", brief(known, seed=seed, count=40))
    assert {each.parents for each in proposals} == {(best,)}
    assert "crossover" not in {move for each in proposals for move in each.move.split("+")}


def test_best_of_n_edits_the_starting_programs_in_every_generation() -> None:
    proposals = proposed("best-of-n", brief(archive([25.0] * 6), generation=3, count=40))
    assert {each.parents for each in proposals} == {()}
    assert "seed" not in {each.origin for each in proposals}


def test_what_is_shown_still_names_every_program() -> None:
    known = archive([21.0, 22.0, 23.0, 24.0, 25.0, 26.0])
    for view in (without_feedback, best_alone):
        assert view(known).digests() == known.digests()
    assert without_feedback(known).ranked() == ()
    assert [each.candidate.id for each in best_alone(known).ranked()] == ["g00-c05"]
    assert best_alone(Archive()) == Archive()


@cache
def gate() -> Gate:
    return Gate(Scenario())


@cache
def screen() -> Screen:
    return Screen(Scenario())


def designed(strategy: Strategy, known: Archive, generation: int, plan: SearchPlan | None = None) -> Design:
    plan = plan or small_plan(strategy=strategy, population=4, proposals_per_slot=3)
    examiner = Examiner(gate(), compile_program, compile_program)
    used = screen() if SCREENING[strategy].used else None
    return GenerationDesigner(plan, *designers(plan, None), examiner, used).design(known, generation)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("generation", [0, 1])
def test_every_strategy_fills_a_generation_with_what_passes_the_gate(strategy: Strategy, generation: int) -> None:
    known = archive([21.0, 22.0, 23.0, 24.0, 25.0, 26.0]) if generation else Archive()
    design = designed(strategy, known, generation)
    assert len({each.digest for each in design.candidates}) == 4
    assert not {each.digest for each in design.candidates} & set(known.digests())
    assert all((each.screen is None) is not SCREENING[strategy].used for each in design.candidates)
    assert bool(design.verdicts) is SCREENING[strategy].used
    assert design == designed(strategy, known, generation)


def trained_digests(run: Path, strategy: Strategy, deliver: Deliver) -> list[str]:
    """Run a search of made-up outcomes and return what it trained."""
    coordinator = opened(run, small_plan(strategy=strategy, generations=2, baselines=False))
    finish(coordinator, deliver=deliver)
    entries = coordinator.record.archive.entries()
    coordinator.close()
    assert len(entries) == 6
    return [each.candidate.digest for each in entries]


def otherwise(assignment: Assignment) -> Delivery:
    """Other speeds than those that are made up, and a training that broke."""
    name = assignment.candidate_id
    if name.endswith("c01"):
        return delivery(name, status="failed", reason="the process broke")
    return delivery(name, 50.0 - speed_of(name))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_whole_search_depends_on_outcomes_where_it_should_and_nowhere_else(
    strategy: Strategy, tmp_path: Path
) -> None:
    plain, other = (
        trained_digests(tmp_path / name, strategy, deliver)
        for name, deliver in (("plain", made_up), ("other", otherwise))
    )
    assert plain[:3] == other[:3]
    assert (plain == other) is (strategy in ("best-of-n", "random"))


def test_a_users_program_is_trained_under_every_strategy() -> None:
    own = 'def compute_reward(state):\n    own = state["speed_ms"] / 31.0\n    return own, {"own": own}\n'
    for strategy in STRATEGIES:
        plan = small_plan(strategy=strategy, population=2, start_from=(own,))
        assert designed(strategy, Archive(), 0, plan).candidates[0].origin == "user"


def test_random_programs_and_a_model_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--llm none"):
        small_plan(strategy="random", llm=LLMSettings(spec="groq:m"))


class Desk:
    """Answers every exchange with a legal program, and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}

    def ask(self, exchange: Exchange) -> ChatReply | ChatFailure:
        self.asked[exchange.id] = exchange.messages[-1].content
        scale = 20 + int(exchange.id[-2:])
        return ChatReply(exchange=exchange.id, text=GOOD.format(scale=scale, weight=1), model="m")


def asked_of_a_model(strategy: Strategy, known: Archive, generation: int) -> dict[str, str]:
    desk = Desk()
    plan = small_plan(strategy=strategy, llm=LLMSettings(spec="groq:m"))
    proposals = designers(plan, desk.ask)[0].propose(brief(known, generation, count=6))
    assert len(proposals) == 6
    assert all(each.origin == "llm" for each in proposals)
    return desk.asked


def test_a_model_without_feedback_is_asked_as_at_first() -> None:
    drove = [21.0, 22.0, 23.0, 24.0, 25.0, 26.0]
    first = asked_of_a_model("best-of-n", archive(drove), 1)
    assert first == asked_of_a_model("best-of-n", archive(drove[::-1]), 1)
    assert not any(name in text for text in first.values() for name in (*NAMES, "trained so far", "Baselines"))


def test_a_greedy_model_reflects_upon_the_best_alone() -> None:
    asked = asked_of_a_model("eureka", archive([21.0, 22.0, 23.0, 26.0, 25.0, 24.0]), 1)
    assert len(set(asked.values())) == 1
    (text,) = set(asked.values())
    assert "Reflect upon g00-c03" in text
    assert not any(name in text for name in NAMES if name != "g00-c03")


def test_a_greedy_model_starts_afresh() -> None:
    asked = asked_of_a_model("eureka", Archive(), 0)
    assert len(set(asked.values())) == 6
    assert all("Start afresh" in text for text in asked.values())

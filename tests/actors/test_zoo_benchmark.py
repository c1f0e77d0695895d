"""What the benchmark of the zoo says of its figures."""

from typing import Any

from actors.comparison import difference
from benchmarks.zoo import NATIVE, conclude, sentences, shown
from tests.tables import ROAD, episodes

NAMED = {"gate": None, "linter": ["parking"], "detectors": []}


def said(**rewards: Any) -> dict[str, Any]:
    """The native reward, trained thrice, and rewards that are below it unless something else is said."""
    below = {**NAMED, "trainings": 3, "above_native": False, "below_native": True}
    return {NATIVE: {**below, "below_native": False}} | {name: {**below, **each} for name, each in rewards.items()}


def test_all_is_well_where_each_is_named_and_below() -> None:
    found = said(parking={}, weaving={})
    assert shown(found)
    assert list(sentences(found)) == [
        "above the native reward: none",
        "shown to be neither above nor below it: none",
        "named by nothing: none",
    ]


def test_what_is_not_shown_to_be_below_is_told() -> None:
    found = said(parking={"below_native": False}, weaving={"above_native": True, "below_native": False})
    assert not shown(found)
    assert list(sentences(found))[:2] == [
        "above the native reward: weaving",
        "shown to be neither above nor below it: parking",
    ]
    unnamed = said(parking={"linter": []})
    assert not shown(unnamed)
    assert "named by nothing: parking" in list(sentences(unnamed))


def test_nothing_is_shown_where_the_native_reward_was_never_trained() -> None:
    found = said(parking={"below_native": False})
    found[NATIVE]["trainings"] = 0
    assert not shown(found)
    (sentence,) = sentences(found)
    assert "nothing can be compared with it" in sentence


def test_below_needs_more_than_a_single_training() -> None:
    fast = [episodes(60, seed, crash_rate=0.0, speed=29.0) for seed in (1, 2, 3)]
    slow = [episodes(60, seed, crash_rate=0.0, speed=21.0) for seed in (4, 5, 6)]
    all_of_them, one = difference(slow, fast, ROAD), difference(slow[:1], fast, ROAD)
    assert all_of_them is not None
    assert one is not None
    assert all_of_them.below
    assert not one.below
    assert conclude(None, (), fast, {})["below_native"] is False

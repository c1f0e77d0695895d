"""The kernel's random streams against NumPy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from driving.kernel.layout import STREAM_WORDS
from driving.kernel.random import integers, next32, next64, seed_stream, uniform

SEEDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1])
WORD = 2**64 - 1


def stream_of(seed: int) -> NDArray[np.uint64]:
    stream = np.full(STREAM_WORDS, 77, np.uint64)
    seed_stream(stream, np.uint64(seed))
    return stream


def words_of(generator: np.random.Generator) -> list[int]:
    whole = generator.bit_generator.state
    state, increment = whole["state"]["state"], whole["state"]["inc"]
    return [state >> 64, state & WORD, increment >> 64, increment & WORD, whole["has_uint32"], whole["uinteger"]]


@given(SEEDS)
def test_a_seed_starts_the_stream_that_numpy_starts(seed: int) -> None:
    assert [int(word) for word in stream_of(seed)] == words_of(np.random.default_rng(seed))


@given(SEEDS, st.lists(st.one_of(st.just(0), st.integers(1, 2**31), st.floats(-100, 100)), max_size=30))
def test_draws_are_numpys_in_any_order(seed: int, draws: list[int | float]) -> None:
    stream, generator = stream_of(seed), np.random.default_rng(seed)
    for draw in draws:
        if draw == 0:
            assert next64(stream) == generator.bit_generator.random_raw()
        elif isinstance(draw, int):
            assert integers(stream, draw) == generator.choice(draw)
        else:
            assert uniform(stream, draw, draw + 1.5) == generator.uniform(draw, draw + 1.5)
    state = generator.bit_generator.state
    assert [int(word) for word in stream[:5]] == words_of(generator)[:5]
    if state["has_uint32"]:
        assert stream[5] == state["uinteger"]


@given(SEEDS)
def test_every_second_32_bit_draw_is_the_kept_half(seed: int) -> None:
    halves, whole = stream_of(seed), stream_of(seed)
    both = int(next64(whole))
    assert int(next32(halves)) == both & 0xFFFFFFFF
    assert int(next32(halves)) == both >> 32
    assert np.array_equal(halves[:5], whole[:5])


def test_lemires_rejection_is_taken() -> None:
    """A bound just above 2**31 rejects nearly half of the draws."""
    bound = 2**31 + 1
    stream, generator = stream_of(5), np.random.default_rng(5)
    ours = [integers(stream, bound) for _ in range(200)]
    assert ours == [int(each) for each in (generator.integers(bound) for _ in range(200))]
    assert int(stream[1]) == words_of(generator)[1]

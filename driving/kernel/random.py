"""NumPy's `Generator(PCG64(SeedSequence(seed)))`, bit for bit, on six words per environment.

PCG64 is O'Neill's `setseq_xsl_rr_128_64` (PCG, 2014); the seeding is O'Neill's `seed_seq` replacement in the form that
NumPy adopted. A stream is uint64[STREAM_WORDS]: state high and low, increment high and low, whether the upper half of a
64-bit draw is kept for the next 32-bit draw, and that half.
"""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_LOW_32 = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER_HIGH = np.uint64(2549297995355413924)
_MULTIPLIER_LOW = np.uint64(4865540595714422341)
_ROTATION_SHIFT = np.uint64(58)
_WORD = np.uint64(64)
_ROTATION_MASK = np.uint64(63)
_MANTISSA_SHIFT = np.uint64(11)
_MANTISSA_UNIT = 1.0 / 9007199254740992.0

_POOL_WORDS = 4
_SEED_SHIFT = np.uint64(16)
_HASH_START = np.uint64(0x43B0D7E5)
_HASH_FACTOR = np.uint64(0x931E8875)
_OUTPUT_START = np.uint64(0x8B51F9DD)
_OUTPUT_FACTOR = np.uint64(0x58F38DED)
_MIX_LEFT = np.uint64(0xCA01F9DD)
_MIX_RIGHT = np.uint64(0x4973F715)


@compiled
def _multiply(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the high and low word of the product of two 64-bit words."""
    a_low, a_high = a & _LOW_32, a >> _HALF
    b_low, b_high = b & _LOW_32, b >> _HALF
    low_low = a_low * b_low
    low_high = a_low * b_high
    high_low = a_high * b_low
    middle = (low_low >> _HALF) + (low_high & _LOW_32) + (high_low & _LOW_32)
    low = (low_low & _LOW_32) | (middle << _HALF)
    high = a_high * b_high + (low_high >> _HALF) + (high_low >> _HALF) + (middle >> _HALF)
    return high, low


@compiled
def _advance(stream: NDArray[np.uint64]) -> None:
    """Step the 128-bit linear congruential generator once."""
    high, low = _multiply(stream[1], _MULTIPLIER_LOW)
    high = high + stream[1] * _MULTIPLIER_HIGH + stream[0] * _MULTIPLIER_LOW
    total = low + stream[3]
    stream[0] = high + stream[2] + (_ONE if total < low else _ZERO)
    stream[1] = total


@compiled
def next64(stream: NDArray[np.uint64]) -> np.uint64:
    """Draw 64 random bits."""
    _advance(stream)
    value = stream[0] ^ stream[1]
    rotation = stream[0] >> _ROTATION_SHIFT
    return np.uint64((value >> rotation) | (value << ((_WORD - rotation) & _ROTATION_MASK)))


@compiled
def next32(stream: NDArray[np.uint64]) -> np.uint64:
    """Draw 32 random bits; every second draw is the kept half of the one before."""
    if stream[4] != _ZERO:
        stream[4] = _ZERO
        return np.uint64(stream[5])
    value = next64(stream)
    stream[4] = _ONE
    stream[5] = value >> _HALF
    return value & _LOW_32


@compiled
def uniform(stream: NDArray[np.uint64], low: float, high: float) -> float:
    """Draw a float from [`low`, `high`)."""
    return low + (high - low) * (float(next64(stream) >> _MANTISSA_SHIFT) * _MANTISSA_UNIT)


@compiled
def integers(stream: NDArray[np.uint64], count: int) -> int:
    """Draw an integer from [0, `count`), 1 <= `count` < 2**32 (Lemire's method); `count` 1 draws nothing."""
    if count == 1:
        return 0
    bound = np.uint64(count)
    product = next32(stream) * bound
    if product & _LOW_32 < bound:
        threshold = (_LOW_32 - (bound - _ONE)) % bound
        while product & _LOW_32 < threshold:
            product = next32(stream) * bound
    return int(product >> _HALF)


@compiled
def _hash(value: np.uint64, constant: np.uint64, factor: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Hash a 32-bit word; return it and the next constant."""
    following = (constant * factor) & _LOW_32
    hashed = ((value ^ constant) * following) & _LOW_32
    return hashed ^ (hashed >> _SEED_SHIFT), following


@compiled
def _mix(left: np.uint64, right: np.uint64) -> np.uint64:
    """Mix two 32-bit words into one."""
    mixed = (left * _MIX_LEFT - right * _MIX_RIGHT) & _LOW_32
    return mixed ^ (mixed >> _SEED_SHIFT)


@compiled
def _fill_pool(pool: NDArray[np.uint64], seed: np.uint64) -> None:
    """Spread a seed over a pool of four 32-bit words, as `SeedSequence.mix_entropy` does."""
    constant = _HASH_START
    for word in range(_POOL_WORDS):
        entropy = _ZERO
        if word == 0:
            entropy = seed & _LOW_32
        elif word == 1:
            entropy = seed >> _HALF
        pool[word], constant = _hash(entropy, constant, _HASH_FACTOR)
    for source in range(_POOL_WORDS):
        for target in range(_POOL_WORDS):
            if source != target:
                hashed, constant = _hash(pool[source], constant, _HASH_FACTOR)
                pool[target] = _mix(pool[target], hashed)


@compiled
def seed_stream(stream: NDArray[np.uint64], seed: int) -> None:
    """Start a stream as `numpy.random.default_rng(seed)` would.

    Args:
        stream: The stream to overwrite, uint64[STREAM_WORDS].
        seed: 0 <= seed < 2**64.
    """
    # The pool is kept in the words that the finished stream will overwrite: nothing may be allocated here.
    _fill_pool(stream, np.uint64(seed))
    pool = (stream[0], stream[1], stream[2], stream[3])
    constant = _OUTPUT_START
    for word in range(_POOL_WORDS):
        low, constant = _hash(pool[(2 * word) % _POOL_WORDS], constant, _OUTPUT_FACTOR)
        high, constant = _hash(pool[(2 * word + 1) % _POOL_WORDS], constant, _OUTPUT_FACTOR)
        stream[word] = low | (high << _HALF)
    start_high, start_low = stream[0], stream[1]
    stream[2] = (stream[2] << _ONE) | (stream[3] >> _ROTATION_MASK)
    stream[3] = (stream[3] << _ONE) | _ONE
    # From state 0 the first step yields the increment; the starting state is then added with its carry.
    total = stream[3] + start_low
    stream[0] = stream[2] + start_high + (_ONE if total < start_low else _ZERO)
    stream[1] = total
    _advance(stream)
    stream[4] = _ZERO
    stream[5] = _ZERO

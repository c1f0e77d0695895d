import dataclasses
import io
import itertools
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.policy import Policy, observation_scaling
from search_spaces.errors import PolicyError


def random_policy(seed: int = 0, hidden: tuple[int, ...] = (8, 6), width: int = 25, actions: int = 5) -> Policy:
    rng = np.random.default_rng(seed)
    sizes = (width, *hidden, actions)
    factor, offset = observation_scaling(True)
    return Policy(
        factor=factor[:width],
        offset=offset[:width],
        weights=tuple(rng.normal(size=pair).astype(np.float32) for pair in itertools.pairwise(sizes)),
        biases=tuple(rng.normal(size=size).astype(np.float32) for size in sizes[1:]),
    )


def observations(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (count, 25)).astype(np.float32)


def archive(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def arrays_of(policy: Policy) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(policy.to_bytes()), allow_pickle=False) as loaded:
        return {name: loaded[name] for name in loaded.files}


@pytest.mark.parametrize("hidden", [(), (8,), (64, 64), (3, 4, 5)])
def test_a_policy_survives_its_file(hidden):
    policy = random_policy(hidden=hidden)
    content = policy.to_bytes()
    copy = Policy.from_bytes(content)
    assert copy.to_bytes() == content
    assert np.array_equal(copy.logits(observations(50)), policy.logits(observations(50)))


def test_a_transposed_weight_survives_its_file():
    policy = random_policy(hidden=(8,))
    transposed = dataclasses.replace(policy, weights=tuple(np.asfortranarray(weight) for weight in policy.weights))
    copy = Policy.from_bytes(transposed.to_bytes())
    assert all(map(np.array_equal, copy.weights, policy.weights))
    assert np.array_equal(copy.logits(observations(50)), policy.logits(observations(50)))


def test_logits_are_those_of_the_network_written_out():
    policy = random_policy(hidden=(4,))
    observation = observations(1)
    hidden = np.tanh(
        (observation[0].astype(float) * policy.factor + policy.offset) @ policy.weights[0].astype(float)
        + policy.biases[0]
    )
    expected = hidden @ policy.weights[1].astype(float) + policy.biases[1]
    assert policy.logits(observation)[0] == pytest.approx(expected, abs=1e-12)


def test_an_action_does_not_depend_on_who_else_is_in_the_batch():
    policy = random_policy(hidden=(64, 64))
    batch = observations(300)
    together = policy.act(batch)
    alone = np.concatenate([policy.act(batch[row : row + 1]) for row in range(300)])
    assert np.array_equal(together, alone)
    assert np.array_equal(together, np.concatenate([policy.act(part) for part in np.array_split(batch, 7)]))
    assert together.dtype == np.int64
    assert len(set(together.tolist())) > 1


def test_sampled_actions_follow_the_softmax():
    policy = random_policy(seed=3, hidden=(4,))
    observation = np.repeat(observations(1), 40_000, axis=0)
    logits = policy.logits(observation[:1])[0]
    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    sampled = policy.act(observation, deterministic=False, rng=np.random.default_rng(0))
    frequency = np.bincount(sampled, minlength=5) / len(sampled)
    assert frequency == pytest.approx(expected, abs=4 * np.sqrt(0.25 / len(sampled)))
    with pytest.raises(PolicyError, match="random generator"):
        policy.act(observation, deterministic=False)


def test_scaling_centres_the_ego_speed_and_drops_what_says_nothing():
    factor, offset = observation_scaling(True)
    ego = np.zeros(25, np.float32)
    ego[:5] = (1.0, 0.3, 0.0, 25 / 80, 0.0)
    assert (ego * factor + offset)[:5] == pytest.approx(np.zeros(5))
    assert np.array_equal(observation_scaling(False)[0], np.ones(25))
    assert not observation_scaling(False)[1].any()


def test_a_foreign_observation_is_refused():
    with pytest.raises(PolicyError, match=r"\(N, 25\), found \(3, 24\)"):
        random_policy().logits(observations(3)[:, :24])


def changed(**changes: np.ndarray | None) -> bytes:
    arrays = arrays_of(random_policy()) | changes
    return archive(**{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a policy.npz"),
        (b"PK\x03\x04 truncated", "not a policy.npz"),
        (pickle.dumps({"weight_0": [1]}), "not a policy.npz"),
        (archive(a=np.array([{"evil": 1}], dtype=object)), "declares"),
        (changed(format=np.int64(2)), "expected format 1, found 2"),
        (changed(format=None), "expected format 1, found None"),
        (changed(bias_1=None), "expected the arrays"),
        (changed(extra=np.zeros(3, np.float32)), "expected the arrays"),
        (changed(weight_1=np.zeros((8, 7), np.float32)), "layer 1 takes 8 numbers"),
        (changed(weight_0=np.zeros((25, 8))), "weight_0 must be float32"),
        (changed(weight_0=np.full((25, 8), np.nan, np.float32)), "weight_0 holds a value that is not finite"),
        (changed(offset=np.zeros(24, np.float32)), "two vectors of one length"),
        (changed(format=np.array("x")), "declares no plain array"),
        (changed(format=np.float64(np.nan)), "expected format 1, found nan"),
        (changed(format=np.float64(np.inf)), "expected format 1, found inf"),
        (changed(format=np.array(1j)), "declares no plain array"),
        (changed(format=np.array("2020", "M8[D]")), "declares no plain array"),
        (changed(weight_0=np.zeros((5, 5, 8), np.float32)), "its weight is"),
    ],
)
def test_what_is_no_policy_is_refused(content, message):
    with pytest.raises(PolicyError, match=message):
        Policy.from_bytes(content)


def test_a_compressed_file_is_refused_before_it_is_unpacked():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("weight_0.npy", bytes(2**20))
    with pytest.raises(PolicyError, match="is compressed"):
        Policy.from_bytes(buffer.getvalue())


def test_an_array_that_lies_about_its_size_is_refused_before_memory_is_taken():
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (2**40,)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as liar:
        liar.writestr("weight_0.npy", header.getvalue() + bytes(16))
    with pytest.raises(PolicyError, match="not what it holds"):
        Policy.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    "header",
    [
        b"(" * 5_000,
        b"-" * 9_000 + b"1",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (True, 1), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -4), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 5_000 + b",), }",
        b"__import__('os').getcwd()",
    ],
)
def test_a_hostile_header_is_refused_unparsed(header):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as hostile:
        hostile.writestr(
            "weight_0.npy",
            b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n" + bytes(16),
        )
    with pytest.raises(PolicyError, match="declares no plain array"):
        Policy.from_bytes(buffer.getvalue())


def test_an_array_that_is_there_twice_is_refused():
    buffer = io.BytesIO(random_policy().to_bytes())
    with zipfile.ZipFile(buffer, "a") as doubled, pytest.warns(UserWarning, match="Duplicate name"):
        doubled.writestr("format.npy", doubled.read("format.npy"))
    with pytest.raises(PolicyError, match="there twice"):
        Policy.from_bytes(buffer.getvalue())


@settings(max_examples=200)
@given(st.data())
def test_a_damaged_file_is_refused_or_still_a_sound_policy(data):
    content = bytearray(random_policy(hidden=(3,)).to_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        policy = Policy.from_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
    except PolicyError:
        return
    assert np.isfinite(policy.logits(observations(2))).all()

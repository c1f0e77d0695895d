"""A trained driver as plain arrays: what leaves a trial, and all that is ever loaded of one.

A policy is a small tanh network with its observation scaling. It is computed in float64 from float32 weights: the
best and the second-best action then differ by far more than the rounding that another batch size, processor or BLAS
brings, so that the same policy drives the same episodes everywhere.
"""

import io
import math
import re
import zipfile
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from driving.kernel.layout import OBSERVATION_COLUMNS, OBSERVED
from search_spaces.errors import PolicyError

FORMAT = 1
"""Format of `policy.npz`; a file of another one is refused."""
LAYER_LIMIT = 16
"""Most layers of a policy file."""

TARGET_SPEED_MEAN = 0.3125
"""Observed ego speed half way between its lowest and highest target: 25 m/s over highway-env's range of 80 m/s."""

_COLUMN_FACTORS = (1.0, 5.0, 3.0, 10.0, 10.0)
"""Factors of presence, x, y, vx, vy of other vehicles: highway-env divides by 200 m, 12 m and 80 m/s, which leaves
their spread near 0.1. Chosen with the learning runs named in `search_spaces/ppo.py`."""
_EGO_FACTORS = (0.0, 0.0, 3.0, 16.0, 10.0)
"""The same for the ego, whose presence and x say nothing and whose speed matters most."""


_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<type><f4|<f8|<i8)', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>[0-9]{0,18}(?:, ?[0-9]{0,18}){0,2})\), \} *\n",
    re.DOTALL,
)
"""How numpy starts a plain array of numbers in a file of format 1.0."""


def observation_scaling(scaled: bool) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return factor and offset that a network applies to an observation before its first layer.

    Args:
        scaled: False leaves observations as highway-env gives them.

    Returns:
        factor: float32[25], dimensionless.
        offset: float32[25], dimensionless; added after the factor.
    """
    size = OBSERVED * OBSERVATION_COLUMNS
    if not scaled:
        return np.ones(size, np.float32), np.zeros(size, np.float32)
    factor = np.tile(np.array(_COLUMN_FACTORS, np.float32), (OBSERVED, 1))
    factor[0] = _EGO_FACTORS
    offset = np.zeros_like(factor)
    offset[0, 3] = -TARGET_SPEED_MEAN * _EGO_FACTORS[3]
    return factor.ravel(), offset.ravel()


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """A network from an observation to one logit per action.

    Attributes:
        factor: float32[D], multiplies the observation.
        offset: float32[D], added to that.
        weights: float32[inputs, outputs] of each layer; tanh stands between layers.
        biases: float32[outputs] of each layer.

    Raises:
        PolicyError: Shapes that do not fit each other, or a value that is not finite.
    """

    factor: NDArray[np.float32]
    offset: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __post_init__(self) -> None:
        width = self.factor.size
        if self.factor.shape != (width,) or self.offset.shape != (width,):
            raise PolicyError(
                f"policy: factor and offset must be two vectors of one length, not {self.factor.shape} "
                f"and {self.offset.shape}"
            )
        if not self.weights or len(self.weights) != len(self.biases):
            raise PolicyError(f"policy: {len(self.weights)} weights and {len(self.biases)} biases make no network")
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if weight.ndim != 2 or bias.ndim != 1 or weight.shape != (width, bias.size):
                raise PolicyError(
                    f"policy: layer {layer} takes {width} numbers, but its weight is {weight.shape} and its bias "
                    f"{bias.shape}"
                )
            width = bias.size
        for name, array in self._arrays().items():
            if array.dtype != np.float32:
                raise PolicyError(f"policy: {name} must be float32, not {array.dtype}")
            if not np.isfinite(array).all():
                raise PolicyError(f"policy: {name} holds a value that is not finite; the training diverged")

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the unnormalised log-probability of each action.

        Args:
            observations: float32[N, D], as the environment gives them.

        Returns:
            float64[N, A], dimensionless.
        """
        if observations.ndim != 2 or observations.shape[1] != self.factor.size:
            raise PolicyError(
                f"policy: expected observations of shape (N, {self.factor.size}), found {observations.shape}; it was "
                "trained for another observation"
            )
        hidden = observations.astype(np.float64) * self.factor + self.offset
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            hidden = hidden @ weight.astype(np.float64) + bias
            if layer < last:
                hidden = np.tanh(hidden)
        return hidden

    def act(
        self,
        observations: NDArray[np.float32],
        deterministic: bool = True,
        rng: np.random.Generator | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each observation.

        Args:
            observations: float32[N, D], as the environment gives them.
            deterministic: Whether to take the likeliest action instead of sampling.
            rng: Where samples come from; needed when not deterministic.

        Returns:
            int64[N], highway-env's discrete meta-actions.
        """
        logits = self.logits(observations)
        if not deterministic:
            if rng is None:
                raise PolicyError("policy: sampling needs a random generator")
            logits = logits + rng.gumbel(size=logits.shape)
        actions: NDArray[np.int64] = logits.argmax(axis=1)
        return actions

    def to_bytes(self) -> bytes:
        """Return the content of `policy.npz`; the same arrays give the same bytes."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, format=np.int64(FORMAT), **self._arrays())
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a `policy.npz`; nothing in it is ever executed.

        Raises:
            PolicyError: No such archive, a missing or foreign member, an array that is too large, of another type, or
                does not fit the others.
        """
        arrays = _read_archive(content)
        version = arrays.pop("format", None)
        if version is None or version.shape != () or version != FORMAT:
            raise PolicyError(f"policy: expected format {FORMAT}, found {version}; write it with this release")
        layers = (len(arrays) - 2) // 2
        expected = {"factor", "offset", *_layer_names(layers)}
        if set(arrays) != expected:
            raise PolicyError(f"policy: expected the arrays {sorted(expected)}, found {sorted(arrays)}")
        return cls(
            factor=arrays["factor"],
            offset=arrays["offset"],
            weights=tuple(arrays[f"weight_{layer}"] for layer in range(layers)),
            biases=tuple(arrays[f"bias_{layer}"] for layer in range(layers)),
        )

    def _arrays(self) -> dict[str, NDArray[np.float32]]:
        layers = [array for pair in zip(self.weights, self.biases, strict=True) for array in pair]
        named = dict(zip(_layer_names(len(self.weights)), layers, strict=True))
        return {"factor": self.factor, "offset": self.offset, **named}


def _layer_names(layers: int) -> list[str]:
    return [f"{kind}_{layer}" for layer in range(layers) for kind in ("weight", "bias")]


def _read_archive(content: bytes) -> dict[str, NDArray[np.float32]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > 2 * LAYER_LIMIT + 3:
                raise PolicyError(f"policy: {len(members)} members; at most {LAYER_LIMIT} layers are read")
            arrays, names = {}, set()
            for member in members:
                if member.compress_type != zipfile.ZIP_STORED:
                    raise PolicyError(
                        f"policy: {member.filename!r} is compressed; this project stores arrays as they are"
                    )
                if member.filename in names:
                    raise PolicyError(f"policy: {member.filename!r} is there twice")
                names.add(member.filename)
                arrays[member.filename.removesuffix(".npy")] = _read_array(member.filename, archive.read(member))
            return arrays
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, SyntaxError) as fault:
        raise PolicyError(f"policy: not a policy.npz of this project: {fault}") from fault


def _read_array(name: str, content: bytes) -> NDArray[np.float32]:
    # Not numpy's own reader: it hands the header to Python's parser, which a hostile one can exhaust.
    header = _HEADER.match(content)
    if header is None:
        raise PolicyError(f"policy: {name!r} declares no plain array of numbers as this project stores it")
    dtype = np.dtype(header["type"].decode())
    shape = tuple(int(size) for size in header["shape"].decode().split(",") if size.strip())
    if math.prod(shape) * dtype.itemsize != len(content) - header.end():
        raise PolicyError(f"policy: {name!r} declares {shape} of {dtype}, which is not what it holds")
    return np.frombuffer(content, dtype, offset=header.end()).reshape(
        shape, order="F" if header["fortran"] == b"True" else "C"
    )

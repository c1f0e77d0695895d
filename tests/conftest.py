"""What every test module shares: each starts without a Ray of the module before it."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes says nothing about whether it holds.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="module", autouse=True)
def _ray_ends_with_its_module() -> Iterator[None]:
    yield
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        ray.shutdown()

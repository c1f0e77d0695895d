from typing import get_args

import pytest

from actors.messages import Candidate, Origin
from orchestrator.report.wording import author


@pytest.mark.parametrize("origin", get_args(Origin))
def test_every_author_of_a_program_has_a_name(origin: Origin) -> None:
    candidate = Candidate(id="g00-c00", generation=0, source="", digest="", seed=0, origin=origin, move="start")
    assert author(candidate) not in ("", origin)

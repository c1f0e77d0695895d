import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.drivers import driver_named, run_episodes
from driving.episodes import from_parquet, to_parquet
from driving.measures import summarise
from search_spaces.errors import RunError
from search_spaces.scenarios import SELECTION, Scenario
from tests.tables import episodes


@settings(max_examples=20)
@given(count=st.integers(1, 60), seed=st.integers(0, 1000), crash_rate=st.floats(0.0, 1.0))
def test_a_table_is_the_same_after_a_walk_through_a_file(count: int, seed: int, crash_rate: float) -> None:
    table = episodes(count, seed, crash_rate=crash_rate)
    found = from_parquet(to_parquet(table))
    assert np.array_equal(found.seeds, table.seeds)
    assert found.seeds.dtype == table.seeds.dtype
    assert set(found.columns) == set(table.columns)
    assert all(np.array_equal(found.columns[name], column) for name, column in table.columns.items())
    assert set(found.histograms) == set(table.histograms)
    assert all(np.array_equal(found.histograms[name], counts) for name, counts in table.histograms.items())
    assert all(counts.dtype == np.int32 for counts in found.histograms.values())


def test_real_episodes_have_the_same_measures_after_it() -> None:
    road = Scenario(duration=10)
    table = run_episodes(road, SELECTION.seeds(20), driver_named("random"))
    content = to_parquet(table)
    assert summarise(from_parquet(content), road) == summarise(table, road)
    slim = from_parquet(content, histograms=False)
    assert slim.histograms == {}
    ratios = {
        name: value for name, value in summarise(table, road).items() if "_p5_" not in name and "_p95_" not in name
    }
    assert summarise(slim, road) == ratios


def test_the_same_episodes_are_the_same_bytes() -> None:
    assert to_parquet(episodes(30, 1)) == to_parquet(episodes(30, 1))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no table at all"])
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(RunError, match="table of episodes as Parquet"):
        from_parquet(content)


def test_another_table_is_refused() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"speed": [1.0]}), sink)
    with pytest.raises(RunError, match="table of episodes"):
        from_parquet(sink.getvalue())

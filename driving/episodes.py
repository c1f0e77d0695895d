"""Single episodes as a file: what a measure, an interval or a comparison was computed from.

Apache Parquet, one row for each episode, so that any tool for tables reads it.
"""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driving.measures import EpisodeTable
from search_spaces.errors import RunError

_SEED = "seed"
_HISTOGRAM = "histogram_"


def to_parquet(table: EpisodeTable) -> bytes:
    """Return the episodes as the bytes of a Parquet file.

    Columns are `seed`, those of `EpisodeTable.columns`, and `histogram_<quantity>`, a list of counts each.
    """
    columns: dict[str, pa.Array] = {_SEED: pa.array(table.seeds)}
    columns |= {name: pa.array(values) for name, values in table.columns.items()}
    for name, counts in table.histograms.items():
        flat = pa.array(counts.reshape(-1))
        columns[_HISTOGRAM + name] = pa.FixedSizeListArray.from_arrays(flat, counts.shape[1])
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    return sink.getvalue()


def from_parquet(content: bytes, *, histograms: bool = True) -> EpisodeTable:
    """Return the episodes of a file that `to_parquet` wrote.

    Args:
        content: The file.
        histograms: Whether the histograms are read too; without them it takes a fifth of the time and gives all
            measures but percentiles.

    Raises:
        RunError: It is no such file.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        wanted = [name for name in file.schema_arrow.names if histograms or not name.startswith(_HISTOGRAM)]
        table = file.read(wanted, use_threads=False)
        seeds = table[_SEED].to_numpy().astype(np.uint64)
        columns = {}
        counts = {}
        for name in table.column_names:
            if name.startswith(_HISTOGRAM):
                flat = table[name].combine_chunks().flatten().to_numpy()
                counts[name.removeprefix(_HISTOGRAM)] = flat.astype(np.int32).reshape(len(seeds), -1)
            elif name != _SEED:
                columns[name] = table[name].to_numpy().astype(np.float64)
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise RunError(f"expected a table of episodes as Parquet, found {len(content)} other bytes: {error}") from error
    return EpisodeTable(seeds, columns, counts)

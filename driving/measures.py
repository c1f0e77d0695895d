"""From what the kernel recorded to named measures of driving; `docs/metrics.md` explains each.

A measure that is undefined for the episodes at hand is absent, never 0 or NaN.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driving.kernel import records
from driving.vector_env import EpisodeRecords
from search_spaces.scenarios import Scenario

_COLUMNS: Mapping[str, int] = {
    "native_return": records.NATIVE_RETURN,
    "decisions": records.DECISIONS,
    "distance_m": records.DISTANCE,
    "crashed": records.CRASH,
    "at_fault": records.AT_FAULT,
    "overtakes_made": records.OVERTAKES_MADE,
    "overtakes_suffered": records.OVERTAKES_SUFFERED,
    "lane_changes": records.LANE_CHANGES,
    "frames": records.FRAMES_MEASURED,
    "low_ttc_frames": records.LOW_TTC_FRAMES,
    "low_headway_frames": records.LOW_HEADWAY_FRAMES,
    "right_lane_frames": records.RIGHT_LANE_FRAMES,
    "accel_squares": records.ACCEL_SQUARES,
    "jerk_squares": records.JERK_SQUARES,
}
"""Columns of an episode table, taken from the kernel's records as they are; `time_s` is added."""

_HISTOGRAMS: Mapping[str, int] = {
    "ttc": records.TTC_HISTOGRAM,
    "headway": records.HEADWAY_HISTOGRAM,
    "accel": records.ACCEL_HISTOGRAM,
    "jerk": records.JERK_HISTOGRAM,
}


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeTable:
    """One row for each episode; rows may be drawn again and again, so every measure can be bootstrapped.

    Attributes:
        seeds: Seeds of the episodes, uint64[E].
        columns: Name to float64[E]: those of the kernel's records (`driving/kernel/records.py`), and `time_s`, the
            duration of the decisions that were driven.
        histograms: Quantity ("ttc", "headway", "accel", "jerk") to counts of physics frames, int32[E, BINS].
    """

    seeds: NDArray[np.uint64]
    columns: Mapping[str, NDArray[np.float64]]
    histograms: Mapping[str, NDArray[np.int32]]

    def __len__(self) -> int:
        return len(self.seeds)

    def take(self, rows: NDArray[np.int64]) -> "EpisodeTable":
        """Return the episodes of `rows`, int64[K], in that order; a row may occur more than once."""
        return EpisodeTable(
            self.seeds[rows],
            {name: column[rows] for name, column in self.columns.items()},
            {name: counts[rows] for name, counts in self.histograms.items()},
        )

    @classmethod
    def concatenate(cls, tables: Sequence["EpisodeTable"]) -> "EpisodeTable":
        """Return one table of the episodes of at least one table."""
        first = tables[0]
        return cls(
            np.concatenate([table.seeds for table in tables]),
            {name: np.concatenate([table.columns[name] for table in tables]) for name in first.columns},
            {name: np.concatenate([table.histograms[name] for table in tables]) for name in first.histograms},
        )


def episode_table(record: EpisodeRecords, scenario: Scenario, seeds: Sequence[int]) -> EpisodeTable:
    """Return the table of episodes that have all ended.

    Args:
        record: Records of the environments, one for each episode.
        scenario: The road that they were driven on.
        seeds: Seeds of the episodes.
    """
    columns = {name: record.columns[:, column].copy() for name, column in _COLUMNS.items()}
    columns["time_s"] = columns["decisions"] / scenario.policy_frequency
    histograms = {name: record.histograms[:, which].copy() for name, which in _HISTOGRAMS.items()}
    return EpisodeTable(np.array(seeds, np.uint64), columns, histograms)


def percentile(counts: NDArray[np.int64], edges: NDArray[np.float64], share: float) -> float | None:
    """Return a percentile of a histogram, interpolated inside its bin.

    Args:
        counts: Frames in each bin, int64[B]; the last bin holds all that lies beyond the range.
        edges: Edges of the bins, in the unit of the quantity, float64[B + 1]. The result is off by less than the width
            of its bin.
        share: Which percentile, 0 to 1.

    Returns:
        In the unit of the quantity; None without frames, or where the percentile lies beyond the range.
    """
    rank = share * counts.sum()
    cumulated = np.cumsum(counts)
    place = int(np.searchsorted(cumulated, rank))
    if rank == 0 or place >= len(counts) - 1:
        return None
    inside = (rank - cumulated[place] + counts[place]) / counts[place]
    return float(edges[place] + inside * (edges[place + 1] - edges[place]))


def summarise(table: EpisodeTable, scenario: Scenario) -> dict[str, float]:
    """Return the measures of a set of episodes by name; those that are undefined are absent.

    Sums are taken over all episodes before they are divided, so that each metre and each second weighs the same. The
    acceleration of `accel_rms_ms2` is the whole one, along and across the car: the constants of the fitness were chosen
    with that definition.

    Args:
        table: The episodes; at least one.
        scenario: The road that they were driven on.
    """
    total = {name: float(column.sum()) for name, column in table.columns.items()}
    count = float(len(table))
    kilometres = total["distance_m"] / 1000.0
    scheduled = count * scenario.duration
    frames = total["frames"]
    net = total["overtakes_made"] - total["overtakes_suffered"]
    metrics = {
        "episodes": count,
        "crash_rate": total["crashed"] / count,
        "at_fault_crash_rate": total["at_fault"] / count,
        "native_return": total["native_return"] / count,
        "length_s": total["time_s"] / count,
        "distance_m": total["distance_m"] / count,
        "speed_ms": total["distance_m"] / total["time_s"],
        "progress_ms": total["distance_m"] / scheduled,
        "completion": total["time_s"] / scheduled,
        "overtakes_per_min": 60.0 * net / scheduled,
    }
    if kilometres > 0.0:
        metrics["crashes_per_1000km"] = 1000.0 * total["crashed"] / kilometres
        metrics["overtakes_per_km"] = net / kilometres
        metrics["lane_changes_per_km"] = total["lane_changes"] / kilometres
    if frames > 0.0:
        metrics["ttc_low_share"] = total["low_ttc_frames"] / frames
        metrics["headway_low_share"] = total["low_headway_frames"] / frames
        metrics["right_lane_share"] = total["right_lane_frames"] / frames
        metrics["accel_rms_ms2"] = float(np.sqrt(total["accel_squares"] / frames))
        metrics["jerk_rms_ms3"] = float(np.sqrt(total["jerk_squares"] / frames))
    return metrics | _percentiles(table)


def _percentiles(table: EpisodeTable) -> dict[str, float]:
    wanted = {"ttc_p5_s": ("ttc", 0.05), "headway_p5_s": ("headway", 0.05)}
    wanted |= {"accel_p95_ms2": ("accel", 0.95), "jerk_p95_ms3": ("jerk", 0.95)}
    found = {}
    for name, (quantity, share) in wanted.items():
        counts = table.histograms[quantity].sum(axis=0, dtype=np.int64)
        value = percentile(counts, records.bin_edges(_HISTOGRAMS[quantity]), share)
        if value is not None:
            found[name] = value
    return found

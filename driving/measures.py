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
        histograms: Quantity ("ttc", "headway", "accel", "jerk") to counts of physics frames, int32[E, BINS]; those that
            were not read are absent, and so are their percentiles.
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


def percentile(counts: NDArray[np.float64], edges: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return a percentile of each of several histograms, interpolated inside its bin.

    Args:
        counts: Frames in each bin, float64[B, BINS]; the last bin holds all that lies beyond the range.
        edges: Edges of the bins, in the unit of the quantity, float64[BINS + 1]. The result is off by less than the
            width of its bin.
        share: Which percentile, 0 to 1.

    Returns:
        float64[B], in the unit of the quantity; NaN without frames, or where the percentile lies beyond the range.
    """
    cumulated = np.cumsum(counts, axis=1)
    rank = share * cumulated[:, -1:]
    place = (cumulated < rank).sum(axis=1, keepdims=True)
    known = (rank > 0.0) & (place < counts.shape[1] - 1)
    place = np.where(known, place, 0)
    frames, below = np.take_along_axis(counts, place, axis=1), np.take_along_axis(cumulated, place, axis=1)
    inside = (rank - below + frames) / np.where(known, frames, np.nan)
    return np.asarray(edges[place] + inside * (edges[place + 1] - edges[place]))[:, 0]


def summarise(table: EpisodeTable, scenario: Scenario) -> dict[str, float]:
    """Return the measures of a set of episodes by name; those that are undefined are absent.

    Sums are taken over all episodes before they are divided, so that each metre and each second weighs the same. The
    acceleration of `accel_rms_ms2` is the whole one, along and across the car: the constants of the fitness were chosen
    with that definition.

    Args:
        table: The episodes; at least one.
        scenario: The road that they were driven on.
    """
    total = {name: column.sum(keepdims=True) for name, column in table.columns.items()}
    frames = {name: counts.sum(axis=0, keepdims=True, dtype=np.float64) for name, counts in table.histograms.items()}
    found = _measures(total, np.array([float(len(table))]), scenario) | _percentiles(frames)
    return {name: float(value[0]) for name, value in found.items() if np.isfinite(value[0])}


def resample(table: EpisodeTable, scenario: Scenario, weights: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the measures of many resamples of a set of episodes, all but those that are percentiles.

    Args:
        table: The episodes, E of them.
        scenario: The road that they were driven on.
        weights: How often each episode stands in each resample, float64[B, E].

    Returns:
        Measure to float64[B]; NaN where it is undefined.
    """
    sums = weights @ np.stack(list(table.columns.values()), axis=1)
    return _measures(dict(zip(table.columns, sums.T, strict=True)), weights.sum(axis=1), scenario)


def resample_percentiles(table: EpisodeTable, weights: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return what `resample` leaves out; it takes about a hundred times as long.

    Args:
        table: The episodes, E of them.
        weights: float64[B, E].

    Returns:
        Measure to float64[B]; NaN where it is undefined.
    """
    return _percentiles({name: weights @ counts.astype(np.float64) for name, counts in table.histograms.items()})


def _measures(
    total: Mapping[str, NDArray[np.float64]], count: NDArray[np.float64], scenario: Scenario
) -> dict[str, NDArray[np.float64]]:
    """Return the measures of sums over episodes, float64[B] each; NaN where undefined."""
    kilometres = _positive(total["distance_m"] / 1000.0)
    frames = _positive(total["frames"])
    scheduled = count * scenario.duration
    net = total["overtakes_made"] - total["overtakes_suffered"]
    return {
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
        "crashes_per_1000km": 1000.0 * total["crashed"] / kilometres,
        "overtakes_per_km": net / kilometres,
        "lane_changes_per_km": total["lane_changes"] / kilometres,
        "ttc_low_share": total["low_ttc_frames"] / frames,
        "headway_low_share": total["low_headway_frames"] / frames,
        "right_lane_share": total["right_lane_frames"] / frames,
        "accel_rms_ms2": np.sqrt(total["accel_squares"] / frames),
        "jerk_rms_ms3": np.sqrt(total["jerk_squares"] / frames),
    }


def _positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values with NaN for those that nothing can be divided by."""
    return np.where(values > 0.0, values, np.nan)


def _percentiles(frames: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Return the percentiles of histograms, float64[B, BINS] each, as float64[B]; NaN where undefined."""
    wanted = {"ttc_p5_s": ("ttc", 0.05), "headway_p5_s": ("headway", 0.05)}
    wanted |= {"accel_p95_ms2": ("accel", 0.95), "jerk_p95_ms3": ("jerk", 0.95)}
    return {
        name: percentile(frames[quantity], records.bin_edges(_HISTOGRAMS[quantity]), share)
        for name, (quantity, share) in wanted.items()
        if quantity in frames
    }

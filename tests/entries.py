"""Archive entries for tests of prompts and designers."""

from actors.archive import Archive
from actors.fitness import fitness
from actors.messages import ArchiveEntry, Candidate, Critique, Finding
from actors.outcome import CurvePoint, Outcome, TracePoint
from search_spaces.starting_programs import STARTING_PROGRAMS

METRICS = {
    "crash_rate": 0.062,
    "at_fault_crash_rate": 0.05,
    "speed_ms": 25.31,
    "progress_ms": 24.1,
    "completion": 0.95,
    "overtakes_per_min": 5.2,
    "lane_changes_per_km": 1.9,
    "ttc_low_share": 0.012,
    "accel_rms_ms2": 1.9,
    "jerk_rms_ms3": 6.4,
    "right_lane_share": 0.3,
    "native_return": 22.1,
}


def trained(identity: str, program: str = "progress", comment: str | None = None, **metrics: float) -> ArchiveEntry:
    """A candidate that was trained, judged and criticised."""
    measured = {**METRICS, **metrics}
    generation = int(identity[1:3])
    return ArchiveEntry(
        candidate=Candidate(
            id=identity,
            generation=generation,
            source=STARTING_PROGRAMS[program],
            digest=identity,
            seed=1,
            parents=(f"g{generation - 1:02d}-c00",) if generation else (),
            origin="llm",
        ),
        outcome=Outcome(
            candidate_id=identity,
            status="trained",
            metrics=measured,
            curve=tuple(
                CurvePoint(
                    steps=steps,
                    own_return=steps / 20_000,
                    native_return=9.0,
                    crash_rate=crashes,
                    length_s=20.0,
                    episodes=99,
                )
                for steps, crashes in ((100_000, 0.8), (200_000, 0.3), (300_000, 0.07))
            ),
            traces=tuple(
                TracePoint(component=name, steps=steps, low=low, mean=low + steps / 1e6, high=low + 0.9)
                for name, low in (("progress", 0.1), ("crash", -0.9), ("total", -0.8))
                for steps in (100_000, 200_000, 300_000)
            ),
            env_steps=300_000,
        ),
        fitness=fitness(measured),
        critique=Critique(
            candidate_id=identity,
            findings=(Finding(name="tailgating", sentence="Drives 31 % of the time with a headway below 0.9 s."),),
            comment=comment,
        ),
    )


def faulted(identity: str) -> ArchiveEntry:
    """A candidate whose program became infinite in training."""
    return ArchiveEntry(
        candidate=Candidate(
            id=identity, generation=1, source=STARTING_PROGRAMS["comfort"], digest=identity, seed=2, origin="llm"
        ),
        outcome=Outcome(candidate_id=identity, status="faulted", reason="the reward was inf at decision 812"),
    )


def archive_of(*entries: ArchiveEntry) -> Archive:
    """An archive that holds these entries."""
    return Archive(
        candidates={entry.candidate.id: entry.candidate for entry in entries},
        outcomes={entry.candidate.id: entry.outcome for entry in entries if entry.outcome},
        fitnesses={entry.candidate.id: entry.fitness for entry in entries if entry.fitness},
        critiques={entry.candidate.id: entry.critique for entry in entries if entry.critique},
    )

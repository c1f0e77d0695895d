"""Where a run keeps what was delivered, relative to its folder: each name is spelt here alone."""


def program_file(candidate_id: str) -> str:
    """Return the name of a candidate's reward program."""
    return f"{_folder(candidate_id)}/reward_program.py"


def policy_file(candidate_id: str) -> str:
    """Return the name of a candidate's policy (`policy.Policy`)."""
    return f"{_folder(candidate_id)}/policy.npz"


def episodes_file(candidate_id: str) -> str:
    """Return the name of the single episodes of a candidate's evaluation (`driving.episodes`)."""
    return f"{_folder(candidate_id)}/episodes.parquet"


def film_file(candidate_id: str) -> str:
    """Return the name of the film of one of these episodes."""
    return f"{_folder(candidate_id)}/episode.mp4"


def critique_file(candidate_id: str) -> str:
    """Return the name of what was said about a candidate, as Markdown."""
    return f"{_folder(candidate_id)}/critique.md"


def driver_episodes_file(name: str, *, reported: bool = False) -> str:
    """Return the name of a baseline driver's single episodes.

    Args:
        name: The driver.
        reported: Whether they are the report episodes; otherwise those of the selection.
    """
    return f"baselines/report/{name}.parquet" if reported else f"baselines/{name}.parquet"


def _folder(candidate_id: str) -> str:
    return f"candidates/{candidate_id}"

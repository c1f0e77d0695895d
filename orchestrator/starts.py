"""What a search is told to start from: programs of the user's own, and those of another search."""

from pathlib import Path

from actors.plan import IMPORTED_LIMIT, ImportedProgram
from actors.replies import extract_program
from search_spaces.errors import UsageError
from search_spaces.language import compile_program
from search_spaces.program import Violation


def starting_program(path: Path) -> str:
    """Return the text of a user's program; a search that trained another one instead would surprise them.

    Raises:
        UsageError: A file that cannot be read, or a program that the language refuses.
    """
    text = read_text(path, f"start_from: {path}")
    source = extract_program(text)
    program = source if isinstance(source, Violation) else compile_program(source)
    if isinstance(program, Violation):
        place = f"{path}" if program.line is None else f"{path}, line {program.line}"
        raise UsageError(f"start_from: {place}: {program.code}: {program.message}. {program.hint}")
    return text


def imported_programs(archive: Path) -> tuple[ImportedProgram, ...]:
    """Return the programs of another search, best first; to have none would surprise whoever named it.

    Args:
        archive: A bundle, or a folder that `orchestrate import` made.

    Raises:
        UsageError: It holds no program that the language accepts.
        BundleError: It is refused.
    """
    # A search without an archive is spared what it takes to read one.
    from orchestrator.bundle.importing import programs_in

    programs = programs_in(archive)
    if not programs:
        raise UsageError(f"archive: {archive} holds no program that the language accepts")
    return programs[:IMPORTED_LIMIT]


def read_text(path: Path, where: str) -> str:
    """Return the text of a file that the user named.

    Args:
        path: The file.
        where: Who named it, as an error says it.

    Raises:
        UsageError: It cannot be read or is no UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{where}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}: expected UTF-8 text") from error

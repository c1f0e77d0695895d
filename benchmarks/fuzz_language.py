"""Throw mutated programs and replies at the reward language: each must get a verdict, and mean the same twice.

    python benchmarks/fuzz_language.py [--count 100000] [--seed 0]

For each text: no crash; a refusal has a known code; an accepted program prints to a text with the same digest, and
gives on random states (corners, infinities and NaN among them) either a finite number or a counted fault, the same bit
by bit in the scalar reference and in the register machine. Prints what happened and exits with 1 if anything failed.
"""

import argparse
import json
import keyword
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from actors.replies import extract_program
from driving.kernel.reward_machine import RewardMachine
from search_spaces.language import compile_program
from search_spaces.operations import TOTAL_LIMIT
from search_spaces.program import CODES, RewardProgram, Violation
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import FIELDS

CASES = Path(__file__).resolve().parent.parent / "tests" / "cases"
STATES = 6
PIECES = (
    *"()[]{}:,.=+-*/%<>!\"'#\\\n\t 019eEx_", "    ", "**", "//", "==", "state", 'state["ttc"]', 'state["lane"]',
    "min(", "max(", "clip(", "round(", "int(", "sum([", "np.where(", "math.", "np.", "if ", "else", "elif ", "and ",
    "or ", "not ", "return ", "def ", "lambda: ", "for ", "while ", "import ", "class ", "yield ", "await ", ":= ",
    "...", "None", "True", "1e6", "1e7", "0x", "1j", "-0.0", 'float("inf")', "__", "compute_reward", "```", "~~~",
    "<think>", "</think>", '"""', "f'", "\x00", "\r", "\u202e", "\u200b", "\ud800", "\ufeff", "é", "ａ", "²", "😀",
    '"a": ', ", {}", "total", "-" * 40, "(" * 20, "1+" * 40,
)  # fmt: skip
TOKEN = re.compile(r"\w+|[^\w\s]+")


def corpus() -> list[str]:
    """Return the texts that mutation starts from: every case of the tests and every starting program."""
    texts = list(STARTING_PROGRAMS.values())
    for name in ("benign_rewards.jsonl", "hostile_rewards.jsonl"):
        cases = (json.loads(line) for line in (CASES / name).read_text().splitlines())
        texts += [case["source"] for case in cases if len(case.get("source", "")) < 3_000]
    for case in json.loads((CASES / "replies.json").read_text()).values():
        texts += [case["text"]] if case["text"] else []
    return [*texts, *json.loads((CASES / "programs.json").read_text()).values()]


def mutated(source: random.Random, texts: Sequence[str]) -> str:
    """Return one of `texts` after one to six random changes."""
    text = source.choice(texts)
    for _ in range(source.choice((1, 1, 1, 1, 2, 5))):
        if source.random() < 0.75:
            text = _token_replaced(source, text, source.choice(texts))
            continue
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.choice((0, 0, 1, 1, 3, 10)))
        match source.randrange(6):
            case 0 | 1:
                text = text[:start] + source.choice(PIECES) + text[end:]
            case 2:
                text = text[:start] + text[end:]
            case 3:
                other = source.choice(texts)
                place = source.randrange(len(other) + 1)
                text = text[:start] + other[place : place + source.randrange(60)] + text[end:]
            case 4:
                lines = text.split("\n")
                lines.insert(source.randrange(len(lines) + 1), source.choice(lines))
                text = "\n".join(lines)
            case _:
                text = text[:start] + text[start : start + 30] * source.choice((2, 2, 30)) + text[start:]
    return text


def _kind(token: str) -> tuple[bool, bool, bool]:
    return token[0].isdigit(), token[0].isalpha(), keyword.iskeyword(token)


def _token_replaced(source: random.Random, text: str, other: str) -> str:
    """Return `text` with one of its tokens replaced by one of `other`, of the same class if one is near."""
    tokens, offered = list(TOKEN.finditer(text)), TOKEN.findall(other)
    if not tokens or not offered:
        return text
    token = source.choice(tokens)
    replacements = source.choices(offered, k=16)
    alike = [each for each in replacements if _kind(each) == _kind(token.group())]
    return text[: token.start()] + (alike or replacements)[0] + text[token.end() :]


def states(source: random.Random) -> np.ndarray:
    """Return float64[STATES, len(FIELDS)] of ordinary, extreme and absurd values."""
    absurd = (0.0, -0.0, 1e308, -1e308, math.inf, -math.inf, math.nan, 5e-324)
    rows = np.array([[source.uniform(field.low, field.high) for field in FIELDS] for _ in range(STATES)])
    rows[1] = [field.low for field in FIELDS]
    rows[2] = [field.high for field in FIELDS]
    rows[3] = [source.choice(absurd) for _ in FIELDS]
    return rows


def fault_of(program: RewardProgram, rows: np.ndarray) -> str | None:
    """Return what is wrong with an accepted program; None where all is well."""
    again = compile_program(program.source)
    if not isinstance(again, RewardProgram) or again.graph != program.graph or again.digest != program.digest:
        return "its canonical text is another program"
    result = RewardMachine(program).evaluate(rows)
    for row, total, parts, fault in zip(rows, result.totals, result.components, result.faults, strict=True):
        reference = program.evaluate(dict(zip((field.name for field in FIELDS), row.tolist(), strict=True)))
        if reference.fault == math.isfinite(reference.total) or abs(reference.total) > TOTAL_LIMIT:
            return "neither a finite number nor a counted fault"
        one = np.array([reference.total, *reference.components.values()])
        two = np.array([total, *parts])
        ordinary = ~np.isnan(one)
        if reference.fault != fault or not np.array_equal(one, two, equal_nan=True):
            return "the machine differs from the reference"
        if not np.array_equal(np.signbit(one[ordinary]), np.signbit(two[ordinary])):
            return "the machine differs from the reference in the sign of a zero"
    return None


def main() -> int:
    """Run the fuzzer; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="how many texts")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutations")
    given = parser.parse_args()
    source, texts = random.Random(given.seed), corpus()
    verdicts: Counter[str] = Counter()
    failures, slowest, began = 0, (0.0, ""), time.perf_counter()
    for _ in range(given.count):
        text = mutated(source, texts)
        start = time.perf_counter()
        extracted = extract_program(text)
        program = extracted if isinstance(extracted, Violation) else compile_program(extracted)
        slowest = max(slowest, (time.perf_counter() - start, text))
        if isinstance(program, Violation):
            verdicts[program.code] += 1
            wrong = None if program.code in CODES else f"unknown code {program.code}"
        else:
            verdicts["accepted"] += 1
            wrong = fault_of(program, states(source))
        if wrong:
            failures += 1
            print(f"FAILED: {wrong}\n{text!a}\n")
    seconds = time.perf_counter() - began
    print(f"{given.count} texts in {seconds:.0f} s, slowest check {slowest[0] * 1e3:.0f} ms, {failures} failures")
    print(f"slowest: {slowest[1][:200]!a}")
    print(", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

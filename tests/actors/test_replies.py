import json
import time
from pathlib import Path

import pytest

from actors.replies import extract_program
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram, Violation
from search_spaces.state import STANDARD_STATE

CASES = Path(__file__).parent.parent / "cases"
CODE = 'def compute_reward(state):\n    r = state["speed_ms"] * 0.04\n    return r\n'
OTHER = "def compute_reward(state):\n    return 7.0\n"
TRIPLE = '"' * 3
EXAMPLE = f"{TRIPLE}Like this:\n```python\n{OTHER}```\n{TRIPLE}\n"


def outcome(reply: str | bytes | None) -> RewardProgram | Violation:
    source = extract_program(reply)
    return source if isinstance(source, Violation) else compile_program(source)


def value(reply: str | bytes) -> float:
    program = outcome(reply)
    assert isinstance(program, RewardProgram), (program, extract_program(reply))
    return program.evaluate(STANDARD_STATE).total


def indented(text: str, by: str) -> str:
    return "".join(by + line for line in text.splitlines(keepends=True))


REPLIES = json.loads((CASES / "replies.json").read_text())


@pytest.mark.parametrize("name", REPLIES)
def test_replies_of_every_style(name: str) -> None:
    case = REPLIES[name]
    found = "program" if isinstance(outcome(case["text"]), RewardProgram) else "refused"
    assert found == case["expect"]


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{CODE}```",
        f"```PYTHON title=x\n{CODE}```\n",
        f"````py\n{CODE}````\nbye",
        f"~~~~\n{CODE}~~~~",
        f"```{{.python .numberLines}}\n{CODE}```",
        f"``` python\n{CODE}```   \nDone.",
        f"Text\n\n  ```python\n{indented(CODE, '  ')}  ```\n",
        f"1. First:\n   ```python\n{indented(CODE, '   ')}   ```\n2. Then.",
        f"- ```python\n{indented(CODE, '  ')}  ```\n",
        f"> ```python\n{indented(CODE, '> ')}> ```\n",
        f"\t```python\n{indented(CODE, chr(9))}\t```\n",
        f"```python\n{CODE.rstrip()}```",
        f"```python\n{CODE}",
        f"```python\n{CODE}\nThis rewards speed.",
        f"```python\n{CODE}\n**Why:** speed!\n",
        f"\ufeff```python\r\n{CODE.replace(chr(10), chr(13) + chr(10))}```\r\n",
        f"Sure! Here's the code:\n\n{CODE}\nHope this helps!\n",
        f"Here’s the function — enjoy:\n{CODE}\nIt’s simple: don't crash.\n- speed\n- safety\n1. one\n",
        f"Notes:\n* fast\n\nimport math\nW = 0.04\n\n{CODE.replace('0.04', 'W')}\nExplanation:\nW scales it.\n",
        f"    {indented(CODE, '    ').lstrip()}",
        f"Code:\n\n{indented(CODE, '    ')}\nDone",
        f"<think>Let me try:\n```python\n{OTHER}```\nno.</think>\n```python\n{CODE}```",
        f"<think>\nOK {{}} ``` def compute_reward(state): ...\n</think>\n{CODE}",
        f"reasoning without opening tag\n```python\n{OTHER}```\n</think>\n```python\n{CODE}```",
        f"<thinking>a<think>b</think>c</thinking>```python\n{CODE}```".replace("</thinking>", "</thinking>\n"),
        f"<think>\nnever closed\n```python\n{CODE}```",
        f"```python\n{CODE}```\n<think>afterthought:\n```python\n{OTHER}```",
        f"```python\n{OTHER}```\nbetter:\n```python\n{CODE}```",
        f"```python\n{CODE}```\nSignature:\n```python\ndef compute_reward(state):\n    ...\n```",
        f"```python\n{CODE}```\n```python\ndef compute_reward(state):\n    {TRIPLE}A.{TRIPLE}\n    pass # b\n```",
        f"```python\n{CODE}```\n```\nr = v / vmax\n```\n```bash\nrun it\n```",
        f"```json\n{json.dumps({'code': CODE})}\n```",
        json.dumps({"thoughts": "use def", "answer": {"program": [f"```python\n{CODE}```"]}}),
        json.dumps({"code": CODE.splitlines()}),
        "Here you go: " + json.dumps({"reasoning": "compute_reward {x}", "code": CODE}) + " bye",
        json.dumps([{"code": CODE}]),
        'I used {x} and {"a": 1} first. ' + json.dumps({"code": CODE}),
        '{"code": "' + CODE.replace('"', '\\"') + '"}',
        f"<code>\n{CODE}</code>",
        f"```python\n# my program\n{CODE}```",
        f"```python\ndef compute_reward(\n    state,\n):\n{CODE.split(chr(10), 1)[1]}```",
        CODE.encode(),
        b"\xef\xbb\xbf" + CODE.encode(),
        f"{CODE}\n\n\n",
        f"{CODE}\nThis (roughly\nworks.\n",
        f"{CODE}\n---\n| a | b |\n|---|---|\n",
        f"W = 0.04\nprose here.\n{CODE}",
        f"{CODE.rstrip()}<|im_end|>\n",
        f"```python\n{CODE}```<|eot_id|>",
        f"```python\n{OTHER}```\nshorter:\n```python\ndef compute_reward(state): return state['speed_ms'] * 0.04\n```",
        f"```python\n{CODE}```\n```python\ndef compute_reward(\n    state: dict,\n) -> float:\n    ...\n```",
        f"```python\n{CODE}```\n```python\ndef compute_reward(state):\n    '''A.'''\n    ...\n```",
        f"```python\n{CODE}```\n```python\ndef compute_reward(state):\n    raise NotImplementedError\n```",
        f"```python\n{CODE}```\n```python\ndef compute_reward(state: dict) -> float: ...\n```",
        CODE.replace("    return", "    # <think> fast is good\n    return"),
        f"```python\n{CODE.replace('    return', '    # <think> fast is good' + chr(10) + '    return')}```",
        f"```python\n{CODE.replace('    return', '    # </think> is the end' + chr(10) + '    return')}```",
        f"<think effort='high'>\n{OTHER}</think>\n{CODE}",
        f"<analysis>\n```python\n{OTHER}```\n</analysis>\n{CODE}",
        f"<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>final<|message|>{CODE}<|return|>",
        f"<answer>{CODE}</answer>\n",
        f'<pre><code class="python">{CODE}</code></pre>',
        f"<answer>```python\n{CODE}```</answer>",
        f"```def compute_reward(state):\n{CODE.split(chr(10), 1)[1]}```",
        f"```python\n{CODE.replace('    r =', indented(EXAMPLE, '    ') + '    r =', 1)}```\nDone.",
        f"{CODE}\nDone\n",
        f"{CODE}\nExplanation: it is fast\n",
        f"# Reward\n\n{CODE}\n## Notes\n- fast\n",
        f"Here it is.\n\n{TRIPLE}Reward\nfor speed, mostly.\n{TRIPLE}\nimport math\n\n{CODE}\nBye now.\n",
        f"Look:\n\n{indented(CODE, '> ')}\nDone.",
        f"```python\n{CODE.rstrip()}```\n\nRun it:\n```bash\npython x.py\n```\n",
        f"Draft:\n```python\n{OTHER}```\n```json\n{json.dumps({'code': CODE.splitlines()})}\n```\n",
        f"Here:\n\n{CODE.replace('    r =', indented(EXAMPLE.replace('return 7.0', '...'), '    ') + '    r =')}\nBye.",
        json.dumps([CODE]),
        json.dumps(CODE),
        f"```json\n{json.dumps(CODE)}\n```",
        json.dumps({"why": "def compute_reward(state) is simple", "code": CODE}),
        json.dumps({"signature": "def compute_reward(state): ...", "code": CODE}),
        json.dumps({"thoughts": f"First:\n```python\n{OTHER}```", "code": CODE}),
        json.dumps({"code": OTHER}) + "\n" + json.dumps({"code": CODE}),
        json.dumps({"tool_calls": [{"arguments": json.dumps({"code": f"```python\n{CODE}```"})}]}),
        '{"code": ' + json.dumps(CODE) + ",}",
        '{"code": ' + json.dumps(CODE),
        '{"code": ' + json.dumps(CODE)[:-1],
        '{"code": ' + json.dumps(CODE.replace("\n", "\\n")) + "}",
        '{"code": ' + TRIPLE + CODE + TRIPLE + "}",
        '{ // a note\n "code": ' + json.dumps(CODE) + "}",
        f"def compute_reward(state):\n{indented(EXAMPLE, '    ')}{CODE.split(chr(10), 1)[1]}",
    ],
)  # fmt: skip
def test_finds_the_program(reply: str | bytes) -> None:
    assert value(reply) == 1.0


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (None, "E_STRUCTURE"),
        ("", "E_STRUCTURE"),
        ("  \n\t\n", "E_STRUCTURE"),
        ("I cannot help with that.", "E_STRUCTURE"),
        ("Désolé, je ne peux pas « aider ».", "E_STRUCTURE"),
        ("```python\nx = 1\n```", "E_STRUCTURE"),
        (f"```python\n{CODE}{OTHER}```", "E_STRUCTURE"),
        (CODE + OTHER, "E_STRUCTURE"),
        ("```python\ndef compute_reward(state):\n    pass\n```", "E_RETURN"),
        (f"<think>{CODE}</think>", "E_STRUCTURE"),
        ("```python\ndef compute_reward(state):\n    return max(state['ttc'],\n", "E_SYNTAX"),
        ("```python\nclass A:\n    def compute_reward(self, state):\n        return 1.0\n```", "E_NODE"),
        (f"{CODE}import os\n", "E_IMPORT"),
        (f"import os\n{CODE}", "E_IMPORT"),
        (f"{CODE}print(1)\n", "E_NODE"),
        (f"{CODE}compute_reward\n", "E_NODE"),
        (f"{CODE}().__class__\n", "E_NODE"),
        (f"{CODE}state['ttc']\n", "E_NODE"),
        (f"```python\n{CODE}\nprint(compute_reward({{}}))\n```", "E_NODE"),
        (f"```python\n{CODE}    \x00```", "E_ENCODING"),
        (f"{CODE}\x00", "E_ENCODING"),
        (f"{CODE}\u200b\n", "E_ENCODING"),
        (b"\xff" + CODE.encode(), "E_ENCODING"),
        ("\ud800" + CODE, "E_ENCODING"),
        (CODE + " " * 200_000, "E_SIZE"),
        ("x" * 900_000, "E_SIZE"),
        (CODE + "x = 1\n" * 500, "E_SIZE"),
        (CODE + "#" * 20_000, "E_SIZE"),
        (CODE + "\n" * 500, "E_SIZE"),
        ('{"code": "def compute_reward(state):\\n    return os"}', "E_NAME"),
        ("[" * 100_000, "E_SIZE"),
        ('{"a":' * 50_000 + "def compute_reward" + "}" * 50_000, "E_SIZE"),
    ],
)  # fmt: skip
def test_refuses_what_holds_no_program(reply: str | bytes | None, code: str) -> None:
    answer = outcome(reply)
    assert isinstance(answer, Violation)
    assert answer.code == code, answer


def test_time_grows_with_the_length_alone() -> None:
    definition = "def compute_reward(state):\n"
    shapes = [
        "```\n" * 40_000,
        "```python\n" + definition * 6_000,
        "<think>" * 25_000 + CODE,
        "</think>" * 20_000 + CODE,
        (definition + "    ...\n") * 5_000,
        definition + "    " + '"""' * 50_000,
        "{" * 90_000 + definition + "}" * 90_000,
        '{"a":' * 30_000 + definition,
        '{"a' * 60_000 + definition,
        '{"a":[' + '"x",' * 40_000 + '{"' * 100 + definition,
        "- " * 90_000 + "```",
        "> " * 90_000 + "```",
        "prose line\n" * 15_000 + CODE,
        CODE + "prose, (\n" * 18_000,
        CODE + "a = (\n" * 25_000,
        " " * 190_000 + "```",
        "def " * 45_000 + CODE,
        definition + "\n" * 190_000,
        '{"code": ' + '"def compute_reward ", ' * 9_000,
        "[" + '"""' * 60_000 + definition,
        ("```python\n" + definition + '    """\n    ```\n') * 4_000,
        "<a>" * 60_000 + definition,
        "# <think>" * 20_000 + "\n" + CODE,
        ('{"code": "' + definition.rstrip() + ' return 1"}\n') * 4_000,
        "<|channel|>final" * 12_000 + CODE,
    ]
    for text in shapes:
        began = time.process_time()
        outcome(text[:200_000])
        assert time.process_time() - began < 1.5, text[:40]

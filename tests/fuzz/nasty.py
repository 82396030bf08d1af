"""Values, texts and bytes that have broken something, here or elsewhere."""

import functools
import math
import random
import re
from typing import Any

import numpy as np

TEXTS = (
    *("", " ", "0", "1", "2", "-1", "3.5", "1e400", "nan", "inf", "-inf", "true", "none", "x", "é"),
    *("9" * 5000, "0x" + "f" * 5000, "1_000", "2147483647", "2147483648", "4294967296", "1e-320"),
    *(
        "[",
        "[" * 2000,
        "]",
        "[1, [2]]",
        "1,2,3",
        "64,x",
        "{a=1}",
        "'",
        '"',
        '"a"',
        "\\",
        "\n",
        "a=b",
    ),
    *("\x00", "\x7f", "\udcff", "../..", "/etc/passwd", "a" * 10_000, "%s%n", "$(id)", "--x", "-"),
    *(
        "vdn",
        "pairvdn",
        "wall",
        "adam",
        "linear",
        "huber",
        "jaxmarl:x",
        "pettingzoo:.x",
        "os:system",
    ),
    *("antigravity:x", "this:x", ":", "a:b:c", "sgd", "paper", "parallel", "mlp", "relu"),
)
NUMBERS = (0, 1, 2, 3, -1, 2**31 - 1, 2**31, 2**32, 2**63, 10**400, 0.5, 1e308, math.inf, math.nan)
OBJECTS = (
    None,
    True,
    "x",
    "",
    b"x",
    [],
    [1],
    (2,),
    {},
    {"a": 1},
    object(),
    str,
    np.int64(3),
    np.nan,
)
ARRAYS = (np.float32(2), np.zeros(3), np.zeros((2, 2)), np.array("x"), np.array([None]))
VALUES = (*NUMBERS, *OBJECTS, *ARRAYS)

_TOML = (
    *("0", "1", "-1", "2.5", "nan", "inf", "true", '"x"', "[]", "[1]", '["x"]', "{}", "{a = 1}"),
    *("9" * 5000, "0x" + "f" * 3000, "[" * 1500, "2147483648", "1e400", '"none"', "1979-05-27"),
    *('"antigravity:x"', '"vdn"', '"wall"', '"\\u0000"', "'''a\nb'''", "[[1]]", "[{a = 1}]"),
)


def mutated_toml(chance: random.Random, text: str) -> str:
    """The text with one to three lines changed, or with rubbish in it."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        line = lines[at]
        if chance.random() < 0.6:  # a number or a flag that may be right
            lines[at] = re.sub(r"\d+", lambda _: str(chance.choice([1, 2, 3, 40, 500, 6000])), line)
            continue
        key = line.partition("=")[0].strip() or "x"
        lines[at] = chance.choice(
            [
                f"{key} = {chance.choice(_TOML)}",
                f"{key} = {chance.choice(_TOML)}",
                f"{key}x = 1",
                f"{line}\n{line}",
                "",
                f"[{key}]",
                f"[[{key}]]",
                f"{key}.{key} = 1",
                mutated_bytes(chance, line.encode()).decode("utf-8", "replace"),
                f'"{chance.choice(["a b", "", "é", "seed", "env"])}" = {chance.choice(_TOML)}',
            ]
        )
    return "\n".join(lines)


JSON = (None, True, -1, 0, 3, 2.5, 10**30, 10**400, math.inf, "", "x", "\n", [], [[]], {}, {"a": 1})
DEEP: Any = functools.reduce(lambda inner, _: [inner], range(600), 0)


def crafted_json(chance: random.Random, value: Any) -> Any:
    """The value with one part of it replaced, removed or repeated."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice([*JSON, DEEP])
    key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    crafted = value.copy()
    how = chance.random()
    if how < 0.8:
        crafted[key] = crafted_json(chance, value[key])
    elif how < 0.9 or isinstance(value, dict):
        del crafted[key]
    else:
        crafted.append(value[key])
    return crafted


def mutated_bytes(chance: random.Random, data: bytes) -> bytes:
    """The bytes with a flip, a cut, an insertion, or rubbish instead."""
    at = chance.randrange(len(data) + 1)
    rubbish = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
    flipped = data[:at] + bytes([(data[at : at + 1] or b"\0")[0] ^ (1 << chance.randrange(8))])
    return chance.choice(
        [
            flipped + data[at + 1 :],
            flipped + data[at + 1 :],
            data[:at],
            data[:at] + rubbish + data[at:],
            data[:at] + data[at + chance.randrange(1, 50) :],
            rubbish,
            b"",
            chance.choice([b"5", b"{}", b"[]", b"null", b"[" * 50_000, b"\xff\xfe", b"NaN\n"]),
        ]
    )

"""Branches that the defines rule out go, everything else stays, and what is not understood is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.cuda.reading.constants import without_choices
from flashscope.kernels.cuda.reading.directives import without_branches
from flashscope.kernels.cuda.reading.errors import SourceError
from flashscope.kernels.cuda.reading.expression import condition_value

KNOWN = {"ON": 1, "OFF": 0, "SIZE": 64}


def branches(text: str, folder: Path = Path()) -> str:
    return without_branches(Path("a.cu"), text, folder, KNOWN)[0]


@pytest.mark.parametrize(
    ("directives", "left"),
    [
        ("#if ON\na\n#else\nb\n#endif\n", "a\n"),
        ("#if !ON\na\n#elif SIZE == 64\nb\n#elif ON\nc\n#else\nd\n#endif\n", "b\n"),
        ("#if OFF\n#if ON\na\n#else\nb\n#endif\n#else\nc\n#endif\n", "c\n"),
        ("#ifndef ON\n#define ON 0\n#endif\na\n", "a\n"),
        ("#ifndef NEW  // unless given\n#define NEW 1  // by default\n#endif\n#if NEW\na\n#endif\n",
         "#define NEW 1  // by default\na\n"),
        ("#if defined(ON) && (OFF || SIZE >= 64)\na\n#endif\n", "a\n"),
        ("#if NOWHERE\na\n#endif\nb\n", "b\n"),
        ("#define L(x) \\\n    (x)\n#pragma unroll\na\n", "#define L(x) \\\n    (x)\n#pragma unroll\na\n"),
    ],
)  # fmt: skip
def test_of_the_preprocessor_s_branches_the_one_taken_stays(directives: str, left: str) -> None:
    assert branches(directives) == left


def test_lines_of_a_macro_that_stands_for_nothing_go_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "h.cuh").write_text("#define MARK(x)\n#define GIVEN  // nothing\n#define DO(x) x;\n")
    text = '#include "h.cuh"\na;\n    MARK(a / b)\nf(a\n  GIVEN\n);\nDO(1)\nMARK(1) + 1;\nUNKNOWN(1)\n'
    left = '#include "h.cuh"\na;\nf(a\n);\nDO(1)\nMARK(1) + 1;\nUNKNOWN(1)\n'
    assert branches(text, tmp_path) == left


def test_a_header_is_read_for_its_macros_and_stays_an_include(tmp_path: Path) -> None:
    (tmp_path / "h.cuh").write_text("#pragma once\n#ifndef DEPTH\n#define DEPTH 3\n#endif\nint x;\n")
    assert branches('#include "h.cuh"\n#if DEPTH == 3\na\n#endif\n', tmp_path) == '#include "h.cuh"\na\n'


@pytest.mark.parametrize(
    ("directives", "told"),
    [
        ("#if ON\n", "a.cu: a conditional has no #endif"),
        ("a\n#endif\n", "a.cu:2: #endif belongs to no #if"),
        ("#if F(1)\n#endif\n", "a.cu:1: the condition"),
        ("#if ON + 1\n#endif\n", "a.cu:1: the condition"),
        ("#if !ON == 1\n#endif\n", "a.cu:1: the condition"),
        ("#if __CUDA_ARCH__ > 800\n#endif\n", "__CUDA_ARCH__ is not known as a number"),
        ("#define TEXT abc\n#if TEXT\n#endif\n", "a.cu:2: TEXT is not known as a number"),
        ("#line 3\n", "a.cu:1: #line is not understood"),
    ],
)
def test_a_directive_that_is_not_understood_is_refused_with_its_line(directives: str, told: str) -> None:
    with pytest.raises(SourceError) as caught:
        branches(directives)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("int x = ON ? a : b;", "int x = a;"),
        ("int x = OFF ? f(a, b) : g(c, d), y = ON ? 1 : 2;", "int x = g(c, d), y = 1;"),
        ("f(OFF || ON ? a + 1 : b, c);", "f(a + 1, c);"),
        ("return !ON ? a : n ? b : c;", "return n ? b : c;"),
        ("x = (SIZE == 64 ? a : b) + c;", "x = (a) + c;"),
        ("x[OFF ? 0 : A::B] = 2;", "x[A::B] = 2;"),
        ("if (ON) x = 1;\nelse y = 2;", "x = 1;"),
        ("if constexpr (OFF) {\n    x = 1;\n} else {\n    y = 2;\n    z = 3;\n}\n", "y = 2;\nz = 3;\n"),
        ("a;\n    if (OFF) x = 1;\nb;\n", "a;\nb;\n"),
        ("x = ON || n ? a : b;", "x = a;"),
        ("if (ON && n < 2 && (m || OFF)) x = 1;", "if (n < 2 && (m || OFF)) x = 1;"),
        ("if (n && OFF) x = 1;\nelse y = 2;", "y = 2;"),
        ("x = OFF || n ? a : b;", "x = n ? a : b;"),
        ('static_assert(ON || !OFF, "a, b; c");\nx;\n', "x;\n"),
    ],
)
def test_a_choice_of_the_defines_is_what_it_comes_to(code: str, left: str) -> None:
    assert without_choices(code, KNOWN) == left


@pytest.mark.parametrize(
    "code",
    [
        "x = m || n ? a : b;",
        "if (m && n == ON) x = 1;",
        "x = n > SIZE ? a : b;",
        "x = y.ON ? a : b;",
        'f("ON ? a : b");  // ON ? a : b',
        "x = A::ON ? a : b;",
        "if constexpr (MASK) x = 1;",
        'static_assert(ON || N % 2 == 0, "even");',
        "for (int i = 0; i < SIZE; ++i) x += i;",
    ],
)
def test_a_choice_that_is_not_the_defines_alone_stays_as_it_is_written(code: str) -> None:
    assert without_choices(code, KNOWN) == code


@pytest.mark.parametrize(
    "code",
    ["if (ON) for (;;) x();", "if (ON) x(); else if (n) y();", "x = ON ? a;", "x = OFF ? a : f<b, c>(d);",
     "if (ON) { x();"],
)  # fmt: skip
def test_a_statement_that_is_not_understood_is_refused(code: str) -> None:
    with pytest.raises(SourceError):
        without_choices(code, KNOWN)


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
    "==": lambda a, b: int(a == b),
    "<": lambda a, b: int(a < b),
}
LEAVES = st.integers(0, 3).map(lambda number: (str(number), number))
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda a, sign, b: (f"({a[0]}) {sign} ({b[0]})", OPERATORS[sign](a[1], b[1])),
        *(inner, st.sampled_from(list(OPERATORS)), inner),
    ),
    max_leaves=6,
)


@given(CONDITIONS)
def test_a_condition_has_the_value_that_c_gives_it(condition: tuple[str, int]) -> None:
    text, expected = condition
    assert condition_value(text, KNOWN.__getitem__) == expected

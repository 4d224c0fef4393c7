"""Instructions by the lines of a source: each is of one line, and of no line that it does not come from."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.app.figures.annotated_source import annotated_source
from flashscope.app.figures.instruction_lines import by_line
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.cuda.reading.step import StepSource, read_problem
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.cuda.sass.kinds import KINDS, kind_of
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.cuda.sass.resources import Resources

H100 = next(card for card in CARDS if card.name == "H100")
FILE = "flash9.cu"
TEXTS = ("HGMMA.64x128x16 R0", "@P0 MUFU.EX2 R1, R2", "LDS R1, [R2]", "FADD R1, R2, R3")
SOURCE = "one\ntwo\nthree\nfour\n"
CALLED = (SourcePlace("wgmma.cuh", 7), SourcePlace(FILE, 2), SourcePlace(FILE, 4))
MADE = "Compiled here by NVRTC 13.0 for the H100 (sm_90a) and 4 sequences of 4,096 with 16 heads, not run."
TAKES = (
    "flash9 × 2 launches: 168 registers a thread, 384 threads a block, spills 4 B stored and 12 B loaded a "
    "thread, 8 B of stack; shared memory of a block: 1.00 KiB static, 224 KiB dynamic; 3 instructions."
)

places = st.builds(SourcePlace, st.sampled_from((FILE, "a.cuh", "b.cuh")), st.integers(1, 4))
codes = st.lists(st.tuples(st.sampled_from(TEXTS), st.lists(places, max_size=3)), max_size=12)


@given(codes)
@settings(max_examples=50)
def test_every_instruction_is_of_one_line_and_its_count_is_of_that_line_alone(
    drawn: list[tuple[str, list[SourcePlace]]],
) -> None:
    code = [Instruction(16 * at, text, "", tuple(lines)) for at, (text, lines) in enumerate(drawn)]
    found = by_line(code, FILE)
    assert sorted(at for members in found.groups.values() for at in members) == list(range(len(code)))
    assert found.total == Counter(kind_of(one.text) for one in code)
    for home, members in found.groups.items():
        assert all(home in code[at].places if home else not code[at].places for at in members)
        if home is not None and home.file == FILE:
            assert found.counts[home.line] == Counter(found.kinds[at] for at in members)
            assert set(members) <= set(found.through[home.line])
    for line, members in found.through.items():
        wanted = [at for at, one in enumerate(code) if SourcePlace(FILE, line) in one.places]
        assert list(members) == wanted


def test_what_a_header_does_is_of_the_line_that_calls_it_and_counts_there_alone() -> None:
    found = by_line([Instruction(0, TEXTS[0], "", CALLED)], FILE)
    assert list(found.groups) == [SourcePlace(FILE, 2)]
    assert {line: sum(kinds.values()) for line, kinds in found.counts.items()} == {2: 1}
    assert {line: list(members) for line, members in found.through.items()} == {2: [0], 4: [0]}


def test_lines_stand_in_the_order_of_the_source_and_headers_after_them() -> None:
    homes = [SourcePlace(*one) for one in (("b.cuh", 1), (FILE, 3), ("a.cuh", 9), (FILE, 1))]
    code = [Instruction(at, TEXTS[3], "", (home,)) for at, home in enumerate(homes)]
    ordered = list(by_line([*code, Instruction(99, TEXTS[3])], FILE).groups)
    assert ordered == [
        SourcePlace(FILE, 1),
        SourcePlace(FILE, 3),
        SourcePlace("a.cuh", 9),
        SourcePlace("b.cuh", 1),
        None,
    ]


def test_a_source_is_written_with_the_instructions_under_their_lines() -> None:
    code = [
        Instruction(0, TEXTS[1], "", CALLED),
        Instruction(16, TEXTS[3], "", (SourcePlace("a.cuh", 9),)),
        Instruction(32, TEXTS[2]),
    ]
    kernel = KernelListing("flash9", code, Resources(168, 8, 4, 1024, 12), 384, 229376, 2)
    source = StepSource("flash9", FILE, "flash9: a heading", SOURCE)
    build = BuildListing(source, "sm_90a", "NVRTC 13.0", [kernel])
    assert annotated_source(build, H100, read_problem(), kernel, by_line(code, FILE)).splitlines() == [
        "// flash9: a heading",
        f"// {MADE}",
        f"// {TAKES}",
        "// Occupancy: 1 block an SM, 12 of 64 warps (18.8%); registers and shared memory let in no more.",
        "",
        "     1 | one",
        "     2 | two",
        "            000000  @P0 MUFU.EX2 R1, R2",
        "     3 | three",
        "     4 | four",
        "       | // a.cuh:9",
        "            000010  FADD R1, R2, R3",
        "       | // no line",
        "            000020  LDS R1, [R2]",
    ]


def test_every_kind_is_named_and_the_last_takes_what_is_left() -> None:
    assert KINDS[kind_of("WHATEVER R1")].title == "other"
    assert all(kind.title and kind.about for kind in KINDS)

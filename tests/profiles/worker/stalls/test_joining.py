"""What was sampled gets its lines from the build with lines, if the machine code is the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.stalls import NO_LINE
from flashscope.profiles.worker.stalls.joining import joined, opcode
from flashscope.profiles.worker.stalls.printed import SampledInstruction

FILE = "flash3.cu"
HEADER = SourcePlace("wgmma.cuh", 9)
CODE = [
    Instruction(0, "BSSY B0, .L_x_0", "", (SourcePlace(FILE, 7),)),
    Instruction(16, "@!P0 BRA .L_x_1", "", (HEADER, SourcePlace(FILE, 8), SourcePlace(FILE, 3))),
    Instruction(32, "LOP3.LUT R3, R0.reuse, 0x60, RZ, 0xc0, !PT", "", (HEADER,)),
]
RAN = ("BSSY B0, 0x7fe84f7b1320", "@!P0 BRA 0x7fe84f7b8040", "LOP3.LUT R3, R0, 0x60, RZ, 0xc0, !PT", "NOP")
OPCODES = st.sampled_from(["HGMMA.64x128x16.F32", "MUFU.EX2", "@P1 BRA", "@!UP0 UTMALDG.4D", "BAR.SYNC"])


def ran(*texts: str) -> list[SampledInstruction]:
    return [SampledInstruction(16 * at, text, (1,), 0) for at, text in enumerate(texts)]


def test_an_instruction_has_the_innermost_line_of_the_source_and_the_disassemblers_text() -> None:
    assert joined(ran(*RAN), CODE, FILE) == [
        ("BSSY B0, .L_x_0", 7),
        ("@!P0 BRA .L_x_1", 8),
        ("LOP3.LUT R3, R0.reuse, 0x60, RZ, 0xc0, !PT", NO_LINE),
        ("NOP", NO_LINE),
    ]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("BSSY B0", "@!P0 EXIT", "LOP3.LUT R3"), r"differs at byte 0x10: @!P0 EXIT where that has @!P0 BRA"),
        (("BSSY B0", "@!P0 BRA 0x1"), r"differs at byte 0x20: nothing where that has LOP3"),
        ((), r"differs at byte 0x0: nothing"),
    ],
)
def test_other_machine_code_is_refused_with_where_it_differs(texts: tuple[str, ...], told: str) -> None:
    with pytest.raises(UnsupportedError, match=told):
        joined(ran(*texts), CODE, FILE)


@given(st.lists(OPCODES, min_size=1, max_size=8), st.data())
def test_any_opcode_that_differs_is_found(texts: list[str], data: st.DataObject) -> None:
    code = [Instruction(16 * at, f"{text} R1", "", ()) for at, text in enumerate(texts)]
    assert [one.text for one in joined(ran(*texts), code, FILE)] == [one.text for one in code]
    place = data.draw(st.integers(0, len(texts) - 1))
    other = data.draw(OPCODES.filter(lambda one: opcode(one) != opcode(texts[place])))
    with pytest.raises(UnsupportedError, match=f"{16 * place:#x}"):
        joined(ran(*texts[:place], other, *texts[place + 1 :]), code, FILE)

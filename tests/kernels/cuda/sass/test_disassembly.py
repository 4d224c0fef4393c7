"""What nvdisasm prints is read instruction by instruction; where it is missing, the remedy is told."""

import os
import sys
from pathlib import Path

import pytest

from flashscope.kernels.cuda.sass import disassembly, listing
from flashscope.kernels.cuda.sass.disassembly import (
    Instruction,
    SourcePlace,
    disassembled,
    find_nvdisasm,
    instructions_of,
)
from flashscope.kernels.cuda.sass.kinds import KINDS, kind_of
from flashscope.kernels.cuda.sass.resources import Resources, resources
from flashscope.kernels.workload.errors import DeviceUnavailableError

PRINTED = """\
\t.target\tsm_90a

\t.section\t.text.scale,"ax",@progbits
        .global         scale
scale:
.text.scale:
\t//## File "/a/scale.cu", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/a/include/copy.cuh", line 38 inlined at "/a/include/tile.cuh", line 9
\t//## File "/a/include/tile.cuh", line 9 inlined at "/a/scale.cu", line 5
\t//## File "/a/scale.cu", line 5
        /*0010*/              @!P0 BRA `(.L_x_1) ;
        /*0020*/                   LDG.E R2, desc[UR4][R2.64] ;
.L_x_0:
\t//## File "/a/scale.cu", line 6
        /*0030*/                   BRA `(.L_x_0);
.L_x_1:
        /*0040*/                   NOP;
        /*0050*/                   NOP;
.L_x_2:

\t.section\t.text.other,"ax",@progbits
other:
.text.other:
        /*0000*/                   NOP ;
        /*0010*/                   EXIT ;
"""
LOG = """\
ptxas info    : 72 bytes gmem
ptxas info    : Compiling entry function 'finish' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 22 registers, used 0 barriers
ptxas info    : Compiling entry function 'flash1' for 'sm_90'
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 1024 bytes smem
"""


def test_an_instruction_has_its_line_the_calls_it_was_inlined_through_and_the_label_before_it() -> None:
    found = instructions_of(PRINTED)
    first, through = (
        (SourcePlace("scale.cu", 3),),
        (SourcePlace("copy.cuh", 38), SourcePlace("tile.cuh", 9), SourcePlace("scale.cu", 5)),
    )
    assert found["scale"] == [
        Instruction(0x00, "LDC R1, c[0x0][0x28]", "", first),
        Instruction(0x10, "@!P0 BRA .L_x_1", "", through),
        Instruction(0x20, "LDG.E R2, desc[UR4][R2.64]", "", through),
        Instruction(0x30, "BRA .L_x_0", ".L_x_0", (SourcePlace("scale.cu", 6),)),
    ]


def test_a_kernel_begins_without_the_lines_of_the_one_before_and_keeps_what_is_no_padding() -> None:
    assert instructions_of(PRINTED)["other"] == [Instruction(0x00, "NOP"), Instruction(0x10, "EXIT")]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4].tnspB, R24, gsb0", "tensor cores"),
        ("HMMA.16816.F32.BF16 R4, R4, R8, R12", "tensor cores"),
        ("@!P0 MUFU.EX2 R4, R4", "MUFU"),
        ("LDSM.16.M88.4 R4, [R8]", "shared memory"),
        ("@P1 STS.128 [R8], R4", "shared memory"),
        ("LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]", "global memory"),
        ("@!UP1 UTMALDG.4D [UR8], [UR4], desc[UR6]", "TMA"),
        ("UBLKCP.S.G [UR4], [UR6], UR8", "TMA"),
        ("LDL.LU R4, [R1]", "local memory"),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R4], R5", "barriers"),
        ("WARPGROUP.DEPBAR.LE gsb0, 0x1", "barriers"),
        ("FFMA R4, R4, R5, R6", "other"),
        ("LDC R1, c[0x0][0x28]", "other"),
    ],
)
def test_an_instruction_is_of_the_unit_that_carries_it_out(text: str, title: str) -> None:
    assert KINDS[kind_of(text)].title == title


def test_what_a_kernel_takes_is_what_ptxas_reports_of_it() -> None:
    assert resources(LOG) == {
        "finish": Resources(registers=22, stack=0, spilled=0, shared=0, reloaded=0),
        "flash1": Resources(registers=128, stack=8, spilled=4, shared=1024, reloaded=16),
    }


def hide_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassembly, "find_spec", lambda _name: None)
    monkeypatch.setattr(disassembly, "USUAL_TOOLKIT", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    for name in disassembly.TOOLKITS:
        monkeypatch.delenv(name, raising=False)


def test_without_nvdisasm_the_extra_that_brings_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hide_tools(monkeypatch)
    with pytest.raises(DeviceUnavailableError, match=r"nvdisasm, is not on this machine: .*\[sass\]"):
        disassembled(b"", tmp_path)


@pytest.mark.parametrize("where", ["CUDA_PATH", "CUDA_HOME", "PATH"])
def test_nvdisasm_is_found_in_a_toolkit_that_a_variable_names_and_on_the_path(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hide_tools(monkeypatch)
    tool = tmp_path / "bin" / "nvdisasm"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv(where, f"/nowhere{os.pathsep}{tool.parent}" if where == "PATH" else str(tmp_path))
    assert find_nvdisasm() == tool


def test_what_nvdisasm_cannot_read_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(DeviceUnavailableError, match=r"could not read the machine code: .*build\.cubin"):
        disassembled(b"no cubin", tmp_path)


def test_without_nvrtc_the_extra_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceUnavailableError, match=r"NVRTC, is not on this machine: .*\[sass\]"):
        listing.nvrtc_version()

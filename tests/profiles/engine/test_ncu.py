"""ncu's answers are read whatever their form; those here are written by hand after its own."""

import stat
from pathlib import Path

import pytest

from kernels.problem import Problem
from profiles.engine.ncu import METRICS, NcuError, ncu_bytes, ncu_command, read_csv

WIDE = """==PROF== Connected to process 511 (/usr/bin/python3.12)
a line that the program printed
"ID","Process ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_bytes.sum"
"","","","byte","byte","byte"
"0","511","one","1,000,000","20","400"
"1","511","two","500","2","40.5"
==PROF== Disconnected from process 511
"""
LONG = """"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","range","Command line profiler metrics","dram__bytes_read.sum","Mbyte","1.5"
"0","range","Command line profiler metrics","dram__bytes_write.sum","Kbyte","2"
"0","range","Command line profiler metrics","lts__t_bytes.sum","Gbyte","3"
"0","range","Command line profiler metrics","gpu__time_duration.sum","nsecond","3"
"""
PROBLEM = Problem(seqlen_q=64, seqlen_k=64)


def test_a_column_a_metric_is_summed_over_all_kernels() -> None:
    assert read_csv(WIDE) == {"dram_read_bytes": 1_000_500, "dram_write_bytes": 22, "l2_bytes": 440.5}


def test_a_line_a_metric_is_read_with_its_unit() -> None:
    assert read_csv(LONG) == {"dram_read_bytes": 1.5e6, "dram_write_bytes": 2000, "l2_bytes": 3e9}


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("", "no table, but nothing"),
        ("==ERROR== the argument is invalid\n", "no table, but ==ERROR== the argument is invalid"),
        (WIDE.replace("lts__t_bytes.sum", "other"), "says nothing of lts__t_bytes.sum"),
        (LONG.replace('"1.5"', '"n/a"'), "'n/a' 'Mbyte', which is no number"),
        (LONG.replace("Gbyte", "sector"), "'3' 'sector', which is no number"),
    ],
)
def test_an_answer_without_the_bytes_is_refused_with_what_it_lacks(printed: str, why: str) -> None:
    with pytest.raises(NcuError, match=why):
        read_csv(printed)


def test_the_clocks_are_left_alone_and_the_caches_emptied() -> None:
    words = " ".join(ncu_command("ncu", "flash2", PROBLEM))
    assert f"--metrics {','.join(METRICS)} --cache-control all --clock-control none" in words
    assert "profiles.worker.arbiter counters flash2" in words


def program(folder: Path, text: str) -> str:
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_no_permission_and_no_program_are_told_as_such(tmp_path: Path) -> None:
    denied = program(tmp_path, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission'")
    with pytest.raises(NcuError, match="may not read the counters"):
        ncu_bytes(denied, "flash2", PROBLEM)
    with pytest.raises(NcuError, match="did not answer"):
        ncu_bytes(str(tmp_path / "none"), "flash2", PROBLEM)

"""ncu's answers are read whatever their form; those here are written by hand after its own."""

import stat
from pathlib import Path

import pytest

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.ncu import METRICS, NcuError, ncu_bytes, ncu_command, of_ranges, read_csv
from flashscope.profiles.wire.traffic import NCU_RUNS

WIDE = """==PROF== Connected to process 511 (/usr/bin/python3.12)
a line that the program printed
"ID","Process ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_bytes.sum"
"","","","byte","byte","byte"
"0","511","range","1,000,000","20","400"
"1","511","range","250000500","70","900.5"
==PROF== Disconnected from process 511
"""
LONG = """"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","range","Command line profiler metrics","dram__bytes_read.sum","Mbyte","1.5"
"0","range","Command line profiler metrics","dram__bytes_write.sum","Kbyte","2"
"0","range","Command line profiler metrics","lts__t_bytes.sum","Gbyte","3"
"0","range","Command line profiler metrics","gpu__time_duration.sum","nsecond","3"
"1","range","Command line profiler metrics","dram__bytes_read.sum","Mbyte","252"
"1","range","Command line profiler metrics","dram__bytes_write.sum","Kbyte","3"
"1","range","Command line profiler metrics","lts__t_bytes.sum","Gbyte","4"
"""
PROBLEM = Problem(seqlen_q=64, seqlen_k=64)


def test_a_column_a_metric_is_read_range_by_range() -> None:
    alone, filled = read_csv(WIDE)
    assert alone == {"dram_read_bytes": 1_000_000, "dram_write_bytes": 20, "l2_bytes": 400}
    assert filled == {"dram_read_bytes": 250_000_500, "dram_write_bytes": 70, "l2_bytes": 900.5}


def test_a_line_a_metric_is_read_with_its_unit() -> None:
    alone, filled = read_csv(LONG)
    assert alone == {"dram_read_bytes": 1.5e6, "dram_write_bytes": 2000, "l2_bytes": 3e9}
    assert filled["dram_write_bytes"] == 3000


def test_what_is_read_is_of_the_run_alone_and_what_is_written_also_of_the_fill_after_it() -> None:
    told = of_ranges(read_csv(WIDE) * NCU_RUNS)
    assert {key: (figure.value, figure.low, figure.high) for key, figure in told.items()} == {
        "dram_bytes": (1_000_070, 1_000_070, 1_000_070),
        "l2_bytes": (400, 400, 400),
    }


def test_runs_that_differ_are_told_by_their_median_with_the_least_and_the_most() -> None:
    first, filled = read_csv(WIDE)
    runs = [first | {"l2_bytes": value} for value in (500.0, 100.0, 400.0)]
    told = of_ranges([one for run in runs for one in (run, filled)])["l2_bytes"]
    assert (told.value, told.low, told.high, told.source) == (400, 100, 500, "Nsight Compute, 3 runs")


def test_another_number_of_ranges_is_no_answer() -> None:
    with pytest.raises(NcuError, match="counted 2 ranges, not 6"):
        of_ranges(read_csv(WIDE))


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


def test_clocks_and_caches_are_left_to_what_is_run() -> None:
    words = " ".join(ncu_command("ncu", "flash2", PROBLEM))
    assert f"--metrics {','.join(METRICS)} --cache-control none --clock-control none" in words
    assert "flashscope.profiles.worker.arbiter:main counters flash2" in words


def program(folder: Path, text: str) -> str:
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_answer_of_a_program_is_the_bytes_of_a_run(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    lines = WIDE.splitlines()
    ranges = [f'"{number}"{lines[4 + number % 2][3:]}' for number in range(2 * NCU_RUNS)]
    table.write_text("\n".join([*lines[:4], *ranges]), encoding="utf-8")
    counted = ncu_bytes(program(tmp_path, f"cat {table}"), "flash2", PROBLEM)
    assert counted["dram_bytes"].value == 1_000_070


def test_no_permission_and_no_program_are_told_as_such(tmp_path: Path) -> None:
    denied = program(tmp_path, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission'")
    with pytest.raises(NcuError, match="may not read the counters"):
        ncu_bytes(denied, "flash2", PROBLEM)
    with pytest.raises(NcuError, match="did not answer"):
        ncu_bytes(str(tmp_path / "none"), "flash2", PROBLEM)

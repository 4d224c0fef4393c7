"""The figures on the pages of the kernels are those of the bundled recordings."""

from statistics import mode

import pytest

from flashscope.app.words.units import bytes_text, digits
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import FOOTPRINT
from flashscope.profiles.results.theory.why import whys
from tests.texts.figures import (
    LIBRARIES,
    TORCH,
    Chosen,
    Ratios,
    any_problem,
    medians,
    points_of,
    ratios,
    session_of,
    throughputs,
)
from tests.texts.pages import says, table_after

KERNELS = "kernels/README.md"
PEERS = {
    "flash3": "flash3",
    "flash-attn-3": "flash-attn-3",
    "flash-attn-4": "flash-attn-4",
    "cuDNN": "torch-cudnn",
    "Triton": "triton-flash",
    "FlashAttention-2": "torch-flash",
}


@pytest.mark.parametrize(
    ("page", "marker"), [("README.md", "## What it measured"), (KERNELS, "### Standard and flash2")]
)
def test_footprints_and_runtimes_of_standard_and_flash2_are_the_recordings(page: str, marker: str) -> None:
    at = {(row.kernel, row.seqlen): row for row in points_of("h200-standard-flash2")}
    for n, *told in table_after(page, marker):
        standard, flash2 = (at[kernel, int(n.replace(",", ""))] for kernel in ("standard", "flash2"))
        assert told[2:4] == [_footprint(flash2), _runtime(flash2)]
        if standard.status == "will-not-fit":
            assert told[:2] == [f"will not fit: {bytes_text(standard.predicted_bytes)}", "-"]
            assert told[4] == "-"
        else:
            assert told[:2] == [_footprint(standard), _runtime(standard)]
            assert told[4] == f"{_median(standard) / _median(flash2):.1f}×"


def _footprint(row: PointRow) -> str:
    return bytes_text(value_of(FOOTPRINT, row) or 0)


def _runtime(row: PointRow) -> str:
    ms = _median(row)
    return f"{ms:.3f} ms" if ms < 1 else f"{digits(ms)} ms"


def _median(row: PointRow) -> float:
    assert row.times is not None
    return row.times.median


BEHIND = "batch 4, 32 heads, N = 512", "1, 8, 2k", "4, 16, 512"


def test_the_clock_of_these_runs_is_the_recordings() -> None:
    clocks = [row.clocks.median / 1000 for row in points_of("h200-standard-flash2") if row.clocks]
    says(KERNELS, f"clock was {min(clocks):.2f} to {max(clocks):.2f} GHz")
    by_nvml = [one.sm_clock_mhz or 0 for one in session_of("h200-standard-flash2").readings]
    says(KERNELS, f"NVML's most frequent reading meanwhile is {mode(by_nvml) / 1000:.2f} GHz")


@pytest.mark.parametrize(
    ("name", "marker", "columns"),
    [
        ("h200-peers", "holds 19 kernels in turns over 30 problems", [*PEERS]),
        ("h100-peers", "### The same on an H100", [*PEERS]),
        ("h100-backward", "Gradients there", ["flash3", "flash-attn-4", "cuDNN", "FlashAttention-2"]),
        ("h200-backward", "### Backward", ["flash3", "flash-attn-4", "cuDNN", "FlashAttention-2"]),
    ],
)
def test_throughputs_beside_the_libraries_are_the_recordings(
    name: str, marker: str, columns: list[str]
) -> None:
    known = [throughputs(name, PEERS[column]) for column in columns]
    for head, *told in table_after(KERNELS, marker):
        dim, causal = int(head.split(",")[0]), "causal" in head
        assert told == [
            " / ".join(f"{one[dim, causal, n]:.0f}" for n in (1024, 4096, 16384)) for one in known
        ]


def test_ratios_on_an_h200_are_the_recordings() -> None:
    torch, own, newer = (
        ratios("h200-peers", "flash3", those) for those in (TORCH, ["flash-attn-3"], ["flash-attn-4"])
    )
    every = ratios("h200-peers", "flash3", [*LIBRARIES, "triton-flash"])
    assert torch.least >= 1.06
    assert torch.ahead == own.ahead == newer.ahead == every.ahead == 30
    says(
        "README.md",
        f"`flash3` is {torch.mean:.2f}× as fast as the fastest of PyTorch's",
        f"{own.mean:.2f}× as fast as FlashAttention-3 as its authors build it",
        f"and {newer.mean:.2f}× as fast as",
    )
    says(
        KERNELS,
        f"`flash3` is {torch.mean:.2f}× as fast as the fastest of PyTorch's kernels and never under 1.06×",
        f"it is {own.mean:.2f}× as fast, ahead in all 30 problems, by {100 * (own.least - 1):.1f}% to "
        f"{_percent(own.most)}",
        f"`flash3` is {newer.mean:.2f}× as fast: ahead in all 30 problems, by {_percent(newer.least)} to "
        f"{_percent(newer.most)}",
        f"libraries in each problem it is {every.mean:.2f}× as fast, and the least it is ahead by, "
        f"{100 * (every.least - 1):.1f}%",
    )
    least = min(every.by_problem, key=lambda problem: every.by_problem[problem])
    assert (least.head_dim, least.causal, least.seqlen) == (128, True, 16384)
    assert every.least == own.least
    standard = ratios("h200-peers", "flash3", ["standard"])
    says(KERNELS, f"is {standard.mean:.1f}× as fast as `standard`, and {standard.least:.1f}× at least")
    ours = ratios("h200-peers", "flash2", ["torch-flash"])
    plain = ratios("h200-peers", "standard", ["torch-flash"])
    says(
        KERNELS,
        f"reaches {ours.mean:.2f}× of FlashAttention-2 and is never under {ours.least:.2f}×; "
        f"`standard` reaches {plain.mean:.2f}×",
    )


def test_the_fastest_of_pytorch_is_cudnn_or_what_chose_it() -> None:
    known = {kernel: medians("h200-peers", kernel) for kernel in TORCH}
    for problem in medians("h200-peers", "flash3"):
        fastest = min(
            (kernel for kernel in TORCH if problem in known[kernel]), key=lambda k: known[k][problem]
        )
        assert fastest in {"torch-cudnn", "torch-auto"}


def test_what_standard_takes_at_head_dim_128_is_the_recordings() -> None:
    of_standard = {
        row.seqlen: (row, why)
        for row, why in zip(points_of("h200-peers"), whys(session_of("h200-peers")), strict=True)
        if row.kernel == "standard" and row.problem.head_dim == 128 and not row.problem.causal
    }
    took = {n: row.times.median for n, (row, _) in of_standard.items() if row.times}
    says(KERNELS, f"takes {took[8192]:.2f} ms at N = 8k and {took[16384]:.2f} ms at 16k")
    shares = [100 * (why.share or 0) for n, (_, why) in of_standard.items() if n >= 8192 and why]
    copied = of_standard[8192][0].measured("copy_gbs")
    assert copied is not None
    says(
        KERNELS,
        f"would take {min(shares):.0f} to {max(shares):.0f}% of that time",
        f"within device memory, {(copied.value or 0) / 1000:.2f} TB/s",
    )


def test_throughputs_in_8_bits_are_the_recordings() -> None:
    fp8, flash3 = (throughputs("h200-peers", one)[128, False, 16384] for one in ("flash3-fp8", "flash3"))
    says(
        KERNELS,
        f"reaches {fp8:,.0f} TFLOP/s",
        f"`flash3` reaches {flash3:.0f}",
        f"it is {fp8 / flash3:.1f}× as fast as `flash3`",
    )


def test_figures_of_few_tiles_are_the_recordings() -> None:
    decoded, thin = ratios("h200-decode", "flash3", LIBRARIES), ratios("h200-thin", "flash3", LIBRARIES)
    assert (len(decoded.by_problem), len(thin.by_problem)) == (14, 120)
    says(
        KERNELS,
        f"{decoded.mean:.2f}× as fast, ahead in {decoded.ahead}, and {decoded.least:.3f}× in the other two",
        f"is {thin.mean:.2f}× as fast as the fastest of the same four: at or above it in {thin.ahead} "
        f"problems, down to {thin.least:.3f}×",
    )
    one = {"flash3": 0.0, "torch-cudnn": 0.0}
    for kernel in one:
        ((problem, ms),) = medians(
            "h200-decode", kernel, lambda p: (p.batch, p.heads, p.seqlen_q, p.seqlen_k) == (1, 32, 1, 131072)
        ).items()
        one[kernel] = 1000 * ms
        rate = (problem.input_bytes + problem.output_bytes) / ms / 1e9
        if kernel == "flash3":
            says(KERNELS, f"takes {1000 * ms:.0f} µs, {rate:.2f} TB/s")
    says(KERNELS, f"cuDNN takes {one['torch-cudnn']:.0f} µs")


def test_ratios_of_backward_passes_are_the_recordings() -> None:
    every = ratios("h200-backward", "flash3", LIBRARIES)
    assert every.ahead == len(every.by_problem) == 30
    says(KERNELS, f"over 30 problems `flash3` is {every.mean:.2f}× as fast as the fastest of the three")
    for dim, told in ((64, "{} to {} at head dim 64"), (128, "{} to {} at 128"), (256, "{} to {} at 256")):
        ahead = Ratios({p: r for p, r in every.by_problem.items() if p.head_dim == dim})
        says(KERNELS, told.format(_percent(ahead.least), _percent(ahead.most)))


def test_drawn_problems_on_an_h200_are_the_recordings() -> None:
    drawn = ratios("h200-drawn", "flash3", LIBRARIES)
    ours = [row for row in points_of("h200-drawn") if row.kernel == "flash3"]
    assert {row.status for row in ours} == {"done"}
    assert len(ours) == 60
    behind = sorted((ratio, problem) for problem, ratio in drawn.by_problem.items() if ratio < 1)
    assert [(p.seqlen_q, p.causal, p.heads, p.key_heads) for _, p in behind] == [
        (145, True, 48, 6),
        (259, True, 32, 4),
    ]
    says(
        KERNELS,
        f"Of seed {ours[0].problem.seed} all 60",
        f"In the {len(drawn.by_problem)} that some library takes `flash3` is {drawn.mean:.2f}× as fast",
        f"ahead in {drawn.ahead}, and behind in two",
        *(f"{ratio:.2f}× ({problem.seqlen_q} rows" for ratio, problem in behind),
    )


def test_an_h100_takes_as_much_longer_as_the_page_says() -> None:
    def longer(kernel: str, chosen: Chosen = any_problem) -> Ratios:
        here, there = medians("h200-peers", kernel), medians("h100-peers", kernel, chosen)
        return Ratios({problem: there[problem] / here[problem] for problem in there})

    standard = longer("standard", lambda p: not p.causal and p.head_dim < 256)
    says(KERNELS, f"takes {standard.least:.2f} to {standard.most:.2f}× as long there")
    cudnn = longer("torch-cudnn").mean
    says(KERNELS, f"and cuDNN, as a geometric mean over all 30 problems, {cudnn:.2f}×")
    fast, slow = (_copy(name) for name in ("h200-peers", "h100-peers"))
    says(KERNELS, f"a copy reaches {slow:.2f} TB/s for {fast:.2f}", f"the memory's {fast / slow:.2f}×")
    beside = ratios("h100-peers", "flash3", LIBRARIES)
    says(
        KERNELS, f"`flash3` is {ratios('h100-peers', 'flash3', ['standard']).mean:.1f}× as fast as `standard`"
    )
    says(
        KERNELS,
        f"it is {beside.mean:.2f}× as fast: ahead in {beside.ahead} of {len(beside.by_problem)} problems, by "
        f"{100 * (sorted(beside.by_problem.values())[1] - 1):.1f}% to {_percent(beside.most)}",
        f"causal, head dim 128, N = 16k ({beside.least:.4f}×)",
    )
    level = min(beside.by_problem, key=lambda problem: beside.by_problem[problem])
    assert (level.head_dim, level.causal, level.seqlen) == (128, True, 16384)


def test_ratios_to_each_library_on_an_h100_are_the_recordings() -> None:
    own, newer, triton = (
        ratios("h100-peers", "flash3", [PEERS[one]]) for one in ("flash-attn-3", "flash-attn-4", "Triton")
    )
    says(
        KERNELS,
        f"is {own.mean:.2f}× as fast as `flash-attn-3`, {newer.mean:.2f}× as fast as `flash-attn-4` and "
        f"{triton.mean:.2f}× as fast as Triton's",
    )


def test_decoding_on_an_h100_is_the_recordings() -> None:
    decoded = ratios("h100-decode", "flash3", LIBRARIES)
    says(
        KERNELS,
        f"`flash3` is {decoded.mean:.2f}× as fast: ahead in {decoded.ahead} of {len(decoded.by_problem)} "
        f"problems, by {100 * (decoded.least - 1):.1f}% at least",
    )


def test_small_problems_on_an_h100_are_the_recordings() -> None:
    thin = ratios("h100-thin", "flash3", LIBRARIES)
    behind = sorted((ratio, problem) for problem, ratio in thin.by_problem.items() if ratio < 1)
    says(
        KERNELS,
        f"Of {len(thin.by_problem)} small problems there",
        f"`flash3` is {thin.mean:.2f}× as fast as the fastest of cuDNN,",
        f"at or above it in {thin.ahead}, behind in three at head dim 128 without a mask",
        *(f"{ratio:.2f}× ({where})" for (ratio, _), where in zip(behind, BEHIND, strict=True)),
    )
    assert {(one.head_dim, one.causal) for _, one in behind} == {(128, False)}
    assert [(one.batch, one.heads, one.seqlen) for _, one in behind] == [
        (4, 32, 512),
        (1, 8, 2048),
        (4, 16, 512),
    ]


def test_gradients_on_an_h100_are_the_recordings() -> None:
    every = ratios("h100-backward", "flash3", LIBRARIES)
    assert every.ahead == len(every.by_problem) == 30
    narrow, middle, wide = (
        Ratios({p: r for p, r in every.by_problem.items() if p.head_dim == dim}) for dim in (64, 128, 256)
    )
    says(
        KERNELS,
        f"as a geometric mean `flash3` is {every.mean:.2f}× as fast as the fastest of",
        f"by {_percent(narrow.least)} to {_percent(narrow.most)} at head dim 64, "
        f"{100 * (middle.least - 1):.1f}% to {_percent(middle.most)} at 128 and {_percent(wide.least)} to "
        f"{_percent(wide.most)} at 256",
    )


def test_drawn_problems_on_an_h100_are_the_recordings() -> None:
    drawn = ratios("h100-drawn", "flash3", LIBRARIES)
    ours = [row for row in points_of("h100-drawn") if row.kernel == "flash3"]
    assert {row.status for row in ours} == {"done", "cancelled", "pending"}  # none is wrong
    ((short, behind),) = ((ratio, problem) for problem, ratio in drawn.by_problem.items() if ratio < 1)
    assert (behind.seqlen_q, behind.causal, behind.heads, behind.key_heads) == (145, True, 48, 6)
    says(
        KERNELS,
        f"Of {len(ours)} problems that were drawn",
        f"--preset drawn --seed {ours[0].problem.seed}",
        f"{sum(row.done for row in ours)} were measured before the time ended",
        f"In the {len(drawn.by_problem)} that some library takes `flash3` is {drawn.mean:.2f}× as fast",
        f"ahead in {drawn.ahead}, and behind in one, {short:.2f}×",
    )


def _copy(name: str) -> float:
    """The copy rate in TB/s that the sweep measured first."""
    return float(session_of(name).ceilings[1].rates["copy_gbs"].figure.value or 0) / 1000


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):.0f}%"

"""The form's masks and grouped heads: what is chosen is what is planned."""

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QSpinBox
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile.form.dry_run import DryCell, DryRow, dry_run
from flashscope.app.pages.profile.form.kernel_list import PEERS, KernelList
from flashscope.app.pages.profile.form.reasons import unavailable
from flashscope.kernels.catalogue.ladder import FLASH1, LADDER
from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.kernels.workload.problem import PASSES, Backend, Passes
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.quantities.registry import FOOTPRINT
from tests.app.bench import Bench
from tests.profiles.sessions import GPU, MACHINE

BASE = Request.of("cpu", heads=8)


@pytest.fixture
def filled(shared_bench: Bench) -> Bench:
    """One page for the tests that leave nothing but a sweep in its form, which each finds as it was."""
    shared_bench.page.form.show_request(BASE)
    return shared_bench


@pytest.mark.parametrize(
    "sweep",
    [
        BASE,
        replace(BASE, causal=True),
        replace(BASE, window=(64, 0)),
        replace(BASE, window=(-1, 7), kv_heads=2),
        replace(BASE, kv_heads=1, causal=True),
        replace(BASE, blocks=BlockPattern(local=1, global_=1)),
        replace(BASE, blocks=BlockPattern(random=0.1), block_size=96, causal=True),
        replace(BASE, batch=4, lengths="spread", page_size=64, causal=True),
    ],
    ids=["plain", "causal", "window", "half window, GQA", "causal, MQA", "blocks", "causal blocks", "ragged"],
)
def test_the_form_gives_back_the_sweep_it_shows(shared_bench: Bench, sweep: Request) -> None:
    form = shared_bench.page.form
    form.show_request(sweep)
    assert form.request() == sweep
    assert {problem.window for problem in form.request().plan().problems} == {sweep.window}
    assert form.masking.left.isVisible() == (sweep.window is not None)
    assert form.masking.pattern.isVisible() == (sweep.blocks is not None)


def test_a_causal_window_is_shown_as_a_window_that_ends_at_the_query(filled: Bench) -> None:
    form = filled.page.form
    both = replace(BASE, causal=True, window=(9, 5))
    form.show_request(both)
    shown = form.request()
    assert (shown.causal, shown.window) == (False, (9, 0))
    assert shown.problem(40).mask == both.problem(40).mask


def test_a_pattern_that_means_nothing_blocks_run_and_says_what_does(filled: Bench) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    form.show_request(replace(BASE, blocks=BlockPattern(strided=8)))
    form.masking.pattern.setCurrentText("banded:3")
    assert "'banded:3'" in form.message.text()
    assert form.blocked_reason == form.message.text()
    form.masking.kind.setCurrentText("causal")
    assert not form.message.isVisible()


def test_a_length_cut_into_too_many_blocks_blocks_run_until_it_is_shorter(filled: Bench) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    form.show_request(replace(BASE, blocks=BlockPattern(local=1), seqlens=(256, 16_777_216)))
    assert "take longer ones" in form.message.text()
    assert form.blocked_reason == form.message.text()
    form.chips.set_seqlens((256,))
    assert not form.message.isVisible()
    assert form.request().blocks == BlockPattern(local=1)


def test_the_dry_run_tells_the_kept_share_of_a_mask_and_the_greatest_need_of_many_kernels(
    filled: Bench,
) -> None:
    form = filled.page.form
    sweep = replace(BASE, seqlens=(1024,), blocks=BlockPattern(local=0), kernels=("standard", "flash2"))
    form.show_request(sweep)
    assert [form.dry_table.text_at(0, c) for c in range(4)] == ["N", "standard", "flash2", "kept"]
    assert form.dry_table.text_at(1, 3) == "12.5%"
    rows = dry_run(replace(sweep, kernels=tuple(spec.name for spec in KERNELS)), 40 << 20)
    form.dry_table.show_rows([spec.name for spec in KERNELS], rows)
    assert [form.dry_table.text_at(0, c) for c in range(4)] == ["N", "most", "by", "kept"]
    most = max(rows[0].cells, key=lambda cell: cell.predicted_bytes)
    assert form.dry_table.text_at(1, 2) == most.kernel
    assert form.dry_table.text_at(1, 4).startswith("× ")


def test_the_dry_run_tells_which_kernel_cannot_run_a_length_and_why() -> None:
    sweep = Request.of("cuda", kernels=("standard", "fused"), seqlens=(512, 4096), head_dim=64)
    short, long = dry_run(sweep, 1 << 38, GPU)
    assert [cell.fit for cell in (*short.cells, *long.cells)] == ["fits", "fits", "fits", "cannot run"]
    assert long.worst == "cannot run"
    why = find_kernel("fused").unsupported(sweep.problem(4096), GPU)
    assert why
    assert long.cells[1].refused == why
    assert {cell.refused for cell in (*short.cells, long.cells[0])} == {""}
    assert dry_run(sweep, 1 << 20, GPU)[1].worst == "will not fit"
    assert {cell.refused for cell in dry_run(sweep, 1 << 38)[1].cells} == {""}


def test_before_a_sweep_runs_a_point_that_cannot_is_unsupported_and_has_no_footprint(filled: Bench) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    form.show_request(Request.of("cuda", kernels=("standard", "fused"), seqlens=(512, 4096), head_dim=64))
    rows = {(row.point.kernel, row.problem.seqlen): row for row in form.preview()}
    refused = rows.pop(("fused", 4096))
    assert refused.status == "unsupported"
    assert refused.reason == find_kernel("fused").unsupported(refused.problem, GPU)
    assert FOOTPRINT.model is not None
    assert FOOTPRINT.model(refused) is None
    assert len(rows) == 3
    for row in rows.values():
        assert (row.status, row.reason) == ("pending", "")
        assert FOOTPRINT.model(row) == row.predicted_bytes > 0


def test_a_kernel_that_cannot_run_a_length_has_no_bytes_in_the_table(filled: Bench) -> None:
    table = filled.page.form.dry_table
    runs, refused = DryCell("flash2", 2 << 20, "fits"), DryCell("fused", 8 << 20, "cannot run", "too long")
    table.show_rows(["flash2", "fused"], [DryRow(4096, (runs, refused))])
    assert [table.text_at(1, c) for c in range(4)] == ["4k", "2.0 MiB", "–", "◇ can't run"]
    many = (*[runs] * 4, refused)
    table.show_rows([cell.kernel for cell in many], [DryRow(4096, many)])
    assert [table.text_at(1, c) for c in range(4)] == ["4k", "2.0 MiB", "flash2", "◇ 1 can't run"]


def test_only_divisors_of_the_heads_are_offered_for_k_and_v(bench: Bench) -> None:
    form = bench.page.form
    form.show_request(replace(BASE, kv_heads=4))
    form.heads.setValue(12)
    assert [form.kv_heads.itemText(i) for i in range(form.kv_heads.count())] == [
        "12",
        "6",
        "4",
        "3",
        "2",
        "1",
    ]
    assert form.request().kv_heads == 4
    form.heads.setValue(7)
    assert form.request().kv_heads is None
    assert form.request().problem(8).key_heads == 7


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("kernels", "said"),
    [
        (("standard",), ["standard takes head dims", "not 20"]),
        (("standard", "flash2"), ["standard takes head dims", "; 1 more in the list."]),
        (tuple(spec.name for spec in KERNELS), ["standard takes", f"{len(KERNELS) - 1} more in the list"]),
    ],
    ids=["one", "two", "all"],
)
def test_when_no_ticked_kernel_takes_the_head_dim_the_form_says_which_and_why(
    filled: Bench, kernels: tuple[str, ...], said: list[str]
) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    form.show_request(replace(Request.of("cuda"), kernels=kernels))
    assert not form.message.text()
    head_dim = form.inputs["head_dim"]
    assert isinstance(head_dim, QSpinBox)
    head_dim.setValue(20)
    assert form.message.text() == form.blocked_reason
    assert all(words in form.message.text() for words in said), form.message.text()
    form.kernels.choose(())
    assert form.message.text() == "Choose at least one kernel."
    form.kernels.choose(kernels)
    head_dim.setValue(64)
    assert form.blocked_reason is None


def test_when_no_ticked_kernel_takes_the_dtype_the_form_says_which_and_why(filled: Bench) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    form.show_request(replace(Request.of("cuda"), kernels=("flash3",)))
    form.dtype.setCurrentText("float32")
    assert form.message.text().startswith("No ticked kernel can run: flash3 takes float16")


@pytest.mark.matrix
@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_kernels_that_cannot_take_a_window_say_so_in_the_list(filled: Bench, backend: Backend) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    sweep = replace(Request.of(backend), window=(64, 0))
    form.show_request(sweep)
    for row in form.kernels.rows:
        reason = unavailable(row.spec, sweep, MACHINE.device(backend))
        assert row.box.isEnabled() == (reason is None), row.spec.name
        assert row.line.text() == (reason or row.spec.idea)


def test_the_list_tells_the_idea_of_the_pass_that_is_run(filled: Bench) -> None:
    form = filled.page.form
    form.show_request(BASE)
    line = next(row.line for row in form.kernels.rows if row.spec.name == "flash1")
    told: dict[str, str] = {}
    for passes in PASSES:
        form.show_request(replace(BASE, passes=passes))
        told[passes] = line.text()
    assert FLASH1.backward is not None
    assert told == {"forward": FLASH1.idea, "backward": FLASH1.backward.idea, "both": FLASH1.idea}


def test_library_peers_are_folded_away_until_one_is_chosen(bench: Bench) -> None:
    form = bench.page.form
    ladder = {spec.name for spec in LADDER}
    peers = [row for row in form.kernels.rows if row.spec.name not in ladder]
    assert peers
    assert not any(row.isVisible() for row in peers)
    fold = form.kernels.folds[PEERS]
    assert f"({len(peers)})" in fold.text()
    fold.click()
    assert all(row.isVisible() for row in peers)
    fold.click()
    form.show_request(replace(BASE, kernels=(peers[0].spec.name,)))
    assert peers[0].isVisible()


def test_the_variants_of_a_kernel_are_folded_under_it_and_a_chosen_one_is_never_hidden_unsaid(
    qtbot: QtBot,
) -> None:
    kernels = KernelList(DARK)
    qtbot.addWidget(kernels)
    kernels.show()
    shown = {row.spec.name: row for row in kernels.rows}
    steps = [name for name in shown if name.startswith("flash3-")]
    assert shown["flash3"].isVisible()
    assert not any(shown[name].isVisible() for name in steps)
    kernels.choose((steps[1],))
    assert all(shown[name].isVisible() for name in steps)
    kernels.folds["flash3"].click()
    assert f"({len(steps)}, 1 chosen)" in kernels.folds["flash3"].text()
    assert kernels.chosen() == (steps[1],)


@pytest.mark.parametrize("passes", ["backward", "both"])
def test_the_form_asks_for_a_pass_and_kernels_without_one_say_so(filled: Bench, passes: Passes) -> None:
    form = filled.page.form
    form.set_machine(MACHINE)
    form.show_request(replace(BASE, passes=passes))
    assert {problem.passes for problem in form.request().plan().problems} == {passes}
    cpu = MACHINE.device("cpu")
    assert cpu is not None
    told = {name: unavailable(find_kernel(name), form.request(), cpu) for name in ("fused", "flash2")}
    assert told == {"fused": "fused has no backward pass", "flash2": None}


def test_gradients_can_be_asked_to_repeat_and_a_forward_pass_cannot(filled: Bench) -> None:
    form = filled.page.form
    filled.page.show()
    assert not form.deterministic.isVisible()
    asked = replace(BASE, passes="backward", deterministic=True)
    form.show_request(asked)
    assert form.deterministic.isVisible()
    assert form.request() == asked
    form.show_request(replace(asked, passes="forward"))
    assert not form.deterministic.isVisible()
    assert form.request() == BASE
    assert form.blocked_reason is None


def test_the_dry_run_predicts_the_footprint_of_the_pass() -> None:
    asked = replace(BASE, kernels=("standard", "flash2"), seqlens=(1024,))
    rows = [dry_run(replace(asked, passes=passes), 1 << 34)[0] for passes in PASSES]
    for name, needed in zip(asked.kernels, zip(*(row.cells for row in rows), strict=True), strict=True):
        forward, backward, both = (cell.predicted_bytes for cell in needed)
        workspace = find_kernel(name).workspace_bytes(asked.problem(1024), "cpu")
        assert both == backward + workspace
        assert backward > forward - workspace


@pytest.mark.matrix
def test_lengths_and_pages_that_make_no_problem_block_run_and_say_why(filled: Bench) -> None:
    form = filled.page.form
    form.show_request(replace(BASE, lengths="spread"))
    assert form.blocked_reason == "Spread lengths need a batch from 2 to 512, not 1."
    form.show_request(replace(BASE, page_size=64, seqlens=(128, 1000)))
    assert form.blocked_reason is not None
    assert form.blocked_reason.startswith("N = 1000 is no multiple of the page size of 64")
    form.show_request(replace(BASE, batch=2, lengths="spread", page_size=64, seqlens=(128, 1024)))
    assert form.blocked_reason is None

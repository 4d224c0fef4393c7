"""The calculators of the documents that this app was made from, worked out by the ledger.

A document is named by the first three digits of its file, a claim by its line.
"""

import pytest

from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.plan.models import Model, Setting, find_model
from flashscope.profiles.results.planner.ledger import GIB, Ledger, ledger, longest_context

GB, MIB, TB = 10**9, 1 << 20, 10**12
LLAMA_2, LLAMA_3, GPT_3 = (find_model(name) for name in ("Llama-2-7B", "Llama-3-8B", "GPT-3-175B"))


def model(heads: int = 1, layers: int = 1, head_dim: int = 64) -> Model:
    return Model(name="of a document", layers=layers, heads=heads, head_dim=head_dim)


def held(
    of: Model, tokens: int, kernel: str = "standard", bits: int = 32, every_layer: bool = False
) -> Ledger:
    dtype: Dtype = "float32" if bits == 32 else "float16"
    setting = Setting(dtype=dtype, weights=False, every_layer=every_layer)
    return ledger(of, setting, kernel, tokens)


def s_bytes(of: Model, tokens: int, bits: int = 32, every_layer: bool = False) -> int:
    """Of S alone, half of S and P."""
    return held(of, tokens, bits=bits, every_layer=every_layer).workspace.nbytes // 2


def fits(of: Model, memory_gib: float, kernel: str, bits: int = 16, weights: bool = True) -> int:
    setting = Setting(dtype="float32" if bits == 32 else "float16", weights=weights)
    return longest_context(of, setting, kernel, round(memory_gib * GIB)).tokens


def test_000_line_111_is_wrong_standard_attention_at_32k_is_possible_in_an_h200() -> None:
    assert fits(LLAMA_3, 139.8, "standard", weights=False) > 32_768
    assert fits(LLAMA_3, 139.8, "standard") == pytest.approx(31_788, abs=1)  # beside its weights just not
    assert fits(LLAMA_3, 80, "standard") < 32_768


def test_000_line_112_is_right_64k_to_128k_is_impossible_for_s_and_p_and_feasible_without() -> None:
    for memory in (80, 139.8):
        assert fits(LLAMA_3, memory, "standard", weights=False) < 65_536
        assert fits(LLAMA_3, memory, "flash3") > 131_072


def test_000_line_113_is_wrong_for_one_gpu_the_cache_of_a_million_tokens_does_not_fit_an_h200() -> None:
    assert 200_000 < fits(LLAMA_3, 139.8, "flash3") < 1_000_000
    assert held(LLAMA_3, 1_000_000, "flash3", 16).cache.nbytes == 131_072 * 1_000_000


def test_002_line_7_is_right_a_matrix_in_float32_at_8192_is_256_mib_a_head() -> None:
    assert s_bytes(model(), 8192) == 256 * MIB


def test_002_line_8_counts_half_standard_holds_s_and_p_16_gib_for_32_heads_in_float32() -> None:
    assert s_bytes(model(heads=32), 8192) == 8 * GIB
    assert held(model(heads=32), 8192).workspace.nbytes == 16 * GIB


def test_002_line_9_is_wrong_s_and_p_of_gpt_3_at_2048_take_1_5_gib_a_layer() -> None:
    """They do not limit it to that: beside the cache, a GPU holds those of four times the context."""
    assert held(GPT_3, 2048, bits=16).workspace.nbytes == 1.5 * GIB
    assert fits(GPT_3, 80, "standard", weights=False) > 4 * 2048
    assert held(GPT_3, 2048, bits=16, every_layer=True).workspace.nbytes == 144 * GIB  # a backward pass


def test_003_line_47_is_wrong_16_mib_and_1_gib_are_a_heads_in_float32_not_a_layers() -> None:
    assert s_bytes(model(), 2048) == 16 * MIB
    assert s_bytes(model(), 16_384) == 1 * GIB
    assert s_bytes(model(heads=12), 16_384) == 12 * GIB  # d = 768 is 12 heads of 64


@pytest.mark.parametrize(("tokens", "gb"), [(512, 1.5), (2048, 24.0), (8192, 384.0)])
def test_003_lines_419_to_421_are_wrong_s_does_not_grow_with_d(tokens: int, gb: float) -> None:
    """The table is N² · d · 8 bytes, 768 / 12 times what S and P of 12 heads in float32 take."""
    assert tokens**2 * 768 * 8 == gb * GIB
    assert held(model(heads=12), tokens).workspace.nbytes == pytest.approx(gb * GIB / 64)


def test_003_line_422_is_wrong_by_its_own_rule_65536_would_be_24_tib_and_is_384_gib() -> None:
    by_its_rule = 65_536**2 * 768 * 8
    assert by_its_rule == 24 * 1024 * GIB
    assert held(model(heads=12), 65_536).workspace.nbytes == 384 * GIB


def test_004_line_14_is_right_of_a_head_and_wrong_of_all_32_heads_of_32_layers_take_1_10_tb() -> None:
    assert s_bytes(model(), 16_384) / GB == pytest.approx(1.07, abs=0.005)
    of_all = s_bytes(model(heads=32, layers=32), 16_384, every_layer=True)
    assert of_all / TB == pytest.approx(1.10, abs=0.005)
    assert s_bytes(model(heads=32, layers=32), 16_384) / GB == pytest.approx(34.4, abs=0.05)  # at once


def test_004_line_14_is_wrong_that_16384_runs_out_of_memory_at_once_in_16_bits_it_fits_an_a100() -> None:
    assert fits(LLAMA_2, 80, "standard", bits=16) > 16_384
    assert fits(LLAMA_2, 80, "standard", bits=32) < 16_384


def test_004_line_16_is_right_of_s_and_wrong_of_its_traffic_written_and_read_it_moves_4_3_gb() -> None:
    s = s_bytes(model(heads=32), 4096)
    assert s / GB == pytest.approx(2.1, abs=0.05)
    assert 2 * s / 2e12 == pytest.approx(2.1e-3, abs=0.05e-3)  # at 2 TB/s: 2.1 ms, not 1


def test_004_line_18_is_right_an_a100_takes_128k_of_llama_2_and_hardly_more_the_cache_binds() -> None:
    found = longest_context(LLAMA_2, Setting(dtype="float16"), "flash2", 80 * GIB)
    assert 128_000 < found.tokens < 136_000
    assert found.binds == "KV cache"


def test_004_line_46_is_a_little_wrong_s_of_32_layers_is_69_gb_86_percent_of_80() -> None:
    of_all = s_bytes(model(heads=32, layers=32), 4096, every_layer=True)
    assert of_all / GB == pytest.approx(68.7, abs=0.05)
    assert of_all / (80 * GB) == pytest.approx(0.86, abs=0.005)


def test_004_lines_227_and_229_are_right_in_binary_units_and_leave_the_log_sum_exp_out() -> None:
    assert s_bytes(model(), 4096, bits=16) == 32 * MIB
    assert held(model(), 4096, "flash2", 16).outputs.nbytes == 512 * 1024 + 4096 * 4


def test_004_line_231_is_wrong_the_reduction_at_32768_is_512_times_not_4096() -> None:
    o_bytes = 32_768 * 64 * 2
    assert s_bytes(model(), 32_768, bits=16) == 512 * o_bytes


@pytest.mark.parametrize(
    ("tokens", "standard_gb", "tiled_gb", "times"),
    [(4096, 68.7, 4.295, 16), (32_768, 4398.0, 34.36, 128), (128_000, 67_108.9, 134.2, 500)],
)
def test_004_lines_557_to_574_count_all_layers_and_leave_the_log_sum_exp_out(
    tokens: int, standard_gb: float, tiled_gb: float, times: int
) -> None:
    """Of a layer at a time, as inference holds them, S and P are a 32nd of that beside a cache of K and V."""
    every = held(LLAMA_2, tokens, bits=16, every_layer=True)
    tiled = held(LLAMA_2, tokens, "flash2", 16, every_layer=True)
    lse = 32 * 32 * tokens * 4
    assert every.workspace.nbytes / GB == pytest.approx(standard_gb, rel=1e-3)
    assert (tiled.total - lse) / GB == pytest.approx(tiled_gb, rel=1e-3)
    assert every.workspace.nbytes / (tiled.total - lse) == times
    one = held(LLAMA_2, tokens, bits=16)
    assert 32 * one.workspace.nbytes == every.workspace.nbytes


def test_004_line_706_is_right_s_takes_2_gb_in_float32_and_o_32_mib_at_head_dim_128() -> None:
    assert s_bytes(model(heads=32), 4096) / GB == pytest.approx(2.1, abs=0.05)
    assert held(LLAMA_2, 4096, "flash2", 16).outputs.nbytes == 32 * MIB + 32 * 4096 * 4

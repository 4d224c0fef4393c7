"""What a model holds, and the longest context that fits: exact."""

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import LESSON, find_kernel
from flashscope.kernels.workload.problem import DTYPES
from flashscope.profiles.plan.models import MODELS, Model, Setting, find_model
from flashscope.profiles.plan.seqlens import LONGEST
from flashscope.profiles.results.planner.ledger import (
    GIB,
    cache_bytes,
    layer_problem,
    ledger,
    longest_context,
    weight_bytes,
)

LLAMA = find_model("Llama-3-8B")
heads = st.sampled_from([(1, None), (4, 2), (8, 1), (12, 12), (96, None)])
models = st.builds(
    lambda pair, **numbers: Model(name="drawn", heads=pair[0], kv_heads=pair[1], **numbers),
    heads,
    layers=st.integers(1, 100),
    head_dim=st.integers(1, 32).map(lambda k: 8 * k),
    window=st.sampled_from([0, 1, 4096]),
    latent=st.sampled_from([0, 576]),
    parameters=st.floats(0, 100),
)
settings = st.builds(
    Setting,
    batch=st.integers(1, 8),
    dtype=st.sampled_from(DTYPES),
    weights=st.booleans(),
    every_layer=st.booleans(),
)
kernels = st.sampled_from(LESSON)


@given(models, settings, kernels, st.integers(0, 2000).map(lambda gib: gib * GIB))
@example(LLAMA, Setting(), "standard", 140 * GIB)
def test_the_longest_context_fits_and_one_token_more_does_not(
    model: Model, setting: Setting, kernel: str, capacity: int
) -> None:
    found = longest_context(model, setting, kernel, capacity)
    if found.tokens:
        assert ledger(model, setting, kernel, found.tokens).total <= capacity
    if found.tokens < LONGEST:
        beyond = ledger(model, setting, kernel, found.tokens + 1)
        assert beyond.total > capacity
        assert max(term.nbytes for term in beyond.terms) == dict(beyond.terms)[found.binds]


@given(models, settings, kernels, st.integers(1, 1 << 18))
def test_the_ledger_is_the_kernels_own_beside_cache_and_weights_and_counts_nothing_twice(
    model: Model, setting: Setting, kernel: str, tokens: int
) -> None:
    held, problem = ledger(model, setting, kernel, tokens), layer_problem(model, setting, tokens)
    predicted = find_kernel(kernel).predicted_bytes(problem, "cuda")
    weights = weight_bytes(model) if setting.weights else 0
    if setting.every_layer:
        assert held.total == weights + model.layers * predicted
    else:
        alone = weights + cache_bytes(model, setting, tokens) + predicted
        k_and_v = problem.input_bytes - problem.q_shape[0] * problem.q_shape[1] * tokens * (
            problem.head_dim * problem.itemsize
        )
        is_cached = not model.latent and not 0 < model.window < tokens
        assert held.total == alone - (k_and_v if is_cached else 0)


@given(models, settings, kernels, st.integers(1, 1 << 18))
def test_a_longer_context_never_holds_less(model: Model, setting: Setting, kernel: str, tokens: int) -> None:
    shorter, longer = (ledger(model, setting, kernel, n).total for n in (tokens, tokens + 1))
    assert longer >= shorter


def test_standard_binds_by_s_and_p_and_tiled_by_the_cache() -> None:
    capacity = 140 * GIB
    standard, tiled = (
        longest_context(LLAMA, Setting(), kernel, capacity) for kernel in ("standard", "flash3")
    )
    assert (standard.binds, tiled.binds) == ("S and P", "KV cache")
    assert tiled.tokens > 28 * standard.tokens


def test_weights_that_do_not_fit_leave_no_context_and_bind() -> None:
    assert longest_context(find_model("Llama-3-70B"), Setting(), "flash2", 80 * GIB) == (0, "weights")


def test_a_window_keeps_the_cache_from_growing_but_not_what_one_layer_holds() -> None:
    mistral = find_model("Mistral-7B")
    short, long = (ledger(mistral, Setting(), "flash2", n) for n in (4096, 8192))
    assert short.cache == long.cache
    assert (short.inputs.name, long.inputs.name) == ("Q", "Q, K and V")
    whole = replace(mistral, window=0)
    assert ledger(whole, Setting(), "flash2", 8192).cache.nbytes == 2 * long.cache.nbytes


def test_a_latent_cache_is_called_one_and_stands_beside_the_keys_and_values_it_unfolds_to() -> None:
    held = ledger(find_model("DeepSeek-V3"), Setting(), "flash2", 1000)
    assert held.cache == ("latent cache", 61 * 1000 * 576 * 2)
    assert held.inputs == ("Q, K and V", 3 * 128 * 1000 * 192 * 2)


def test_every_model_can_be_planned_with_every_kernel_of_the_lesson() -> None:
    for model in MODELS:
        for kernel in LESSON:
            assert longest_context(model, Setting(weights=False), kernel, 140 * GIB).tokens > 10_000


def test_what_kernels_cannot_count_is_no_context_and_no_error() -> None:
    crowd = replace(LLAMA, heads=4096, kv_heads=1, layers=1, head_dim=8)
    found = longest_context(crowd, Setting(batch=65_536, weights=False), "flash2", 1_000_000 * GIB)
    assert found.binds == "what kernels can count"
    assert 0 < found.tokens < LONGEST

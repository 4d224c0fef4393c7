"""Our kernels inside models of Transformers: its own answers, and a refusal in words of all we do not do."""

import re
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from flashscope.kernels import register_transformers
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import EVERY_FEATURE, KernelSpec
from flashscope.kernels.launching.launch import prepare
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Feature
from tests.end_to_end.program import ROOT

CLOSE = 1e-6
MODELS = ("llama", "mistral", "qwen3", "gpt2", "bert", "vit")
WRITERS = ("llama", "mistral", "qwen3", "gpt2")
FEATURED = ("gemma2", "gpt-oss", "deepseek-v3")  # softcap; sinks; V's own head dim
each_model = pytest.mark.parametrize("name", MODELS)
needs_transformers = pytest.mark.transformers


@each_model
@needs_transformers
def test_a_model_gives_its_own_logits_and_gradients_with_our_kernel(
    models: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def counted(spec: KernelSpec, *given: Any) -> Any:
        ran.append(spec.name)
        return prepare(spec, *given)

    monkeypatch.setattr("flashscope.kernels.library.models.differentiable.prepare", counted)
    model, inputs = models.of_name(name), models.inputs_for(name)
    found = models.answer(model, register_transformers("flash2"), inputs)
    assert ran == ["flash2"] * 2  # layers
    for own in ("eager", "sdpa"):
        assert models.difference(found, models.answer(model, own, inputs)) < CLOSE


@needs_transformers
@pytest.mark.parametrize("kernel", ["auto", "standard", "flash1"])
def test_each_kernel_with_gradients_gives_them(models: Any, kernel: str) -> None:
    model, inputs = models.of_name("mistral"), models.inputs_for("mistral")
    found = models.answer(model, register_transformers(kernel), inputs)
    assert models.difference(found, models.answer(model, "eager", inputs)) < CLOSE


@needs_transformers
@pytest.mark.parametrize("cache", [None, "static"])
@pytest.mark.parametrize("name", WRITERS)
def test_generating_with_a_cache_adds_the_same_tokens(models: Any, name: str, cache: str | None) -> None:
    model, tokens = models.of_name(name), models.inputs_for(name)["input_ids"]
    prompts = tokens[:, :20]
    found = models.continued(model, register_transformers("flash2"), prompts, cache)
    assert found == models.continued(model, "sdpa", prompts, cache)
    assert len({tuple(row) for row in found}) == 2  # the prompts matter


@needs_transformers
def test_several_rows_behind_a_cache_see_the_keys_before_them(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    model, tokens = models.of_name("mistral"), models.inputs_for("mistral")["input_ids"]
    answers = []
    for implementation in ("sdpa", register_transformers("flash2")):
        model.set_attn_implementation(implementation)
        with models.in_evaluation(model):
            first = model(input_ids=tokens[:, :40], use_cache=True)
            answers.append(model(input_ids=tokens[:, 40:], cache=first.cache).logits)
    assert answers[0].shape[1] == 30
    torch.testing.assert_close(answers[1], answers[0], rtol=0, atol=CLOSE * float(answers[0].abs().max()))


def padded(models: Any, *, side: str) -> tuple[dict[str, Any], Any]:
    """Inputs of which the second sequence has 20 tokens of padding, and which tokens are real."""
    import torch  # noqa: PLC0415 - only where it is installed

    inputs = models.inputs_for("llama")
    real = torch.ones_like(inputs["input_ids"], dtype=torch.bool)
    real[1, slice(-20, None) if side == "right" else slice(20)] = False
    return {**inputs, "attention_mask": real.long()}, real


@needs_transformers
@pytest.mark.parametrize("name", WRITERS)
def test_padding_on_the_right_leaves_real_tokens_and_gradients_as_they_are(models: Any, name: str) -> None:
    model, (inputs, real) = models.of_name(name), padded(models, side="right")
    found = models.answer(model, register_transformers("flash2"), inputs, real)
    assert models.difference(found, models.answer(model, "sdpa", inputs, real)) < CLOSE


@needs_transformers
def test_an_encoder_sees_no_padding_in_any_row(models: Any) -> None:
    model, (inputs, _) = models.of_name("bert"), padded(models, side="right")
    ours = register_transformers("flash2")
    found = models.answer(model, ours, inputs)
    assert models.difference(found, models.answer(model, "sdpa", inputs)) < CLOSE
    with models.in_evaluation(model):
        model.set_attn_implementation(ours)
        assert float((model(**inputs).logits - found.logits).abs().max()) < CLOSE


@needs_transformers
@pytest.mark.parametrize("name", ["llama", "bert"])
def test_padding_on_the_left_is_refused(models: Any, name: str) -> None:
    model, (inputs, _) = models.of_name(name), padded(models, side="left")
    model.set_attn_implementation(register_transformers("flash2"))
    with pytest.raises(UnsupportedError, match=r"on the left is not taken.*padding_side = \"right\""):
        model(**inputs)


@needs_transformers
def test_sequences_packed_into_one_row_are_refused(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    model, inputs = models.of_name("llama"), models.inputs_for("llama")
    places = torch.cat([torch.arange(30), torch.arange(models.TOKENS - 30)])
    model.set_attn_implementation(register_transformers("flash2"))
    with pytest.raises(UnsupportedError, match="sequences packed into one row"):
        model(**inputs, position_ids=places.expand(2, -1), use_cache=False)


@needs_transformers
def test_dropout_of_a_model_that_trains_is_refused_and_one_that_answers_is_not(models: Any) -> None:
    model, inputs = models.of_name("llama"), models.inputs_for("llama")
    for layer in model.model.layers:
        layer.self_attn.attention_dropout = 0.1
    model.set_attn_implementation(register_transformers("flash2"))
    with pytest.raises(UnsupportedError, match=r"a dropout of 0\.1: set the model's attention dropout to 0"):
        model(**inputs)
    with models.in_evaluation(model):
        assert model(**inputs).logits.isfinite().all()


@needs_transformers
def test_weights_of_attention_are_refused(models: Any) -> None:
    model, inputs = models.of_name("bert"), models.inputs_for("bert")
    model.set_attn_implementation(register_transformers("flash2"))
    with pytest.raises(UnsupportedError, match="return no attention weights"):
        call(models, output_attentions=True)
    with pytest.raises(Exception, match="attention"):
        model(**inputs, output_attentions=True)


def call(models: Any, *, kernel: str = "flash2", mask: Any = None, causal: bool = True, **asked: Any) -> Any:
    """What a layer with 4 query heads and 2 K/V heads of 12 rows and 16 keys is given, (1, 12, 4, 32)."""
    import torch  # noqa: PLC0415 - only where it is installed
    from transformers import AttentionInterface  # noqa: PLC0415 - as above

    torch.manual_seed(2)
    q, k, v = (torch.randn(1, heads, rows, 32) for heads, rows in ((4, 12), (2, 16), (2, 16)))
    dtype = asked.pop("dtype", torch.float32)
    run = AttentionInterface()[register_transformers(kernel)]
    module = SimpleNamespace(is_causal=causal)
    return run(module, *(x.to(dtype) for x in (q, k, v)), mask, **asked)[0], (q, k, v)


@needs_transformers
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"sinks": (0.0,)}, "attention sinks that are no logits"),
        ({"position_bias": (0.0,)}, "a bias that is added"),
        ({"head_mask": (0.0,)}, "a mask of heads"),
        ({"cu_seq_lens_q": (0, 12)}, "sequences packed into one row"),
        ({"dropout": 0.5}, "a dropout of 0.5"),
        ({"sliding_window": 4, "causal": False}, "a window of 4 keys that is not causal"),
    ],
)
def test_what_a_layer_asks_for_and_we_do_not_do_is_refused(
    models: Any, asked: dict[str, Any], words: str
) -> None:
    with pytest.raises(UnsupportedError, match=words):
        call(models, **asked)


@needs_transformers
@pytest.mark.parametrize("kernel", ["standard", "flash1", "flash2"])
@pytest.mark.parametrize("name", FEATURED)
def test_softcap_sinks_and_values_of_their_own_width_give_the_plain_formulas_logits_and_gradients(
    models: Any, name: str, kernel: str
) -> None:
    model, inputs = models.of_name(name), models.inputs_for(name)
    found = models.answer(model, register_transformers(kernel), inputs)
    right = models.answer(model, "eager", inputs)
    assert ("model.layers.0.self_attn.sinks" in right.gradients) == (name == "gpt-oss")
    assert models.difference(found, right) < CLOSE


@needs_transformers
@pytest.mark.parametrize("name", FEATURED)
def test_these_models_add_the_same_tokens_from_a_cache(models: Any, name: str) -> None:
    model, prompts = models.of_name(name), models.inputs_for(name)["input_ids"][:, :20]
    found = models.continued(model, register_transformers("flash2"), prompts, None)
    assert found == models.continued(model, "eager", prompts, None)


@needs_transformers
@pytest.mark.parametrize(("name", "attribute"), [("gemma2", "attn_logit_softcapping"), ("gpt-oss", "sinks")])
def test_what_these_models_ask_for_moves_their_logits(models: Any, name: str, attribute: str) -> None:
    model, inputs = models.of_name(name), models.inputs_for(name)
    model.set_attn_implementation(register_transformers("flash2"))
    with models.in_evaluation(model):
        right = model(**inputs).logits
        for layer in model.model.layers:
            setattr(layer.self_attn, attribute, None)
        assert float((model(**inputs).logits - right).abs().max() / right.abs().max()) > 1e3 * CLOSE


@needs_transformers
@pytest.mark.parametrize(
    ("asked", "words"),
    [({"softcap": -1.0}, "softcap must be from"), ({"sinks": 3}, r"sinks must be float32 \(4,\)")],
)
def test_a_softcap_or_sinks_that_make_no_sense_are_refused(
    models: Any, asked: dict[str, Any], words: str
) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    told = {"s_aux": torch.zeros(asked["sinks"])} if "sinks" in asked else asked
    with pytest.raises(InputError, match=words):
        call(models, **told)


@needs_transformers
@pytest.mark.parametrize(
    ("name", "feature", "words"),
    [
        ("gemma2", "softcap", "softcapped scores"),
        ("gpt-oss", "sinks", "attention sinks"),
        ("deepseek-v3", "head_dim_v", "values of another head dim"),
    ],
)
def test_a_kernel_that_does_not_take_what_a_model_asks_for_says_so(
    models: Any, monkeypatch: pytest.MonkeyPatch, name: str, feature: Feature, words: str
) -> None:
    poor = replace(find_kernel("flash2"), features={"cpu": EVERY_FEATURE - {feature}})
    monkeypatch.setattr("flashscope.kernels.library.models.differentiable.find_kernel", lambda _: poor)
    model = models.of_name(name)
    model.set_attn_implementation(register_transformers("flash2"))
    with pytest.raises(UnsupportedError, match=f"flash2 does not take {words} on cpu"):
        model(**models.inputs_for(name))


@needs_transformers
def test_the_scale_of_a_layer_is_the_kernels_and_without_a_mask_rows_end_at_the_last_key(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    for scale in (0.05, 1.5):
        found, (q, k, v) = call(models, scaling=scale, sliding_window=6)
        k, v = (x.repeat_interleave(2, dim=1).double() for x in (k, v))
        scores = q.double() @ k.transpose(-1, -2) * scale
        ones = torch.ones(12, 16, dtype=torch.bool)
        kept = ones.tril(4) & ones.triu(-1)  # the row's own key at q + 4, and the 5 before it
        right = scores.masked_fill(~kept, -torch.inf).softmax(-1) @ v
        torch.testing.assert_close(found.transpose(1, 2).double(), right, rtol=0, atol=5e-6)
        assert found.is_contiguous()


@needs_transformers
def test_a_mask_that_the_user_made_is_read(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    expected, _ = call(models)
    kept = torch.ones(12, 16, dtype=torch.bool).tril(4)[None, None]
    added = torch.zeros(kept.shape).masked_fill(~kept, torch.finfo(torch.float32).min)
    for mask in (kept, added, added.clamp(min=-torch.inf).masked_fill(~kept, -torch.inf)):
        torch.testing.assert_close(call(models, mask=mask, causal=False)[0], expected, rtol=0, atol=0)


@needs_transformers
def test_a_decoder_can_be_asked_to_see_every_token(models: Any) -> None:
    model, inputs = models.of_name("llama"), {**models.inputs_for("llama"), "is_causal": False}
    found = models.answer(model, register_transformers("flash2"), inputs)
    assert models.difference(found, models.answer(model, "eager", inputs)) < CLOSE


@needs_transformers
def test_a_layer_that_contradicts_its_models_causal_mask_is_refused(models: Any) -> None:
    from flashscope.kernels.library.models.attention_pattern import AttentionPattern  # noqa: PLC0415 - needs PyTorch

    with pytest.raises(UnsupportedError, match=r"set config\.is_causal = False"):
        call(models, mask=AttentionPattern(16, causal=True), is_causal=False)


@needs_transformers
def test_other_dtypes_are_refused_on_the_cpu_and_autocast_is_told_of(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    for dtype in (torch.bfloat16, torch.float64):
        name = str(dtype).removeprefix("torch.")
        with pytest.raises(UnsupportedError, match=f"On the CPU our kernels take float32, not {name}"):
            call(models, dtype=dtype)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(UnsupportedError, match="not bfloat16"):
        call(models)


@needs_transformers
def test_a_kernel_that_is_not_there_is_refused_with_its_reason(models: Any) -> None:
    with pytest.raises(UnsupportedError, match="flash3 is not implemented on the cpu backend"):
        call(models, kernel="flash3")
    with pytest.raises(InputError, match=r"kernel must be one of auto, .*flash2.*, not 'torch-flash'"):
        register_transformers("torch-flash")


@needs_transformers
def test_a_compiled_model_and_one_that_computes_layers_again_answer_the_same(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    model, inputs = models.of_name("mistral"), models.inputs_for("mistral")
    ours = register_transformers("flash2")
    right = models.answer(model, ours, inputs)
    compiled = torch.compile(model, backend="eager")
    with models.in_evaluation(model):
        assert float((compiled(**inputs).logits - right.logits).abs().max()) < CLOSE
    model.activation_checkpointing_enable()
    assert models.difference(models.answer(model, ours, inputs), right) < CLOSE


@needs_transformers
def test_gradients_of_gradients_are_refused(models: Any) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.models.differentiable import attend  # noqa: PLC0415 - as above

    q = torch.randn(1, 1, 8, 16, requires_grad=True)
    output = attend(q, q, q, kernel="flash2", **models.PLAIN)
    with pytest.raises(UnsupportedError, match="no gradients of gradients"):
        torch.autograd.grad(output.sum(), q, create_graph=True)


@needs_transformers
def test_the_example_on_the_page_makes_a_model_that_trains(models: Any) -> None:
    page = (ROOT / "kernels" / "README.md").read_text(encoding="utf-8")
    _, example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    made: dict[str, Any] = {}
    exec(example, made)  # noqa: S102 - our own README
    tokens = models.inputs_for("llama")["input_ids"]
    assert made["model"].config._attn_implementation == "scope-fa2"
    made["model"](input_ids=tokens, labels=tokens).loss.backward()
    assert all(parameter.grad is not None for parameter in made["model"].parameters())


def test_without_transformers_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UnsupportedError, match=r"transformers .*must be installed: .*pip install.*models"):
        register_transformers()

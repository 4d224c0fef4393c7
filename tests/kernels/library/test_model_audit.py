"""Every attention call of a model is recorded as what it is, and what ran is told with its reasons."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from flashscope.kernels.workload.audit import AuditedCall, needs, problem_of
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from tests.end_to_end.program import ROOT

pytestmark = pytest.mark.transformers
N = 40
Audit = Callable[..., Any]


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Audit:
    """Builds a model by its name among those of `tests.kernels.library.audited`, with its steps."""
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if Path(folder).resolve() != ROOT])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # everything is made here

    def made(
        name: str, *, layers: int | None = None, dtype: str = "float32", place: str = "cpu", **options: Any
    ) -> Any:
        sources = import_module("flashscope.kernels.library.models.source")
        models = import_module("tests.kernels.library.audited")
        if name in models.CONFIGS:
            source = sources.find_source(str(models.folder_of(name, tmp_path)))
            sources.cut_layers(source.config, layers)
        else:
            source = sources.ModelSource(name, None, None, getattr(models, name))
        asked = {"batch": 2, "seqlen": N, "lengths": (), "training": False, "random": True} | options
        return import_module("flashscope.kernels.library.models.audit").AuditedModel(
            source, dtype, place, **asked
        )

    return made


def calls_of(model: Any) -> dict[str, list[AuditedCall]]:
    return {step.phase: model.record(step)[0] for step in model.steps}


def masks(calls: list[AuditedCall]) -> dict[str, int]:
    return {one.call.mask: len(one.layers) for one in calls}


def test_llama_groups_heads_and_needs_no_mask_to_decode(audited: Audit) -> None:
    model = audited("llama3", training=True)
    found = calls_of(model)
    (prefill,), (decode,), (training,) = found["prefill"], found["decode"], found["training"]
    assert (prefill.call.q_shape, prefill.call.k_shape) == ((2, 4, N, 32), (2, 2, N, 32))
    assert (prefill.call.mask, prefill.call.asked, prefill.ran) == ("causal", "sdpa", "flash")
    assert prefill.layers == ("model.layers.0.self_attn", "model.layers.1.self_attn")
    assert (decode.call.mask, decode.call.q_shape[2], decode.call.k_shape[2]) == ("none", 1, N + 1)
    assert training.call.gradients
    problem = problem_of(training.call)
    assert problem is not None
    assert problem.passes == "both"


def test_a_decode_may_have_another_context_than_the_prefill_leaves(audited: Audit) -> None:
    model = audited("llama3", context=3 * N)
    found = calls_of(model)
    assert found["prefill"][0].call.q_shape[2] == N
    assert found["decode"][0].call.k_shape[2] == 3 * N + 1


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("bert", {}, "BertModel has no decode"),
        ("llama3", {"lengths": (N, 25)}, "for sequences of one length"),
        ("diffusion", {}, "your own module, which has no decode"),
    ],
)
def test_a_context_that_a_model_cannot_have_is_refused(
    audited: Audit, name: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        audited(name, context=9, **options)


def test_mistral_has_a_window_that_its_cache_keeps_to(audited: Audit) -> None:
    found = calls_of(audited("mistral"))
    (prefill,), (decode,) = found["prefill"], found["decode"]
    assert (prefill.call.mask, prefill.call.window) == ("window", (23, -1))
    assert decode.call.k_shape[2] == 24


def test_gemma_2_alternates_windows_and_caps_scores_which_pytorch_cannot(audited: Audit) -> None:
    model = audited("gemma2")
    prefill = calls_of(model)["prefill"]
    assert masks(prefill) == {"window": 1, "causal": 1}
    assert {one.call.softcap for one in prefill} == {50.0}
    assert {one.call.scale for one in prefill} == {0.25}
    assert prefill[0].call.asked == "eager"
    assert "has no argument for softcap" in prefill[0].why_not[0]
    with pytest.raises(UnsupportedError, match="does not support"), model.with_implementation("sdpa"):
        pass
    assert model.implementation == "eager"


def test_gemma_3_has_five_windows_for_each_full_layer(audited: Audit) -> None:
    assert masks(calls_of(audited("gemma3"))["prefill"]) == {"window": 5, "causal": 1}


def test_gpt_oss_has_sinks(audited: Audit) -> None:
    prefill = calls_of(audited("gpt-oss"))["prefill"]
    assert [one.call.sinks for one in prefill] == [True, True]
    assert "has no argument for sinks" in prefill[0].why_not[0]
    assert masks(prefill) == {"window": 1, "causal": 1}


def test_qwen_3_is_as_llama_is(audited: Audit) -> None:
    assert masks(calls_of(audited("qwen3"))["prefill"]) == {"causal": 2}


def test_deepseek_has_narrower_values_for_which_pytorch_falls_back_and_says_why(audited: Audit) -> None:
    (prefill,) = calls_of(audited("deepseek-v3"))["prefill"]
    assert (prefill.call.q_shape[3], prefill.call.v_dim) == (192, 128)
    assert prefill.ran == "math"
    assert "same last dimension" in prefill.why_not[0]
    problem = problem_of(prefill.call)
    assert problem is not None
    assert (problem.head_dim, problem.value_dim) == (192, 128)


@pytest.mark.parametrize("name", ["gemma2", "gpt-oss", "deepseek-v3"])
def test_our_kernels_take_the_place_of_attention_that_pytorchs_cannot_fuse(audited: Audit, name: str) -> None:
    model = audited(name, training=True)
    for step in model.steps:
        calls, _ = model.record(step)
        assert [needs(one.call) for one in calls] == [()] * len(calls)
        assert None not in [problem_of(one.call) for one in calls]
        for forced in {"sdpa-flash", "sdpa-cudnn"} & set(model.others):
            with model.with_implementation(forced):
                assert {f"sdpa-{one.ran}" for one in model.profile(step).calls} == {forced}
        with model.with_implementation("scope-fa2"):
            other = model.profile(step)
        assert 0 < other.attention_ms < other.ms


def test_alibi_is_known_by_its_slopes_beside_a_causal_mask(audited: Audit) -> None:
    (forward,) = calls_of(audited("alibi"))["forward"]
    assert (forward.call.mask, forward.call.causal, forward.call.alibi) == ("causal", True, True)
    assert needs(forward.call) == ()
    problem = problem_of(forward.call)
    assert problem is not None
    assert problem.alibi


def test_vit_attends_to_all_patches_in_one_forward_pass(audited: Audit) -> None:
    found = calls_of(audited("vit"))
    assert list(found) == ["forward"]
    (forward,) = found["forward"]
    assert (forward.call.mask, forward.call.q_shape[2]) == ("none", 37)  # and its class token


def test_whisper_attends_to_sound_from_text(audited: Audit) -> None:
    prefill = calls_of(audited("whisper"))["prefill"]
    shapes = {one.layers[0]: (one.call.q_shape[2], one.call.k_shape[2], one.call.mask) for one in prefill}
    assert shapes == {
        "model.encoder.layers.0.self_attn": (60, 60, "none"),
        "model.decoder.layers.0.self_attn": (N, N, "causal"),
        "model.decoder.layers.0.encoder_attn": (N, 60, "none"),
    }


def test_a_diffusion_transformer_in_plain_pytorch_is_seen_and_so_is_pytorchs_own_module(
    audited: Audit,
) -> None:
    model = audited("diffusion")
    patches, text = calls_of(model)["forward"]
    assert (patches.layers, patches.call.mask) == (("blocks.0", "blocks.1"), "none")
    assert (text.layers, text.call.k_shape[2]) == (("text",), 7)
    with model.with_implementation("math"):
        assert {one.ran for one in model.profile(model.steps[0]).calls} == {"math"}


def test_a_bias_of_t5_by_distance_is_one_that_no_kernel_takes(audited: Audit) -> None:
    prefill = calls_of(audited("t5"))["prefill"]
    told = {one.layers[0]: (one.call.mask, needs(one.call)) for one in prefill}
    assert told == {
        "encoder.block.0.layer.0.SelfAttention": ("bias", ("an additive bias",)),
        "decoder.block.0.layer.0.SelfAttention": ("bias", ("an additive bias",)),
        "decoder.block.0.layer.1.EncDecAttention": ("none", ()),
    }


def test_attention_that_has_to_be_compiled_is_compiled_while_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As flex_attention: a model that was to run by it failed, for softmaxes were watched within it, too."""
    torch = import_module("torch")
    recording = import_module("flashscope.kernels.library.models.recording")
    functional = torch.nn.functional
    monkeypatch.setattr(functional, "scaled_dot_product_attention", functional.scaled_dot_product_attention)
    compiled = torch.compile(lambda q, k, v: q + k + v, backend="eager", fullgraph=True)
    monkeypatch.setattr(recording, "_SDPA", compiled)
    recorder = recording.AttentionRecorder(torch.nn.Linear(1, 1), read=True)
    with recorder.recording():
        functional.scaled_dot_product_attention(*torch.ones(3, 1, 2, 4, 8))
    assert [one.call.mask for one in recorder.calls] == ["none"]


def test_attention_by_hand_is_no_call_and_its_softmax_is_told(audited: Audit) -> None:
    model = audited("by_hand")
    assert calls_of(model) == {"forward": []}
    assert list(model.elsewhere) == ["forward: 1 × _softmax of 2 × 2 × 40 × 40"]


def test_shorter_sequences_have_padding_in_front_and_are_told_by_their_lengths(audited: Audit) -> None:
    model = audited("llama3", lengths=(N, 25))
    found = calls_of(model)
    (prefill,), (decode,) = found["prefill"], found["decode"]
    assert (prefill.call.mask, prefill.call.causal) == ("padding", True)
    assert prefill.call.key_lengths == prefill.call.query_lengths == (N, 25)
    assert (decode.call.key_lengths, decode.call.query_lengths) == ((N + 1, 26), None)


@pytest.mark.parametrize("implementation", ["eager", "scope-fa2"])
def test_another_implementation_is_in_place_while_it_is_asked_for(
    audited: Audit, implementation: str
) -> None:
    model = audited("llama3")
    step = model.steps[0]
    model.record(step)
    with model.with_implementation(implementation):
        other = model.profile(step)
        assert "flash" not in {one.ran for one in other.calls}
    assert {one.ran for one in model.profile(step).calls} == {"flash"}
    assert 0 < other.attention_ms < other.ms


def test_the_backward_pass_counts_as_attention_too(audited: Audit) -> None:
    model = audited("llama3", training=True)
    for step in model.steps:
        model.record(step)
    training = model.profile(model.steps[-1])
    names = {name for one in training.calls for name in one.operators}
    assert len(training.calls) == 2
    assert any("flash" in name for name in names)
    assert training.attention_ms < training.ms


def test_fewer_layers_are_built_of_the_same_shape(audited: Audit) -> None:
    (prefill,) = calls_of(audited("llama3", layers=1))["prefill"]
    assert (prefill.layers, prefill.call.q_shape) == (("model.layers.0.self_attn",), (2, 4, N, 32))


def test_a_bert_takes_one_forward_pass_without_a_cache(audited: Audit) -> None:
    assert list(calls_of(audited("bert"))) == ["forward"]


def test_weights_are_known_before_any_is_allocated(audited: Audit, tmp_path: Path) -> None:
    model = audited("llama3")
    sources = import_module("flashscope.kernels.library.models.source")
    assert sources.predicted_bytes(sources.find_source(str(tmp_path / "llama3")), "float32") == model.weights


def test_weights_on_disk_are_the_ones_that_are_taken(audited: Audit, tmp_path: Path) -> None:
    torch = import_module("torch")
    model = audited("llama3").model
    with torch.no_grad():
        model.lm_head.weight.fill_(0.125)
    model.save_pretrained(tmp_path / "llama3")
    assert audited("llama3", random=False).model.lm_head.weight.unique().tolist() == [0.125]
    assert len(audited("llama3", random=True).model.lm_head.weight.unique()) > 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{}", "no configuration of a model"),
        ("not JSON", "no configuration"),
        ('{"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}', "code of its own, which is not"),
        (None, "without a config.json"),
    ],
)
def test_a_folder_that_is_no_model_is_refused_in_words(
    audited: Audit, tmp_path: Path, content: str | None, told: str
) -> None:
    del audited
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    find = import_module("flashscope.kernels.library.models.source").find_source
    with pytest.raises(InputError, match=told):
        find(str(tmp_path))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"num_hidden_layers": 1_000_000}, "has 1,000,000 layers, and a model has 1,000 at most"),
        (
            {"rope_parameters": {"rope_type": "unheard-of"}},
            "cannot be built from its configuration: KeyError: ",
        ),
    ],
)
def test_a_configuration_that_makes_no_model_is_refused_before_anything_is_built(
    audited: Audit, changed: dict[str, Any], told: str
) -> None:
    """A million layers took hours and all memory, though without weights."""
    del audited
    models = import_module("tests.kernels.library.audited")
    sources = import_module("flashscope.kernels.library.models.source")
    config = models.CONFIGS["llama3"]()
    for name, value in changed.items():
        setattr(config, name, value)
    with pytest.raises(InputError, match=told):
        sources.predicted_bytes(sources.ModelSource("mine", config, None), "float32")


@pytest.mark.parametrize("name", ["nobody/has-this-model", "nothing here at all", "missing.py:make"])
def test_a_model_that_is_not_there_is_refused_in_words(audited: Audit, name: str) -> None:
    del audited
    find = import_module("flashscope.kernels.library.models.source").find_source
    with pytest.raises(InputError, match=r"is no folder or file here|there is no file"):
        find(name)


def test_a_python_file_without_a_function_is_told_what_to_name(audited: Audit, tmp_path: Path) -> None:
    del audited
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n", encoding="utf-8")
    find = import_module("flashscope.kernels.library.models.source").find_source
    with pytest.raises(InputError, match=r"name its function, too, as in .*mine[.]py:NAME"):
        find(str(file))


@pytest.mark.parametrize("returned", ["module", "(module, [])", "(1, {})", "(module, {1: 2})", "None"])
def test_a_function_that_returns_no_module_with_its_arguments_is_told_what_to_return(
    audited: Audit, tmp_path: Path, returned: str
) -> None:
    del audited
    file = tmp_path / "mine.py"
    module = "module = torch.nn.Linear(2, 2)"
    file.write_text(f"import torch\ndef make(b, n):\n    {module}\n    return {returned}\n", encoding="utf-8")
    sources = import_module("flashscope.kernels.library.models.source")
    with pytest.raises(InputError, match=r"make returned .* and the arguments of its step, a dict by name"):
        sources.made(sources.find_source(f"{file}:make"), 1, 8)


def test_arguments_that_are_no_tensors_are_passed_on_as_they_are(audited: Audit, tmp_path: Path) -> None:
    del audited
    file = tmp_path / "mine.py"
    file.write_text(
        "import torch\n"
        "class Mine(torch.nn.Linear):\n"
        "    def forward(self, q, pair, flag, nothing):\n"
        "        return super().forward(q + pair[1]['x']) if flag and nothing is None else None\n"
        "def make(b, n):\n"
        "    x = torch.ones(b, n)\n"
        "    return Mine(n, n), {'q': x, 'pair': [1, {'x': x}], 'flag': True, 'nothing': None}\n",
        encoding="utf-8",
    )
    source = import_module("flashscope.kernels.library.models.source").find_source(f"{file}:make")
    build = import_module("flashscope.kernels.library.models.audit").AuditedModel
    model = build(source, "float32", "cpu", batch=1, seqlen=8, lengths=(), training=False, random=True)
    (step,) = model.steps
    model.run(step, model.ready(step))
    assert list(step.tensors) == ["q"]
    assert step.inputs["pair"][1]["x"].shape == (1, 8)


def test_a_model_of_images_that_says_no_size_is_refused_in_words(audited: Audit, tmp_path: Path) -> None:
    del audited
    sources = import_module("flashscope.kernels.library.models.source")
    config = '{"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]}'
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    options = {"batch": 1, "seqlen": 8, "lengths": (), "training": False, "random": True}
    build = import_module("flashscope.kernels.library.models.audit").AuditedModel
    with pytest.raises(InputError, match=r"ResNetConfig says no image size.*use FILE[.]py:NAME"):
        build(sources.find_source(str(tmp_path)), "float32", "cpu", **options)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["llama3", "gpt-oss", "gemma2"])
def test_on_a_gpu_the_kernels_of_attention_are_known_by_name_whoever_launches_them(
    audited: Audit, name: str
) -> None:
    model = audited(name, dtype="bfloat16", place="cuda", training=True)
    for step in model.steps:
        calls, _places = model.record(step)
        assert all(one.kernels for one in calls)
        with model.with_implementation("scope-fa2"):
            profile = model.profile(step)
        for one in profile.calls:
            assert any("flash2" in kernel for kernel in one.kernels)
            assert 0 < one.ms < profile.busy_ms < profile.ms

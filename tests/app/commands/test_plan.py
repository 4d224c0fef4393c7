"""`plan`: the planner on the command line."""

import json
from pathlib import Path

import pytest

from flashscope.app.cli import main
from tests.end_to_end.program import ROOT
from tests.profiles.store import builders

RECORDED = str(ROOT / "assets" / "sessions" / "h200-peers.flashscope")
AUDITED = "audited.flashscope"
Captured = pytest.CaptureFixture[bytes]


def document(capfdbinary: Captured, *arguments: str) -> dict:  # type: ignore[type-arg]
    assert main(["plan", *arguments, "--json"]) == 0
    return dict(json.loads(capfdbinary.readouterr().out))


def test_it_says_how_long_a_context_fits_in_one_sentence_and_a_table(capfdbinary: Captured) -> None:
    assert main(["plan", "--model", "llama-3-8b", "--session", RECORDED]) == 0
    said = capfdbinary.readouterr().out.decode()
    first = said.splitlines()[0].replace(",", ",")
    assert first.startswith("Llama-3-8B, batch 1, bfloat16: in the 140 GiB of NVIDIA H200")
    assert "standard attention fits 31,788 tokens, bound by S and P" in first
    assert "flash3 fits 908,295 tokens, bound by the KV cache" in first
    assert first.endswith(" The model itself is made for 8,192 tokens.")
    assert "16 in place of 32 heads, 1 in place of 4 query heads a K/V head" in said
    assert "Forecast, not measured:" in said
    assert "every N measured, from 1" in said


def test_the_document_holds_exact_bytes_and_keeps_forecasts_apart(capfdbinary: Captured) -> None:
    found = document(capfdbinary, "--session", RECORDED, "--context", "16k", "--batch", "2")
    assert found["setting"]["context"] == 16_384
    standard = found["kernels"][0]
    assert standard["terms"]["S and P"] == 2 * 2 * 32 * 16_384**2 * 2
    assert standard["total_bytes"] == sum(standard["terms"].values())
    told = standard["forecast"]
    assert told["low"] < told["ms"] < told["high"]
    assert told["all_layers_ms"] == pytest.approx(32 * told["ms"])
    assert found["crossing"]["low"] is None


def test_without_a_session_there_is_no_forecast_but_its_reason(capfdbinary: Captured) -> None:
    found = document(capfdbinary, "--memory", "80", "--no-weights")
    assert found["capacity_bytes"] == 80 << 30
    for kernel in found["kernels"]:
        assert kernel["forecast"] is None
        assert kernel["no_forecast"] == "there is no session to forecast from"
        assert "weights" not in kernel["terms"]
    assert found["crossing"] is None


def test_a_context_within_that_of_the_model_is_said_without_it(capfdbinary: Captured) -> None:
    assert main(["plan", "--model", "Llama-3-70B", "--memory", "140"]) == 0
    assert "made for" in capfdbinary.readouterr().out.decode()
    assert main(["plan", "--model", "Mistral-7B", "--memory", "14.1"]) == 0
    assert "made for" not in capfdbinary.readouterr().out.decode()


def test_weights_larger_than_the_memory_are_said_first(capfdbinary: Captured) -> None:
    assert main(["plan", "--model", "GPT-3-175B", "--memory", "80"]) == 0
    said = capfdbinary.readouterr().out.decode()
    assert "no context fits, the weights alone take 325 GiB, more than the 80.0 GiB" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--model", "lama-3-8b"), "did you mean Llama-3-8B"),
        (("--model", "x"), "there are Llama-2-7B"),
        (("--context", "0"), "0 is out of range: sequence lengths and steps run from 1"),
        (("--context", "1k:4k"), "more than one context"),
        (("--memory", "much"), "is not a number from 0.001"),
        (("--batch", "0"), "is not a whole number from 1"),
        (("--dtype", "fp8"), "float16"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    arguments: tuple[str, ...], told: str, capfdbinary: Captured
) -> None:
    assert main(["plan", *arguments]) == 2
    said = capfdbinary.readouterr().err.decode()
    assert told in said
    assert said.count("\n") == 1


def test_a_session_without_a_gpu_needs_a_memory(tmp_path: Path, capfdbinary: Captured) -> None:
    from tests.profiles.store import builders  # noqa: PLC0415 - only this test writes a file

    path = builders.recorded(tmp_path / "a.flashscope")
    assert main(["plan", "--session", str(path)]) == 2
    assert "give --memory" in capfdbinary.readouterr().err.decode()


def test_an_audited_model_is_planned_from_its_session(
    capfdbinary: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    builders.recorded(tmp_path / AUDITED)
    found = document(capfdbinary, "--audit", AUDITED, "--memory", "1")
    audit = builders.audit()
    assert found["model"]["name"] == audit.model
    assert found["model"]["layers"] == audit.layers_in_all
    assert found["model"]["heads"] == audit.calls[0].call.q_shape[1]
    assert main(["plan", "--audit", AUDITED, "--memory", "1"]) == 0
    assert b"2 of 4 layers have a window of 16" in capfdbinary.readouterr().out
    assert main(["plan", "--audit", AUDITED, "--model", "Llama-3-8B"]) == 2
    assert b"leave --model out" in capfdbinary.readouterr().err


def test_a_session_without_an_audit_has_no_model_to_plan(capfdbinary: Captured) -> None:
    assert main(["plan", "--audit", RECORDED]) == 2
    assert b"has no audit of a model" in capfdbinary.readouterr().err

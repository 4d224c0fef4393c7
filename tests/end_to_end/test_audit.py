"""`audit` on this machine's CPU: a small model recorded, replayed and kept; what is no model says so."""

import json
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from flashscope.kernels.workload.audit import problem_of
from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import running_host

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
}
QUICK = ("--backend", "cpu", "--seqlen", "48", "--rounds", "3", "--repeats", "3")
KERNELS = ("--kernels", "flash2,torch-flash,torch-math")


def model(folder: Path, **fields: Any) -> str:
    """The folder of a model's configuration."""
    (folder / "config.json").write_text(json.dumps(LLAMA | fields))
    return str(folder)


@pytest.mark.transformers
@pytest.mark.matrix  # fifteen seconds of processor
@pytest.mark.cluster
def test_a_model_of_a_host_is_recorded_and_replayed_there(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    asked = ("audit", model(tmp_path), *QUICK, *KERNELS, "--layers", "2", "--out", str(path))
    with running_host(tmp_path) as host:
        done = program.run(*asked, "--connect", str(host.file))
        assert done.returncode == 0, done.stderr
        host.wait_for("gives back the CPU")
    session = load(path)
    (kept,) = session.audits
    assert kept.architecture == "LlamaForCausalLM"
    assert session.machine is not None
    assert session.machine.host


@pytest.mark.transformers
@pytest.mark.matrix  # fifteen seconds of processor
def test_a_model_is_recorded_replayed_and_kept_in_a_session(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    asked = ("audit", model(tmp_path), *QUICK, *KERNELS, "--train", "--layers", "2", "--out", str(path))
    done = program.run(*asked, "--json")
    assert done.returncode == 0, done.stderr
    (found,) = program.document(done)["audits"]
    audit = found["audit"]
    assert (audit["architecture"], audit["layers"], audit["layers_in_all"]) == ("LlamaForCausalLM", 2, 4)
    assert audit["weights"] == "random"
    phases = [one["phase"] for one in found["switching"]]
    assert phases == ["prefill", "decode", "training"]
    for one in found["switching"]:
        assert 0 < one["share"] < 1
        assert {"flash2", "torch-math"} <= {kernel["kernel"] for kernel in one["amdahl"]}
        assert {real["implementation"] for real in one["real"]} == {"eager", "scope-fa2"}
    session = load(path)
    (kept,) = session.audits
    stated = [problem_of(one.call) for one in kept.calls]
    assert list(session.plan.problems) == stated
    assert {state.status for state in session.cells} == {"done"}
    shown = program.run("show", str(path), "--audit")
    assert "Only 2 of 4 layers were built" in shown.stdout
    assert program.document(program.run("show", str(path), "--json"))["audits"] == [found]
    assert program.run("export", str(path), str(tmp_path / "a.csv")).returncode == 0
    assert program.run("export", str(path), str(tmp_path / "a.html")).returncode == 0
    other = tmp_path / "other.flashscope"
    shutil.copy(path, other)
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("UPDATE session SET id = lower(hex(randomblob(16)))")
    assert program.run("compare", str(path), str(other)).returncode == 0


FEATURED: dict[str, dict[str, Any]] = {
    "softcap": {"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "head_dim": 32},
    "sinks": {
        "model_type": "gpt_oss",
        "architectures": ["GptOssForCausalLM"],
        "head_dim": 32,
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
    },
    "head_dim_v": {
        "model_type": "deepseek_v3",
        "architectures": ["DeepseekV3ForCausalLM"],
        "num_key_value_heads": 4,
        "qk_rope_head_dim": 16,
        "qk_nope_head_dim": 16,
        "v_head_dim": 16,
        "n_routed_experts": 2,
        "first_k_dense_replace": 4,
    },
}


@pytest.mark.transformers
@pytest.mark.matrix  # ten seconds of processor each
@pytest.mark.parametrize("feature", FEATURED)
def test_what_pytorch_cannot_fuse_is_replayed_and_tried_in_place(tmp_path: Path, feature: str) -> None:
    path = tmp_path / "a.flashscope"
    takes = ("standard", "flash1", "flash2", *(["torch-math"] if feature == "head_dim_v" else []))
    kernels = ("--kernels", "standard,flash1,flash2,torch-math")
    asked = ("audit", model(tmp_path, **FEATURED[feature]), *QUICK, *kernels, "--out", str(path))
    done = program.run(*asked, "--json", "--layers", "2")
    assert done.returncode == 0, done.stderr
    (found,) = program.document(done)["audits"]
    for one in found["switching"]:
        assert all(call["needs"] == [] and feature in str(call["problem"]) for call in one["calls"])
        covered = {kernel["kernel"]: kernel["covered"] for kernel in one["amdahl"]}
        assert covered == dict.fromkeys(takes, 2)
        assert "scope-fa2" in {real["implementation"] for real in one["real"] if not real["refused"]}
    session = load(path)
    assert all(feature in problem.features for problem in session.plan.problems)
    assert {(state.point.kernel, state.status) for state in session.cells} == {
        (kernel, "done") for kernel in takes
    }


@pytest.mark.transformers
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"model_type": "nothing-like-it"}, "no configuration of a model that Transformers knows"),
        ({"hidden_size": 63}, "is not a multiple of the number of attention heads"),
        ({"num_hidden_layers": 900, "hidden_size": 65536}, "MiB are free: build fewer layers"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    done = program.run("audit", model(tmp_path, **fields), *QUICK)
    assert done.returncode in {1, 2}
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.transformers
def test_a_name_that_is_not_in_the_cache_is_not_fetched(tmp_path: Path) -> None:
    done = program.run("audit", "nobody/has-this-model", *QUICK, HF_HOME=str(tmp_path))
    assert done.returncode == 2
    assert "nothing is fetched" in done.stderr


OWN = """
import os, torch

class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return torch.nn.functional.scaled_dot_product_attention(x * self.scale, x, x, is_causal=True)

def make(batch, seqlen):
    return Attention(), {"x": torch.randn(batch, 2, seqlen, 16)}

def holes(batch, seqlen):
    module = Attention()
    mask = torch.rand(seqlen, seqlen) > 0.5
    attend = torch.nn.functional.scaled_dot_product_attention
    module.forward = lambda x: attend(x * module.scale, x, x, attn_mask=mask)
    return module, {"x": torch.randn(batch, 2, seqlen, 16)}

def by_hand(batch, seqlen):
    module = Attention()
    module.forward = lambda x: torch.softmax(x @ x.mT * module.scale, -1) @ x
    return module, {"x": torch.randn(batch, 2, seqlen, 16)}

def dies(batch, seqlen):
    os._exit(3)

def raises(batch, seqlen):
    raise RuntimeError("no such thing")

class Unfit(torch.nn.Module):
    def forward(self, x):
        return x @ x  # of 3 x 5

def unfit(batch, seqlen):
    return Unfit(), {"x": torch.ones(3, 5)}

def exits(batch, seqlen):
    raise SystemExit("enough")
"""


LINES = {"raises": '    raise RuntimeError("no such thing")', "unfit": "        return x @ x  # of 3 x 5"}


@pytest.mark.torch
def test_a_module_of_ones_own_is_audited_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    asked = ("audit", f"{tmp_path}/own.py:make", *QUICK, *KERNELS, "--batch", "3")
    done = program.run(*asked, "--out", str(tmp_path / "a.flashscope"), "--json")
    assert done.returncode == 0, done.stderr
    (found,) = program.document(done)["audits"]
    (call,) = found["audit"]["calls"]
    assert (call["call"]["q_shape"], call["call"]["mask"], call["ran"]) == ([3, 2, 48, 16], "causal", "flash")
    (step,) = found["switching"]
    assert [(real["implementation"], real["kernel"]) for real in step["real"]] == [("math", "torch-math")]


@pytest.mark.torch
def test_calls_that_no_kernel_takes_are_told_as_such_and_write_no_session(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    path = tmp_path / "a.flashscope"
    done = program.run("audit", f"{tmp_path}/own.py:holes", *QUICK, "--out", str(path))
    assert done.returncode == 0, done.stderr
    assert "1 call of the model: no kernel here takes an arbitrary mask." in done.stdout
    assert "No call can be replayed here" in done.stdout
    assert not path.exists()


@pytest.mark.torch
def test_where_no_call_was_seen_nothing_is_put_in_place_of_it(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    done = program.run("audit", f"{tmp_path}/own.py:by_hand", *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    (found,) = program.document(done)["audits"]
    assert found["audit"]["calls"] == []
    (step,) = found["audit"]["steps"]
    assert step["step_ms"]
    assert found["switching"][0]["real"] == []


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("dies", "The process that runs the model ended before it was done."),
        ("raises", "The model failed: RuntimeError: no such thing."),
        ("unfit", "The model failed: RuntimeError: mat1 and mat2 shapes cannot be multiplied"),
        ("exits", "The model failed: SystemExit: enough"),
        ("nothing", "has no function 'nothing'"),
    ],
)
def test_a_module_that_fails_costs_its_process_alone_and_is_told(
    tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    done = program.run("audit", f"{tmp_path}/own.py:{name}", *QUICK)
    assert done.returncode in {1, 2}
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    if line := LINES.get(name):
        assert f"{tmp_path}/own.py, line {1 + OWN.splitlines().index(line)}, in " in done.stderr
        assert line.strip() in done.stderr


@pytest.mark.torch
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def make(:\n", "own.py, line 1: def make(:"),
        ("\nimport nothing_like_it\n", "own.py, line 2, in <module>"),
    ],
)
def test_a_file_that_is_not_read_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "own.py").write_text(text)
    done = program.run("audit", f"{tmp_path}/own.py:make", *QUICK)
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.transformers
def test_ctrl_c_ends_the_process_that_runs_the_model(tmp_path: Path) -> None:
    with program.started("audit", model(tmp_path), *QUICK, "--rounds", "100000") as process:
        assert process.stderr is not None
        assert any("prefill: round 2 of 100000" in line for line in process.stderr)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=program.TIMEOUT_S) == 130
    _, alive = psutil.wait_procs(children, timeout=program.TIMEOUT_S)
    assert not alive


def test_a_host_runs_no_model_that_a_file_of_code_makes() -> None:
    done = program.run("audit", "made.py:make", "--connect", "lab.connection")
    assert done.returncode == 2
    assert "A host runs no model that a file of code makes: give --connect a folder" in done.stderr

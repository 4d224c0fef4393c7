"""The sweep form without its widgets: what was chosen, the Plan it makes, and why it cannot run."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernels.block_mask import BlockMask
from kernels.block_pattern import BLOCK, BlockPattern
from kernels.device import Device
from kernels.problem import Backend, Dtype, Problem
from kernels.registry import lesson_on
from kernels.spec import KernelSpec
from profiles.defaults import DTYPES, HEADS, SEQLENS
from profiles.machine import Machine
from profiles.plan import Plan, Protocol
from profiles.seqlens import format_seqlens


@dataclass(frozen=True)
class Sweep:
    """What the form holds; the fields are those of Plan, Problem and Protocol.

    A block mask is held as its pattern: the mask itself depends on the sequence length.
    """

    backend: Backend
    kernels: tuple[str, ...]
    seqlens: tuple[int, ...]
    dtype: Dtype
    batch: int = 1
    heads: int = 1
    head_dim: int = 64
    causal: bool = False
    kv_heads: int | None = None
    window: tuple[int, int] | None = None
    blocks: BlockPattern | None = None
    block_size: int = BLOCK
    repeats: int = 10
    time_cap_s: float = 10.0
    seed: int = 0
    verify: bool = True
    cold: bool = True
    interleave: bool = True
    shuffle: bool = False
    drift_check: bool = True

    @classmethod
    def default(cls, backend: Backend) -> "Sweep":
        """The sweep the form opens with on a backend: the lesson; the rest is chosen."""
        return cls(
            backend=backend,
            kernels=lesson_on(backend),
            seqlens=SEQLENS[backend],
            dtype=DTYPES[backend],
            heads=HEADS[backend],
        )

    @classmethod
    def of_plan(cls, plan: Plan, problems: Sequence[Problem] = ()) -> "Sweep":
        """The choices that lead to these problems of a plan.

        Args:
            plan: Where kernels and protocol come from.
            problems: Those of one curve, which share all but N and the batch. Empty: all.
        """
        problems = problems or plan.problems
        first = problems[0]
        mask = first.block_mask
        return cls(
            backend=plan.backend,
            kernels=plan.kernels,
            seqlens=tuple(sorted({problem.seqlen_q for problem in problems})),
            dtype=first.dtype,
            batch=min(problem.batch for problem in problems),
            heads=first.heads,
            head_dim=first.head_dim,
            causal=first.causal,
            kv_heads=first.kv_heads,
            window=first.window,
            blocks=BlockPattern.parse(mask.pattern) if mask and mask.pattern else None,
            block_size=mask.block_q if mask and mask.pattern else BLOCK,
            repeats=plan.protocol.repeats,
            time_cap_s=plan.protocol.time_cap_s,
            seed=plan.seed,
            verify=plan.protocol.verify,
            cold=plan.protocol.cold,
            interleave=plan.protocol.interleave,
            shuffle=plan.protocol.shuffle,
            drift_check=plan.protocol.drift_check,
        )

    def problem(self, seqlen: int) -> Problem:
        """The square problem of one sequence length."""
        return Problem(
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            batch=self.batch,
            heads=self.heads,
            head_dim=self.head_dim,
            dtype=self.dtype,
            causal=self.causal,
            kv_heads=self.kv_heads,
            window=self.window,
            seed=self.seed,
            block_mask=self._block_mask(seqlen),
        )

    def _block_mask(self, seqlen: int) -> BlockMask | None:
        if self.blocks is None:
            return None
        return self.blocks.mask(seqlen, seqlen, block=self.block_size, seed=self.seed)

    def plan(self) -> Plan:
        """The Plan of these choices.

        Raises:
            ValueError: No kernel or no sequence length is chosen.
        """
        return Plan(
            backend=self.backend,
            kernels=self.kernels,
            problems=tuple(self.problem(seqlen) for seqlen in self.seqlens),
            protocol=Protocol(
                repeats=self.repeats,
                time_cap_s=self.time_cap_s,
                cold=self.cold,
                verify=self.verify,
                interleave=self.interleave,
                shuffle=self.shuffle,
                drift_check=self.drift_check,
            ),
            seed=self.seed,
        )

    def command_line(self) -> str:
        """The same sweep for a terminal."""
        words = ["python", "main.py", "sweep", "--backend", self.backend, "--kernels", ",".join(self.kernels)]
        words += ["--seqlen", format_seqlens(self.seqlens), "--head-dim", str(self.head_dim)]
        words += ["--heads", str(self.heads), "--batch", str(self.batch), "--dtype", self.dtype]
        words += ["--repeats", str(self.repeats), "--seed", str(self.seed)]
        words += ["--time-cap", f"{self.time_cap_s:g}"]
        if self.kv_heads is not None:
            words += ["--kv-heads", str(self.kv_heads)]
        if self.window is not None:
            words.append(f"--window={self.window[0]},{self.window[1]}")
        if self.blocks is not None:
            words += ["--block-mask", self.blocks.text, "--block-size", str(self.block_size)]
        switches = {
            "--causal": self.causal,
            "--warm": not self.cold,
            "--no-verify": not self.verify,
            "--no-interleave": not self.interleave,
            "--shuffle": self.shuffle,
            "--no-drift-check": not self.drift_check,
        }
        words += [switch for switch, on in switches.items() if on]
        return shlex.join([*words, "--out", "sweep.flashscope"])


def left_out(problems: Sequence[Problem]) -> list[str]:
    """What of the problems of one curve the form cannot hold, each in one sentence."""
    said = []
    batches = list(dict.fromkeys(problem.batch for problem in problems))
    if len(batches) > 1:
        along = f"from {batches[0]} to {batches[-1]} along N"
        said.append(f"Their batch goes {along}; the form takes {min(batches)}.")
    if any(problem.seqlen_q != problem.seqlen_k for problem in problems):
        said.append("It takes as many keys as queries.")
    mask = problems[0].block_mask
    if mask is not None and mask.pattern and problems[0].window:
        said.append("Their window is left out: the form holds either a window or blocks.")
    if mask is not None and not mask.pattern:
        said.append("Their block mask was not made from a pattern and is left out.")
    return said


def out_of_range(asked: Sweep, shown: Sweep) -> list[str]:
    """The numbers of a sweep that the form's fields do not reach, each in one sentence."""
    names = {
        "batch": "batch",
        "heads": "heads",
        "head_dim": "head dim",
        "repeats": "repeats",
        "time_cap_s": "time cap",
        "seed": "seed",
    }
    pairs = {name: (getattr(asked, field), getattr(shown, field)) for field, name in names.items()}
    return [
        f"Their {name} of {there} is beyond the form's range; it takes {here}."
        for name, (there, here) in pairs.items()
        if there != here
    ]


def unavailable(spec: KernelSpec, sweep: Sweep, device: Device | None) -> str | None:
    """Why a kernel cannot be chosen for this sweep, None when it can; unknown devices rule nothing out."""
    if sweep.backend not in spec.dtypes:
        return f"not implemented on {sweep.backend}"
    if device is None:
        return None
    return spec.unsupported(sweep.problem(1), device)


def blocked(sweep: Sweep, machine: Machine | None, refused: Mapping[str, str] | None = None) -> str | None:
    """Why this sweep cannot be run now, in one sentence; None when it can.

    Args:
        sweep: The choices.
        machine: Where it is to run, None when that is not known yet.
        refused: Kernels that were ticked but cannot be chosen, each with the reason.
    """
    if machine is not None and machine.device(sweep.backend) is None:
        return f"This machine has no {sweep.backend} device; choose another backend in the top bar."
    if not sweep.kernels and refused:
        return f"No ticked kernel can run: {_said(refused)}."
    if not sweep.kernels:
        return "Choose at least one kernel."
    if not sweep.seqlens:
        return "Add at least one sequence length, for example 256:2048."
    return None


def _said(refused: Mapping[str, str]) -> str:
    """The first reason with its kernel, and how many more the list of kernels tells."""
    name, why = next(iter(refused.items()))
    others = f"; {len(refused) - 1} more in the list" if len(refused) > 1 else ""
    return (why if why.startswith(name) else f"{name}: {why}") + others

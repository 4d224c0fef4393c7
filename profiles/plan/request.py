"""What a user asks for: every choice of a sweep, declared once. See `choice` for what is made of this."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import msgspec

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import AUTO, lesson_on, own_kernel
from flashscope.kernels.catalogue.spec import HEAD_DIMS
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.block_pattern import BLOCK, EXAMPLES, BlockPattern
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.lengths import PAGE_SIZES, spread_lengths
from flashscope.kernels.workload.problem import UNBOUNDED, Backend, Dtype, Passes, Problem
from flashscope.kernels.workload.scoring import SOFTCAPS
from flashscope.profiles.plan.choice import Choice, choices_of
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.read import read_kernels, read_page_size, read_window, write_kernels
from flashscope.profiles.plan.seqlens import MOST, format_seqlens, parse_seqlens

BACKENDS: tuple[Backend, ...] = get_args(Backend)
Lengths = Literal["full", "spread"]
MOST_SPREAD = 512  # sequences, each of which is counted for itself


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choices of one sweep over the number of keys, N.

    A block mask is held as its pattern: the mask itself depends on the sequence length. What a field means,
    its declaration says; those that a Problem has too mean the same there. The protocol's choices are
    declared in Protocol.
    """

    backend: Annotated[
        Backend,
        Choice(
            label="Backend",
            help="Where kernels run; auto: cuda if usable, else cpu",
            flag="--backend",
            also=(AUTO,),
        ),
    ]
    kernels: Annotated[
        tuple[str, ...],
        Choice(
            label="Kernels",
            help="Kernels to measure, files of one's own too; auto: the fastest; left out: the default's as "
            "far as they run here, with a preset all",
            flag="--kernels",
            metavar="A,B",
            defaults={backend: lesson_on(backend) for backend in BACKENDS},
            read=read_kernels,
            write=write_kernels,
        ),
    ]
    seqlens: Annotated[
        tuple[int, ...],
        Choice(
            label="Sequence lengths",
            help="256:16384 doubles, 256:4096:256 adds 256 each time, 256,384,1000 is a list, of "
            f"{MOST} at most; 4k is 4096, 1m 1048576",
            flag="--seqlen",
            metavar="LENGTHS",
            defaults={"cpu": parse_seqlens("256:2048"), "cuda": parse_seqlens("256:16384")},
            read=parse_seqlens,
            write=format_seqlens,
        ),
    ]
    head_dim: Annotated[
        int,
        Choice(
            label="head dim",
            help="Width of one head, d; our kernels take "
            f"{HEAD_DIMS[0]} to {HEAD_DIMS[-1]} in steps of {HEAD_DIMS.step}",
            flag="--head-dim",
            metavar="D",
            low=1,
            step=HEAD_DIMS.step,
        ),
    ] = 64
    heads: Annotated[
        int,
        Choice(
            label="heads",
            help="Heads of Q",
            flag="--heads",
            metavar="H",
            low=1,
            defaults={"cpu": 2, "cuda": 16},
        ),
    ]
    kv_heads: Annotated[
        int | None,
        Choice(
            label="kv heads",
            help="Heads of K and V, a divisor of heads; where fewer, query heads share them (GQA, MQA)",
            flag="--kv-heads",
            metavar="H",
            low=1,
            unset="as many as heads",
        ),
    ] = None
    queries: Annotated[
        int,
        Choice(
            label="query rows",
            help="Rows of Q, fewer than N, as in decoding with a cache of keys; 0: N",
            flag="--queries",
            metavar="NQ",
            low=0,
        ),
    ] = 0
    batch: Annotated[
        int, Choice(label="batch", help="Independent sequences", flag="--batch", metavar="B", low=1)
    ] = 1
    lengths: Annotated[
        Lengths,
        Choice(
            label="lengths",
            help="Keys, and rows unless query rows are given, of a sequence: all N, or from N / batch to N",
            flag="--lengths",
        ),
    ] = "full"
    page_size: Annotated[
        int | None,
        Choice(
            label="pages",
            help="Keys of a page of a shuffled K/V cache, as a server holds it: "
            f"{', '.join(map(str, PAGE_SIZES))}",
            flag="--page-size",
            metavar="P",
            low=PAGE_SIZES[0],
            high=PAGE_SIZES[-1],
            unset="no pages",
            read=read_page_size,
            write=str,
        ),
    ] = None
    dtype: Annotated[
        Dtype,
        Choice(
            label="dtype",
            help="Element type of Q, K, V and O",
            flag="--dtype",
            defaults={"cpu": "float32", "cuda": "float16"},
        ),
    ]
    passes: Annotated[
        Passes,
        Choice(
            label="pass",
            help="What a run computes: O, the gradients from it and a random dO, or both",
            flag="--pass",
        ),
    ] = "forward"
    deterministic: Annotated[
        bool,
        Choice(
            label="deterministic",
            help="Gradients must have the same bits in every run; kernels without such a mode are refused",
            flag="--deterministic/--no-deterministic",
        ),
    ] = False
    causal: Annotated[
        bool,
        Choice(
            label="causal",
            help="Keep only keys that are not after the query",
            flag="--causal/--no-causal",
        ),
    ] = False
    window: Annotated[
        tuple[int, int] | None,
        Choice(
            label="window",
            help=f"Keep L keys before the query and R after it; {UNBOUNDED}: all",
            flag="--window",
            metavar="L,R",
            low=UNBOUNDED,
            unset="all keys",
            read=read_window,
            write=lambda sides: f"{sides[0]},{sides[1]}",
        ),
    ] = None
    blocks: Annotated[
        BlockPattern | None,
        Choice(
            label="pattern of blocks",
            help="Keep blocks of the scores: local:W (W blocks beside the diagonal), global:G, strided:K, "
            f"random:SHARE, or several joined by commas, as {EXAMPLES[1]}",
            flag="--block-mask",
            metavar="PATTERN",
            unset="all blocks",
            read=BlockPattern.parse,
            write=lambda pattern: str(pattern.text),
        ),
    ] = None
    block_size: Annotated[
        int,
        Choice(
            label="block",
            help="Queries and keys of a block",
            flag="--block-size",
            metavar="B",
            low=1,
            needs="blocks",
        ),
    ] = BLOCK
    head_dim_v: Annotated[
        int | None,
        Choice(
            label="dim of V",
            help="Width of V and O, where it is not the head dim of Q and K (DeepSeek has 192 beside 128)",
            flag="--head-dim-v",
            metavar="D",
            low=1,
            step=HEAD_DIMS.step,
            unset="as Q",
        ),
    ] = None
    softcap: Annotated[
        float | None,
        Choice(
            label="softcap",
            help="Bound the scores: softcap tanh(score / softcap) takes the place of each (Gemma 2 has 50)",
            flag="--softcap",
            metavar="C",
            low=SOFTCAPS[0],
            high=SOFTCAPS[1],
            unset="none",
        ),
    ] = None
    sinks: Annotated[
        bool,
        Choice(
            label="sinks",
            help="Each head has a logit in its rows' denominators alone, drawn from the seed (gpt-oss)",
            flag="--sinks/--no-sinks",
        ),
    ] = False
    alibi: Annotated[
        bool,
        Choice(
            label="ALiBi",
            help="Add slope (k - q - D) to each score, with a slope of each head and D = Nk - Nq",
            flag="--alibi/--no-alibi",
        ),
    ] = False
    seed: Annotated[
        int,
        Choice(
            label="seed",
            help="Seed of the random inputs, of random blocks and of a shuffled order",
            flag="--seed",
            metavar="N",
        ),
    ] = 0
    protocol: Protocol = Protocol()

    @classmethod
    def of(cls, backend: Backend, **choices: Any) -> "Request":
        """These choices by their names, those of the protocol too; for the rest the backend's defaults.

        Raises:
            TypeError: There is no choice of that name.
            ValueError: The protocol's numbers cannot be measured with.
        """
        made = {declared.name: declared.default_on(backend) for declared in choices_of(cls)} | choices
        protocol = {declared.name: made.pop(declared.name) for declared in choices_of(Protocol)}
        return cls(**made | {"backend": backend}, protocol=Protocol(**protocol))

    @classmethod
    def of_plan(cls, plan: Plan, problems: Sequence[Problem] = ()) -> "Request":
        """The choices that lead to these problems of a plan.

        Args:
            plan: Where kernels and protocol come from.
            problems: Those of one curve, which share all but N and the batch. Empty: all.
        """
        problems = problems or plan.problems
        first = problems[0]
        mask = first.block_mask if first.block_mask and first.block_mask.pattern else None
        chosen = {name: getattr(first, name) for name in _of_problem()}
        chosen |= {declared.name: getattr(plan.protocol, declared.name) for declared in choices_of(Protocol)}
        chosen |= {
            "kernels": plan.kernels,
            "seqlens": tuple(sorted({problem.seqlen for problem in problems})),
            "queries": queries_of(problems) or 0,
            "lengths": lengths_of(problems) or "full",
            "batch": min(problem.batch for problem in problems),
            "blocks": BlockPattern.parse(mask.pattern) if mask else None,
            "block_size": mask.block_q if mask else BLOCK,
            "seed": plan.seed,
        }
        return cls.of(plan.backend, **chosen)

    def value(self, name: str) -> Any:
        """The choice of that name, its own or the protocol's."""
        return getattr(self if name in self.__struct_fields__ else self.protocol, name)

    def problem(self, seqlen: int) -> Problem:
        """The problem of one sequence length.

        Raises:
            InputError: There is no such problem.
        """
        if self.queries >= seqlen:
            remedy = "leave them out, or take longer sequences"
            raise InputError(f"{self.queries} query rows are not fewer than N = {seqlen}; {remedy}.")
        if self.queries and self.blocks is not None:
            raise InputError("A pattern of blocks takes all of N; leave out the query rows or the pattern.")
        if self.page_size and seqlen % self.page_size:
            remedy = "leave pages out, or take other lengths"
            raise InputError(f"N = {seqlen} is no multiple of the page size of {self.page_size}; {remedy}.")
        chosen = {name: getattr(self, name) for name in _of_problem()}
        rows, mask = self.queries or seqlen, self._block_mask(seqlen)
        return Problem(seqlen_q=rows, seqlen_k=seqlen, block_mask=mask, **chosen, **self._lengths(seqlen))

    def _lengths(self, seqlen: int) -> dict[str, Any]:
        """The lengths of a Problem, nothing where all are full."""
        if self.lengths == "full":
            return {}
        if not 1 < self.batch <= MOST_SPREAD:
            raise InputError(f"Spread lengths need a batch from 2 to {MOST_SPREAD}, not {self.batch}.")
        keys = {"key_lengths": spread_lengths(seqlen, self.batch)}
        return keys if self.queries else keys | {"query_lengths": keys["key_lengths"]}

    def _block_mask(self, seqlen: int) -> BlockMask | None:
        if self.blocks is None:
            return None
        return self.blocks.mask(seqlen, seqlen, block=self.block_size, seed=self.seed)

    def plan(self) -> Plan:
        """The Plan of these choices.

        Raises:
            ValueError: No kernel or no sequence length is chosen, or there is no problem of one.
        """
        return Plan(
            backend=self.backend,
            kernels=self.kernels,
            problems=tuple(map(self.problem, self.seqlens)),
            protocol=self.protocol,
            seed=self.seed,
            own=own_of(self.kernels),
        )

    def words(self) -> list[str]:
        """The arguments of `sweep` that ask for the same, whatever the machine's defaults."""
        said: list[str] = []
        for declared in choices_of(Request):
            needed = declared.choice.needs
            if not needed or self.value(needed) is not None:
                said += declared.command_words(self.value(declared.name))
        return said


def own_of(kernels: Sequence[str]) -> tuple[OwnKernel, ...]:
    """What those of these kernels declare that are of the user's own."""
    specs = map(own_kernel, kernels)
    return tuple(spec.own for spec in specs if spec is not None and spec.own is not None)


def queries_of(problems: Sequence[Problem]) -> int | None:
    """The query rows that a request of these problems asks for, 0: N; None where it cannot ask for them."""
    asked = {problem.queries for problem in problems}
    fewer = all(problem.seqlen_q <= problem.seqlen_k for problem in problems)
    return asked.pop() if len(asked) == 1 and fewer else None


def lengths_of(problems: Sequence[Problem]) -> Lengths | None:
    """What a request of these problems says of their lengths; None where it cannot ask for them."""
    spreads = {problem.spreads_lengths for problem in problems}
    if spreads == {True}:
        return "spread"
    return None if any(one.query_lengths or one.key_lengths for one in problems) else "full"


def _of_problem() -> list[str]:
    """The choices that are a Problem's own."""
    return [name for name in Request.__struct_fields__ if name in Problem.__struct_fields__]

"""The audit of a model in words: its calls, what ran, and what switching gains."""

import math
import re
from collections.abc import Iterator, Sequence

from flashscope.app.words.plain import cut_short
from flashscope.app.words.units import bytes_text, digits, ms_text, ratio_text, share_text
from flashscope.installation import PROGRAM
from flashscope.kernels.catalogue.spec import listed
from flashscope.kernels.workload.audit import AttentionCall, AuditedCall, ModelAudit
from flashscope.profiles.results.compare.switching import (
    CLOSE,
    IN_PLACE,
    NOT_REACHED,
    WORTH,
    Amdahl,
    Ratio,
    RealStep,
    ReplayedCall,
    StepParts,
    Switching,
)

NOTHING = "–"
MOST_OF_KERNEL = 48  # characters of its name in a table
MOST_KERNELS = 4  # of a call that are named
WHAT_IS_AUDITED = "Which attention does a model really run, and what would another kernel gain?"
WHAT_A_MODEL_IS = (
    "A folder with a config.json, a configuration's file, or a name in the local Hugging Face cache; nothing "
    "is fetched, and without weights random ones do."
)
HOW_TO_AUDIT = (
    "The session on show has no audit of a model. An audit runs a prefill and a decode, records every "
    f"attention call, and replays each over the kernels here; {PROGRAM} audit MODEL does so in a terminal."
)
CODE_IS_FOR_A_TERMINAL = (
    f"The window runs no model that a file of code makes: {PROGRAM} audit FILE.py:NAME does, in a terminal."
)
CALL_HEADINGS = (
    *("layers", "calls", "of the step", "shape", "mask", "asks for", "ran"),
    *("fastest replay", "step by that alone"),
)
KERNEL_HEADINGS = ("kernel in place", "calls", "those calls", "step, by Amdahl")
BLIND = (
    "Seen are calls through Transformers' attention interface and of PyTorch's scaled_dot_product_attention; "
    "attention that a model writes by hand is not."
)
CUT_OF_KERNEL, NAMELESS = re.compile(r"[<(]"), "(anonymous namespace)::"
RECORDED_AUDITS = "Recorded, of models with few layers, on a CPU small in width, too:"
NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")
PART_WORDS = {
    "in_place": "what the calls take in the model beyond their replay (copies, repeated heads, caches)",
    "rest": "what the rest of the step takes more",
    "idle": "what the GPU waits longer for the CPU, which asks for its work",
    "profiler": "what differs under the profiler and without it: its cost, and the machine's noise",
}


def audit_head(audit: ModelAudit) -> str:
    """What was built, and where it ran."""
    layers = (
        f", {audit.layers} of {audit.layers_in_all} layers" if audit.layers != audit.layers_in_all else ""
    )
    threads = f", {audit.threads} thread{'s' * (audit.threads > 1)}" if audit.threads else ""
    given = ", ".join(f"{name} {'×'.join(map(str, shape))}" for name, shape in audit.inputs.items())
    versions = ", ".join(f"{name} {number}" for name, number in audit.versions.items())
    return (
        f"{audit.model}: {audit.architecture}, {audit.parameters:,} parameters "
        f"({bytes_text(audit.weight_bytes)}, weights {audit.weights}){layers}, {audit.dtype} on "
        f"{audit.device.name}{threads}; given {given}; attention by "
        f"{audit.implementation}; {versions}"
    )


def audit_notes(audit: ModelAudit) -> Iterator[str]:
    """What is to be known before its figures are believed."""
    if audit.layers < audit.layers_in_all:
        yield (
            f"Only {audit.layers} of {audit.layers_in_all} layers were built: what is outside of them, as "
            "the output over the vocabulary, weighs more in a step than it does in the whole model."
        )
    yield BLIND
    for one in audit.unseen:
        yield f"Beside the recorded calls ran {one}: this may be attention written by hand, or a router."
    yield from audit.notes


def layers_text(layers: Sequence[str]) -> str:
    """Names of modules that differ in a number, told once: `model.layers.0-3.self_attn`."""
    numbers: dict[str, list[int]] = {}
    for name in layers:
        found = NUMBER.search(name)
        if found is None:
            numbers.setdefault(name or "the model", [])
        else:
            numbers.setdefault(f"{name[: found.start()]}*{name[found.end() :]}", []).append(int(found[0]))
    told = [name.replace("*", _runs(sorted(set(found))), 1) for name, found in numbers.items()]
    return ", ".join(told)


def _runs(numbers: Sequence[int]) -> str:
    """`0-3,5` of 0, 1, 2, 3 and 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def shape_text(call: AttentionCall) -> str:
    """Q's shape and what of K and V differs from it: `2×8×512×64, 2 K/V heads`."""
    heads, keys = call.k_shape[1], call.k_shape[2]
    differs = (
        f"{heads} K/V head{'s' * (heads > 1)}" * (heads != call.q_shape[1]),
        f"{keys} keys" * (keys != call.q_shape[2]),
        f"V {call.v_dim} wide" * (call.v_dim != call.q_shape[3]),
    )
    return ", ".join(filter(None, ("×".join(map(str, call.q_shape)), *differs)))


def mask_text(call: AttentionCall) -> str:
    """What the mask does, and the keys that a window leaves: `window 128`, `padding, causal`."""
    width = f"window {call.window[0] + 1}" if call.window else ""
    if call.mask == "window":
        return width
    if call.mask == "padding":
        return ", ".join(filter(None, ("padding", "causal" * call.causal, width)))
    return call.mask


def asks_text(call: AttentionCall) -> str:
    """What it asks for beyond shapes and mask."""
    parts = (
        f"scale {call.scale:.4g}" if call.scale is not None and not _usual(call) else "",
        f"softcap {call.softcap:g}" if call.softcap is not None else "",
        "sinks" if call.sinks else "",
        "ALiBi" if call.alibi else "",
        f"dropout {call.dropout:g}" if call.dropout else "",
    )
    return ", ".join(filter(None, parts)) or NOTHING


def _usual(call: AttentionCall) -> bool:
    usual: float = call.q_shape[3] ** -0.5
    return call.scale is not None and abs(call.scale - usual) < 1e-6 * usual


def ran_text(call: AuditedCall) -> str:
    """What ran: PyTorch's operator, or the GPU's kernel that took longest."""
    named = next(iter(kernels_text(call)), call.operators[0] if call.operators else "")
    return f"{call.ran} ({cut_short(named, MOST_OF_KERNEL)})" if named else call.ran


def kernels_text(call: AuditedCall) -> list[str]:
    """The GPU's kernels by their names alone: `pytorch_flash::flash_fwd_kernel`, each once."""
    names = (CUT_OF_KERNEL.split(one.replace(NAMELESS, ""), maxsplit=1)[0] for one in call.kernels)
    return list(dict.fromkeys(one.removeprefix("void ").strip() for one in names))


def interval_text(ratio: Ratio) -> str:
    """`1.21× (1.18 to 1.24)`."""
    if ratio.low is None or ratio.high is None:
        return ratio_text(ratio.value)
    return f"{ratio_text(ratio.value)} ({digits(ratio.low)} to {digits(ratio.high)})"


def step_text(found: Switching) -> str:
    """How long a step takes, and how much of it attention does."""
    works = "" if found.busy is None else f"; the GPU works {share_text(found.busy)} of the time"
    return (
        f"{found.phase}: a step takes {ms_text(found.step_ms)}, {share_text(found.share)} of it in attention "
        f"by the profiler, under which it takes {ratio_text(found.overhead)} as long{works}"
    )


def fastest_text(call: ReplayedCall) -> tuple[str, str]:
    """The kernel that replays a call fastest with its ratio, and what the step gains by it alone."""
    if not call.ratios:
        return NOTHING, NOTHING
    kernel = max(call.ratios, key=lambda name: call.ratios[name].value)
    if kernel == call.reference:
        return f"{kernel}, which ran", NOTHING
    ratio, base = call.ratios[kernel], call.reference
    if ratio.low is not None and ratio.low <= 1:
        return f"{kernel}, as fast as {base} within the noise", NOTHING
    than = f"as fast as {base}" if base == IN_PLACE else f"of {base}"
    return f"{kernel} {interval_text(ratio)} {than}", ratio_text(call.gains[kernel])


def call_cells(call: AuditedCall, replayed: ReplayedCall) -> tuple[str, ...]:
    """A line of the table of calls, as CALL_HEADINGS."""
    return (
        layers_text(call.layers),
        str(replayed.calls),
        NOTHING if replayed.share is None else share_text(replayed.share),
        shape_text(call.call),
        mask_text(call.call),
        asks_text(call.call),
        ran_text(call),
        *fastest_text(replayed),
    )


def kernels_of(calls: Sequence[AuditedCall]) -> list[str]:
    """The GPU's kernels that ran, what took longest first, the same ones once with the layers they ran in."""
    about: dict[str, list[str]] = {}
    for one in calls:
        names = kernels_text(one)
        if names:
            more = f" and {len(names) - MOST_KERNELS} more" if len(names) > MOST_KERNELS else ""
            told = f"{one.ran} ran as {', '.join(names[:MOST_KERNELS])}{more}."
            about.setdefault(told, []).extend(one.layers)
    return [f"{layers_text(layers)}: {told}" for told, layers in about.items()]


def reasons_of(calls: Sequence[AuditedCall]) -> list[str]:
    """Why nothing else ran, each reason once with the layers that it is about."""
    about: dict[str, list[str]] = {}
    for one in calls:
        for reason in one.why_not:
            about.setdefault(reason, []).extend(one.layers)
    return [f"{layers_text(layers)}: {reason}" for reason, layers in about.items()]


def lacks_of(calls: Sequence[ReplayedCall]) -> list[str]:
    """Why no kernel replays some calls, each reason once with the layers that it is about."""
    about: dict[str, list[str]] = {}
    for one in calls:
        if reason := _lack(one):
            about.setdefault(reason, []).extend(one.layers)
    return [
        f"{len(layers)} call{'s' * (len(layers) > 1)} of {layers_text(layers)}: {reason}"
        for reason, layers in about.items()
    ]


def _lack(call: ReplayedCall) -> str:
    if call.needs:
        return f"no kernel here takes {' and '.join(call.needs)}."
    if call.problem is None:
        return "no problem of ours states it, so no kernel here takes it."
    if call.ratios:
        return ""
    if NOT_REACHED in call.missing.values():
        return f"{NOT_REACHED}; audit the model again."
    if call.missing:
        return f"no kernel here takes it: {'; '.join(dict.fromkeys(call.missing.values()))}"
    asked = listed(call.problem.features)
    return f"no kernel replays it here, in {call.problem.dtype}{', and it asks for ' * bool(asked)}{asked}."


def amdahl_cells(one: Amdahl) -> tuple[str, ...]:
    """A line of the table of kernels, as KERNEL_HEADINGS."""
    return one.kernel, f"{one.covered} of {one.calls}", ratio_text(one.ratio), interval_text(one.step)


def real_text(one: RealStep) -> str:
    """What the real step says of an implementation, and whether Amdahl had said so."""
    if one.step is None:
        return f"{one.implementation}: cannot be put in place: {one.refused.rstrip('.')}."
    told = f"{one.implementation} in place: the step is {interval_text(one.step)} as fast"
    if one.predicted is None:
        why = (
            f"no replay by {one.kernel} covers its calls" if one.kernel else "no one kernel replays what ran"
        )
        return f"{told}; no prediction: {why}."
    told += f"; by the shares and {one.kernel}, {interval_text(one.predicted)}"
    if one.cannot_tell:
        return f"{told}: an interval holds a gain and a loss of over 5%, so that they agree cannot be told."
    if one.parts is None:
        return f"{told}: the two roads agree within {_within(one.step, one.predicted)}."
    few = ", with too few rounds for intervals" if None in {one.step.low, one.predicted.low} else ""
    return f"{told}: they disagree{few}. {parts_text(one.parts)}"


def _within(step: Ratio, predicted: Ratio) -> str:
    """How near two roads are that agree: `5 %`, or their intervals and how wide these are."""
    if abs(math.log(step.value / predicted.value)) <= CLOSE:
        return "5%"
    widths = [share_text(math.log((one.high or 1) / (one.low or 1))) for one in (step, predicted)]
    return f"their intervals, which are {' and '.join(widths)} wide"


def parts_text(parts: StepParts) -> str:
    """Where the difference is, the largest part first."""
    known = ((name, getattr(parts, name)) for name in PART_WORDS)
    whole = {name: ms for name, ms in known if ms}
    ordered = sorted(whole, key=lambda name: -abs(whole[name]))
    told = "; ".join(f"{_signed(whole[name])} {PART_WORDS[name]}" for name in ordered)
    return f"Of the {_signed(sum(whole.values()))} between them: {told}."


def _signed(ms: float) -> str:
    return f"{'+' if ms >= 0 else '−'}{ms_text(abs(ms))}"


def vanishing_text(found: Switching) -> str:
    """That a gain on the calls is none in the step; empty where there is nothing of the kind."""
    if not found.vanishes:
        return ""
    one = next(one for one in found.amdahl if one.kernel == found.vanishes)
    calls, step = ratio_text(one.ratio), interval_text(one.step)
    told = f"{one.kernel} is {calls} as fast on these calls, and the step {step}"
    if one.step.value < WORTH:
        return f"{told}: the gain vanishes end to end."
    return f"{told}: a gain end to end cannot be told from the noise."


def gains_texts(audit: ModelAudit, found: Switching) -> list[str]:
    """What follows from a step, a paragraph each: both roads, reasons, what no kernel takes, and cautions."""
    kernels = [
        f"{one.kernel}: {ratio_text(one.ratio)} as fast on {one.covered} of {one.calls} calls, the step "
        f"{interval_text(one.step)} by Amdahl."
        for one in found.amdahl
    ]
    calls = [one for one in audit.calls if one.phase == found.phase]
    gains = (*map(real_text, found.real), vanishing_text(found), "\n".join(kernels))
    return list(filter(None, (*gains, *found_texts(calls, found), *audit_notes(audit))))


def found_texts(calls: Sequence[AuditedCall], found: Switching) -> list[str]:
    """What ran in a step, why nothing else did, and what no kernel takes, a sentence each."""
    return [*kernels_of(calls), *reasons_of(calls), *lacks_of(found.calls)]

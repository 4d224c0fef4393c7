"""A cut through the compiler, on any machine that has one: what it takes, or the reason why not, in words."""

import re

from flashscope.kernels.cuda.compile import compile_anywhere
from flashscope.kernels.cuda.design.cut import main_launch, program_of
from flashscope.kernels.cuda.launch import current_target, load_kernels
from flashscope.kernels.cuda.program import Target
from flashscope.kernels.cuda.sass.resources import Resources, resources_of
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.errors import CompileError
from flashscope.kernels.workload.problem import Problem

SERIALISED = re.compile(r"C75\d\d|C76\d\d")  # ptxas gave up the asynchrony of wgmma, or setmaxnreg
_ERROR = re.compile(
    r"^(?:.*/)?(?P<file>[\w.]+)\((?P<line>\d+)\): error: (?P<what>.*)\n?(?P<code>.*)", re.MULTILINE
)
_STATED = re.compile(r'static assertion failed with "(?P<why>.*)"')
_ASSERTED = re.compile(r"static_assert\((?P<condition>.*)\);")
_PTXAS = re.compile(r"^ptxas (?:error|fatal)\s*:\s*(?P<what>.*)", re.MULTILINE)


def compile_cut(cut: Cut, problem: Problem, target: Target) -> CompiledCut:
    """Compile a cut for a problem; one that is refused says why.

    Raises:
        DeviceUnavailableError: There is no compiler here; the text names the remedy.
    """
    program = program_of(cut, problem, target)
    try:
        _, log = compile_anywhere(program, target)
    except CompileError as error:
        return CompiledCut(cut=cut, failure=refusal_words(error.log), log=error.log)
    used = resources_of(main_launch(program).entry, log)
    return CompiledCut(
        cut=cut,
        registers=used.registers,
        spilled=used.spilled,
        stack=used.stack,
        static_bytes=used.shared,
        notes=_notes(used, log),
        log=log,
    )


def load_here(cut: Cut, problem: Problem) -> CompiledCut:
    """Compile a cut for the GPU that is there and load it: binding the cut does not wait then.

    It may be called on several threads at once, as the compiler works on all of them. What it takes is read
    off the loaded kernel: of what NVRTC has in its cache ptxas says nothing. All of a thread's memory counts
    as spilled, as these sources have no other arrays there.
    """
    import cupy  # noqa: PLC0415 - cuts are compiled without it

    cupy.cuda.Device().use()  # a new thread has no context yet
    program = program_of(cut, problem, current_target())
    try:
        kernels = load_kernels(program)
    except CompileError as error:
        return CompiledCut(cut=cut, failure=refusal_words(error.log), log=error.log)
    main = kernels[program.launches.index(main_launch(program))]
    memory = main.local_size_bytes
    return CompiledCut(cut=cut, registers=main.num_regs, spilled=memory, stack=memory)


def refusal_words(log: str) -> str:
    """The first error of a compiler's log in a sentence, without folders."""
    if found := _ERROR.search(log):
        where = f"({found['file']}, line {found['line']})"
        if stated := _STATED.search(found["what"]):
            return f"The source refuses this cut: {stated['why']} {where}."
        if asserted := _ASSERTED.search(found["code"]):
            return f"The source refuses this cut: it needs {asserted['condition']} {where}."
        return f"The compiler refuses this cut: {found['what'].strip()} {where}."
    if found := _PTXAS.search(log):
        return f"The assembler refuses this cut: {found['what'].strip().rstrip('.')}."
    lines = log.strip().splitlines()
    return f"The compiler refuses this cut: {lines[0].strip() if lines else 'it does not say why'}."


def _notes(used: Resources, log: str) -> tuple[str, ...]:
    notes = []
    if used.spilled:
        notes.append(f"Each thread spills {used.spilled:,} bytes: its registers do not hold all there is.")
    if found := SERIALISED.search(log):
        notes.append(f"ptxas runs its products one after the other ({found[0]}), not beside the softmax.")
    return tuple(notes)

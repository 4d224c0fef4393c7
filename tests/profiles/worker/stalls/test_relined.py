"""Bundled samples outlive a change of the source that leaves the machine code as it was, and no other."""

from dataclasses import dataclass

from flashscope.kernels.cuda.reading.step import StepSource
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.cuda.sass.resources import Resources
from flashscope.kernels.workload.stalls import text_digest
from tests.profiles.store import builders
from tests.stall_session import relined

KNOWN = builders.stalls()


@dataclass
class Code:
    """What a build has at the addresses that were sampled."""

    texts: tuple[str, ...] = KNOWN.text
    line: int = 40

    def listing(self) -> BuildListing:
        place = (SourcePlace(KNOWN.file, self.line),)
        pairs = zip(KNOWN.address.numpy().tolist(), self.texts, strict=False)
        code = [Instruction(at, text, "", place) for at, text in pairs]
        kernel = KernelListing(KNOWN.entry, code, Resources(1, 0, 0, 0, 0), 128, 0, 1)
        return BuildListing(
            StepSource("flash2", KNOWN.file, "a heading", "today"), "sm_90", "NVRTC", [kernel]
        )


def test_the_same_machine_code_keeps_its_samples_and_takes_todays_lines() -> None:
    found = relined(KNOWN, Code().listing())
    assert found is not None
    assert found.line.numpy().tolist() == [40, 40, 40]
    assert (found.source, found.samples, found.text) == (text_digest("today"), KNOWN.samples, KNOWN.text)


def test_other_machine_code_keeps_nothing() -> None:
    assert relined(KNOWN, Code((*KNOWN.text[:2], "EXIT P0")).listing()) is None
    assert relined(KNOWN, Code((KNOWN.text[1], KNOWN.text[0], KNOWN.text[2])).listing()) is None

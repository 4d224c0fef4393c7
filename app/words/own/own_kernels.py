"""What is said of a kernel of the user's own: what it takes, where it is from, what running it means."""

from flashscope.app.words.plain import cut_short
from flashscope.kernels.catalogue.own_kernel import OwnKernel

SHORT = 12  # digits of a hash that tell files apart
MOST_OF_PATH = 120
WATCHED = " While it is watched, so does each later save of the file, without another question."


def takes(own: OwnKernel) -> str:
    """What it declares to take: `forward and backward; float32 on cpu; any head dim; causal, gqa`."""
    passes = "forward and backward" if own.has_backward else "forward alone"
    dims = f"head dim {', '.join(map(str, own.head_dims))}" if own.head_dims else "any head dim"
    beyond = ", ".join(own.features) or "plain attention alone"
    return f"{passes}; {', '.join(own.dtypes)} on {', '.join(own.backends)}; {dims}; {beyond}"


def origin(own: OwnKernel) -> str:
    """Its file, the hash of that, and the commit around it."""
    said = f"{cut_short(own.reference, MOST_OF_PATH)}, sha256 {own.sha256[:SHORT]}…"
    if not own.commit:
        return said
    return f"{said}, commit {own.commit[:SHORT]}{' and changed since' if own.differs else ''}"


def question(own: OwnKernel, *, named: bool, watched: bool = False) -> str:
    """What is asked before it may run.

    Args:
        own: The kernel.
        named: Whether the user chose its file; else something else names it, such as a session.
        watched: Whether each later save of the file is to run, too.
    """
    runs = (
        "It is Python: it runs with your rights, in a process of its own. It can read, change and send "
        "whatever you can."
        if own.function
        else "It is CUDA C++: it is compiled here and runs on your GPU, in a process of its own."
    )
    from_where = (
        "" if named else "A session or a preset names this file; you have not chosen it yourself.\n\n"
    )
    return (
        f"{from_where}{runs}{WATCHED if watched else ''}\n\n"
        f"File: {cut_short(own.reference, MOST_OF_PATH)}\n"
        f"sha256: {own.sha256[:SHORT]}…\n"
        f"It declares: {own.name}, {takes(own)}\n\n"
        "Bring in only what you know. Nothing of it has run so far."
    )

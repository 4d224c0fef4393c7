"""How far a point can be trusted, in words."""

from flashscope.profiles.results.model.trust import Trust

DOUBT = "! "  # before a figure that is not trusted
DOUBTED = "!: doubtful"
NOTHING_AGAINST = "nothing that was looked at speaks against it"


def trust_text(trust: Trust) -> str:
    """The word, and under it each reason in a line of its own."""
    return "\n".join((f"{trust.word.capitalize()}:", *(trust.reasons or (NOTHING_AGAINST,))))


def trust_line(trust: Trust) -> str:
    """The word and its reasons in one line."""
    return f"{trust.word}: {'; '.join(trust.reasons or (NOTHING_AGAINST,))}"

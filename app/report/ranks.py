"""What a report says of attention on several ranks: the sentence, the table, what a reader must know."""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from flashscope.app.report.markup import table_element, tag
from flashscope.app.words.ranks import (
    BESIDE_A_MODEL,
    HEADINGS,
    MODEL_HEADINGS,
    by_kind,
    model_cells,
    notes_of,
    pass_cells,
    refusals_of,
    sentence_of,
    where_text,
)
from flashscope.profiles.results.model.ranks import modelled, passes_of
from flashscope.profiles.wire.ranks import RanksResult


def ranks_section(results: Sequence[RanksResult]) -> Iterator[Element]:
    """All that a session holds of ranks; nothing where it holds none."""
    if not results:
        return
    yield tag("h2", "One sequence on several ranks")
    passes = passes_of(results)
    if passes:
        for kind, alike in by_kind(passes).items():
            yield tag("p", f"{kind}: {sentence_of(alike)}", class_="headline")
        yield tag("p", f"{where_text(results)}.")
        yield table_element(HEADINGS, [pass_cells(*one) for one in passes])
    if beside := modelled(results):
        yield tag("p", f"{BESIDE_A_MODEL}.")
        yield table_element(MODEL_HEADINGS, list(map(model_cells, beside)))
    yield from (tag("p", text) for text in (*notes_of(passes), *refusals_of(results)))

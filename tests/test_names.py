"""One meaning a name: what two modules call alike is one thing, or an exception that gives its reason."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("app", "kernels", "profiles")
SHARED: dict[str, str] = {}
"""Names of classes that two modules may share, each with the reason."""


LIKE_A_DEFINITION = re.compile(r"^(?:class )?([A-Z]\w*)\b", re.MULTILINE)


def suspects() -> dict[Path, str]:
    """Texts of the modules that begin a line with the same name as another: to parse all takes seconds."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
    }
    names = {path: {*LIKE_A_DEFINITION.findall(text)} for path, text in texts.items()}
    count = Counter(name for of in names.values() for name in of if is_type(name))
    return {path: text for path, text in texts.items() if any(count[name] > 1 for name in names[path])}


@cache
def definitions() -> tuple[tuple[str, str, ast.stmt], ...]:
    """Every public name that these modules define: the name, the module's path, the statement."""
    return tuple(
        (name, str(path.relative_to(ROOT)), node)
        for path, text in suspects().items()
        for node in ast.parse(text).body
        for name in names_of(node)
        if not name.startswith("_")
    )


def names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def is_type(name: str) -> bool:
    """Whether a name is written as that of a type: `Figure`, neither `EDGE` nor the `T` of a variable."""
    return name[0].isupper() and not name.isupper()


def by_name(kind: type[ast.stmt] | tuple[type[ast.stmt], ...]) -> dict[str, dict[str, ast.stmt]]:
    found: dict[str, dict[str, ast.stmt]] = defaultdict(dict)
    for name, path, node in definitions():
        if is_type(name) and isinstance(node, kind):
            found[name][path] = node
    return found


def test_no_two_public_classes_share_a_name() -> None:
    shared = {name: sorted(places) for name, places in by_name(ast.ClassDef).items() if len(places) > 1}
    assert {name: places for name, places in shared.items() if name not in SHARED} == {}
    assert set(SHARED) <= set(shared), "an exception that nothing needs any more"


def test_a_type_alias_has_no_name_of_a_class() -> None:
    aliases, classes = by_name((ast.Assign, ast.AnnAssign)), by_name(ast.ClassDef)
    assert {name: sorted([*aliases[name], *classes[name]]) for name in set(aliases) & set(classes)} == {}


def test_type_aliases_of_one_name_stand_for_one_type() -> None:
    different = {
        name: sorted(places)
        for name, places in by_name((ast.Assign, ast.AnnAssign)).items()
        if len({ast.dump(value) for node in places.values() if (value := getattr(node, "value", None))}) > 1
    }
    assert different == {}

"""Writes what follows from the rooms: `make faces`.

Each room says in its `exports.txt` which names TensorFlow has for what is in it. A section is a module of the room,
a row an object (`.` is the module itself) and its names:

    [arithmetic]
    add                 add math.add
    squared_difference  math.squared_difference v1: squared_difference

Names stand in both faces, those behind `v1:`, `v2:`, `contrib:` or `compat:` in that one. From these tables this
script writes the faces, `graphgrad/compat/{v1,v2,contrib}`: modules that import what is asked for, and beside them
stubs for editors and type checkers. From the operations it writes the index `graphgrad/op_index.py`.
`python tools/make_faces.py --check` writes nothing, and fails if something is not up to date.
"""

from __future__ import annotations

import collections
import importlib
import pathlib
import sys
import textwrap
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "graphgrad"
BOTH = ("v1", "v2")
FACES = (*BOTH, "contrib", "compat")
WRITTEN = "Written by `make faces` from exports.txt."
_WHAT = {"v1": "`tf{}` of TensorFlow 1.", "v2": "`tf{}`.", "contrib": "`tf.contrib{}` of TensorFlow 1.15.",
         "compat": "`tf.compat{}`."}

_KEPT = "\x00"  # a space at which no line ends

# Face -> dotted name -> (module, attribute); the attribute is "" where the name is the module itself.
Names = dict[str, dict[str, tuple[str, str]]]


def exported() -> Names:
    """What the tables say."""
    found: Names = {face: {} for face in FACES}
    for path in sorted(PACKAGE.rglob("exports.txt")):
        module = ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("["):
                module = _module(path, line[1:-1])
            elif line and not line.startswith("#"):
                attribute, *words = line.split()
                faces: tuple[str, ...] = BOTH
                for word in words:
                    if word.endswith(":"):
                        faces = (word[:-1],)
                        continue
                    for face in faces:
                        if word in found[face]:
                            raise SystemExit(f"{path}:{number}: {face} has {word} already: {found[face][word]}")
                        found[face][word] = module, "" if attribute == "." else attribute
    return found


def _module(table: pathlib.Path, section: str) -> str:
    """The module that a section of a table is about: one of the room, or of another package."""
    room = table.parent
    place = room.joinpath(*section.split("."))
    generated = room == PACKAGE / "compat" and section.split(".")[0] in FACES
    if generated or place.is_dir() or place.with_suffix(".py").exists():
        return ".".join((*room.relative_to(SOURCE).parts, section))
    if section.split(".")[0] not in ("absl", "unittest"):
        raise SystemExit(f"{table}: there is no module {section} in this room")
    return section


def written() -> dict[pathlib.Path, str]:
    """The files of the faces and of the index, and their text."""
    files: dict[pathlib.Path, str] = {}
    for face, names in exported().items():
        root = "graphgrad.compat" if face == "compat" else f"graphgrad.compat.{face}"
        modules: dict[str, dict[str, tuple[str, str]]] = collections.defaultdict(dict)
        for name, place in names.items():
            parent, _, own = name.rpartition(".")
            modules[parent][own] = place
        for path in list(modules):
            while path:  # each module is a name of the one around it
                parent, _, own = path.rpartition(".")
                modules[parent].setdefault(own, (f"{root}.{path}", ""))
                path = parent
        if face == "compat":
            modules[""].update({f: (f"{root}.{f}", "") for f in BOTH})
        for path, own_names in modules.items():
            is_package = not path or any(other.startswith(f"{path}.") for other in modules)
            place = SOURCE.joinpath(*f"{root}.{path}".rstrip(".").split("."))
            place = place / "__init__.py" if is_package else place.with_suffix(".py")
            what = _WHAT[face].format(f".{path}" if path else "")
            files[place] = _code(what, own_names)
            files[place.with_suffix(".pyi")] = _stub(what, own_names)
    files[PACKAGE / "op_index.py"] = _index()
    files[PACKAGE / "compat" / "raw_ops.pyi"] = _raw_ops()
    return files


def _code(what: str, names: dict[str, tuple[str, str]]) -> str:
    by_module = collections.defaultdict(list)
    for name, (module, attribute) in sorted(names.items()):
        by_module[module].append(f"{name}=." if not attribute else name if name == attribute else f"{name}={attribute}")
    lines = [line for module, entries in sorted(by_module.items()) for line in textwrap.wrap(
        f"{module}: {' '.join(entries)}", 120, subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False)]
    return "\n".join([f'"""{what} {WRITTEN}"""', "", "from graphgrad.compat.lazy import face as _face", "",
                      '__all__, __getattr__, __dir__ = _face(__name__, """', *lines, '""")', ""])


def _stub(what: str, names: dict[str, tuple[str, str]]) -> str:
    lines, renamed = [], []
    for name, (module, attribute) in sorted(names.items(), key=lambda item: (item[1], item[0])):
        parent, _, own = module.rpartition(".")
        origin = f"from {module} import {attribute}" if attribute else f"from {parent} import {own}"
        if name.startswith("__") and attribute:
            lines.append(origin)
            renamed.append(f"{name} = {attribute}")
        else:
            lines.append(f"{origin} as {name}")
    # A name that is imported under another one is exported only if `__all__` says so.
    # As at run time, it has no names with underscores.
    public = textwrap.wrap(", ".join(f'"{n}"' for n in sorted(names) if not n.startswith("_")), 116,
                           break_long_words=False)
    listed = ["__all__ = [", *(f"    {line}" for line in public), "]"]
    return "\n".join([f'"""{what} {WRITTEN}"""', "", *lines, *renamed, "", *listed, ""])


def op_modules() -> dict[str, list[str]]:
    """The modules that register operations, and which; all that may do so are imported for that."""
    sys.path.insert(0, str(SOURCE))
    opdef = importlib.import_module("graphgrad.ir.opdef")
    found: dict[str, str] = {}
    make = opdef.OpDef.__init__

    def note(self: Any, name: str, *args: Any, **kwargs: Any) -> None:
        frame: Any = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        found[name] = frame.f_globals["__name__"]
        make(self, name, *args, **kwargs)

    opdef.OpDef.__init__ = note
    try:
        for room in ("ops", "training", "extras"):  # the others need an index, which may be old
            for path in sorted((PACKAGE / room).rglob("*.py")):
                if "op(" in path.read_text():
                    importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    finally:
        opdef.OpDef.__init__ = make
    modules: dict[str, list[str]] = collections.defaultdict(list)
    for name, module in found.items():
        modules[module].append(name)
    return modules


def _index() -> str:
    lines = [line for module, types in sorted(op_modules().items()) for line in textwrap.wrap(
        f"{module}: {' '.join(sorted(types))}", 120, subsequent_indent="    ")]
    return "\n".join(['"""Which module registers which types of operations. Written by `make faces`."""', "",
                      'MODULES = """', *lines, '"""', ""])


def _raw_ops() -> str:
    """The stub of `tf.raw_ops`, after the operations have been imported."""
    raw_op = importlib.import_module("graphgrad.compat.raw_op").raw_op
    registry = importlib.import_module("graphgrad.ir.opdef").registry
    text = ['"""`tf.raw_ops`: each op type as a function of keyword arguments. Written by `make faces` from ops."""',
            "", "from typing import Any as _Any", "from typing import NamedTuple as _NamedTuple", "",
            "from graphgrad.ir.operation import Operation as _Operation",
            "from graphgrad.ir.tensor import Tensor as _Tensor",
            "from graphgrad.ir.tensor import TensorLike as _TensorLike", ""]
    hidden = dict.fromkeys(("count", "index"), "  # type: ignore[assignment]  # a tuple has such methods")
    for name in sorted(registry):
        op, outputs = raw_op(name), registry[name].outputs
        kinds = ["list[_Tensor]" if out.is_list else "_Tensor" for out in outputs]
        if len(kinds) > 1:
            text += [f"class _{name}(_NamedTuple):",
                     *(f"    {out.name}: {kind}{hidden.get(out.name, '')}"
                       for out, kind in zip(outputs, kinds, strict=True)), ""]
        result = f"_{name}" if len(kinds) > 1 else kinds[0] if kinds else "_Operation | _Any"
        parameters = []
        for parameter in list(op.__signature__.parameters.values())[:-1]:
            kind = "_TensorLike" if parameter.name in op._inputs else "_Any"
            default = "" if parameter.default is parameter.empty else f" = {_literal(parameter.default)}"
            parameters.append(f"{parameter.name}: {kind}{default}")
        parameters = ["*", *parameters, f"name: str | None = None) -> {result}: ..."]
        parameters = [parameter.replace(" ", _KEPT) for parameter in parameters]
        lines = textwrap.wrap(f"def{_KEPT}{name}({', '.join(parameters)}", 120, subsequent_indent=" " * (len(name) + 5),
                              break_long_words=False, break_on_hyphens=False)
        text += [line.replace(_KEPT, " ") for line in lines]
    return "\n".join([*text, ""])


def _literal(default: Any) -> str:
    """A default as stubs show it: itself if it is a number, a text or None."""
    return repr(default) if default is None or isinstance(default, (bool, int, float, str)) else "..."


def main() -> None:
    """Writes the files, or checks them."""
    files = written()
    stale = [p for p, text in files.items() if not p.exists() or p.read_text() != text]
    folders = [PACKAGE / "compat" / face for face in FACES if face != "compat"]
    left = [p for folder in folders for p in folder.rglob("*.py*") if p.suffix in (".py", ".pyi") and p not in files]
    if "--check" in sys.argv:
        if stale or left:
            raise SystemExit("Not up to date; run `make faces`: " + ", ".join(str(p.relative_to(ROOT))
                                                                              for p in [*stale, *left]))
        return
    for path in left:
        path.unlink()
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
    print(f"{len(files)} files, {len(stale)} written, {len(left)} removed")


if __name__ == "__main__":
    main()

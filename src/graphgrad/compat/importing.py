"""Lets `import tensorflow` mean this package, for programs run by `graphgrad run`.

`install` puts a finder on `sys.meta_path` that answers for `tensorflow` and everything below:

- `tensorflow` itself is the face of 1.x or of 2.x; `tensorflow.compat.v1` and
  `tensorflow.compat.v2` are those faces whichever it is.
- `tensorflow.nn` and other public modules are the face's own.
- `tensorflow.python.*`, TensorFlow's inside, which programs import for a handful of names,
  is answered by name: `tensorflow.python.ops.math_ops.reduce_sum` is `tf.reduce_sum`,
  `tensorflow.python.ops.gen_nn_ops.relu_grad` the op `ReluGrad`.

Aliases are modules of their own that hold the same objects, so this package's modules stay
as they are, also when a program assigns to `tf.<name>`.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from graphgrad.compat.class_names import rename, renaming_spec, restore
from graphgrad.compat.lazy import names
from graphgrad.compat.missing import advice, explain, library_advice
from graphgrad.compat.names_of_1 import OF_1, OF_1_BENEATH
from graphgrad.compat.tree import CLASSES, INTERNALS, MODULES, PACKAGES
from graphgrad.ir.proto.versions import GIT_VERSION
from graphgrad.ir.values import dispatch

_ROOTS = frozenset({"compat", "compat.v1", "compat.v2", "python"})
FACES = {1: "graphgrad.v1", 2: "graphgrad.compat.v2"}
_HOROVOD = frozenset({"horovod", "horovod.tensorflow"})
VERSIONS = {1: "1.15.5", 2: "2.21.0"}  # graphgrad.compat.versions_of_1 has the first, too


def install(version: int) -> None:
    """Lets `tensorflow` mean this package from now on, in this process.

    Args:
      version: 1 or 2, which TensorFlow `import tensorflow` is to be.
    Raises: ValueError for another version; RuntimeError if TensorFlow itself was imported.
    """
    if version not in FACES:
        raise ValueError(f"version must be 1 or 2, not {version!r}")
    uninstall()
    if "tensorflow" in sys.modules:
        raise RuntimeError("tensorflow itself is imported already; install graphgrad's aliases before that")
    importlib.import_module("graphgrad.compat.libraries")  # the finder asks it about what it would import itself
    sys.meta_path.insert(0, _Finder(version))
    rename()


def uninstall() -> None:
    """Undoes `install`; modules that a program has imported stay with the program."""
    installed = [f for f in sys.meta_path if isinstance(f, _Finder)]
    for finder in installed:
        sys.meta_path.remove(finder)
    if installed:
        restore()
        for name in [n for n, m in sys.modules.items()
                     if f"{n}.".startswith("tensorflow.") or n in _HOROVOD or isinstance(m, _Alias)]:
            del sys.modules[name]


def installed() -> bool:
    """Returns whether `tensorflow` means this package in this process."""
    return any(isinstance(f, _Finder) for f in sys.meta_path)


def face() -> int | None:
    """Returns which TensorFlow `tensorflow` means in this process, 1 or 2; None if it is not this package."""
    return next((f.version for f in sys.meta_path if isinstance(f, _Finder)), None)


class _Alias(ModuleType):
    """A module of TensorFlow's that holds this package's objects.

    `sources` are the namespaces in which names are looked up, the first that has one wins.
    """

    def __init__(self, name: str, sources: Sequence[Any]):
        super().__init__(name, getattr(sources[0], "__doc__", None) if sources else None)
        self._graphgrad_sources = tuple(sources)
        for source in sources[:1]:  # what others have loaded by now would hide what the first one loads later
            if isinstance(source, ModuleType):
                self.__dict__.update({k: v for k, v in vars(source).items() if not k.startswith("_")})

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [n for n in dir(self) if not n.startswith("_")]
        if name.startswith("__") and name not in ("__internal__", "__operators__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        below = f"{self.__name__}.{name}"
        depth = _depth(below.removeprefix("tensorflow."))
        if depth == 1:
            with contextlib.suppress(ModuleNotFoundError):
                return importlib.import_module(below)
        for source in self._graphgrad_sources:
            try:
                found = getattr(source, name)
            except AttributeError:
                continue
            return self.__dict__.setdefault(name, found) if isinstance(source, ModuleType) else found
        if depth == 2:
            with contextlib.suppress(ModuleNotFoundError):
                return importlib.import_module(below)
        face = next((s for s in self._graphgrad_sources if isinstance(s, ModuleType)), self)
        raise AttributeError(explain(face, self.__name__, name))

    def __dir__(self) -> list[str]:
        names = {n for s in self._graphgrad_sources for n in dir(s) if not n.startswith("__")}
        return sorted({*vars(self), *names})


def _depth(path: str) -> int:
    """Returns 1 for a path that is a module, 2 for one that may be a module if it is no name, else 0."""
    if path in _ROOTS or path in MODULES or path in PACKAGES or path in CLASSES:
        return 1
    parts = path.split(".")
    if parts[0] != "python" or parts[1:2] == [] or parts[1] not in _PACKAGES or parts[-1].startswith("_"):
        return 0
    inside = len(parts) == 4 and ".".join(parts[1:3]) in _SUBPACKAGES and parts[-1].islower()
    return 1 if len(parts) <= 3 else 2 if inside else 0


def _renew() -> None:
    """Gives the aliases the functions that dispatch."""
    for module in list(sys.modules.values()):
        if isinstance(module, _Alias):
            vars(module).update({name: dispatch.known(value) for name, value in vars(module).items()})


dispatch.renewers.append(_renew)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, version: int):
        self.version = version

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname in _HOROVOD:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            if not fullname.startswith("graphgrad") and _stand_in(fullname):
                return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
            return renaming_spec(fullname, path)
        if not self._sources(fullname):
            # Without a name: of an error with the name, `from tensorflow import it` would leave nothing.
            raise ModuleNotFoundError(_no_module(fullname))
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def find_distributions(self, context: Any) -> Any:
        """Answers `importlib.metadata`, where libraries ask for the version of TensorFlow."""
        from graphgrad.compat.distribution import found

        return found(context.name, VERSIONS[self.version])

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name in _HOROVOD:
            found = ModuleType(spec.name)
            if spec.name != "horovod":
                names = importlib.import_module("graphgrad.horovod")
                vars(found).update({name: getattr(names, name) for name in names.__all__}, __all__=names.__all__)
            return found
        module = _Alias(spec.name, self._sources(spec.name))
        if spec.name in ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"):
            vars(module).update(__version__=VERSIONS[self.version], __git_version__=GIT_VERSION)
            if spec.name != "tensorflow":
                vars(module)["compat"] = sys.modules["tensorflow.compat"]
            if self.version == 1:
                version = importlib.import_module("graphgrad.compat.versions_of_1")
                vars(module)["version"] = version
                if spec.name != "tensorflow.compat.v2":
                    vars(module).update(VERSION=version.VERSION, GIT_VERSION=version.GIT_VERSION)
        elif hasattr(module._graphgrad_sources[0], "__version__"):  # a library
            vars(module)["__version__"] = module._graphgrad_sources[0].__version__
        elif spec.name == "tensorflow.compat":  # the aliases, not what they stand for
            vars(module).pop("v1", None)
            vars(module).pop("v2", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass

    def _sources(self, fullname: str) -> list[Any]:
        """Returns the namespaces of a module of TensorFlow's; empty if there are none."""
        if not f"{fullname}.".startswith("tensorflow."):
            return _stand_in(fullname)
        parts = fullname.split(".")[1:]
        root = importlib.import_module(FACES[self.version])
        if not parts:
            return [root]
        if parts[0] == "compat" and len(parts) > 1 and parts[1] in ("v1", "v2"):
            root = importlib.import_module(f"graphgrad.compat.{parts[1]}")
            parts = parts[2:]
            if not parts:
                return [root]
        elif parts == ["compat"]:
            own = getattr(root, "compat", None)
            return [importlib.import_module("graphgrad.compat"), *([own] if own is not None else [])]
        path = ".".join(parts)
        if path in MODULES:
            own = [importlib.import_module(module) for module in MODULES[path].split()]
            return [*own, *_inside(parts[1:])] if parts[0] == "python" else own
        if path in CLASSES:
            module, _, owner = CLASSES[path].partition(":")
            return [getattr(importlib.import_module(module), owner)]
        found: Any = root
        for part in parts:
            found = getattr(found, part, None) if isinstance(found, ModuleType) else None
        if isinstance(found, ModuleType):
            return [found]
        copies = _copies(path)
        if copies or path in PACKAGES:
            return copies or [ModuleType(fullname)]
        return _inside(parts[1:]) if parts[0] == "python" else []


# -- TensorFlow's inside ---------------------------------------------------------------

# The last piece of a module's name -> public namespaces whose names it holds. Modules that are
# not listed hold the names of the root and of the common namespaces.
_HOMES = {
    "app": ("app",),
    "compat": ("compat",),
    "flags": ("flags",),
    "gfile": ("gfile",),
    "init_ops": ("initializers", "."),
    "linalg_ops": ("linalg", "."),
    "losses_impl": ("losses",),
    "metrics": ("metrics",),
    "metrics_impl": ("metrics",),
    "nest": ("nest",),
    "resource_loader": ("resource_loader",),
    "rnn": ("nn",),
    "rnn_cell": ("nn.rnn_cell",),
    "rnn_cell_impl": ("nn.rnn_cell",),
    "tf_logging": ("logging",),
    "tf_record": ("io", "python_io"),
}
_COMMON = (".", "math", "nn", "linalg", "random", "image", "train", "initializers", "losses", "errors", "sets",
           "strings", "signal", "test", "summary", "layers")
_PACKAGES = frozenset("""
    checkpoint client core data distribute eager framework layers lib ops platform profiler saved_model summary
    trackable training util
""".split())
# Their folders in which there are more modules.
_SUBPACKAGES = frozenset("""
    checkpoint.sharding data.experimental data.ops data.util distribute.cluster_resolver distribute.coordinator
    distribute.experimental eager.polymorphic_function lib.core lib.io ops.distributions ops.linalg ops.losses
    ops.numpy_ops ops.parallel_for ops.ragged ops.signal ops.structured profiler.internal saved_model.model_utils
    saved_model.registration summary.writer tpu.client tpu.ops training.experimental training.saving training.tracking
""".split())


def _copies(path: str) -> list[Any]:
    from graphgrad.compat import libraries  # which imports this module

    return libraries.copy_of(path)


def _stand_in(fullname: str) -> list[Any]:
    from graphgrad.compat import libraries

    return libraries.stand_in(fullname)


class _Ops:
    """`gen_*_ops`: one function an op, `relu_grad` for `ReluGrad`."""

    def __getattr__(self, name: str) -> Any:
        from graphgrad.ir.opdef import registry

        wanted = name.lower().replace("_", "")
        for op_type in registry:
            if op_type.lower() == wanted:
                return registry[op_type]
        raise AttributeError(name)


class _GradientFunctions:
    """`*_grad`: the gradient functions, `_MulGrad` for the one of `Mul`."""

    def __getattr__(self, name: str) -> Any:
        import graphgrad.gradients  # noqa: F401  # gives the records of branches and loops their gradients
        from graphgrad.ir.opdef import registry

        opdef = registry.get(name.removeprefix("_").removesuffix("Grad"))
        if opdef is None or not callable(opdef.gradient):
            raise AttributeError(name)
        return opdef.gradient


class _Internals:
    """Names that are in no public namespace of TensorFlow's, and where this package has them."""

    def __getattr__(self, name: str) -> Any:
        if name not in INTERNALS:
            raise AttributeError(name)
        module, _, own = INTERNALS[name].partition(":")
        return getattr(importlib.import_module(module), own or name)


def _inside(parts: list[str]) -> list[Any]:
    """Returns the namespaces of `tensorflow.python.<parts>`."""
    root = importlib.import_module("graphgrad.compat.v1")
    if not parts or (len(parts) == 1 and parts[0] in _PACKAGES):
        return [ModuleType("tensorflow.python")]
    last = parts[-1]
    # Anything deeper is a name in a module, not a module.
    if parts[0] not in _PACKAGES or len(parts) > (3 if ".".join(parts[:2]) in _SUBPACKAGES else 2):
        return []
    homes = (*(["layers"] if parts[0] == "layers" else []), *_HOMES.get(last, _COMMON))
    found = [space for home in homes if (space := _namespace(root, home)) is not None]
    if not found:
        return []
    if last.startswith("gen_"):
        return [_Ops(), *found]
    if last.endswith("_grad"):
        return [_GradientFunctions(), *found]
    return [*found, _Internals(), *([_Ops()] if last not in _HOMES else [])]


def _namespace(root: ModuleType, path: str) -> Any:
    found: Any = root
    for piece in path.split(".") if path != "." else ():
        found = getattr(found, piece, None)
    return found


def _no_module(fullname: str) -> str:
    text = f"No module named {fullname!r}"
    parts = fullname.split(".")
    library = next((p for p in parts[1:3] if p != "python"), "")
    parent = sys.modules.get(fullname.rpartition(".")[0])
    face = next((s for s in getattr(parent, "_graphgrad_sources", ()) if isinstance(s, ModuleType)), None)
    if parts[1:2] == ["contrib"]:
        from graphgrad.compat import contrib
        from graphgrad.compat.libraries import advice_of_contrib

        package = advice_of_contrib(face.__name__, parts[-1]) if face is not None else None
        if package is not None:
            return f"{text}: {package}"
        near = difflib.get_close_matches(parts[-1], names(contrib), 1, 0.6)
        like = f"Did you mean contrib.{near[0]}? " if near else ""
        return (f"{text}: tf.contrib left TensorFlow with 2.0. {like}For programs for 1.x there are "
                f"contrib.{', .'.join(names(contrib))}. Fix: use the name that replaced it, or "
                "`graphgrad run --tf 1`")
    if parts[1:2] == ["examples"]:
        return (f"{text}: of TensorFlow's examples there is tutorials.mnist.input_data, which reads local files. Fix: "
                "load the data another way, e.g. sklearn.datasets.load_digits()")
    library_says = library_advice(library)
    if library_says:
        return f"{text}: {library_says}"
    more = f" {advice(face, parts[-1])}" if face is not None else ""
    return f"{text}: graphgrad has no such module (yet).{more.replace(' graphgrad has no such name (yet).', '')}"


# -- which TensorFlow a program is written for -----------------------------------------

def detect_version(path: str, folder: str | None = None) -> int:
    """Detects which TensorFlow a program is written for: 1 or 2.

    It is 1 if the program, or a module beside it that it imports, uses a name on
    `tensorflow` that only 1.x has (`tf.Session`, `tf.placeholder`, `tf.train.AdamOptimizer`,
    `tf.contrib`, ...), and none of them speaks of `tensorflow.compat`, as programs for 2.x do
    that use such names. A file that cannot be read or parsed counts as saying nothing.

    Args:
      path: the program's file.
      folder: where the program's own modules are; the file's folder by default, which is searched in any case.
    """
    uses_1 = False
    for tree in _program(path, folder):
        scan = _Scan()
        scan.visit(tree)
        if scan.compat:
            return 2
        uses_1 = uses_1 or scan.uses_1
    return 1 if uses_1 else 2


def _program(path: str, folder: str | None) -> Iterator[ast.AST]:
    """Yields the syntax trees of a program and of the modules beside it that it imports."""
    folders = [os.path.dirname(os.path.abspath(path)), *([folder] if folder else [])]
    todo = [os.path.abspath(path)]
    seen: set[str] = set()
    while todo and len(seen) < 200:
        file = todo.pop()
        if file in seen or not os.path.isfile(file):
            continue
        seen.add(file)
        try:
            with open(file, "rb") as f:
                tree = ast.parse(f.read(), file)
        except (OSError, SyntaxError, ValueError):
            continue
        yield tree
        for node in ast.walk(tree):
            imported = []
            if isinstance(node, ast.Import):
                imported = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom):
                module = node.module or ""
                imported = [module, *(f"{module}.{a.name}".lstrip(".") for a in node.names)]
            for base in [os.path.join(f, *name.split(".")) for name in filter(None, imported)
                         for f in {os.path.dirname(file), *folders}]:
                todo += [base + ".py", os.path.join(base, "__init__.py")]


class _Scan(ast.NodeVisitor):
    """Finds what a module uses of `tensorflow`."""

    def __init__(self) -> None:
        self.roots = {"tensorflow"}  # the names that tensorflow goes by
        self.uses_1 = False
        self.compat = False

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name)
            if alias.name == "tensorflow":
                self.roots.add(alias.asname or alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module and node.module.split(".")[0] == "tensorflow":
            for alias in node.names:
                self._imported(f"{node.module}.{alias.name}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = [node.attr]
        inner = node.value
        while isinstance(inner, ast.Attribute):
            path.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.roots:
            self._used(path[::-1])
        self.generic_visit(node)

    def _imported(self, name: str) -> None:
        parts = name.split(".")
        if parts[0] == "tensorflow" and parts[1:]:
            self._used(parts[1:])

    def _used(self, path: list[str]) -> None:
        if path[0] == "compat" and path[1:2] in (["v1"], ["v2"]):
            self.compat = True
        elif path[0] in OF_1 or (len(path) > 1 and path[1] in OF_1_BENEATH.get(path[0], ())):
            self.uses_1 = True


__all__ = ["detect_version", "install", "installed", "uninstall"]

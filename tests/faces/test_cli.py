"""The command line, as a user meets it: in a process of its own."""

from __future__ import annotations

import io
import json
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from graphgrad import cli
from graphgrad.commands import completion, uncaught
from graphgrad.compat.operations import as_text
from graphgrad.system import terminal
from tests.support.effort import long

_SRC = str(pathlib.Path(__file__).resolve().parents[2] / "src")

_PROGRAM = """
import sys
import tensorflow as tf
import helper

x = tf.placeholder(tf.float32, [None, 3], name="x")
with tf.name_scope("layer"):
    y = tf.reduce_sum(tf.tanh(x))
g = tf.gradients(y, x)
if __name__ == "__main__":
    print("arguments", sys.argv[1:], helper.NAME)
    with tf.Session() as sess:
        print("gradient", sess.run(g, {x: [[0.0, 0.0, 0.0]]})[0].tolist())
"""


def graphgrad(*args: Any, cwd: pathlib.Path, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    return subprocess.run([sys.executable, "-m", "graphgrad", *map(str, args)], cwd=cwd, check=False, text=True,
                          capture_output=True, env={"PYTHONPATH": _SRC, "PATH": "/usr/bin:/bin"} | more, timeout=120,
                          input=stdin)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a program in a folder of its own."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "program.py").write_text(_PROGRAM)
    (inner / "helper.py").write_text("NAME = 'helper'\n")
    return tmp_path


def test_run(folder: pathlib.Path) -> None:
    """A program gets its arguments and the modules beside it, and `tensorflow` is this package."""
    done = graphgrad("run", "inner/program.py", "--tf", "a b", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["arguments ['--tf', 'a b'] helper", "gradient [[1.0, 1.0, 1.0]]"]


@pytest.fixture
def package(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a package, whose modules import each other by their full names."""
    inner = tmp_path / "trainers" / "digits"
    inner.mkdir(parents=True)
    (tmp_path / "trainers" / "__init__.py").write_text("import tensorflow as tf\nNAME = tf.__name__\n")
    (inner / "__init__.py").write_text("")
    (inner / "model.py").write_text("import tensorflow as tf\nx = tf.placeholder(tf.float32, [])\ny = x * x\n")
    (inner / "task.py").write_text("""
import sys
import tensorflow as tf
import trainers
from trainers.digits import model
from .model import y

def main(argv):
    with tf.Session() as sess:
        print(__name__, __package__, argv[1:], sess.run(tf.gradients(y, model.x), {model.x: 3.0})[0])

if __name__ == "__main__":
    main(sys.argv)
""")
    (inner / "__main__.py").write_text("import sys\nfrom trainers.digits import task\ntask.main(sys.argv)\n")
    return tmp_path


@pytest.mark.parametrize(("module", "name"), [("trainers.digits.task", "__main__"),
                                              ("trainers.digits", "trainers.digits.task")])
def test_run_a_module(package: pathlib.Path, module: str, name: str) -> None:
    """`-m` runs a module or a package by name, as `python -m` does."""
    done = graphgrad("run", "-m", module, "--steps=2", "-m", cwd=package)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name} trainers.digits ['--steps=2', '-m'] 6.0"]


def test_modules_that_cannot_run(package: pathlib.Path) -> None:
    """What is missing or fails is said in the module's own terms."""
    for module in ("trainers.nothing", "nowhere", "trainers"):
        done = graphgrad("run", "-m", module, cwd=package)
        assert done.returncode == 2
        assert f"no module {module!r}" in done.stderr
    (package / "trainers" / "__init__.py").write_text("import not_installed\n")
    done = graphgrad("run", "-m", "trainers.digits.task", cwd=package)
    assert done.returncode == 1
    assert "No module named 'not_installed'" in done.stderr


def test_draw_a_module(package: pathlib.Path) -> None:
    """`graphgrad draw -m`."""
    done = graphgrad("draw", "--out", "out.svg", "-m", "trainers.digits.task", cwd=package)
    assert done.returncode == 0, done.stderr
    assert "task" in (package / "out.svg").read_text()


def test_without_protobuf(tmp_path: pathlib.Path) -> None:
    """A program that needs the protobuf package hears where it is."""
    (tmp_path / "program.py").write_text("raise ModuleNotFoundError(\"No module named 'google'\", name='google')")
    done = graphgrad("run", "program.py", cwd=tmp_path)
    assert done.stderr.endswith("Fix: pip install protobuf; its text_format and json_format work on graphgrad's "
                                "messages\n")


def test_version_2(folder: pathlib.Path) -> None:
    """`--tf 2` makes it a program of 2.x, which this one is not; the error says so, at the user's line."""
    done = graphgrad("run", "--tf", "2", "inner/program.py", cwd=folder)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].strip().startswith('File "inner/program.py", line 6')
    assert "tf.compat.v1.placeholder" in lines[-2] and "left out" in lines[-1]


@pytest.mark.parametrize(("text", "status", "errors"), [
    ("import sys; sys.exit(3)", 3, ""),
    ("import sys; sys.exit('stopped')", 1, "stopped"),
    ("raise ValueError('broken')", 1, "ValueError: broken"),
    ("this is (no program", 1, "SyntaxError"),
    ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
])
def test_exit_status(tmp_path: pathlib.Path, text: str, status: int, errors: str) -> None:
    """The exit status is the program's."""
    (tmp_path / "program.py").write_text(text)
    done = graphgrad("run", "program.py", cwd=tmp_path)
    assert done.returncode == status
    assert errors in done.stderr
    assert "runpy" not in done.stderr and "cli.py" not in done.stderr


def test_no_program(tmp_path: pathlib.Path) -> None:
    """Without a program there is an error that names it."""
    done = graphgrad("run", "nowhere.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "'nowhere.py' does not exist" in done.stderr


def test_draw(folder: pathlib.Path) -> None:
    """The picture shows forward and gradient parts."""
    pytest.importorskip("igraph")
    done = graphgrad("draw", "--out", "pictures/graph.svg", "inner/program.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "pictures" / "graph.svg").read_text()
    assert "TanhGrad" in text and "Forward" in text and "Gradients" in text
    assert "program.py:8" in text  # the user's line, in a tooltip


def test_draw_a_fetch(folder: pathlib.Path) -> None:
    """`--fetch` and `--at-run` draw a part."""
    pytest.importorskip("igraph")
    graphgrad("draw", "--out", "part.svg", "--fetch", "layer/Sum:0", "inner/program.py", cwd=folder)
    text = (folder / "part.svg").read_text()
    assert "Tanh" in text and "TanhGrad" not in text
    done = graphgrad("draw", "--out", "run.svg", "--at-run", "1", "inner/program.py", cwd=folder)
    assert "gradient" not in done.stdout
    assert "TanhGrad" in (folder / "run.svg").read_text()


def test_draw_explained(tmp_path: pathlib.Path) -> None:
    """`--explain` says why a gradient is None, and draws where it is cut."""
    pytest.importorskip("igraph")
    (tmp_path / "program.py").write_text("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
                                         "x = tf.placeholder(tf.float32, [2], name='x')\n"
                                         "y = tf.reduce_sum(tf.round(x), name='y')\n")
    done = graphgrad("draw", "--out", "why.svg", "--explain", "y", "x:0", "program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "is None: 1 cut" in done.stdout and "program.py:4" in done.stdout
    assert 'class="cut"' in (tmp_path / "why.svg").read_text()


@pytest.mark.parametrize(("args", "expected"), [
    (["--explain", "y", "nothing"], "nothing"),
    (["--out", "graph.png"], "ends in .svg"),
    (["--depth", "0"], "--depth must be 1 or more"),
    (["--fetch", "nothing"], "nothing"),
    (["--at-run", "7"], "ran a session 1 times"),
])
def test_draw_cannot(folder: pathlib.Path, args: list[str], expected: str) -> None:
    """What cannot be drawn is said."""
    pytest.importorskip("igraph")
    done = graphgrad("draw", *args, "inner/program.py", cwd=folder)
    assert done.returncode in (1, 2)
    assert expected in done.stderr


def test_draw_after_failure(tmp_path: pathlib.Path) -> None:
    """A program that fails still leaves a picture of what it had built."""
    pytest.importorskip("igraph")
    (tmp_path / "program.py").write_text("import tensorflow as tf\nwith tf.Graph().as_default():\n"
                                         "    tf.tanh(tf.ones([3]))\nraise ValueError('broken')\n")
    done = graphgrad("draw", "program.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "broken" in done.stderr
    assert "Tanh" in (tmp_path / "graph.svg").read_text()


def test_ops(tmp_path: pathlib.Path) -> None:
    """`ops` lists what is registered, or says that nothing matches; the table has a doctest."""
    done = graphgrad("ops", "matm*", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = [entry for entry in json.loads(done.stdout) if entry["name"] == "MatMul"]
    assert found["gradient"] == "rule" and found["functions"] == ["tf.matmul"]
    done = graphgrad("ops", "Nothing*", cwd=tmp_path)
    assert done.returncode == 1 and "no op type matches 'Nothing*'" in done.stderr


def test_standard_input(folder: pathlib.Path) -> None:
    """`run -` runs what comes in: its TensorFlow is found out, its lines are in errors."""
    done = graphgrad("run", "-", "a", cwd=folder / "inner", stdin=_PROGRAM + "    sess.run(y)\n")
    assert done.stdout.splitlines() == ["arguments ['a'] helper", "gradient [[1.0, 1.0, 1.0]]"], done.stderr
    assert done.returncode == 1 and 'File "<stdin>", line 14' in done.stderr and "    sess.run(y)" in done.stderr


@long("pytest is a module as others are, which other tests run")
def test_pytest_under_run(tmp_path: pathlib.Path) -> None:
    """`run -m pytest` tests programs that import TensorFlow; which one, the tests say."""
    (tmp_path / "test_it.py").write_text("import tensorflow as tf\n\ndef test_it():\n    with tf.Session() as sess:\n"
                                         "        assert sess.run(tf.placeholder_with_default(2.0, [])) == 2.0\n")
    done = graphgrad("run", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", cwd=tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_relative_imports_in_a_file(package: pathlib.Path) -> None:
    """A file with relative imports is no program for Python; the remedy names the command."""
    done = graphgrad("run", "trainers/digits/task.py", cwd=package)
    assert done.returncode == 1
    assert f"Fix: graphgrad run -m trainers.digits.task, in the folder {package}" in done.stderr


_LAYERS = """
import tensorflow as tf
def layer(x):
    return tf.matmul(x, tf.ones([3, 4]))
"""
_FAILING = """
import tensorflow as tf
import layers
try:
    layers.layer(tf.ones([2, 2]))
except Exception as error:
    raise RuntimeError("no layer") from error
"""


def test_uncaught_errors(tmp_path: pathlib.Path) -> None:
    """The user's frames and the useful lines, of causes, too; the rest with a switch; colours where they are wanted."""
    (tmp_path / "layers.py").write_text(_LAYERS)
    (tmp_path / "program.py").write_text(_FAILING)
    done = graphgrad("run", "program.py", cwd=tmp_path, NO_COLOR="1", FORCE_COLOR="1")
    frames = [line.strip() for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert [frame.split(", ", 1)[1] for frame in frames] == ["line 5, in <module>", "line 4, in layer",
                                                             "line 7, in <module>"]
    assert "layers.py:4:  return tf.matmul" in done.stderr and "  Fix: transpose one of them" in done.stderr
    assert "RuntimeError: no layer" in done.stderr and "\x1b" not in done.stderr
    assert "frames of graphgrad left out; `graphgrad run --traceback`" in done.stderr
    done = graphgrad("run", "--traceback", "program.py", cwd=tmp_path, FORCE_COLOR="1")
    assert "matmul.py" in done.stderr and "left out" not in done.stderr and "\x1b[32mFix:\x1b[0m" in done.stderr


def test_errors_of_others_are_whole() -> None:
    """Frames of libraries that the program itself called stay, and so does a traceback without the program."""
    stream = io.StringIO()
    try:
        json.loads("{")
    except ValueError as error:
        uncaught.show(error, __file__, stream=stream)
    assert stream.getvalue().count('File "') == 4 and "left out" not in stream.getvalue()


@hypothesis.given(st.lists(st.tuples(st.text("ab", max_size=5), st.text("c d", max_size=60)), min_size=1, max_size=4),
                  st.integers(30, 90))
@hypothesis.settings(max_examples=30, deadline=None, database=None)
def test_tables_fit(rows: list[tuple[str, str]], columns: int) -> None:
    """No line is wider than the terminal, unless a word is; no word gets lost; files get one line a row."""
    text = terminal.table(list(rows), columns)
    assert all(len(line) <= max(columns, 27) or max(map(len, line.split())) > 20 for line in text.splitlines())
    assert "".join(text.split()) == "".join("".join(a + b for a, b in rows).split())
    assert terminal.table(list(rows), None).count("\n") == len(rows) - 1


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_all_operations_fit(columns: int) -> None:
    """The longest table keeps to the terminal, in columns or, where these would be narrow, row by row."""
    text, whole = as_text("*", columns), as_text("*", None)
    assert max(map(len, text.splitlines())) <= columns < max(map(len, whole.splitlines()))
    assert sorted("".join(text.replace(";", "").split())) == sorted("".join(whole.replace(";", "").split()))


@pytest.mark.parametrize(("words", "expected"), [
    (["graphgrad", "ch"], {"check-imports"}), (["graphgrad", "run", "--t"], {"--tf", "--traceback"}),
    (["graphgrad", "run", "--tf", ""], {"1", "2", "auto"}), (["graphgrad", "draw", "prog"], {"program.py"}),
    (["graphgrad", "completion", "f"], {"fish"}),
])
def test_completion_in_bash(tmp_path: pathlib.Path, words: list[str], expected: set[str]) -> None:
    """What bash offers."""
    (tmp_path / "program.py").write_text("")
    script = completion.script(cli._parser(), "bash")
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _graphgrad; echo \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected and not done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    """Every command and option is in the script, and the shell, where there is one, can read it."""
    script = completion.script(cli._parser(), shell)
    for name in ("run", "check-imports", "traceback", "max-boxes"):
        assert name in script
    if shutil.which(shell):
        done = subprocess.run([shell, "-n", "/dev/stdin"], input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr

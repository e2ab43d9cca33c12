"""Flags, `app.run`, logging and files: what is expected is what TensorFlow 2.21 and absl printed for the same."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import graphgrad.compat.v1 as tf

errors = tf.errors


# -- flags -----------------------------------------------------------------------------


@pytest.fixture
def flags() -> Any:
    """Flags of every kind."""
    own = tf.flags.FlagValues()
    tf.flags.DEFINE_integer("n", 3, "the n", lower_bound=0, flag_values=own)
    tf.flags.DEFINE_float("lr", 0.5, "rate", flag_values=own)
    tf.flags.DEFINE_bool("deb", False, "deb?", own)
    tf.flags.DEFINE_list("l", ["a", "b"], "list", own)
    tf.flags.DEFINE_enum("e", "p", ["p", "q"], "enum", own)
    tf.flags.DEFINE_multi_integer("m", [1, 2], "mm", flag_values=own)
    tf.flags.DEFINE_string("s", None, "str", own, short_name="t")
    tf.flags.DEFINE_spaceseplist("sp", "a b", "ssl", flag_values=own)
    tf.flags.DEFINE_string(flag_name="old", default_value="d", docstring="oo", flag_values=own)
    return own


def _all(flags: Any) -> tuple[Any, ...]:
    return flags.n, flags.lr, flags.deb, flags.l, flags.e, flags.m, flags.s, flags.sp, flags.old


@pytest.mark.parametrize(("argv", "rest", "values"), [
    ([], [], (3, 0.5, False, ["a", "b"], "p", [1, 2], None, ["a", "b"], "d")),
    (["--n", "5", "pos", "--lr=2"], ["pos"], (5, 2.0, False, ["a", "b"], "p", [1, 2], None, ["a", "b"], "d")),
    (["--n=5", "--lr", "1e-3", "--deb", "-l", "x,y z", "--m=4", "--m=5", "-t=q", "--sp=u v", "--", "--q"], ["--q"],
     (5, 0.001, True, ["x", "y z"], "p", [4, 5], "q", ["u", "v"], "d")),
    (["--deb", "--nodeb", "--e", "q", "-"], ["-"], (3, 0.5, False, ["a", "b"], "q", [1, 2], None, ["a", "b"], "d")),
    (["--deb=t", "--undefok=zz", "--zz=3"], [], (3, 0.5, True, ["a", "b"], "p", [1, 2], None, ["a", "b"], "d")),
])
def test_command_line(flags: Any, argv: list[str], rest: list[str], values: tuple[Any, ...]) -> None:
    """Flags get their values from a command line, in any of the usual forms."""
    assert flags(["prog", *argv]) == ["prog", *rest]
    assert _all(flags) == values


@pytest.mark.parametrize(("argv", "error", "text"), [
    (["--n=abc"], "IllegalFlagValueError", "flag --n=abc: invalid literal for int() with base 10: 'abc'"),
    (["--n=-1"], "IllegalFlagValueError", "flag --n=-1: -1 is not a non-negative integer"),
    (["--lrr=1"], "UnrecognizedFlagError", "Unknown command line flag 'lrr'. Did you mean: lr ?"),
    (["--n"], "Error", "Missing value for flag --n"),
    (["--deb=foo"], "IllegalFlagValueError", "flag --deb=foo: ('Non-boolean argument to boolean flag', 'foo')"),
    (["--e=r"], "IllegalFlagValueError", "flag --e=r: value should be one of <p|q>"),
    (["--flagfile=/no/such"], "CantOpenFlagFileError", "ERROR:: Unable to open flagfile"),
])
def test_bad_command_line(flags: Any, argv: list[str], error: str, text: str) -> None:
    """What cannot be parsed is refused, in absl's words."""
    with pytest.raises(getattr(tf.flags, error), match=re.escape(text)):
        flags(["prog", *argv])


def test_no_value_for_no(flags: Any) -> None:
    """`--noflag` takes no value."""
    with pytest.raises(ValueError, match="--nodeb=1 does not take an argument"):
        flags(["prog", "--nodeb=1"])


@pytest.mark.parametrize(("define", "error", "text"), [
    (lambda f: tf.flags.DEFINE_integer("n", 3, "", flag_values=f), "DuplicateFlagError",
     "The flag 'n' is defined twice. First from"),
    (lambda f: tf.flags.DEFINE_integer("n2", "x", "", flag_values=f), "IllegalFlagValueError",
     "flag --n2=x: invalid literal"),
    (lambda f: tf.flags.DEFINE_string("flag_values_dict", "x", "", f), "FlagNameConflictsWithMethodError",
     'Cannot define a flag named "flag_values_dict"'),
    (lambda f: tf.flags.DEFINE_string("", "x", "", f), "Error", "Flag name cannot be empty"),
    (lambda f: tf.flags.DEFINE_string("a b", "x", "", f), "Error", "Flag name cannot contain a space"),
])
def test_bad_definition(flags: Any, define: Callable[[Any], Any], error: str, text: str) -> None:
    """What cannot be defined is refused."""
    with pytest.raises(getattr(tf.flags, error), match=re.escape(text)):
        define(flags)


def test_known_only_and_assignment(flags: Any) -> None:
    """Unknown flags may be left alone; a program may set flags, within their bounds."""
    assert flags(["p", "--foo", "--n=9", "x"], known_only=True) == ["p", "--foo", "x"]
    assert (flags.n, flags["n"].value, flags["n"].default, "n" in flags) == (9, 9, 3, True)
    flags.n = 7
    assert flags.flag_values_dict()["n"] == 7
    with pytest.raises(tf.flags.IllegalFlagValueError, match="flag --n=-7: -7 is not a non-negative integer"):
        flags.n = -7
    with pytest.raises(AttributeError, match="nope"):
        flags.nope  # noqa: B018  # reading it raises
    with pytest.raises(tf.flags.UnrecognizedFlagError, match="Unknown command line flag 'nope'"):
        flags.nope = 3
    assert {name: flag.value for name, flag in getattr(flags, "__flags").items()} == flags.flag_values_dict()
    flags.n = 3
    assert "--n=3\n" in flags.flags_into_string() and "--nodeb\n" in flags.flags_into_string()


def test_validators(flags: Any) -> None:
    """Required flags, validators of one flag and of several."""
    with pytest.raises(tf.flags.UnparsedFlagAccessError, match="before flags were parsed"):
        flags.n  # noqa: B018  # reading it raises
    tf.flags.mark_flag_as_required("s", flags)
    with pytest.raises(tf.flags.IllegalFlagValueError, match="--s=None: Flag --s must have a value other than None."):
        flags(["p"])
    tf.flags.register_validator("lr", lambda v: v < 1, "too fast", flags)
    with pytest.raises(tf.flags.IllegalFlagValueError, match="flag --lr=2.0: too fast"):
        flags(["p", "--s=1", "--lr=2"])
    flags.lr = 0.1
    tf.flags.register_multi_flags_validator(["n", "e"], lambda v: v["n"] < 5 or v["e"] == "q", "not both", flags)
    with pytest.raises(tf.flags.IllegalFlagValueError, match="not both"):
        flags(["p", "--n=6"])


def test_flagfile(flags: Any, tmp_path: pathlib.Path) -> None:
    """A file may hold flags."""
    file = tmp_path / "flags"
    file.write_text("# numbers\n--n=4\n\n--deb\n")
    assert flags(["p", f"--flagfile={file}", "more"]) == ["p", "more"]
    assert (flags.n, flags.deb) == (4, True)


def test_help(flags: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The help shows names, defaults and kinds."""
    monkeypatch.setattr(sys, "argv", ["prog.py"])
    text = flags.module_help(flags.find_module_defining_flag("n"))
    assert text.endswith("""
  --[no]deb: deb?
    (default: 'false')
  --e: <p|q>: enum
    (default: 'p')
  --l: list
    (default: 'a,b')
    (a comma separated list)
  --lr: rate
    (default: '0.5')
    (a number)
  --m: mm;
    repeat this option to specify a list of values
    (default: '[1, 2]')
    (an integer)
  --n: the n
    (default: '3')
    (a non-negative integer)
  --old: oo
    (default: 'd')
  -t,--s: str
  --sp: ssl
    (default: 'a b')
    (a whitespace separated list)""")


_PROGRAM = '''
import tensorflow as tf
flags = tf.app.flags
flags.DEFINE_string("name", "world", "whom to greet")
flags.DEFINE_integer("times", 1, "how often")
FLAGS = flags.FLAGS

def main(argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("argv %s", argv[1:])
    print(("hello " + FLAGS.name + " ") * FLAGS.times)
    return 3

if __name__ == "__main__":
    tf.app.run()
'''


@pytest.mark.parametrize(("argv", "status", "out", "err"), [
    (["--name=you", "--times", "2", "more"], 3, "hello you hello you", "INFO:tensorflow:argv ['more']"),
    (["--times=x"], 1, "", "IllegalFlagValueError: flag --times=x: invalid literal for int() with base 10: 'x'"),
    (["--help"], 1, "--times: how often\n    (default: '1')\n    (an integer)", ""),
])
def test_app_run(tmp_path: pathlib.Path, argv: list[str], status: int, out: str, err: str) -> None:
    """A program with `tf.app.run` under `graphgrad run`."""
    path = tmp_path / "prog.py"
    path.write_text(_PROGRAM)
    source = pathlib.Path(tf.__file__).parent.parent.parent.parent
    result = subprocess.run([sys.executable, "-m", "graphgrad", "run", str(path), *argv], capture_output=True,
                            text=True, env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"})
    assert result.returncode == status, result.stderr
    assert out in result.stdout
    assert err in result.stderr


def test_flags_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `app.run`, reading a flag parses the command line."""
    own = tf.flags.FlagValues()
    tf.flags.DEFINE_integer("n", 3, "the n", flag_values=own)
    monkeypatch.setattr(sys, "argv", ["prog.py", "--n=8"])
    with pytest.raises(tf.flags.UnparsedFlagAccessError):
        own.n  # noqa: B018  # reading it raises
    flags = type(tf.flags.FLAGS)(own)
    assert (flags.n, len(flags), list(flags), "n" in flags, flags["n"].default) == (8, 1, ["n"], True, 3)
    with pytest.raises(AttributeError):
        flags.m  # noqa: B018  # reading it raises


def test_flags_are_those_of_absl() -> None:
    """A program may define a flag by one of the two and read it by the other."""
    from absl import flags

    tf.flags.DEFINE_float("made_by_tf", 0.5, "")
    flags.DEFINE_string("made_by_absl", "a", "")
    try:
        tf.flags.FLAGS(["prog", "--made_by_tf=2", "--made_by_absl=b"])
        assert (flags.FLAGS.made_by_tf, tf.flags.FLAGS.made_by_absl) == (2.0, "b")
        assert flags.FLAGS.find_module_defining_flag("made_by_tf") == __name__
        tf.flags.FLAGS.made_by_tf = 3.0
        assert flags.FLAGS.made_by_tf == 3.0
    finally:
        del tf.flags.FLAGS.made_by_tf, tf.flags.FLAGS.made_by_absl
        flags.FLAGS.unparse_flags()


# -- logging ---------------------------------------------------------------------------


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    """Messages below the verbosity are dropped; some come every n-th time."""
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.WARN)
        tf.logging.info("hidden")
        tf.logging.warning("shown %d", 1)
        tf.logging.set_verbosity("INFO")
        tf.logging.log(tf.logging.INFO, "also")
        for i in range(5):
            tf.logging.log_every_n(tf.logging.ERROR, "every %d", 2, i)
        for i in range(5):
            tf.logging.log_first_n(tf.logging.ERROR, "first %d", 2, i)
        tf.logging.log_if(tf.logging.ERROR, "never", False)
    finally:
        tf.logging.set_verbosity(before)
    assert [r.getMessage() for r in caplog.records] == [
        "shown 1", "also", "every 0", "every 2", "every 4", "first 0", "first 1"]
    assert caplog.records[0].levelname == "WARNING"
    assert {r.filename for r in caplog.records} == {"test_platform.py"}


# -- files -----------------------------------------------------------------------------


def test_files(tmp_path: pathlib.Path) -> None:
    """Writing, reading and asking."""
    g = tf.gfile
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    with g.GFile(a, "w") as f:
        f.write("line1\nline2\n")
        assert f.tell() == 12
    with g.Open(a) as f:
        assert f.readline() == "line1\n"
        assert f.tell() == 6
        assert f.readlines() == ["line2\n"]
        assert f.size() == 12
        f.seek(2)
        assert f.read(3) == "ne1"
        assert f.read() == "\nline2\n"
    assert list(g.FastGFile(a, "rb")) == [b"line1\n", b"line2\n"]
    with g.GFile(b, "ab") as f:
        f.write(b"1")
        f.write("2")
    assert g.GFile(b).read() == "12"
    g.MkDir(str(tmp_path / "x"))
    g.MkDir(str(tmp_path / "x"))
    g.MakeDirs(str(tmp_path / "x" / "y" / "z"))
    assert sorted(g.ListDirectory(str(tmp_path))) == ["a", "b", "x"]
    assert sorted(g.Glob([f"{tmp_path}/b*", f"{tmp_path}/a*"])) == [a, b]
    root = str(tmp_path)
    assert [(d.replace(root, "D"), s, sorted(f)) for d, s, f in g.Walk(root)] == [
        ("D", ["x"], ["a", "b"]), ("D/x", ["y"], []), ("D/x/y", ["z"], []), ("D/x/y/z", [], [])]
    assert [d.replace(root, "D") for d, _, _ in g.Walk(root, in_order=False)] == ["D/x/y/z", "D/x/y", "D/x", "D"]
    assert (g.Stat(a).length, g.Stat(a).is_directory, g.Stat(root).is_directory) == (12, False, True)
    g.Copy(a, b, overwrite=True)
    g.Rename(b, str(tmp_path / "c"))
    assert (g.Exists(a), g.Exists(b), g.IsDirectory(root), g.IsDirectory(a)) == (True, False, True, False)
    g.Remove(a)
    g.DeleteRecursively(str(tmp_path / "x"))
    assert tf.io.gfile.listdir(root) == ["c"]


@pytest.mark.parametrize(("function", "error", "text"), [
    (lambda d: tf.gfile.GFile(f"{d}/no").read(), "NotFoundError", "/no; No such file or directory"),
    (lambda d: tf.gfile.GFile(f"{d}/no/m", "w").write("q"), "NotFoundError", "/m; No such file or directory"),
    (lambda d: tf.gfile.GFile(d).read(), "FailedPreconditionError", "Is a directory"),
    (lambda d: tf.gfile.MkDir(f"{d}/no/y"), "NotFoundError", "No such file"),
    (lambda d: tf.gfile.ListDirectory(f"{d}/no"), "NotFoundError", "Could not find directory"),
    (lambda d: tf.gfile.Copy(f"{d}/f", f"{d}/g"), "AlreadyExistsError", "file already exists"),
    (lambda d: tf.gfile.Rename(f"{d}/f", f"{d}/g"), "AlreadyExistsError", "file already exists"),
    (lambda d: tf.gfile.Rename(f"{d}/no", f"{d}/h"), "NotFoundError", "No such file"),
    (lambda d: tf.gfile.Remove(f"{d}/no"), "NotFoundError", "No such file"),
    (lambda d: tf.gfile.Remove(f"{d}/sub"), "FailedPreconditionError", "Is a directory"),
    (lambda d: tf.gfile.DeleteRecursively(f"{d}/no"), "NotFoundError", "/no"),
    (lambda d: tf.gfile.Stat(f"{d}/no"), "NotFoundError", "No such file"),
    (lambda d: tf.gfile.GFile(f"{d}/f", "w").read(), "PermissionDeniedError", "File isn't open for reading"),
    (lambda d: tf.gfile.GFile(f"{d}/f").write("x"), "PermissionDeniedError", "File isn't open for writing"),
    (lambda d: tf.gfile.GFile(f"{d}/f", "q"), "InvalidArgumentError", "mode is not 'r' or 'w'"),
    (lambda d: tf.gfile.GFile("gs://bucket/f").read(), "UnimplementedError", "scheme 'gs' not implemented"),
])
def test_file_errors(tmp_path: pathlib.Path, function: Callable[[str], Any], error: str, text: str) -> None:
    """Errors are TensorFlow's, and name the line."""
    for name in ("f", "g"):
        (tmp_path / name).write_text("")
    (tmp_path / "sub").mkdir()
    with pytest.raises(getattr(errors, error), match=text) as caught:
        function(str(tmp_path))
    assert "test_platform.py" in str(caught.value) and "Fix: " in str(caught.value)

"""Rows for `ops/control/py_func.py`, `checks.py`, `control.py`, `strings.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, Row, V

FLOATS = ["float32", "float64"]


def _double(x):
    return x + x


def _both(x, y):
    return x + y, x - y


def _twice(x):
    return x, x


_PYTHON = "it calls a Python function, which TensorFlow knows by a token"
_EFFECT = "its result is a side effect: tests/ops/test_host_ops.py"
WORDS = V([["a", "bc"], ["", "d e"]], "string")
CASED = V(["Ab", "éà", ""], "string")

ROWS = [
    # host
    Row("PyFunc", [Case([L((2, 3))], func=_double, Tout=("T",)), Case([L((3,), ())], func=_both, Tout=("T", "T")),
                   Case([L((0, 3))], func=_double, Tout=("T",))],
        dtypes=[*FLOATS, "int32"], order=0, shapes="any", tf=False, note=_PYTHON,
        bad=[(Case([L((3,))], func=_twice, Tout=("float32",)), "returns 2 values, but expects to see 1",
              InvalidArgumentError),
             (Case([L((3,))], func=_double, Tout=("int32",)), "is float, but expects int32", InvalidArgumentError)]),
    Row("PyFuncStateless", [Case([L((2, 3))], func=_double, Tout=("T",))], order=0, shapes="any", tf=False,
        note=_PYTHON),
    Row("EagerPyFunc", [Case([L((2, 3))], func=_double, Tout=("T",)), Case([L((3,), ())], func=_both, Tout=("T", "T"))],
        order=0, shapes="any", tf=False, note=_PYTHON),
    Row("Print", [Case([(2, 3), L((2,), V(["x"], "string"))], message="now: ")], dtypes=FLOATS),
    Row("StringFormat", [Case([L(V(np.arange(100).reshape(10, 10)), V([1.5, 0.1], "float64"))], template="{} and {}",
                              placeholder="{}"),
                         Case([L(V(np.arange(8).reshape(2, 2, 2)))], template="<%s>"),
                         Case([L(V(["a", 'b"'], "string"), V(True, "bool"))], template="%s%s"),
                         Case([L(V(np.zeros(0, np.float32)))], template="%s"),
                         Case([L(V([1e10, 1e-7, 1 / 3, 16777216], "float32"))], template="%s", summarize=-1),
                         Case([L()], template="nothing")], order=0),
    # checks
    Row("Assert", [[V(True), L(V([1, 2]))]], order=0, tf=False, note=_EFFECT,
        bad=[([V(False), L(V("x is", "string"), V([1, 2, 3, 4]))], r"assertion failed: \[x is\] \[1 2 3\.\.\.\]",
              InvalidArgumentError),
             (Case([V(False), L(V([[1, 2], [3, 4]]))], summarize=3), r"\[\[1 2\]\[3\.\.\.\]\.\.\.\]",
              InvalidArgumentError),
             ([V([True]), L()], "condition must be a scalar")]),
    # strings
    Row("AsString", [[V([[1, -2], [30, 4]])], Case([V([3, -4])], width=5), Case([V([3, -4])], width=5, fill="0"),
                     Case([V([3, -4])], width=5, fill="-")], dtypes=["int32", "int64", "uint8"], domain=(0, 9), order=0,
        bad=[(Case([V([1])], precision=2), "precision not supported", InvalidArgumentError)]),
    Row("AsString", [[V([1.5, 1e10, 1e-7, 0.1, np.nan, np.inf, -np.inf])], Case([V([1.5, 2 / 3])], precision=2),
                     Case([V([1.5])], scientific=True), Case([V([1.5, 0.1, 1e20, 1e-10])], shortest=True),
                     Case([V([1.5])], width=10, precision=3)], dtypes=FLOATS, order=0,
        bad=[(Case([V([1.0])], scientific=True, shortest=True), "Cannot select both", InvalidArgumentError),
             (Case([V([1.0])], fill="ab"), "one or fewer", InvalidArgumentError)]),
    Row("AsString", [[V([True, False])]], dtypes=["bool"], order=0),
    Row("AsString", [[V([1 + 2j])]], dtypes=["complex64"], order=0),
    Row("AsString", [[WORDS]], dtypes=["string"], order=0, tf=False, note="strings as they are"),
    Row("StringToNumber", [Case([V(["1.5", "-2e3", " 4 ", "inf"], "string")], out_type=t) for t in FLOATS]
        + [Case([V(["15", "-3"], "string")], out_type=t) for t in ("int32", "int64")], order=0,
        bad=[(Case([V(["abc"], "string")], out_type="float32"), "could not correctly convert string: abc",
              InvalidArgumentError),
             (Case([V(["99999999999"], "string")], out_type="int32"), "could not", InvalidArgumentError)]),
    Row("DecodeRaw", [Case([V(["abcd", "efgh"], "string")], out_type=t) for t in ("uint8", "int16", "int32", "float32")]
        + [Case([V("abcd", "string")], out_type="int16", little_endian=False)], order=0, shapes="rank",
        note="how many numbers there are depends on the strings",
        bad=[(Case([V("abc", "string")], out_type="int16"), "not a multiple of 2", InvalidArgumentError),
             (Case([V(["ab", "c"], "string")], out_type="uint8"), "all be the same size", InvalidArgumentError)]),
    Row("DecodePaddedRaw", [Case([V(["abcd", "e"], "string"), V(n)], out_type=t)
                            for n in (2, 8) for t in ("uint8", "int16")], order=0),
    Row("StringJoin", [Case([L(WORDS, V("x", "string"), WORDS)], separator="-"),
                       [L(V("a", "string"), V("b", "string"))], [L(WORDS)]], order=0,
        bad=[([L(V(["a", "b"], "string"), V(["c"], "string"))], "must be equal")]),
    Row("ReduceJoin", [[WORDS, V(0)], Case([WORDS, V([1])], separator=", ", keep_dims=True), [WORDS, V([0, 1])],
                       [WORDS, V([1, 0])], [WORDS, V(-1)], [WORDS, V(np.zeros(0, np.int32))]], order=0,
        bad=[([WORDS, V(2)], "Invalid reduction dimension 2")]),
    Row("StringSplit", [[V(["a b  c", "", "d"], "string"), V(" ", "string")],
                        Case([V(["a, b"], "string"), V(" ,", "string")], skip_empty=False),
                        [V(["abc"], "string"), V("", "string")], [V(["", ""], "string"), V(" ", "string")]],
        order=0, shapes="rank", note="how many pieces there are depends on the strings"),
    Row("StringSplitV2", [[V(["a b  c", "", "d"], "string"), V("", "string")],
                          Case([V(["a,b,,c"], "string"), V(",", "string")], maxsplit=2)],
        order=0, shapes="rank", note="how many pieces there are depends on the strings"),
    Row("Substr", [[V(["hello", "world"], "string"), V(1), V(3)], [V("hello", "string"), V(-3), V(2)],
                   [V(["hello", "wor"], "string"), V([1, 2]), V([2, 9])],
                   Case([V("héllo", "string"), V(1), V(2)], unit="UTF8_CHAR")], order=0,
        bad=[([V("hello", "string"), V(10), V(2)], "pos 10 out of range", InvalidArgumentError),
             ([V("hello", "string"), V([1, 2]), V(2)], "must be equal")]),
    Row("StringLength", [[CASED], Case([CASED], unit="UTF8_CHAR")], order=0),
    Row("StringUpper", [[CASED], Case([CASED], encoding="utf-8")], order=0),
    Row("StringLower", [[CASED], Case([V(["ÀB"], "string")], encoding="utf-8")], order=0),
    Row("StringStrip", [[V([" a b\n", ""], "string")]], order=0),
    Row("StaticRegexReplace", [Case([V(["aab", "b"], "string")], pattern="a+", rewrite=r"<\0>"),
                               Case([V("a1b2", "string")], pattern=r"([a-z])(\d)", rewrite=r"\2\1",
                                    replace_global=False)], order=0,
        bad=[(Case([V("a", "string")], pattern="(", rewrite=""), "Invalid pattern", InvalidArgumentError)]),
    Row("RegexReplace", [[V(["aab", "b"], "string"), V("a+", "string"), V("x", "string")]], order=0),
    Row("StaticRegexFullMatch", [Case([V(["ab", "b", "abc"], "string")], pattern="a.")], order=0),
    Row("RegexFullMatch", [[V(["ab", "b", "abc"], "string"), V("a.", "string")]], order=0,
        bad=[([V("a", "string"), V(["a"], "string")], "Pattern must be scalar"),
             ([V("a", "string"), V("(", "string")], "Invalid pattern", InvalidArgumentError)]),
    *[Row(t, [Case([V(["", "a", "Hello", "TensorFlow", "x" * 20, "y" * 40, "z" * 64, "w" * 65, "q" * 200], "string")],
                   num_buckets=2**62)], order=0,
          bad=[(Case([V("a", "string")], num_buckets=0), "at least 1", InvalidArgumentError)])
      for t in ("StringToHashBucketFast", "StringToHashBucket")],
    Row("EncodeBase64", [[V(["hello>?", ""], "string")], Case([V(["hello"], "string")], pad=True)], order=0),
    Row("DecodeBase64", [[V(["aGVsbG8", "aGVsbG8=", "aGVsbG8-Pw"], "string")]], order=0,
        bad=[([V("a", "string")], "cannot be 1 modulo 4", InvalidArgumentError)]),
]

"""Regular expressions: the syntax that there is and is not, and what replacing makes of strings."""

from __future__ import annotations

from typing import Any

from ..harness import case

_TEXTS = ["aa", "AA", "α5", "é", "\n", "a", "b", "a\n", "ab", b"\xff", "a" * 5000 + "b", "]", "a\0b", ""]
_PATTERNS = [
    r"(a)\1", r"(?=a)", r"(?<!a)b", r"(?<=a)b", "a++", "(?>a)", r"(?P<n>a)(?P=n)", "[", "(", "a{1001}", "*a",
    r"\p{Greek}\pN", "(?i)A", r"\Aa\z", r"a\Z", "[[:alpha:]]+", r"\C", r"\Q.+\E", "a(?#c)b", "(?x) a b",
    "(?U)a+", r"\x{10FFFF}", r"\b", "(a+)+$", r"\h", "a**", "é", "(?s).", r"\ua", r"[a-\d]", "[]a]", "a\n", "\\",
    "((a{100}){100}){100}", "(" * 2000 + "a" + ")" * 2000, r"(\pL{100}|x){100}", "a\0b", "(|a)*", "",
]
_REPLACED = [
    ("b*", "X", "abc"), ("", "-", "abc"), ("x*", "-", "abxd"), ("a", r"\0\0", "banana"),
    ("(a)(n)?", r"[\2\1]", "banana"), ("a", r"\1", "banana"), ("a", "\\", "banana"), ("a", r"x\q", "banana"),
    ("a", r"\q\1", "banana"), ("a", r"\\", "banana"), ("a", r"\g<0>", "banana"), ("", "-", "héllo"),
    (".", "-", "héllo"), (".", "-", b"a\xffb"), ("", "-", b"a\xc3"), ("$", "!", "ab\n"), ("^", "!", "a\nb"),
    ("a*", "x", "baac"), (r"\b", "|", "ab cd"), ("(a+)+$", "y", "a" * 5000 + "b"), ("x", r"\9", "banana"),
    ("h*", "", ""), ("$", "e", ""), ("a|an", "<\\0>", "banana"), ("(?:an)+?", "_", "banana"),
]


@case("eager")
def whole_strings(tf: Any) -> Any:
    found = []
    for pattern in _PATTERNS:
        try:
            found.append(tf.strings.regex_full_match(_TEXTS, pattern).numpy().tolist())
        except tf.errors.InvalidArgumentError:
            found.append("InvalidArgumentError")
    return found


@case("eager")
def replaced(tf: Any) -> Any:
    return [tf.strings.regex_replace(text, pattern, rewrite, replace_global=everywhere).numpy()
            for pattern, rewrite, text in _REPLACED for everywhere in (True, False)]


@case("graph")
def with_tensors(tf: Any) -> Any:
    pattern, rewrite = tf.placeholder(tf.string, []), tf.placeholder(tf.string, [])
    y = tf.regex_replace(["banana", "héllo"], pattern, rewrite)
    found: list[Any] = []
    with tf.Session() as sess:
        for given in [("a", "o"), ("(a+)+$", ""), ("l", r"\0\0"), ("(", "x"), (r"(a)\1", "x")]:
            try:
                found.append(sess.run(y, dict(zip((pattern, rewrite), given))))
            except tf.errors.InvalidArgumentError:
                found.append("InvalidArgumentError")
    return found

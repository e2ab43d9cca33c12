"""Control flow on tensors written in Python: a `tf.function` gives what Python itself gives in eager mode."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.frontend.function.autograph.convert import convert
from graphgrad.frontend.function.function import Function
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


# -- programs --------------------------------------------------------------------------


def branch(x):
    if x > 0:
        y = x * 2
        z = y + 1
    elif x < -5:
        y = -x
        z = x
    else:
        y = x
        z = y - 1
    return y + z


def branch_that_changes(x):
    y = x + 1
    if y > 0 and x < 10:
        x = x * y
    return x + y


def early_return(x):
    if x > 3:
        return x * 10
    if x < -3:
        if x < -10:
            return x * 7
        x = x + 1
    return x - 1


def nested_returns(x):
    if x > 0:
        if x > 2:
            return x
        else:
            return -x
    else:
        return x * 100


def count_down(x):
    n = 0
    while x > 0:
        x = x // 2
        n += 1
    return n


def collatz(x):
    steps = 0
    while x > 1 and steps < 50:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


def breaks(x):
    total = 0
    for i in tf.range(10):
        if i == x:
            break
        if i % 2 == 1:
            continue
        total += i
    return total


def breaks_in_while(x):
    i = 0
    while True:
        i += 1
        if i * i > x:
            break
    return i


def returns_from_loops(x):
    for i in tf.range(1, 8, 2):
        for j in tf.range(i):
            if i * j > x:
                return i * 100 + j
    return -1


def else_of_loops(x):
    found = 0
    for i in tf.range(5):
        if i == x:
            found = i
            break
    else:
        found = -7
    n = 0
    while n < 3:
        n += 1
        if n == x:
            break
    else:
        n = 50
    return found + n


def rows(x):
    total = tf.constant(0)
    for row in tf.stack([x, x + 1, x * 2]):
        total = total * 2 + row
    return total


def enumerated(x):
    best = tf.constant(-1)
    for i, v in enumerate(tf.stack([x, -x, x * x])):
        if v > 5:
            best = i
    return best


def python_loop_with_tensor_break(x):
    last = tf.constant(0)
    for i in range(6):
        if i > x:
            break
        last = last + i
    return last


def range_of_tensor(x):
    a, b = 0, 1
    for _ in range(abs(x)):
        a, b = b, a + b
    return a


def ternaries(x):
    y = x if x > 0 else -x
    return y + (1 if not (x > 2 or x < -2) else 5)


def chains(x):
    return tf.constant(1) if -4 < x <= 4 < 5 else tf.constant(0)


def lazy_operands(x):
    table = tf.constant([5, 6, 7])
    return 1 if x >= 0 and x < 3 and table[x] > 5 else 0


def lazy_divisions(x):
    n = x - 3
    return 1 if n != 0 and 12 // n > 2 and x % 2 == 0 else 0


def structures(x):
    state = {"a": x, "b": [x, (x + 1, 2)]}
    for i in tf.range(3):
        state = {"a": state["a"] + i, "b": [state["b"][1][0], (state["b"][0], i)]}
    return state["a"] * 100 + state["b"][0] * 10 + state["b"][1][1]


def filled_in_place(x):
    d = {"k": x}
    if x > 0:
        d["k"] = d["k"] + 1
    for i in tf.range(2):
        d["k"] = d["k"] * 2 + i
    return d["k"]


def attributes(x):
    class Holder:
        pass

    h = Holder()
    h.n = x
    if x > 0:
        h.n = h.n + 1
    while h.n < 10:
        h.n = h.n + 3
    return h.n


def defined_in_the_loop(x):
    for i in tf.range(4):
        y = x + i
        last = y * 2
    return last


def closures(x):
    def add(v):
        if v > 2:
            return x + v + total
        return total - x

    total = 0
    for i in tf.range(5):
        total = add(i)
    return total + x


def helper(v):
    while v > 7:
        v = v - 3
    return v


class Model:
    """Methods, private names, properties."""

    def __init__(self):
        self.__scale = 3

    def scaled(self, v):
        if v > 1:
            return v * self.__scale
        return v

    def __call__(self, v):
        return self.scaled(v) + 1


class Submodel(Model):
    """`super()`, without arguments."""

    def __call__(self, v):
        if v > 0:
            v = v + 1
        return super().__call__(v)


def calls(x):
    return helper(x) + Model()(x) + Submodel()(x) + (lambda v: v if v > 0 else v * 2)(x)


def arrays(x):
    ta = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(4):
        if i != 1:
            ta = ta.write(ta.size(), x + i)
    return tf.reduce_sum(ta.stack() * [1, 10, 100])


def python_stays_python(x):
    seen = []
    for k in range(3):
        if k == 1:
            continue
        seen.append(lambda: k)  # noqa: B023  # late binding is what is tested
    try:
        while True:
            if len(seen) > 5:
                break
            seen.append(None)
    finally:
        seen.append(None)
    with context.use(context.current_graph()):
        z = [i for i in range(4) if i > 1]
    return x + len(seen) + seen[0]() + sum(z)


def deleted_names(x):
    t = x
    if x is not None:
        del t
    try:
        return t
    except UnboundLocalError:
        return x + 1


def nested_loops(x):
    total = 0
    i = 0
    while i < 4:
        j = 0
        while j < i:
            j += 1
            if (i + j) % 3 == 0:
                continue
            if j > x:
                break
            total += i * j
        i += 1
    return total


_PROGRAMS: list[Callable[..., Any]] = [
    branch, branch_that_changes, early_return, nested_returns, count_down, collatz, breaks, breaks_in_while,
    returns_from_loops, else_of_loops, rows, enumerated, python_loop_with_tensor_break, range_of_tensor, ternaries,
    chains, lazy_operands, lazy_divisions, structures, filled_in_place, attributes, defined_in_the_loop, closures,
    calls, arrays, python_stays_python, deleted_names, nested_loops,
]


@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    """One trace gives for each input what Python gives, step by step."""
    traced = Function(program, engine="numpy")
    for value in (-20, -4, -1, 0, 1, 2, 3, 4, 7, 27):
        assert int(traced(tf.constant(value))) == int(program(tf.constant(value))), value
    assert traced.experimental_get_tracing_count() == 1


def test_compiled_and_differentiated() -> None:
    """Loops and branches are operations: XLA runs them, `gradients` goes through them."""

    @tf.function
    def f(x, n):
        y = x
        for i in tf.range(n):
            if i % 2 == 0:
                y = y * x
            else:
                y = tf.sin(y)
        return y, tf.gradients(y, x)[0]

    def by_hand(x: float) -> float:
        return float(np.sin(x * x) * x)

    y, g = f(tf.constant(0.7), tf.constant(3))
    np.testing.assert_allclose(y, by_hand(0.7), rtol=1e-6)
    np.testing.assert_allclose(g, (by_hand(0.701) - by_hand(0.699)) / 2e-3, rtol=1e-4)
    assert [op.type for op in f.get_concrete_function(tf.constant(0.7), tf.constant(3)).graph.get_operations()
            if op.type == "While"]


# -- the user's line, errors -----------------------------------------------------------


def _undefined_branch(x):
    if x > 0:
        y = 1
    return y


def _other_dtype(x):
    if x > 0:
        y = 1.0
    else:
        y = 2
    return y


def _none_in_a_branch(x):
    if x > 0:
        y = None
    else:
        y = 2
    return y


def _return_missing(x):
    if x > 0:
        return 1


def _other_structure(x):
    y = x
    if x > 0:
        y = (x, x)
    return y


def _objects(x):
    f = abs
    if x > 0:
        f = max
    return f(x)


def _loop_dtype(x):
    i = 0
    while x > i:
        i = tf.cast(i, tf.float32) + 0.5
    return i


def _loop_shape(x):
    i = tf.zeros([1])
    while x > 0:
        i = tf.concat([i, i], 0)
    return i


def _loop_structure(x):
    i = []
    while x > 0:
        i = [*i, x]
        x = x - 1
    return i


def _loop_none(x):
    i = 0
    while x > 0:
        i = None
    return i


def _loop_object(x):
    i = abs
    while x > 0:
        i = x
        x = x - 1
    return i


def _list_that_grows(x):
    found = []
    for i in tf.range(x):
        found.append(i)
    return tf.stack(found)


def _scalar(x):
    for _i in x:
        pass


_REFUSED: list[tuple[Callable[..., Any], type[Exception], str]] = [
    (_undefined_branch, ValueError, r"'y' must also be initialized in the else branch(?s:.*)if x > 0:(?s:.*)Fix"),
    (_other_dtype, TypeError, "'y' has dtype float32 in the main branch, but dtype int32 in the else branch"),
    (_none_in_a_branch, ValueError, "'y' is None at the end of the main branch"),
    (_return_missing, ValueError, "the else branch must also have a return statement"),
    (_other_structure, ValueError, "'y' must have the same nested structure in the main and else branches"),
    (_objects, TypeError, "'f' holds a builtin_function_or_method, which is no tensor"),
    (_loop_dtype, TypeError, "'i' has dtype int32 before the loop, but dtype float32 after one iteration"),
    (_loop_shape, ValueError, r"'i' has shape \(1,\) before the loop, but shape \(2,\) after one iteration. Use "
                              r"tf.autograph.experimental.set_loop_options(?s:.*)Fix"),
    (_loop_structure, TypeError, "'i' does not have the same nested structure(?s:.*)TensorArray"),
    (_loop_none, ValueError, "'i' is None at the end of an iteration"),
    (_loop_object, TypeError, "'i' holds a builtin_function_or_method"),
    (_list_that_grows, ValueError, "TensorArray"),
    (_scalar, ValueError, r"Cannot iterate over a scalar tensor(?s:.*)for _i in x(?s:.*)tf.range"),
]


@pytest.mark.parametrize(("program", "error", "text"), _REFUSED, ids=lambda p: getattr(p, "__name__", ""))
def test_refused(program: Callable[..., Any], error: type[Exception], text: str) -> None:
    """What a graph cannot do says which variable, where, and how to write it."""
    with pytest.raises(error, match=text):
        tf.function(program)(tf.constant(2))


def test_lines_stay_the_users() -> None:
    """Tracebacks and the sources of operations show the program as it was written."""

    def body(x):
        if x > 0:
            y = tf.concat([x, x], 0)  # wrong: a scalar
        else:
            y = x
        return y

    with pytest.raises(ValueError, match="(?s)Concat.*test_autograph.py.*wrong: a scalar") as caught:
        tf.function(body)(tf.constant(1.0))
    lines = [f.line for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    assert lines[-1] == "y = tf.concat([x, x], 0)  # wrong: a scalar"


def test_run_time_assertions() -> None:
    """`assert` on a tensor, and a loop that has to run once, fail when the graph runs."""

    def positive(x):
        assert x > 0, "not positive"
        return x

    def last(n):
        for i in tf.range(n):
            z = i
        return z

    f = Function(positive, engine="numpy")
    assert int(f(tf.constant(1))) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)assertion failed: .not positive.*assert x > 0"):
        f(tf.constant(-1))
    g = Function(last, engine="numpy")
    assert int(g(tf.constant(3))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize z"):
        g(tf.constant(0))


def test_what_is_not_converted() -> None:
    """Functions without source, those marked, and jumps out of `try` use tensors as Python would: not at all."""
    no_source = eval("lambda x: 1 if x > 0 else 2")

    @tf.autograph.experimental.do_not_convert
    def marked(x):
        return 1 if x > 0 else 2

    def in_try(x):
        try:
            if x > 0:
                return 1
        finally:
            x = 2
        return x

    def generator(x):
        yield 1 if x > 0 else 2

    def over_rows(x):
        return [v + 1 for v in x]

    text = "(?s)as a Python `bool` is not allowed.*@tf.function.*tf.cond"
    for f in (no_source, marked, in_try, lambda x: list(generator(x))):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=text):
            tf.function(f)(tf.constant(1))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=text):
        tf.function(branch, autograph=False)(tf.constant(1))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="(?s)Iterating over a symbolic.*tf.while_loop"):
        tf.function(over_rows, input_signature=[tf.TensorSpec([None])])(tf.constant([1.0]))


def test_options_of_loops() -> None:
    """`set_loop_options` gives shapes that change, and a largest number of iterations."""

    def grow(n):
        v = tf.constant([0])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
            v = tf.concat([v, [i]], 0)
        return v

    def bounded(n):
        k = 0
        while k < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            k += 1
        return k

    assert Function(grow, engine="numpy")(tf.constant(3)).numpy().tolist() == [0, 0, 1, 2]
    assert int(Function(bounded, engine="numpy")(tf.constant(9))) == 2


def test_to_graph_and_to_code() -> None:
    """The rewritten function can be had by itself, and as text."""
    import graphgrad.compat.v1 as tf1

    with tf1.Graph().as_default(), tf1.Session() as sess:
        x = tf1.placeholder(tf1.int32, [])
        y = tf1.autograph.to_graph(early_return)(x)
        assert [sess.run(y, {x: v}) for v in (5, 0, -20, -4)] == [50, -1, -140, -4]
    assert "_ag.if_(" in tf.autograph.to_code(early_return)
    assert "_ag.while_(" in tf.autograph.to_code(tf.function(count_down))
    with pytest.raises(ValueError, match="could not convert.*source code is not available"):
        tf.autograph.to_graph(eval("lambda x: x"))


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    """`print` happens when the function is traced, as any Python; with BUILTIN_FUNCTIONS when it runs."""

    def f(x):
        print("x is", x)
        return x

    f1 = Function(f, engine="numpy")
    for v in (1, 2):
        f1(tf.constant(v))
    assert capsys.readouterr().out.count("x is") == 1
    f2 = tf.function(f, experimental_autograph_options=tf.autograph.experimental.Feature.BUILTIN_FUNCTIONS)
    for v in (1, 2):
        f2(tf.constant(v))
    assert capsys.readouterr().out == "x is 1\nx is 2\n"
    assert tf.autograph.experimental.Feature.LISTS not in tf.autograph.experimental.Feature.all_but(
        tf.autograph.experimental.Feature.LISTS
    )


def test_functions_of_libraries() -> None:
    """What an installed library hands to `tf.function` is converted; what it calls besides is left as it is."""
    import linecache
    import os
    import sysconfig

    name = os.path.join(sysconfig.get_path("purelib"), "some_library.py")
    source = "def helper(x):\n    return x if x is None else x + 1\ndef absolute(x):\n    if x < 0:\n        x = -x\n" \
             "    return helper(x)\n"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    library: dict[str, Any] = {}
    exec(compile(source, name, "exec"), library)
    assert tf.function(library["absolute"])(tf.constant(-3)).numpy() == 4
    assert tf.autograph.to_graph(library["absolute"])(-3) == 4
    assert convert(library["helper"]) is library["helper"]

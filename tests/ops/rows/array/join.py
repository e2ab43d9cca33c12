"""Rows for `ops/array/concat_stack.py`, `parting.py`, `repetition.py`."""

from tests.support.table import Case, L, Row, V

FLOATS = ["float32", "float64", "complex64"]

ROWS = [
    Row("Pack", [[L((2, 3), (2, 3))], Case([L((2, 3), (2, 3), (2, 3))], axis=-1), Case([L((), ())], axis=0),
                 Case([L((2,), (2,))], axis=1), [L((0, 2))]], dtypes=[*FLOATS, "int32"],
        bad=[([L((2,), (3,))], "(?s)Shapes must be equal.*one shape"),
             (Case([L((2,), (2,))], axis=2), "axis 2 is out of range")]),
    Row("Unpack", [Case([(2, 3)], num=2), Case([(2, 3)], num=3, axis=1), Case([(2, 3, 1)], num=1, axis=-1),
                   Case([(0, 2)], num=0)], dtypes=FLOATS,
        bad=[(Case([(2, 3)], num=3), "Dimension must be 3 but is 2"),
             (Case([(2, 3)], num=2, axis=2), "axis 2 is out of range")]),
    Row("ConcatV2", [[L((2, 3), (1, 3)), V(0)], [L((2, 3), (2, 3)), V(-1)], [L((2, 3), (2, 1), (2, 0)), V(1, "int64")],
                     [L((1, 2), (3, 2), (2, 2)), V(0)]],
        dtypes=FLOATS,
        bad=[([L((2, 3), (1, 2)), V(0)], "Dimensions other than 0 must be equal"), ([L((), ()), V(0)], "scalars"),
             ([L((2,), (2, 3)), V(0)], "one rank"), ([L((2,), (2,)), V(1)], "axis 1 is out of range")]),
    Row("Concat", [[V(0), L((2, 3), (1, 3))], [V(1), L((2, 3), (2, 1))], [V(1), L((2, 3), (2, 3))]], dtypes=FLOATS,
        bad=[([V(0), L((2, 3), (1, 2))], "must be equal")]),
    Row("ConcatOffset", [[V(0), L(V([2, 3]), V([1, 3]))], [V(1), L(V([2, 3]), V([2, 1]), V([2, 4]))]],
        dtypes=["int32"], order=0),
    Row("Split", [Case([V(0), (4, 3)], num_split=2), Case([V(-1), (4, 3)], num_split=3),
                  Case([V(1), (2, 3)], num_split=1)], dtypes=FLOATS,
        bad=[(Case([V(0), (4, 3)], num_split=3), "does not divide"),
             (Case([V(2), (4, 3)], num_split=2), "axis 2 is out of range")]),
    Row("SplitV", [Case([(4, 3), V([1, 3]), V(0)], num_split=2), Case([(4, 3), V([1, -1]), V(1)], num_split=2),
                   Case([(4, 3), V([0, 4], "int64"), V(0)], num_split=2)], dtypes=FLOATS,
        bad=[(Case([(4, 3), V([1, 2]), V(0)], num_split=2), "do not add up to 4"),
             (Case([(4, 3), V([4]), V(0)], num_split=2), "num_split is 2")]),
    Row("Tile", [[(2, 3), V([1, 2])], [(2, 3), V([2, 2], "int64")], [(2,), V([0])], [(), V([], "int32")],
                 [(2, 3), V([1, 1])]], dtypes=FLOATS,
        bad=[([(2, 3), V([1])], "must have rank 1"), ([(2,), V([-1])], "multiples >= 0"),
             ([(2,), V(2)], r"multiples must have rank 1 but has shape \(\)")]),
]


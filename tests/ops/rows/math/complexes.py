"""Rows for `ops/array/cast.py` and `complexes.py`."""

from tests.support.table import Case, R, Row, V, nonzero

from .math import ONES, PAIRS

_NOT_COMPLEX = [([R((2,), "float32")], "not in list of allowed values", TypeError)]


def part(op_type, **options):
    """Rows for an op from complex numbers to real ones, for both of their types."""
    return [
        Row(op_type, ONES, dtypes=["complex64"], domain=nonzero, order=0, bad=_NOT_COMPLEX, **options,
            note="differentiated in double precision"),
        Row(op_type, ONES, dtypes=["complex128"], attrs={"Tout": "float64"}, domain=nonzero, **options),
    ]


def cast(source, target, domain=(-100.0, 100.0), **options):
    """A row for a cast from one dtype to another."""
    return Row("Cast", [[(2, 3)], [()]], dtypes=[source], attrs={"DstT": target}, domain=domain, **options)


ROWS = [
    cast("float32", "float64"), cast("float64", "float32"), cast("float32", "int32"), cast("int32", "float32"),
    cast("float32", "bool"), cast("bool", "float32"), cast("int64", "int8"), cast("int32", "bool"),
    cast("float32", "float16", domain=(-2, 2)), cast("bfloat16", "float32"), cast("int32", "uint8"),
    cast("float32", "bfloat16", order=0, note="too coarse for finite differences"),
    cast("float32", "complex64"), cast("complex64", "complex128"), cast("complex64", "float32"),
    cast("uint8", "float16"), cast("int64", "float64"), cast("bool", "int64"), cast("float64", "complex128"),
    Row("Conj", ONES, dtypes=["complex64", "complex128"], bad=_NOT_COMPLEX),
    *part("Real"), *part("Imag"), *part("Angle"), *part("ComplexAbs"),
    Row("ComplexAbs", [[V([0j, 1 + 0j])]], dtypes=["complex64"], order=0, note="at 0, where the gradient is 0"),
    Row("Complex", PAIRS, bad=[([(3, 4), (3,)], "(?s)dimension -1.*expand_dims")], order=0,
        note="differentiated in double precision"),
    Row("Complex", [Case([e, e]) for e in ((3,), ())] + PAIRS[1:3], dtypes=["float64"], attrs={"Tout": "complex128"}),
]

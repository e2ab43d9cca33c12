"""Rows for `extras/signal/fft.py`."""

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Row, V

_COMPLEX = ["complex64", "complex128"]
_NO_KERNEL = "TensorFlow has no kernel for it on a CPU"


def _case(shape, length, axes=None):
    return [shape, V(length)] if axes is None else [shape, V(length), V(axes)]


def _low(rank):
    return [([(3,) * (rank - 1)], f"input must have rank at least {rank}")]


def _real(op_type, cases, rank):
    """Transforms of or to real numbers: each pair of dtypes that belong together."""
    rows = []
    for real, other in (("float32", "complex64"), ("float64", "complex128")):
        inverse = op_type.startswith("I")
        attrs = {"Treal": real} if inverse else {"Tcomplex": other}
        wrong = _case((5,) * rank, [3] * (rank + 1))
        short = _case((3,) * rank, [9] * rank)
        bad = [(wrong, r"fft_length must have shape"), (short, "must have length of at least", InvalidArgumentError),
               (_case((5,) * rank, [-1] * rank), "must not be negative")]
        for wanted, note in ((True, ""), (False, "TensorFlow's gradient is wrong or fails where the input is cut")):
            some = [c for c in cases if wanted == (_needed(c, inverse) == c[0][-rank:])]
            rows.append(Row(op_type, some, attrs, dtypes=[other if inverse else real], bad=bad if wanted else (),
                            tf_grad=wanted, note=note))
    return rows


def _needed(case, inverse):
    """The sizes of the transformed axes of the input that are used."""
    sizes = tuple(case[1].value)
    return (*sizes[:-1], sizes[-1] // 2 + 1) if inverse else sizes


def _nd(op_type, cases, dtype, attrs=None):
    bad = [(_case((3, 4), [3], [2]), "must be distinct axes"), (_case((3, 4), [3, 4], [0, 0]), "must be distinct axes"),
           (_case((3, 4), [3, 4], [0]), "fft_length must have shape")]
    return Row(op_type, cases, attrs or {}, dtypes=[dtype], bad=bad, tf=False, dynamic=False,
               note=_NO_KERNEL + "; the gradient needs the rank")


ROWS = [
    Row("FFT", [[(3,)], [(2, 4)], [(2, 0)], [(1,)]], dtypes=_COMPLEX, bad=_low(1)),
    Row("IFFT", [[(3,)], [(2, 4)]], dtypes=_COMPLEX, bad=_low(1)),
    Row("FFT2D", [[(3, 2)], [(2, 3, 4)]], dtypes=_COMPLEX, bad=_low(2)),
    Row("IFFT2D", [[(3, 2)], [(2, 3, 4)]], dtypes=_COMPLEX, bad=_low(2)),
    Row("FFT3D", [[(3, 2, 2)], [(2, 3, 4, 1)]], dtypes=_COMPLEX, bad=_low(3)),
    Row("IFFT3D", [[(3, 2, 2)], [(2, 3, 4, 1)]], dtypes=_COMPLEX, bad=_low(3)),
    *_real("RFFT", [_case((5,), [5]), _case((2, 6), [6]), _case((2, 6), [3]), _case((2, 6), [1])], 1),
    *_real("IRFFT", [_case((3,), [5]), _case((2, 4), [6]), _case((2, 4), [4]), _case((2, 4), [1])], 1),
    *_real("RFFT2D", [_case((3, 5), [3, 5]), _case((2, 4, 6), [4, 6]), _case((4, 6), [2, 3])], 2),
    *_real("IRFFT2D", [_case((3, 3), [3, 5]), _case((2, 4, 4), [4, 6]), _case((4, 4), [2, 3])], 2),
    *_real("RFFT3D", [_case((2, 3, 4), [2, 3, 4]), _case((2, 3, 5), [2, 2, 3])], 3),
    *_real("IRFFT3D", [_case((2, 3, 3), [2, 3, 4]), _case((2, 3, 4), [2, 2, 3])], 3),
    _nd("FFTND", [_case((2, 3, 2), [2, 3], [0, 1]), _case((3, 4), [5, 2], [1, -2]),
                  _case((2, 2, 2, 3), [2, 2, 2, 3], [0, 1, 2, 3])], "complex128"),
    _nd("IFFTND", [_case((2, 3, 2), [2, 3], [0, 1]), _case((3, 4), [5, 2], [1, -2])], "complex128"),
    _nd("RFFTND", [_case((2, 3, 2), [2, 3], [0, 1]), _case((3, 4), [5, 2], [1, 0]), _case((3, 4), [6], [0]),
                   _case((2, 2, 2, 3), [2, 2, 2, 3], [0, 1, 2, 3])], "float64", {"Tcomplex": "complex128"}),
    _nd("IRFFTND", [_case((2, 3, 2), [2, 3], [0, 1]), _case((3, 4), [5, 2], [1, 0]), _case((3, 4), [6], [0]),
                    _case((2, 2, 2, 3), [2, 2, 2, 3], [0, 1, 2, 3])], "complex128", {"Treal": "float64"}),
]

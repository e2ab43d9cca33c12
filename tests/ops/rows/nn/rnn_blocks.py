"""Rows for recurrent blocks."""

from tests.support.table import Case, Row, V

_N = {"": (-1.0, 1.0)}
_CELL = [(2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,)]
_LAYER = [(3, 2, 3), *_CELL[1:]]
_OUTPUTS = [(3, 2, 4)] * 7
_ALL, _SHORT = V(3, "int64"), V(2, "int64")
_GRU = [(2, 3), (2, 4), (7, 8), (7, 4), (8,), (4,)]
_INPUTS = ["x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"]

ROWS = [
    Row("LSTMBlockCell", [Case(_CELL, use_peephole=p) for p in (False, True)], domain=_N, tf_grad=False,
        note="TensorFlow does not differentiate it",
        bad=[([(2, 3), (2, 4), (2, 4), (8, 16), *_CELL[4:]], "8 rows instead of 3 . 4"),
             ([(2, 3), (2, 4), (2, 4), (7, 12), *_CELL[4:]], "12 columns and b 16 elements instead of 4 . 4")]),
    Row("LSTMBlockCell", [Case(_CELL, cell_clip=0.1, use_peephole=True)], domain=_N, order=0, tf_grad=False,
        note="clipped cells are differentiated as if they were not, as in TensorFlow's layers"),
    Row("GRUBlockCell", [_GRU], domain=_N, tf_grad=False, note="TensorFlow does not differentiate it",
        bad=[([(2, 3), (2, 4), (7, 8), (6, 4), (8,), (4,)], "w_c has 6 rows instead of 3 . 4")]),
    Row("BlockLSTM", [Case([_ALL, *_LAYER], use_peephole=True), Case([_SHORT, *_LAYER], forget_bias=0.5)], ys=[1, 6],
        domain=_N, dynamic=False, note="higher derivatives need a known number of steps",
        bad=[([_ALL, (3, 2, 3), (2, 4), (2, 4), (8, 16), *_CELL[4:]], "8 rows instead of 3 . 4"),
             ([_ALL, (2, 3), *_LAYER[1:]], "x must have rank 3")]),
    Row("BlockLSTM", [Case([_SHORT, *_LAYER], cell_clip=0.1)], ys=[1, 6], domain=_N, order=0,
        note="clipped cells are differentiated as if they were not, as in TensorFlow"),
    Row("BlockLSTM", [Case([_SHORT, *_LAYER], use_peephole=True)], domain=_N, dynamic=False, order=1, tf=False,
        note="TensorFlow leaves out the gradients of gates; their higher derivatives are those of the composition"),
    Row("BlockLSTMV2", [Case([_ALL, *_LAYER], use_peephole=p, cell_clip=3.0) for p in (True, False)], ys=[1, 6],
        domain=_N, dynamic=False, tf_grad=False,
        note="TensorFlow takes the gates in the first version's order in its gradient, which is wrong"),
    *[Row(name, [Case([_SHORT, *_LAYER, *_OUTPUTS, (3, 2, 4), (3, 2, 4)], use_peephole=p) for p in (True, False)],
          order=0, domain=_N, wrt=_INPUTS, tf_grad=False,
          note="what it saved must belong to its inputs: BlockLSTM's rows differentiate it")
      for name in ("BlockLSTMGrad", "BlockLSTMGradV2")],
]

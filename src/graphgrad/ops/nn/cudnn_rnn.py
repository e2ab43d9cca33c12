"""NVIDIA's recurrent nets: graphs that choose between them and ordinary ones can hold them; nothing here runs them."""

from __future__ import annotations

from graphgrad.errors import UnimplementedError
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op


@op("CudnnRNNV3", "input: T, input_h: T, input_c: T, params: T, sequence_lengths: int32 -> output: T, output_h: T, "
    "output_c: T, reserve_space: T, host_reserved: int8", T=FLOATING, flags=("host",))
def cudnn_rnn_v3_op(xp, input, input_h, input_c, params, sequence_lengths, *, rnn_mode="lstm",
                    input_mode="linear_input", direction="unidirectional", dropout=0.0, seed=0, seed2=0, num_proj=0,
                    is_training=True, time_major=True):
    """Refuses to run: it is a function of NVIDIA's library."""
    raise UnimplementedError(None, None, "CudnnRNNV3 is computed by NVIDIA's cuDNN alone.\n"
                             "  Fix: a layer of tf.compat.v1.nn.rnn_cell, which XLA compiles for every device")


@cudnn_rnn_v3_op.shape
def _cudnn_rnn_v3_shape(input, input_h, input_c, params, sequence_lengths, *, direction="unidirectional", **_):
    directions = 2 if direction == "bidirectional" else 1
    output = None
    if input is not None and input_h is not None:
        units = None if input_h[-1] is None else input_h[-1] * directions
        output = (*input[:2], units)
    return [output, input_h, input_c, (None,), (None,)]

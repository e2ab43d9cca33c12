"""`tf.quantization`. Written by `make faces` from exports.txt."""

from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from graphgrad.ops.nn.quantize.quantize_functions import quantize_and_dequantize as quantize_and_dequantize
from graphgrad.ops.nn.quantize.quantize_functions import quantize_and_dequantize_v2 as quantize_and_dequantize_v2

__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient", "quantize_and_dequantize", "quantize_and_dequantize_v2"
]

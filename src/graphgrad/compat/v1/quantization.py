"""`tf.quantization` of TensorFlow 1."""

from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from graphgrad.ops.nn.quantize.quantize_functions import (
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
)
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from graphgrad.ops.nn.quantize.quantize_functions import (
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
)
from graphgrad.ops.nn.quantize.quantize_functions import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from graphgrad.ops.nn.quantize.quantize_functions import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from graphgrad.ops.nn.quantize.quantize_functions import quantize_and_dequantize as quantize_and_dequantize
from graphgrad.ops.nn.quantize.quantize_functions import quantize_and_dequantize_v2 as quantize_and_dequantize_v2

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)

"""`tf.image` of TensorFlow 1."""

# -- files -------------------------------------------------------------------------------
from graphgrad.ops.files import decode_jpeg as decode_jpeg
from graphgrad.ops.files import decode_png as decode_png

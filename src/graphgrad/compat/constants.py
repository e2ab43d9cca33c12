"""Constants of the faces."""

API_VERSION = "2.21.0"  # tf.__version__
newaxis = None

AUTOTUNE = INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

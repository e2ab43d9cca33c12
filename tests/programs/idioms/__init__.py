"""Random programs in the idioms of public ones, beside TensorFlow: graphs of 1.x, modules and functions of 2.x."""

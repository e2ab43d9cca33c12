"""Classes of composites that programs define, and what TensorFlow's functions do with them."""

"""Where time and memory of runs go: timelines, `tf.profiler`, the hook that profiles steps of a training."""

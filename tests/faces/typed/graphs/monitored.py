"""Hooks, monitored sessions, flags, logging."""

import graphgrad.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
FLAGS = tf.flags.FLAGS
tf.flags.DEFINE_integer("typed_steps", 3, "number of steps")
tf.flags.DEFINE_string("typed_name", "run", "a name")
FLAGS(["program"])


class CountHook(tf.train.SessionRunHook):
    def __init__(self, tensor: tf.Tensor) -> None:
        self.tensor = tensor
        self.values: list[float] = []

    def before_run(self, run_context: tf.train.SessionRunContext) -> tf.train.SessionRunArgs:
        return tf.train.SessionRunArgs(self.tensor)

    def after_run(self, run_context: tf.train.SessionRunContext, run_values: tf.train.SessionRunValues) -> None:
        self.values.append(float(run_values.results))


v = tf.Variable(1.0)
loss = tf.square(v)
step = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
hook = CountHook(loss)
with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=FLAGS.typed_steps), hook]) as sess:
    while not sess.should_stop():
        sess.run(train)
assert len(hook.values) == 3 and hook.values[0] >= hook.values[-1]

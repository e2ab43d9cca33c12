"""Checkpoints and saved models of modules."""

import os
import tempfile

import graphgrad as tf


class Scale(tf.Module):
    def __init__(self) -> None:
        self.factor = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec(shape=None, dtype=tf.float32)])
    def scale(self, x: tf.Tensor) -> tf.Tensor:
        return self.factor * x


module = Scale()
folder = tempfile.mkdtemp()
checkpoint = tf.train.Checkpoint(model=module, step=tf.Variable(0))
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
path = manager.save()
module.factor.assign(5.0)
checkpoint.restore(manager.latest_checkpoint).assert_consumed()
tf.saved_model.save(module, os.path.join(folder, "model"), signatures=module.scale.get_concrete_function())
loaded = tf.saved_model.load(os.path.join(folder, "model"))
assert loaded.scale(tf.constant(3.0)).numpy() == 6.0 and module.scale(tf.constant(1.0)).numpy() == 2.0
print(os.path.basename(path or ""), list(loaded.signatures), tf.train.latest_checkpoint(folder))

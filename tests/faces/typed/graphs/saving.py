"""Checkpoints, collections, moving averages, queues of one's own functions."""

import os
import tempfile

import graphgrad.compat.v1 as tf

global_step = tf.Variable(0, name="global_step", trainable=False)
w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), regularizer=lambda v: 0.1 * tf.nn.l2_loss(v))
loss = tf.reduce_sum(w * w) + tf.losses.get_regularization_loss()
averages = tf.train.ExponentialMovingAverage(0.9, global_step)
with tf.control_dependencies([tf.train.MomentumOptimizer(0.1, momentum=0.9).minimize(loss, global_step)]):
    train = averages.apply([w])
saver = tf.train.Saver(max_to_keep=2)
tf.add_to_collection("losses", loss)
with tf.control_dependencies([tf.Assert(loss < 100.0, [loss]), tf.assert_equal(tf.rank(w), 1)]):
    checked = tf.identity(loss)
grouped = tf.group(train, checked.op)

folder = tempfile.mkdtemp()
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for _ in range(3):
        sess.run(grouped)
    path = saver.save(sess, os.path.join(folder, "model.ckpt"), global_step=global_step)
    before = w.eval()
with tf.Session() as sess:
    saver.restore(sess, tf.train.latest_checkpoint(folder))
    assert (sess.run(w) == before).all() and path.endswith("-3")
    step = tf.train.global_step(sess, global_step)
    print(step + 1, tf.get_collection("losses")[0].name, tf.train.load_variable(folder, "w")[0])
    print(averages.average(w), sess.graph.get_tensor_by_name("w:0").shape, tf.get_default_graph() is sess.graph)

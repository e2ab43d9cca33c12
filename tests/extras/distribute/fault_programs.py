"""Trainings for tests with faults, in four kinds: each goes on from its last checkpoint when it is started again."""

from __future__ import annotations

# Of workers and parameter servers; `kind` says with which optimizer. Follows `clustered.FLAGS`.
TASKS = """
tf.logging.set_verbosity(tf.logging.INFO)
server, setter, me, n = task()
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
    loss = tf.reduce_mean(tf.square(tf.matmul(np.ones((2, 3)) * (me + 1), w) - 1.0))
    optimizer = tf.train.MomentumOptimizer(0.001, 0.9)
    if FLAGS.kind != "asynchronous":
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, n)
    train = optimizer.minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(server.target, me == 0, FLAGS.logdir, save_checkpoint_steps=10,
                                       save_checkpoint_secs=None, save_summaries_steps=None, save_summaries_secs=None,
                                       hooks=[tf.train.StopAtStepHook(last_step=FLAGS.steps)]) as session:
    first = True
    while not session.should_stop():
        _, count, value = session.run([train, step, w])
        count, value = session._tf_sess().run([step, w])
        print("RESULT", json.dumps({"step": int(count), "w": value.tolist()}), flush=True)
        if first:
            print("begun", flush=True)
        first = False
        time.sleep(0.02)
"""

HOROVOD = """
import json, os, sys, time
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd
if not hasattr(tf, "placeholder"):
    tf = tf.compat.v1
    tf.disable_eager_execution()

hvd.init()
print("pid", os.getpid(), flush=True)
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
loss = tf.reduce_mean(tf.square(tf.matmul(np.ones((2, 3)) * (hvd.rank() + 1), w) - 1.0))
train = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.001, 0.9)).minimize(loss, step)
hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=80)]
folder = sys.argv[1] if hvd.rank() == 0 else None
try:
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=10, save_checkpoint_secs=None,
                                           save_summaries_steps=None, save_summaries_secs=None, hooks=hooks) as session:
        print("begun", flush=True)
        while not session.should_stop():
            session.run(train)
            count, value = session._tf_sess().run([step, w])
            print("RESULT", json.dumps({"step": int(count), "w": value.tolist()}), flush=True)
            time.sleep(0.02)
except tf.errors.OpError as e:
    print("ERROR", type(e).__name__, str(e).replace("\\n", " "), flush=True)
    sys.exit(1)
"""

MIRRORED = """
import json, os, sys, time
import numpy as np
import tensorflow as tf

print("pid", os.getpid(), flush=True)
try:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        step = tf.Variable(0, dtype=tf.int64)
        w = tf.Variable(np.full((3, 1), 0.5))
        optimizer = tf.compat.v1.train.MomentumOptimizer(0.001, 0.9)
    checkpoint = tf.train.Checkpoint(step=step, w=w, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], 3)
    checkpoint.restore(manager.latest_checkpoint)

    def replica_step():
        me = tf.distribute.get_replica_context().replica_id_in_sync_group
        with tf.GradientTape() as tape:
            x = np.ones((2, 3)) * tf.cast(me + 1, tf.float64)
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        step.assign_add(1)
        return loss

    @tf.function
    def train():
        return strategy.reduce("SUM", strategy.run(replica_step), axis=None)

    first = True
    while step.numpy() < 80:
        train()
        print("RESULT", json.dumps({"step": int(step.numpy()), "w": w.numpy().tolist()}), flush=True)
        if first:
            print("begun", flush=True)
        first = False
        if step.numpy() % 10 == 0 and strategy.extended.should_checkpoint:
            manager.save()
        time.sleep(0.02)
except tf.errors.OpError as e:
    print("ERROR", type(e).__name__, str(e).replace("\\n", " "), flush=True)
    sys.exit(1)
"""

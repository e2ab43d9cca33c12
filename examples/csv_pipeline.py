import tensorflow as tf
import numpy as np
import os
import tempfile

# Which of two interleaved spirals does a point belong to? The points are in CSV files, with missing values.
rng = np.random.RandomState(0)
turn = rng.uniform(0.5, 3.0, 400)
label = np.arange(400) % 2
x = turn * np.cos(2.0 * turn + np.pi * label)
y = turn * np.sin(2.0 * turn + np.pi * label)
folder = tempfile.mkdtemp()
names = [os.path.join(folder, "points_%d.csv" % i) for i in range(2)]
for i, name in enumerate(names):
    with open(name, "w") as f:
        f.write("x,y,weight,spiral\n")
        for n in range(200 * i, 200 * (i + 1)):
            f.write("%.4f,%.4f,%s,%s\n" % (x[n], y[n], "" if n % 5 else "2.0", "left" if label[n] else '"right"'))

EPOCHS, BATCH = 15, 50
queue = tf.train.string_input_producer(names, num_epochs=EPOCHS, shuffle=False)
reader = tf.TextLineReader(skip_header_lines=1)
_, line = reader.read(queue)
column_x, column_y, weight, spiral = tf.decode_csv(line, record_defaults=[[0.0], [0.0], [1.0], [""]])
points, weights, spirals = tf.train.batch([tf.stack([column_x, column_y]), weight, spiral], BATCH, capacity=200)
labels = tf.cast(tf.equal(spirals, "left"), tf.float32)


def dense(inputs, units, name):
    n = inputs.get_shape().as_list()[1]
    with tf.variable_scope(name):
        w = tf.get_variable("w", initializer=(rng.randn(n, units) / np.sqrt(n)).astype(np.float32))
        return tf.matmul(inputs, w) + tf.get_variable("b", [units], initializer=tf.zeros_initializer())


hidden = tf.tanh(dense(points, 24, "one"))
hidden = tf.tanh(dense(hidden, 24, "two"))
logits = tf.squeeze(dense(hidden, 1, "three"), [1])
losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
loss = tf.reduce_sum(weights * losses) / tf.reduce_sum(weights)
correct = tf.reduce_mean(tf.cast(tf.equal(logits > 0.0, labels > 0.5), tf.float32))
train = tf.train.AdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    step, seen = 0, []
    try:
        while not coord.should_stop():
            _, value, share = sess.run([train, loss, correct])
            seen.append((value, share))
            step += 1
            if step % 20 == 0:
                print("step %d: loss %.4f, accuracy %.3f" % ((step,) + tuple(np.mean(seen[-8:], 0))))
    except tf.errors.OutOfRangeError:
        print("the data are over after %d steps, %d records" % (step, step * BATCH))
    finally:
        coord.request_stop()
        coord.join(threads)
    print("records read: %d, files: %d" % tuple(sess.run([reader.num_records_produced(),
                                                          reader.num_work_units_completed()])))

import tensorflow as tf
import numpy as np
import os
import tempfile
from sklearn.datasets import load_digits

# Handwritten digits in record files, read by a pipeline of queues; a MonitoredSession trains a small network.
digits = load_digits()
images = digits.images.astype(np.uint8)
folder = tempfile.mkdtemp()
names = [os.path.join(folder, "digits_%d.tfrecords" % i) for i in range(3)]
for i, name in enumerate(names):
    with tf.python_io.TFRecordWriter(name) as writer:
        for n in range(400 * i, 400 * (i + 1)):
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[images[n].tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(digits.target[n])])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def read_and_decode(filename_queue):
    reader = tf.TFRecordReader()
    _, serialized = reader.read(filename_queue)
    features = tf.parse_single_example(serialized, features={
        "image": tf.FixedLenFeature([], tf.string),
        "label": tf.FixedLenFeature([], tf.int64),
    })
    image = tf.decode_raw(features["image"], tf.uint8)
    image.set_shape([64])
    return tf.cast(image, tf.float32) * (1.0 / 16) - 0.5, tf.cast(features["label"], tf.int32)


with tf.name_scope("input"):
    filename_queue = tf.train.string_input_producer(names, num_epochs=2, shuffle=False)
    image, label = read_and_decode(filename_queue)
    image_batch, label_batch = tf.train.batch({"image": image, "label": label}, batch_size=40, capacity=256,
                                              allow_smaller_final_batch=True).values()

rng = np.random.RandomState(1)
sizes = [64, 48, 10]
hidden = image_batch
for i, (n, m) in enumerate(zip(sizes, sizes[1:])):
    w = tf.get_variable("w%d" % i, initializer=rng.randn(n, m).astype(np.float32) * np.float32(np.sqrt(2.0 / n)))
    b = tf.get_variable("b%d" % i, [m], initializer=tf.zeros_initializer())
    hidden = tf.matmul(tf.nn.relu(hidden) if i else hidden, w) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label_batch, logits=hidden))
error = tf.reduce_mean(tf.cast(tf.not_equal(tf.argmax(hidden, 1, output_type=tf.int32), label_batch), tf.float32))
step = tf.train.get_or_create_global_step()
train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step)

values = []
with tf.train.MonitoredTrainingSession() as sess:
    while not sess.should_stop():
        _, value, wrong, labels = sess.run([train, loss, error, label_batch])
        values.append((value, wrong))
        if len(values) % 10 == 0:
            print("step %d: loss %.4f, error %.3f" % ((len(values),) + tuple(np.mean(values[-10:], 0))))
print("%d steps, the last one of %d examples" % (len(values), len(labels)))

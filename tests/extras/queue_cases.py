"""Queues, readers and input pipelines, as `tests/record/queues.py` runs them on TensorFlow and `test_queues.py` here.

A case is a function of `tf` and a session that gives something JSON can hold; `outcome` does so for a run that may
fail. Files are in the current directory.
"""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A value without NumPy."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value


def outcome(function: Any, *args: Any) -> Any:
    """What a function returns, or the class of what it raises with a known part of the text."""
    try:
        return plain(function(*args))
    except Exception as e:
        text = re.sub(r"'_\d+_", "'_#_", str(e))  # TensorFlow numbers everything
        for part in ("Node: ", "': "):  # TensorFlow's, ours
            text = text.partition(part)[2] or text
        lines = [line.strip().rstrip(".") for line in text.splitlines() if line.strip()]
        known = ("closed", "cancelled", "Timed out", "mismatch", "specified shapes", "Shared", "require", "Expect",
                 "Field", "field", "Quote", "No such file", "Reader S", "epochs limit")
        return [type(e).__name__, next((line for line in lines if any(k in line for k in known)), "")]


def files() -> None:
    """Makes the files."""
    texts = {"a.txt": b"h\na\r\nb\n\nc", "b.txt": b"h\nd\n", "empty.txt": b"", "f.bin": b"HEABCDEFGHIJKFO",
             "a.csv": b"x,y,s\n1,2.5,x\n3,,\"y, z\"\n", "b.csv": b"x,y,s\n5,6.5,w"}
    for name, text in texts.items():
        pathlib.Path(name).write_bytes(text)


def _described(tf: Any, outputs: Any) -> Any:
    flat = list(outputs.values()) if isinstance(outputs, dict) else outputs
    flat = flat if isinstance(flat, (list, tuple)) else [flat]
    return [[t.name, t.dtype.name, t.shape.as_list() if t.shape.ndims is not None else None] for t in flat]


def first_in_first_out(tf: Any, sess: Any) -> Any:
    """Names, static shapes, values, what a closed queue says."""
    q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []], name="q")
    one, many = q.enqueue([[1.0, 2.0], 3]), q.enqueue_many([[[1.0, 2.0], [3.0, 4.0]], [5, 6]])
    out, two, up_to = q.dequeue(), q.dequeue_many(2), q.dequeue_up_to(2)
    size, close, closed = q.size(), q.close(), q.is_closed()
    result = [[o.name, o.type, [t.name for t in o.inputs]] for o in (one, many, close)]
    result += _described(tf, [*out, *two, *up_to, size, closed])
    steps = [size, one, many, size, out, two, one, closed, close, closed, one, many, two, up_to, up_to, out, close]
    return result + [outcome(sess.run, step) for step in steps]


def shapes_that_differ(tf: Any, sess: Any) -> Any:
    """Padding, elements without a shape, shapes that do not fit when it runs."""
    q = tf.PaddingFIFOQueue(9, [tf.float32, tf.string], [[None, 2], []])
    for n in (1, 3, 2):
        sess.run(q.enqueue([np.ones([n, 2]), str(n)]))
    loose = tf.FIFOQueue(9, tf.int32)
    fed = tf.placeholder(tf.float32, [None])
    tight = tf.FIFOQueue(9, tf.float32, shapes=[[2]])
    return [_described(tf, q.dequeue_many(2)), *(outcome(sess.run, t) for t in (
        q.dequeue(), q.dequeue_many(2), loose.enqueue([[1, 2]]), loose.enqueue(3), loose.dequeue_many(2),
        loose.dequeue(), loose.dequeue())),
        outcome(sess.run, tight.enqueue([fed]), {fed: [1.0, 2.0, 3.0]}), outcome(sess.run, tight.dequeue_many(0))]


def random_order(tf: Any, sess: Any) -> Any:
    """The order of a seed; what must stay in the queue."""
    q = tf.RandomShuffleQueue(50, 2, [tf.int32], shapes=[[]], seed=3)
    sess.run(q.enqueue_many([list(range(20))]))
    out, many = q.dequeue(), q.dequeue_many(9)
    result = [outcome(sess.run, t) for t in (many, out, out, q.size(), q.close(), q.dequeue_up_to(20), out)]
    tf.set_random_seed(5)
    other = tf.RandomShuffleQueue(50, 0, [tf.int32], shapes=[[]])
    sess.run(other.enqueue_many([list(range(20))]))
    return [*result, outcome(sess.run, other.dequeue_many(20))]


def priorities(tf: Any, sess: Any) -> Any:
    """The lowest priority first."""
    q = tf.PriorityQueue(9, [tf.string], shapes=[[]])
    sess.run(q.enqueue_many([[5, -2, 3, 9], ["five", "minus two", "three", "nine"]]))
    sess.run(q.enqueue([4, "four"]))
    return [[t.name for t in q.dtypes], outcome(sess.run, q.dequeue()), outcome(sess.run, q.dequeue_many(3))]


def names_and_sharing(tf: Any, sess: Any) -> Any:
    """Dictionaries; queues of one shared name."""
    q = tf.FIFOQueue(9, [tf.float32, tf.int32], names=["a", "b"], shapes=[[], []])
    sess.run(q.enqueue({"b": 2, "a": 1.0}))
    one, two = (tf.FIFOQueue(9, tf.int32, [[]], shared_name="both") for _ in range(2))
    sess.run(one.enqueue(7))
    larger = tf.FIFOQueue(10, tf.int32, [[]], shared_name="both")
    chosen = tf.QueueBase.from_list(1, [one, two])
    return [outcome(sess.run, q.dequeue()), outcome(sess.run, chosen.size()), outcome(sess.run, two.dequeue()),
            outcome(sess.run, larger.size())]


def moves_in_one_run(tf: Any, sess: Any) -> Any:
    """Operations of one run that wait for each other, in whatever order they were built."""
    q = tf.FIFOQueue(1, tf.float32, [[]])
    out = q.dequeue()
    put = q.enqueue(3.0)
    first = sess.run([out, put])[0]
    more = q.enqueue(4.0)
    sess.run(more)
    return plain([first, sess.run([more, out * 2.0])[1], sess.run(q.size())])


def _reads(tf: Any, sess: Any, reader: Any, names: list[str], count: int) -> Any:
    q = tf.FIFOQueue(9, tf.string, [[]])
    sess.run(q.enqueue_many([names]))
    sess.run(q.close())
    record = reader.read(q)
    found = [outcome(sess.run, list(record)) for _ in range(count)]
    done = [reader.num_records_produced(), reader.num_work_units_completed(), reader.serialize_state()]
    return [*found, *(outcome(sess.run, t) for t in done)]


def readers(tf: Any, sess: Any) -> Any:
    """What each reader gives, key and value, and what it counts."""
    with tf.python_io.TFRecordWriter("r.tfr") as writer:
        writer.write(b"one")
        writer.write(b"three")
    three = ["a.txt", "empty.txt", "b.txt"]
    upto = tf.TextLineReader()
    q = tf.FIFOQueue(9, tf.string, [[]])
    sess.run(q.enqueue_many([three]))
    sess.run(q.close())
    records = upto.read_up_to(q, 3)
    return [
        _reads(tf, sess, tf.TextLineReader(), three, 8), _reads(tf, sess, tf.TextLineReader(1), three, 6),
        _reads(tf, sess, tf.WholeFileReader(), ["b.txt", "empty.txt", "none.txt"], 3),
        _reads(tf, sess, tf.IdentityReader(), ["x", "y"], 3), _reads(tf, sess, tf.TFRecordReader(), ["r.tfr"], 3),
        _reads(tf, sess, tf.FixedLengthRecordReader(4, 2, 2), ["f.bin"], 3),
        _reads(tf, sess, tf.FixedLengthRecordReader(4, 2, 2, 2), ["f.bin"], 5),
        [outcome(lambda: list(sess.run(records))) for _ in range(4)],
        outcome(sess.run, upto.reset()), outcome(sess.run, upto.num_records_produced()),
        outcome(sess.run, tf.matching_files(["b.*", "*.bin", "none*"])),
    ]


_CSV: list[tuple[Any, ...]] = [
    (['1,2.5,a', '2,,"b, ""q"""'], [[0], [9.0], ["x"]]), ("1,2", [[0], [9.0], ["x"]]),
    ("1,2,3,4", [[0], [9.0], ["x"]]), ("a,1,x", [[0], [9.0], ["x"]]), ("1,q,x", [[0], [9.0], ["x"]]),
    (" 1 , 2.5 , x ", [[0], [9.0], ["x"]]), ("12345678901", [[0]]), ('a"b,1', [["x"], [0]]),
    ('"ab"c,1', [["x"], [0]]), ('"ab,1', [["x"], [0]]), ("", [["d"]]), (",", [["d"], [4]]), ("a,1\r\n", [["x"], [0]]),
    ('"a\nb",1', [["x"], [0]]), ([["1,2"], ["3,4"]], [[0], [0]]), ("0x10,1e3", [[0], [0.0]]),
    ("inf,nan1", [[0.0], [0.0]]), ("-3,+4", [[0], [0]]), ('"",""""', [["x"], ["y"]]), ('a,"b"', [["x"], ["y"]]),
]


def csv(tf: Any, sess: Any) -> Any:
    """Records of all kinds, good and bad."""
    result = [outcome(sess.run, tf.decode_csv(*args)) for args in _CSV]
    required = [[0], tf.constant([], tf.float32), ["x"]]
    more = [tf.decode_csv("1,,x", required), tf.decode_csv('a"b,1', [["x"], [0]], use_quote_delim=False),
            tf.decode_csv("a\t1", [["x"], [0]], field_delim="\t"), tf.decode_csv("NA,1", [[3], [0]], na_value="NA"),
            tf.decode_csv("a,1,b,2", [[0], [5]], select_cols=[1, 3])]
    return result + [outcome(sess.run, t) for t in more]


def _pump(tf: Any, sess: Any, *fetches: Any) -> Any:
    """What runs of each of the fetches give until the data are over."""
    sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    found: list[Any] = []
    for fetch in fetches:
        found.append([])
        while not found[-1] or (found[-1][-1][:1] != ["OutOfRangeError"] and len(found[-1]) < 30):
            found[-1].append(outcome(sess.run, [fetch]))
    coord.request_stop()
    coord.join(threads)
    return found


def csv_pipeline(tf: Any, sess: Any) -> Any:
    """Names of files, lines, columns, batches: the graph and what comes out."""
    names = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=2, shuffle=False)
    _, line = tf.TextLineReader(skip_header_lines=1).read(names)
    columns = tf.decode_csv(line, [[0], [1.5], ["d"]])
    batch = tf.train.batch(columns, 2, allow_smaller_final_batch=True)
    mixed = tf.train.shuffle_batch({"x": columns[0]}, 2, 10, 3)
    graph = tf.get_default_graph()
    kinds = ("Variable", "Assign", "VarHandle", "VarIs", "Read", "CountUp", "ResourceCount")
    nodes = []
    for o in graph.get_operations():
        if not o.type.startswith(kinds) and not re.search("limit_epochs|/Assert/", o.name):
            waits = [c.name for c in o.control_inputs if "limit" not in c.name]
            nodes.append([o.type, o.name, [t.name for t in o.inputs], waits])
    runners = [str(r.to_proto()) for r in tf.get_collection("queue_runners")]
    del tf.get_collection_ref("queue_runners")[-1]
    return [nodes, runners, _described(tf, [*batch, *mixed.values()]), sorted(graph.get_all_collection_keys()),
            _pump(tf, sess, batch)]


def producers(tf: Any, sess: Any) -> Any:
    """Rows, numbers, slices; in the order of a seed, too."""
    rows = tf.train.input_producer(np.arange(6).reshape(3, 2), num_epochs=1, shuffle=False).dequeue()
    mixed = tf.train.range_input_producer(7, num_epochs=2, seed=4).dequeue_many(7)
    a, b = tf.train.slice_input_producer([np.arange(4) * 10, np.arange(4.0)], num_epochs=1, shuffle=False)
    return [_described(tf, [rows, mixed, a, b]), _pump(tf, sess, rows, mixed, [a, b])]


def batches(tf: Any, sess: Any) -> Any:
    """Batches of rows, padded ones, those of a condition, of several sources, shuffled ones."""
    number = tf.train.range_input_producer(9, num_epochs=1, shuffle=False).dequeue()
    ragged = tf.ones([number % 4]) * tf.cast(number, tf.float32)
    ragged.set_shape([None])
    padded = tf.train.batch({"n": number, "r": ragged}, 3, dynamic_pad=True)
    odd = tf.train.range_input_producer(9, num_epochs=1, shuffle=False).dequeue()
    kept = tf.train.maybe_batch([odd], tf.equal(odd % 2, 1), 2, allow_smaller_final_batch=True)
    rows = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    spread = tf.train.batch([tf.stack([rows, rows * 10, rows * 100])], 4, enqueue_many=True,
                            allow_smaller_final_batch=True)
    some = tf.train.maybe_batch([tf.range(3) + 0 * rows], tf.constant([True, False, True]), 4, enqueue_many=True)
    del tf.get_collection_ref("queue_runners")[-1]
    joined = tf.train.batch_join([[number]], 2)
    del tf.get_collection_ref("queue_runners")[-1]
    return [_described(tf, [padded["n"], padded["r"], kept, spread, some, joined]),
            _pump(tf, sess, [padded["n"], padded["r"]], kept, spread)]


CASES = {f.__name__: f for f in (
    first_in_first_out, shapes_that_differ, random_order, priorities, names_and_sharing, moves_in_one_run, readers,
    csv, csv_pipeline, producers, batches)}

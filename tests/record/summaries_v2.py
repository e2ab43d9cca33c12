"""Records what `tf.summary` of TensorFlow 2 writes into tests/recorded/summaries_v2.json; run beside TensorBoard."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from tests.extras.data.data_cases import plain
from tests.record import RECORDED
from tests.training.summary_v2_cases import images, write


def events(tf: Any, folder: str) -> list[Any]:
    """Step, tag, page, description and values of everything in a folder's event file."""
    (name,) = os.listdir(folder)
    found = []
    for event in tf.compat.v1.train.summary_iterator(os.path.join(folder, name)):
        for value in event.summary.value:
            array = tf.make_ndarray(value.tensor)
            if array.dtype == object:
                array = [v.hex() if isinstance(v, bytes) else v for v in array.ravel().tolist()]
            about = value.metadata
            found.append([event.step, value.tag, about.plugin_data.plugin_name, about.plugin_data.content.hex(),
                          about.summary_description, plain(array)])
    return found


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        results = write(tf, folder)
        written = events(tf, folder)
    pixels = {}
    for name, batch in images().items():
        with tempfile.TemporaryDirectory() as folder:
            with tf.summary.create_file_writer(folder).as_default(step=0):
                tf.summary.image("i", batch, max_outputs=2)
            encoded = [bytes.fromhex(v) for v in events(tf, folder)[0][5]]
            pixels[name] = [encoded[0].decode(), encoded[1].decode(),
                            *[tf.io.decode_png(e).numpy().tolist() for e in encoded[2:]]]
    path = RECORDED / "summaries_v2.json"
    path.write_text(json.dumps({"results": results, "events": written, "pixels": pixels}) + "\n")


if __name__ == "__main__":
    main()

"""Records what `tf.summary` of TensorFlow 2 writes into tests/recorded/summaries_v2.json; run beside TensorBoard."""

from __future__ import annotations

import json
import tempfile

from tests.record import RECORDED
from tests.training.summary_v2_cases import events, images, write


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

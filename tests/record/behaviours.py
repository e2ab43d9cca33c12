"""Records what the programs of tests/behaviours/ give in TensorFlow; run beside TensorFlow 2.21.

    python -m tests.record.behaviours [subject ...]
"""

from __future__ import annotations

import sys

from tests.behaviours import harness


def main() -> None:
    """Writes tests/recorded/behaviours/<subject>.json."""
    import tensorflow as tf

    for subject in sys.argv[1:] or harness.SUBJECTS:
        results = {name: case.run(tf.compat.v1, tf) for name, case in harness.cases_of(subject).items()}
        harness.save(subject, results)
        print(f"{subject}: {len(results)} recorded")


if __name__ == "__main__":
    main()

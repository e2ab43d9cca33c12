"""Evaluates the expressions of `ragged_cases.py` with TensorFlow, into `tests/recorded/ragged.json`."""

from __future__ import annotations

import json

import tensorflow as tf

import ragged_cases as cases

found = {e: cases.evaluated(tf, e) for group in cases.EXPRESSIONS for e in cases.expressions(group)}
lines = [f"{json.dumps(e)}: {json.dumps(v)}" for e, v in found.items()]
cases.FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{len(found)} expressions, {sum(v[0] == 'error' for v in found.values())} of them errors")

"""What editors say of programs that use the package: errors, and what they offer for completion."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from tests.faces.test_types import ANNOTATED, ORDINARY, SOURCE
from tests.faces.typed.programs import ROOMS, programs
from tests.support.effort import long

# Functions of a tensor `x` in each face, whose results are tensors.
_OF_ONE = """math.reduce_sum math.reduce_mean math.reduce_max math.exp math.log math.tanh math.sigmoid math.square
    math.sqrt math.abs math.argmax math.cumsum math.is_nan nn.relu nn.softmax nn.elu linalg.diag linalg.trace identity
    zeros_like ones_like stop_gradient transpose squeeze shape size rank where convert_to_tensor"""
_CALLS = {
    "graphgrad": "math.reduce_std(x) math.top_k(x).values raw_ops.Abs(x=x) raw_ops.TopKV2(input=x,k=1).values "
                 "cond(x,lambda:x,lambda:x)",
    "graphgrad.v1": "to_float(x) log(x) neg(x) layers.dense(x,3) placeholder('float32') scan(lambda*a:x,x,x)",
    "graphgrad.compat.v1": "to_int32(x) reduce_sum(x) layers.flatten(x) where(x,x,x) map_fn(lambda*a:x,x)",
}


@long("type checkers read the same programs, and others like them run")
@pytest.mark.parametrize("room", ROOMS)
def test_programs_run(room: str, tmp_path: pathlib.Path) -> None:
    """The programs that type checkers read do what they assert."""
    written = []
    for name, program in programs(room).items():
        written.append(str(tmp_path / f"{name}.py"))
        pathlib.Path(written[-1]).write_text(program)
    text = f"""
import runpy
import graphgrad.{"compat.v1" if room == "eager" else "v1"} as tf
for path in {written}:
    print(path)
    if {room == "eager"}:
        runpy.run_path(path)
    else:
        with tf.Graph().as_default():
            runpy.run_path(path)
"""
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(SOURCE)})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert len(written) == 15


@long("mypy says the same, and pyright is no part of the environment")
def test_what_pyright_says(tmp_path: pathlib.Path) -> None:
    """No false error in ordinary programs, where there is a pyright."""
    pyright = shutil.which("pyright") or shutil.which("basedpyright")
    if pyright is None:
        pytest.skip("there is no pyright; npm install -g pyright, or pip install basedpyright")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({
        "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard", "pythonVersion": "3.11"}))
    for name, text in {"annotated": ANNOTATED, "ordinary": ORDINARY, **programs()}.items():
        (tmp_path / f"{name}.py").write_text(text)
    done = subprocess.run([pyright, "--pythonpath", sys.executable, "--outputjson"], cwd=tmp_path, text=True,
                          capture_output=True, env=dict(os.environ), check=False)
    said = json.loads(done.stdout)
    found = [(d["file"], d["message"]) for d in said["generalDiagnostics"] if d["severity"] == "error"]
    assert not found
    assert said["summary"]["filesAnalyzed"] >= 32


@long("the types that mypy finds are those that completion uses")
@pytest.mark.parametrize("face", list(_CALLS))
def test_completion(face: str, tmp_path: pathlib.Path) -> None:
    """An editor that asks jedi offers the names of a face, and those of results."""
    jedi = pytest.importorskip("jedi", reason="pip install 'graphgrad[notebook]'")
    project = jedi.Project(tmp_path, added_sys_path=[str(SOURCE)])

    def offered(text: str) -> set[str]:
        return {c.name for c in jedi.Script(f"import {face} as tf\nx = tf.constant([1.0])\n" + text,
                                            project=project).complete()}

    assert "reduce_sum" in offered("tf.reduce_s") and "relu" in offered("tf.nn.re")
    calls = [f"{name}(x)" for name in _OF_ONE.split()] + _CALLS[face].split()
    members = {"numpy", "shape", "dtype", "op", "get_shape", "name"}
    missing = [call for call in calls if not members <= offered(f"y = tf.{call}\ny.")]
    assert not missing and len(calls) >= 30

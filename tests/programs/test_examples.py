"""The programs of `examples/`: each runs by the command line and prints what TensorFlow printed.

Text has to be the same. Numbers have to agree within the tolerance that `TOLERANCE` gives:
long training multiplies differences of the last digit.
"""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.effort import long

_ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.stem for path in (_ROOT / "examples").glob("*.py"))
# Programs that use `tf.contrib`, `tf.implicit` or `tf.as_function`, which TensorFlow 2.21 does not have: what is
# recorded for these was printed by this package, and tells only that it stays so. Each has a test of what it must find,
# whoever runs it.
WITHOUT_ORACLE = {"seq2seq_attention", "bilevel", "bundle_adjustment", "stiff_ode_fit"}
_LONG = long("tests/extras/contrib/test_seq2seq.py and tests/extras/implicit test what they are made of")
NEEDS = {p.stem: "sklearn" for p in (_ROOT / "examples").glob("*.py") if "sklearn" in p.read_text()}
_COMPARED = [pytest.param(n, marks=_LONG) if n in WITHOUT_ORACLE else n for n in EXAMPLES if n != "demo_digits"]

# How far numbers may differ from the recorded ones, absolutely; by one in the last digit that is printed in any case.
# What an example prints must not multiply rounding: weights that begin 1e-6 off (relatively), NumPy's or XLA's first
# run, one core or many must not show.
TOLERANCE = {"adversarial": 0.02, "boltzmann_machine": 0.004, "em_mixture": 0.002, "cnn_batch_norm": 0.03,
             "char_rnn": 0.005, "gan_penalty": 0.005, "vae": 0.003, "neural_style": 0.001,
             "seq2seq_attention": 0.05}
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@cache
def ran(name: str) -> tuple[str, dict[str, Any]]:
    """What an example prints, and what `example_run.py` noticed on the way; the processes of one run share it."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return _run(name)
    folder = pathlib.Path(os.environ["GRAPHGRAD_CACHE_DIR"]) / f"examples-{run}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.json", "a+") as shared:
        fcntl.flock(shared, fcntl.LOCK_EX)  # while another process runs it
        shared.seek(0)
        if known := shared.read():
            text, report = json.loads(known)
            return text, report
        found = _run(name)
        json.dump(found, shared)
        return found


def _run(name: str) -> tuple[str, dict[str, Any]]:
    with tempfile.NamedTemporaryFile("r") as report:
        command = [sys.executable, "tests/programs/example_run.py", report.name, f"examples/{name}.py"]
        shared = {k: os.environ[k] for k in ("PYTHONPYCACHEPREFIX",) if k in os.environ}
        done = subprocess.run(command, cwd=_ROOT, check=False, capture_output=True, text=True, timeout=300,
                              env={"PYTHONPATH": str(_ROOT / "src"), "PATH": "/usr/bin:/bin", **shared})
        assert done.returncode == 0, done.stderr
        return done.stdout, json.load(report)


def printed(name: str) -> str:
    """What an example prints."""
    return ran(name)[0]


def numbers(text: str) -> list[float]:
    """The numbers in a text."""
    return [float(n) for n in _NUMBER.findall(text)]


def last_digits(text: str) -> list[float]:
    """What one more in the last digit of each number in a text is, and a little for rounding; 0 for integers."""
    written = [n.partition("e") for n in _NUMBER.findall(text)]
    return [1.01 * 10.0 ** (int(e or 0) - len(n.partition(".")[2])) if "." in n else 0.0 for n, _, e in written]


def line(name: str, begins: str) -> str:
    """What stands behind `begins` in the line of an example's output that begins so."""
    return next(s for s in printed(name).splitlines() if s.strip().startswith(begins)).strip()[len(begins) :]


@pytest.mark.parametrize("name", _COMPARED)
def test_as_recorded(name: str) -> None:
    """An example prints what it printed on TensorFlow."""
    recorded = (_ROOT / "tests" / "recorded" / "examples" / f"{name}.txt").read_text()
    got = printed(name)
    assert re.sub(r"\s+", " ", _NUMBER.sub("#", got)) == re.sub(r"\s+", " ", _NUMBER.sub("#", recorded))
    atol = np.maximum(TOLERANCE.get(name, 1.01e-4), last_digits(recorded))
    values, wanted = np.array(numbers(got)), np.array(numbers(recorded))
    off = np.abs(values - wanted) > atol + 1e-6 * np.abs(wanted)
    assert not off.any(), f"{values[off]} where TensorFlow printed {wanted[off]}"


@pytest.mark.parametrize("name", _COMPARED)
def test_runs_agree_and_disturb_nothing(name: str) -> None:
    """NumPy's random state is the program's own, and the third run gives the first one's numbers, but for rounding."""
    noticed = ran(name)[1]
    assert noticed["numpy_random"]
    assert noticed["differences"] == []


def test_the_page_lists_them() -> None:
    """Each has a row in `docs/inside/testing.md`, which says the best of it."""
    from tests.docs import example_table

    assert example_table.rows() == EXAMPLES
    table = example_table.PAGE.read_text().partition("## Examples")[2].partition("\n## ")[0]
    assert "differ" not in table and "changed" not in table


def test_begin_as_tensorflow_programs_do() -> None:
    """Every example imports `tensorflow`, and nothing of this package."""
    for name in EXAMPLES:
        text = (_ROOT / "examples" / f"{name}.py").read_text()
        assert text.startswith("import tensorflow as tf\n"), name
        assert not re.search(r"^\s*(?:import|from) graphgrad", text, re.M), name


def test_stop_gradients() -> None:
    """Total derivatives are 3 and 1, partial ones 1 and 1, however they are asked for."""
    assert line("stop_gradients_v1", "total derivative:").strip() == "[3.0, 1.0]"
    assert line("stop_gradients_v1", "stop_gradients=[a, b]:").strip() == "[1.0, 1.0]"
    assert line("stop_gradients_v1", "stop_gradient:").strip() == "[1.0, 1.0]"
    assert line("stop_gradients_v1", "both:").strip() == "[3.0, 1.0, 1.0, 1.0]"


def test_stop_gradients_in_functions() -> None:
    """The results of a `tf.function` print as TensorFlow's eager tensors do."""
    one = "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    three = one.replace("1.0", "3.0")
    results = printed("stop_gradients_v2").splitlines()[1::2]
    assert results == [f"[{three}, {one}]", f"[{one}, {one}]", f"[{one}, {one}]"]


def test_unconnected() -> None:
    """None, or zeros of x's shape."""
    assert printed("unconnected").splitlines() == ["'none': [None]", "'zero': [[0.0, 0.0]] of shape (1, 2)"]


def test_shared_parameter() -> None:
    """Both ways from the cost to the weight count."""
    assert numbers(printed("shared_parameter")) == [3.0, 1.0]


def test_linear_regression() -> None:
    """The gradients equal the closed form, and descent finds the line through both points."""
    x, y = np.array([2.0, 3.0]), np.array([3.0, 2.0])
    error = 0.1 * x - y
    np.testing.assert_allclose(numbers(line("linear_regression", "prediction:")), 0.1 * x, atol=1e-4)
    np.testing.assert_allclose(numbers(line("linear_regression", "cost:")), [0.5 * (error**2).sum()], atol=1e-4)
    gradients = [(error * x).sum(), error.sum()]
    np.testing.assert_allclose(numbers(line("linear_regression", "gradients:")), gradients, atol=1e-4)
    np.testing.assert_allclose(numbers(line("linear_regression", "after 3000 steps:")), [-1.0, 5.0, 0.0], atol=1e-3)


def test_grad_ys() -> None:
    """Weights multiply; the stand-in learns what the true gradient, zero, cannot; pieces make the whole."""
    x = np.array([1.0, 2.0, 3.0])
    assert numbers(line("grad_ys", "gradient of y1 + 10 y2:")) == (2 * x + 40).tolist()
    assert numbers(line("grad_ys", "true gradient of the weights:")) == [0.0, 0.0]
    assert numbers(line("grad_ys", "wrong after:"))[0] == 0
    assert line("grad_ys", "one call and one for each branch agree:").strip() == "True"


def test_em_mixture() -> None:
    """The likelihood grows to the value that EM with the closed-form M-step finds."""
    assert line("em_mixture", "M-step's gradient is the likelihood's:").strip() == "True"
    assert line("em_mixture", "... and would not be without stop_gradient:").strip() == "False"
    values = [numbers(s)[1] for s in printed("em_mixture").splitlines() if s.startswith("step")]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(_expectation_maximization(), abs=0.01)


def _expectation_maximization() -> float:
    """The log-likelihood that EM finds on the irises, with the M-step in closed form."""
    from sklearn.datasets import load_iris

    x = load_iris().data
    means, variances, weights = x[[8, 75, 125]], np.tile(x.var(axis=0), (3, 1)), np.ones(3) / 3
    likelihood = 0.0
    for _ in range(500):
        squares = (x[:, None] - means) ** 2 / variances
        joint = -0.5 * (squares + np.log(2 * np.pi * variances)).sum(axis=2) + np.log(weights)
        log_sum = np.logaddexp.reduce(joint, axis=1)
        likelihood = float(log_sum.sum())
        r = np.exp(joint - log_sum[:, None])
        n = r.sum(axis=0)
        means = r.T @ x / n[:, None]
        variances = np.einsum("nk,nkd->kd", r, (x[:, None] - means) ** 2) / n[:, None]
        weights = n / len(x)
    return likelihood


def test_boltzmann_machine() -> None:
    """The gradient is the difference of correlations, and training works."""
    assert line("boltzmann_machine", "gradient of W is the difference of correlations:").strip() == "True"
    errors = [numbers(s)[1] for s in printed("boltzmann_machine").splitlines() if s.startswith("step")]
    assert errors[-1] < 0.07 < errors[0]


def test_adversarial() -> None:
    """Adversarial examples hurt, and less so after adversarial training."""
    clean, attacked = numbers(line("adversarial", "ordinary training:"))
    robust_clean, robust_attacked = numbers(line("adversarial", "adversarial training:"))
    assert min(clean, robust_clean) > 0.95
    assert attacked < 0.6 < 0.7 < robust_attacked


def test_demo() -> None:
    """The demo's classifier gets at least 95 % of the test images right."""
    assert numbers(line("demo_digits", "test accuracy:"))[0] >= 95.0
    losses = [numbers(s)[1] for s in printed("demo_digits").splitlines() if s.startswith("epoch")]
    assert losses == sorted(losses, reverse=True) and len(losses) == 5


def test_programs_of_the_field() -> None:
    """What the programs found is what they were written for, by NumPy's word or by what is known of the problem."""
    losses = [numbers(s)[1] for s in printed("logistic_regression").splitlines() if s.startswith("step")]
    assert losses == sorted(losses, reverse=True)
    assert numbers(line("logistic_regression", "accuracy:"))[0] > 0.97
    assert line("normalizing_flow", "the determinants agree:").strip() == "True"
    assert line("normalizing_flow", "backward undoes forward:").strip() == "True"
    added, rise = numbers(line("saliency", "integrated gradients add up to"))
    assert added == pytest.approx(rise, abs=1e-3)
    assert line("word2vec", "gradient of the table:").strip() == "IndexedSlices"
    assert line("guided_backprop", "the forward pass is the same:").strip() == "True"
    plain, guided = numbers(line("guided_backprop", "negative parts:"))
    assert guided < plain
    assert numbers(line("newton_cg", "mean square error:"))[0] < 0.41
    assert numbers(line("gan_penalty", "step 40:"))[1] < 0.05  # the critic's slope is near 1


@_LONG
def test_seq2seq_attention() -> None:
    """It begins by guessing among 12 symbols, learns the task, and writes the digits backwards: no oracle is needed."""
    steps = [numbers(s) for s in printed("seq2seq_attention").splitlines() if s.startswith("step")]
    assert [n for n, _ in steps] == [0, 200, 400]
    assert steps[0][1] == pytest.approx(np.log(12), abs=0.05) and steps[-1][1] < 0.01
    assert numbers(line("seq2seq_attention", "written backwards without a mistake:"))[0] >= 195
    shown = [s.split(" -> ") for s in printed("seq2seq_attention").splitlines() if " -> " in s]
    assert len(shown) == 3 and all(a == b[::-1] for a, b in shown)


@_LONG
def test_bilevel() -> None:
    """Gradients through a minimum lower the validation loss, and tell useful features from useless ones."""
    first = numbers(line("bilevel", "iteration  0: validation"))[0]
    assert numbers(line("bilevel", "in the end:   validation"))[0] < first / 2
    small = numbers(line("bilevel", "penalties of useful features:"))[0]
    assert numbers(line("bilevel", "penalties of useless features:"))[0] > 10 * small
    assert line("bilevel", "gradient and finite difference differ by less than 1e-7:").strip() == "True"


@_LONG
def test_bundle_adjustment() -> None:
    """A picture depends on a camera and a point: 9 unknowns, less the middle of the cross product, in two numbers."""
    found, of = numbers(line("bundle_adjustment", "entries of the Jacobian:"))
    assert of == 2 * 160 * (6 * 6 + 3 * 40)
    assert found <= 2 * 160 * 9
    assert line("bundle_adjustment", "rms error in the end below 1e-6:").strip() == "True"
    assert line("bundle_adjustment", "Jacobian and finite differences agree to 1e-6:").strip() == "True"


@_LONG
def test_stiff_ode_fit() -> None:
    """The fit finds the rates that the measurements were made with."""
    assert numbers(line("stiff_ode_fit", "rates found:")) == [0.04, 3e7, 1e4]
    assert line("stiff_ode_fit", "relative error below 1e-4:").strip() == "True"

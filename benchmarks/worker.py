"""Runs the measurements of one system, as told by JSON lines on its standard input.

    python worker.py graphgrad|tensorflow|jax|torch [CORES]

It answers each line `{"do": name, ...}` with one line: an object of numbers, or `{"error": text}`. The first line it
writes, unasked, says how long the import took. CORES are the numbers of the processor's cores to stay on, with commas.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import tomllib
import traceback
from pathlib import Path

_now = time.perf_counter
LARGE = 1 << 20  # elements: a larger initial value goes into the graph through a placeholder


class Graph:
    """graphgrad and TensorFlow: a graph and a session, by the API of TensorFlow 1."""

    phases = ("forward", "gradients", "update")
    name = "tensorflow"

    def __init__(self):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        import tensorflow.compat.v1 as tf

        tf.disable_eager_execution()  # with variables as resources: others race with their updates
        tf.logging.set_verbosity(tf.logging.ERROR)
        self.tf = tf

    def start(self, model):
        """Takes a model; nothing is measured yet."""
        self.model = model
        self.graph = self.tf.Graph()

    def forward(self):
        """Builds the loss; returns the number of operations."""
        tf, model = self.tf, self.model
        self.initial = {}  # feeds of the initial values
        with self.graph.as_default():
            self.feeds = {tf.placeholder(a.dtype, a.shape): a for a in model.data}
            self.variables = [tf.Variable(self._initial(a)) for a in model.weights]
            self.y = model.forward(tf, self.variables, *self.feeds)
        return len(self.graph.get_operations())

    def _initial(self, array):
        if array.size <= LARGE:
            return array
        placeholder = self.tf.placeholder(array.dtype, array.shape)
        self.initial[placeholder] = array
        return placeholder

    def gradients(self):
        """Adds the gradients; returns the number of operations that this took."""
        before = len(self.graph.get_operations())
        with self.graph.as_default():
            self.loss = self.model.objective(self.tf, self.y, *self.feeds)
            self.grads = self.tf.gradients(self.loss, self.variables) if self.variables else []
        return len(self.graph.get_operations()) - before

    def update(self):
        """Adds what a step runs besides; returns the number of operations."""
        tf, model, before = self.tf, self.model, len(self.graph.get_operations())
        more = self.grads
        with self.graph.as_default():
            if model.optimizer:
                make = {"sgd": tf.train.GradientDescentOptimizer, "adam": tf.train.AdamOptimizer}[model.optimizer]
                more = [make(model.rate).apply_gradients(zip(self.grads, self.variables, strict=True))]
            self.fetches = [self.loss, *more]
            self.initialize = tf.global_variables_initializer()
        return len(self.graph.get_operations()) - before

    def first(self):
        """Makes a session, sets the variables and runs the first step; returns the loss."""
        self.session = self.tf.Session(graph=self.graph)
        self.session.run(self.initialize, self.initial)
        return self.step()

    def step(self):
        """Runs one step; returns the loss."""
        return self.session.run(self.fetches, self.feeds)[0]

    def alive(self):
        """The most that is alive at once during a step by the system's own report, in bytes, or None."""
        return None

    def version(self):
        """The version of the system."""
        return self.tf.__version__


class Graphgrad(Graph):
    """graphgrad."""

    name = "graphgrad"

    def __init__(self):
        import graphgrad.v1 as tf

        self.tf = tf

    def alive(self):
        options = self.tf.RunOptions(trace_level=self.tf.RunOptions.FULL_TRACE)
        metadata = self.tf.RunMetadata()
        self.session.run(self.fetches, self.feeds, options, metadata)
        return metadata.peak_bytes

    def compiles(self):
        """Whether steps are NumPy's for now."""
        tiers = self.session._entry(self.fetches, self.feeds).executable._tiers
        return not (tiers is None or tiers.over or tiers._plan.stays)

    def version(self):
        return own_version()


class Jax:
    """JAX: a jitted function that takes the weights and gives the new ones; their buffers are donated."""

    phases = ()
    name = "jax"

    def __init__(self):
        import jax
        import jax.numpy

        self.jax = jax

    def start(self, model):
        """Takes a model; nothing is measured yet."""
        self.model = model

    def first(self):
        """Puts the weights on the device, compiles and runs the first step; returns the loss."""
        jax, np, model = self.jax, self.jax.numpy, self.model
        differentiate = jax.value_and_grad(lambda w, *data: model.jax(jax, w, *data))

        def gradients(w, *data):
            loss, grads = differentiate(w, *data)
            return loss, grads

        def sgd(w, *data):
            loss, grads = differentiate(w, *data)
            return [a - model.rate * g for a, g in zip(w, grads, strict=True)], loss

        def adam(state, *data):
            w, m, v, n = state
            loss, grads = differentiate(w, *data)
            n = n + 1
            m = [0.9 * a + 0.1 * g for a, g in zip(m, grads, strict=True)]
            v = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads, strict=True)]
            rate = model.rate * np.sqrt(1 - 0.999**n) / (1 - 0.9**n)
            w = [a - rate * b / (np.sqrt(c) + 1e-8) for a, b, c in zip(w, m, v, strict=True)]
            return (w, m, v, n), loss

        self.state = [np.asarray(a) for a in model.weights]
        if model.optimizer is None:
            self.call = jax.jit(gradients)
            return self.step()
        function = {"sgd": sgd, "adam": adam}[model.optimizer]
        if model.optimizer == "adam":
            zeros = [[np.zeros_like(a) for a in self.state] for _ in range(2)]
            self.state = (self.state, *zeros, np.zeros(()))
        if hasattr(model, "jax_step"):
            function = functools.partial(model.jax_step, jax)
        self.call = jax.jit(function, donate_argnums=0)
        return self.step()

    def step(self):
        """Runs one step; returns the loss."""
        if self.model.optimizer is None:
            return self.jax.device_get(self.call(self.state, *self.model.data))[0]
        self.state, loss = self.call(self.state, *self.model.data)
        return float(loss)

    def alive(self):
        """None."""

    def version(self):
        """The version of the system."""
        return self.jax.__version__


class Torch:
    """PyTorch: eager."""

    phases = ()
    name = "torch"

    def __init__(self):
        import torch
        import torch.nn.functional

        self.torch = torch
        if os.environ.get("GRAPHGRAD_BENCH_DEVICE") == "gpu":
            torch.set_default_device("cuda")  # `torch.tensor` and `torch.as_tensor` put arrays there
            torch.set_float32_matmul_precision("high")  # products as XLA computes them there

    def start(self, model):
        """Takes a model, and brings images and filters into PyTorch's order, labels into its type."""
        import numpy as np

        def own(array, order):
            if array.dtype.kind == "i":
                return array.astype(np.int64)
            return np.ascontiguousarray(array.transpose(order)) if array.ndim == 4 else array

        self.model = model
        self.data = [own(a, (0, 3, 1, 2)) for a in model.data]
        self.initial = [own(a, (3, 2, 0, 1)) for a in model.weights]

    def first(self):
        """Makes parameters and optimizer and runs the first step; returns the loss."""
        torch, model = self.torch, self.model
        self.weights = [torch.tensor(a, requires_grad=True) for a in self.initial]
        if model.optimizer:
            make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[model.optimizer]
            self.optimizer = make(self.weights, lr=model.rate)
        return self.step()

    def step(self):
        """Runs one step; returns the loss."""
        torch, model = self.torch, self.model
        loss = model.torch(torch, self.weights, *map(torch.as_tensor, self.data))
        if model.optimizer is None:
            _ = [g.cpu().numpy() for g in torch.autograd.grad(loss, self.weights)] if self.weights else []
        else:
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def alive(self):
        """None."""

    def version(self):
        """The version of the system."""
        return self.torch.__version__


SYSTEMS = {system.name: system for system in (Graphgrad, Graph, Jax, Torch)}


class Worker:
    """What can be asked of a system."""

    def __init__(self, system):
        self.system = system

    def build(self, model):
        """Makes the model's arrays and builds its graph, where the system has one.

        Returns: seconds and number of operations for each phase.
        """
        from models import MODELS

        self.system.start(MODELS[model]())
        self.before = _memory("VmRSS")
        phases = {}
        for phase in self.system.phases:
            start = _now()
            operations = getattr(self.system, phase)()
            phases[phase] = _now() - start, operations
        return phases

    def first(self):
        """The seconds until the first step is done, and its loss."""
        start = _now()
        loss = self.system.first()
        return {"seconds": _now() - start, "loss": float(loss)}

    def steps(self, at_most=1000, seconds=0.4):
        """Runs more steps, at least three unless at_most is less, until one of the limits.

        Returns: the seconds that each took, and their losses.
        """
        step = self.system.step
        times, losses = [], []
        end = _now() + seconds
        while len(times) < at_most and (_now() < end or len(times) < 3):
            start = _now()
            loss = step()
            times.append(_now() - start)
            losses.append(float(loss))
        return {"times": times, "losses": losses}

    def run(self, count):
        """Runs so many steps; the seconds that all took."""
        start = _now()
        for _ in range(count):
            self.system.step()
        return {"seconds": _now() - start}

    def settle(self):
        """Runs steps until none is computed otherwise than those that follow; their number."""
        steps = 0
        while getattr(self.system, "compiles", bool)():
            self.system.step()
            steps += 1
        return {"steps": steps}

    def memory(self):
        """The process's peak of memory in bytes, what it was when building began, and what the system reports."""
        peak = _memory("VmHWM")  # asked first, since a report may take some
        return {"peak": peak, "before": self.before, "alive": self.system.alive()}

    def version(self):
        """The versions of the system and what it stands on."""
        import numpy

        versions = {"system": self.system.version(), "python": sys.version.split()[0], "numpy": numpy.__version__}
        if "jaxlib" in sys.modules:
            versions["jaxlib"] = sys.modules["jaxlib"].__version__
        return versions


def _memory(entry):
    """VmRSS (memory in use) or VmHWM (its peak) of this process, in bytes; None where Linux does not tell."""
    try:
        with open("/proc/self/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(entry)), None)
    except OSError:
        return None


def own_version():
    """The version of the checkout."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def serve(kind, systems=SYSTEMS) -> None:
    """Serves commands until the input ends.

    Args:
      kind: the class whose methods are the commands.
      systems: name -> function that imports a system.
    """
    if sys.argv[2:] > [""]:
        os.sched_setaffinity(0, map(int, sys.argv[2].split(",")))  # before anything asks how many cores there are
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the systems print must not get between the answers
    start = _now()
    worker = kind(systems[sys.argv[1]]())
    print(json.dumps({"import": _now() - start}), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as e:
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(Worker)

"""The graphs of `gradient_building`, as each system builds them, and how each differentiates them.

A system is a class: `prepare` imports it, `build` makes a scalar and what it is differentiated with respect to, and
`differentiate` makes the gradient. Nothing is executed. The graphs of n operations:

- chain: tanh applied n times;
- tree: n / 2 times tanh(x), multiplied in pairs until one is left;
- fan-in: n times tanh(x), summed by one operation, or by what the system has for it.

The models are those of `models.py`: "MLP" (784-512-512-10, cross entropy, batch 128) and "PINN" (Burgers' equation,
eight layers of 20 tanh units, 1,000 points, second derivatives in the loss).
"""

from __future__ import annotations

import itertools
import os
import time

from . import worker
from .models import MLP, PINN

MODELS = {"MLP": MLP, "PINN": PINN}
MLP_SIZES = (784, 512, 512, 10)
PINN_SIZES = (2, *[20] * 8, 1)
VISCOSITY = 0.01 / 3.141592653589793


def _tree(branches, multiply):
    while len(branches) > 1:
        pairs = [multiply(a, b) for a, b in zip(branches[::2], branches[1::2], strict=False)]
        branches = pairs + branches[len(pairs) * 2 :]
    return branches[0]


def _graph(case, n, x, tanh, multiply, add_n):
    """A chain, a tree or a fan-in from x, by the functions of a system."""
    if case == "chain":
        for _ in range(n):
            x = tanh(x)
        return x
    if case == "tree":
        return _tree([tanh(x) for _ in range(n // 2)], multiply)
    return add_n([tanh(x) for _ in range(n)])


class Graphgrad:
    """graphgrad and TensorFlow: the same programs, by the API of TensorFlow 1."""

    together = False  # whether the function is built by differentiating it
    system = worker.Graphgrad

    def prepare(self):
        """Imports the system; returns its version."""
        self.subject = self.system()
        self.tf = self.subject.tf
        return self.subject.version()

    def build(self, case, n):
        """A new graph with the scalar; of a model, what comes before its gradients."""
        tf, start = self.tf, time.perf_counter()
        self.model = MODELS[case]() if case in MODELS else None
        self.preparing = time.perf_counter() - start  # seconds spent on making data, which are not the system's
        if self.model is not None:
            self.subject.start(self.model)
            self.subject.forward()
            return
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [4])
            y = _graph(case, n, self.x, tf.tanh, tf.multiply, tf.add_n)
            self.y = tf.reduce_sum(y)

    def differentiate(self):
        """Adds the gradients."""
        if self.model is not None:
            self.subject.gradients()
            return self.subject.grads
        with self.graph.as_default():
            return self.tf.gradients(self.y, self.x)

    def again(self):
        """A function that makes an identical call under `memoize_gradients`, where the system has that."""
        memoize = getattr(self.tf, "memoize_gradients", None)
        if memoize is None:
            return None
        with memoize():
            self.differentiate()

        def call():
            with memoize():
                self.differentiate()

        return call


class TensorFlow(Graphgrad):
    """TensorFlow in graph mode."""

    system = worker.Graph


class Peer:
    """What the other systems share: no data is made while building, and nothing is remembered."""

    together = False
    preparing = 0.0

    def again(self):
        """None."""


class Jax(Peer):
    """JAX: `jax.make_jaxpr(jax.grad(f))` traces the function and its derivative in one."""

    together = True

    def prepare(self):
        import jax

        self.jax, self.np = jax, jax.numpy
        return jax.__version__

    def build(self, case, n):
        """The function; tracing comes with differentiating."""
        jax, np = self.jax, self.np
        if case == "MLP":
            shapes = [s for i, o in itertools.pairwise(MLP_SIZES) for s in ((i, o), (o,))]

            def f(params, x, labels):
                for w, b in zip(params[:-2:2], params[1:-2:2], strict=True):
                    x = jax.nn.relu(x @ w + b)
                logits = x @ params[-2] + params[-1]
                picked = np.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
                return -picked.mean()

            self.args = [np.zeros(s) for s in shapes], np.zeros((128, 784)), np.zeros(128, int)
        elif case == "PINN":
            shapes = [s for i, o in itertools.pairwise(PINN_SIZES) for s in ((i, o), (o,))]

            def f(params, x, t):
                def u(x, t):
                    h = np.concatenate([x, t], 1)
                    for w, b in zip(params[:-2:2], params[1:-2:2], strict=True):
                        h = np.tanh(h @ w + b)
                    return h @ params[-2] + params[-1]

                def total(x, t):
                    return u(x, t).sum()

                u_x = jax.grad(total)
                u_xx = jax.grad(lambda x: u_x(x, t).sum())(x)
                residual = jax.grad(total, 1)(x, t) + u(x, t) * u_x(x, t) - VISCOSITY * u_xx
                return (residual**2).mean()

            self.args = [np.zeros(s) for s in shapes], np.zeros((1000, 1)), np.zeros((1000, 1))
        else:

            def f(x):
                return _graph(case, n, x, np.tanh, np.multiply, lambda ts: np.stack(ts).sum(0)).sum()

            self.args = (np.zeros(4),)
        self.f = f

    def differentiate(self):
        """Traces the gradient."""
        return self.jax.make_jaxpr(self.jax.grad(self.f))(*self.args)


class PyTensor(Peer):
    """PyTensor: `pytensor.grad`."""

    def prepare(self):
        os.environ.setdefault("PYTENSOR_FLAGS", "cxx=")  # nothing is compiled
        import pytensor
        import pytensor.tensor as pt

        self.pytensor, self.pt = pytensor, pt
        return pytensor.__version__

    def build(self, case, n):
        """The graph."""
        pt = self.pt
        if case == "MLP":
            h, labels = pt.matrix(shape=(128, 784)), pt.ivector(shape=(128,))
            self.x = []
            for i, o in itertools.pairwise(MLP_SIZES):
                w, b = pt.matrix(shape=(i, o)), pt.vector(shape=(o,))
                self.x += [w, b]
                h = h @ w + b
                h = pt.maximum(h, 0.0) if o != MLP_SIZES[-1] else h
            self.y = -pt.special.log_softmax(h, axis=1)[pt.arange(128), labels].mean()
        elif case == "PINN":
            x, t = pt.matrix(shape=(1000, 1)), pt.matrix(shape=(1000, 1))
            h = pt.concatenate([x, t], 1)
            self.x = []
            for i, o in itertools.pairwise(PINN_SIZES):
                w, b = pt.matrix(shape=(i, o)), pt.vector(shape=(o,))
                self.x += [w, b]
                h = h @ w + b
                h = pt.tanh(h) if o != PINN_SIZES[-1] else h
            self.y, self.at = h, (x, t)
        else:
            self.x = pt.vector(shape=(4,))
            self.y = _graph(case, n, self.x, pt.tanh, pt.mul, lambda ts: pt.add(*ts)).sum()
        self.case = case

    def differentiate(self):
        """Adds the gradients."""
        grad = self.pytensor.grad
        if self.case != "PINN":
            return grad(self.y, self.x)
        u, (x, t) = self.y, self.at
        u_t, u_x = grad(u.sum(), t), grad(u.sum(), x)
        u_xx = grad(u_x.sum(), x)
        return grad(((u_t + u * u_x - VISCOSITY * u_xx) ** 2).mean(), self.x)


class Casadi(Peer):
    """CasADi: matrix expressions (MX) and `gradient`; its parameters are parts of one vector."""

    def prepare(self):
        import casadi

        self.ca = casadi
        return casadi.__version__

    def _layers(self, sizes):
        """The one vector of parameters, and a (weight, bias) pair for each layer."""
        ca = self.ca
        shapes = [s for i, o in itertools.pairwise(sizes) for s in ((i, o), (1, o))]
        self.x = ca.MX.sym("p", sum(i * o for i, o in shapes))
        ends = list(itertools.accumulate((i * o for i, o in shapes), initial=0))
        parts = [ca.reshape(p, *s) for p, s in zip(ca.vertsplit(self.x, ends), shapes, strict=True)]
        return list(zip(parts[::2], parts[1::2], strict=True))

    def build(self, case, n):
        """The graph."""
        ca = self.ca
        if case == "MLP":
            h, wanted = ca.MX.sym("h", 128, 784), ca.MX.sym("wanted", 128, 10)  # labels as rows of the unit matrix
            layers = self._layers(MLP_SIZES)
            for i, (w, b) in enumerate(layers):
                h = h @ w + ca.repmat(b, 128, 1)
                h = ca.fmax(h, 0.0) if i < len(layers) - 1 else h
            log_sum = ca.log(ca.sum2(ca.exp(h)))
            self.y = ca.sum1(log_sum - ca.sum2(h * wanted)) / 128
        elif case == "PINN":
            x, t = ca.MX.sym("x", 1000), ca.MX.sym("t", 1000)
            h = ca.horzcat(x, t)
            layers = self._layers(PINN_SIZES)
            for i, (w, b) in enumerate(layers):
                h = h @ w + ca.repmat(b, 1000, 1)
                h = ca.tanh(h) if i < len(layers) - 1 else h
            self.y, self.at = h, (x, t)
        else:
            self.x = ca.MX.sym("x", 4)
            self.y = ca.sum1(_graph(case, n, self.x, ca.tanh, ca.times, lambda ts: ca.sum2(ca.horzcat(*ts))))
        self.case = case

    def differentiate(self):
        """Makes the gradient."""
        ca = self.ca
        if self.case != "PINN":
            return ca.gradient(self.y, self.x)
        u, (x, t) = self.y, self.at
        u_t, u_x = ca.gradient(ca.sum1(u), t), ca.gradient(ca.sum1(u), x)
        u_xx = ca.gradient(ca.sum1(u_x), x)
        return ca.gradient(ca.sumsqr(u_t + u * u_x - VISCOSITY * u_xx) / 1000, self.x)


SYSTEMS = {"graphgrad": Graphgrad, "TensorFlow": TensorFlow, "PyTensor": PyTensor, "JAX": Jax, "CasADi": Casadi}

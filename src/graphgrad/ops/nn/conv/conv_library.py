"""Convolutions in two dimensions and their gradients as programs for the library oneDNN, in XLA:CPU.

oneDNN's convolutions take a third to all of the time of XLA's own, and use all cores. XLA:CPU can call their forward
direction. So both gradients are stated as such convolutions:

- with respect to the input, one with the reversed filter; with strides, one for each residue of the positions;
- with respect to the filter, one whose filter is the gradient of the result, whose channels are the batch, and whose
  rows hold columns and channels together. So its result has long rows, which the library needs to be fast.
"""

from __future__ import annotations

import itertools
import math

from graphgrad.errors import Complaint
from graphgrad.op_traits import Library

from .window_geometry import products_of, spatial, window

_WORTH = 2e6  # multiplications: a smaller convolution is faster within its neighbours' program
_UNKNOWN_BATCH = 32  # batch size that planning assumes where it is not known
_MOST = 2**28  # elements of an array; beyond, the library may take a slow path
_MOST_RESIDUES = 16  # of strides, each a convolution
_CHANNELS, _MOST_GROUPS = 16, 8  # channels in a row of the filter's gradient, at least; groups of rows, at most


class _Text:
    """A program in StableHLO, written value by value; each is a pair of its name and its shape.

    Args:
      shapes: those of the arguments.
    """

    def __init__(self, *shapes):
        self.arguments = [(f"%a{i}", tuple(shape)) for i, shape in enumerate(shapes)]
        self._lines = []
        self._refused = False

    def _add(self, shape, text):
        name = f"%{len(self._lines)}"
        self._lines.append(f"  {name} = {text}")
        return name, tuple(shape)

    def transpose(self, value, order):
        name, shape = value
        new = [shape[i] for i in order]
        return self._add(new, f"stablehlo.transpose {name}, dims = {list(order)} : ({_type(shape)}) -> {_type(new)}")

    def reshape(self, value, *shape):
        name, old = value
        return self._add(shape, f"stablehlo.reshape {name} : ({_type(old)}) -> {_type(shape)}")

    def reverse(self, value, *axes):
        name, shape = value
        return self._add(shape, f"stablehlo.reverse {name}, dims = {list(axes)} : {_type(shape)}")

    def slice(self, value, *parts):
        """Takes (start, stop, step) of each dimension."""
        name, old = value
        shape = [len(range(*part)) for part in parts]
        where = ", ".join(f"{start}:{stop}:{step}" for start, stop, step in parts)
        return self._add(shape, f"stablehlo.slice {name} [{where}] : ({_type(old)}) -> {_type(shape)}")

    def zeros(self, shape):
        return self._add(shape, f"stablehlo.constant dense<0.0> : {_type(shape)}")

    def join(self, values, axis):
        names, shapes = zip(*values, strict=True)
        shape = list(shapes[0])
        shape[axis] = sum(s[axis] for s in shapes)
        types = ", ".join(map(_type, shapes))
        return self._add(shape, f"stablehlo.concatenate {', '.join(names)}, dim = {axis} : ({types}) -> {_type(shape)}")

    def program(self, result):
        """Returns the program, and the shape of its result; None if the library is not to compute it."""
        if self._refused:
            return None
        arguments = ", ".join(f"{name}: {_type(shape)}" for name, shape in self.arguments)
        lines = "\n".join(self._lines)
        text = (f"module @convolution {{\n func.func public @main({arguments}) -> {_type(result[1])} {{\n{lines}\n"
                f"  return {result[0]} : {_type(result[1])}\n }}\n}}\n")
        return text, result[1]

    def convolution(self, x, f, shape, pads, strides=(1, 1), dilations=(1, 1), channels=(2, 3)):
        """Convolves by oneDNN.

        Args:
          x: (batch, height, width, channels).
          f: the filter.
          shape: of the result, laid out like x.
          pads: (before, after) in height and width.
          strides, dilations: of the filter.
          channels: the axes of the filter for channels of x and of the result.
        """
        import json  # which the package's import does without

        image = {"dims": 4, "data": {"batch_dim": 0, "feature_dim": 3, "spatial_dims": [1, 2]}}
        places = [i for i in range(4) if i not in channels]
        if x[1][3] == 1 and (shape[3] == 1 or max(strides) > 1):  # jaxlib 0.10: some have wrong elements
            self._refused = True
        sizes = [f[1][i] for i in places]
        configuration = {"onednn_conv_config": {
            "dims": 4, "input": image, "output": image, "feature_groups": 1,
            "kernel": {"dims": 4, "filter": {"input_feature_dim": channels[0], "output_feature_dim": channels[1],
                                             "spatial_dims": places, "shape": list(f[1])}},
            "window": {"size": sizes, "pad_left": [p[0] for p in pads], "pad_right": [p[1] for p in pads],
                       "strides": list(strides), "window_dilations": list(dilations)}}}
        written = json.dumps(configuration).replace('"', "\\22")
        plain = "dense<[3, 2, 1, 0]> : tensor<4xindex>"
        return self._add(shape, f'"stablehlo.custom_call"({x[0]}, {f[0]}) {{call_target_name = "__onednn$convolution", '
                         f'backend_config = "{written}", has_side_effect = false, api_version = 1 : i32, '
                         f"operand_layouts = [{plain}, {plain}], result_layouts = [{plain}]}} : "
                         f"({_type(x[1])}, {_type(f[1])}) -> {_type(shape)}")


def _type(shape):
    return f"tensor<{'x'.join(map(str, (*shape, 'f32')))}>"


def _takes(op):
    """Returns whether the library is to compute an operation, by what is known while the graph is planned."""
    split, attrs = op.opdef.batch_split, op._attr
    image, shape = split.image_of(op)._spec.shape, split.filter_of(op)._spec.shape
    if attrs("data_format") != "NHWC" or op.outputs[0].dtype.name != "float32" or shape is None or image is None:
        return False
    if None in shape or None in image[1:] or all(n == 1 for n in shape[:-2]):  # a matrix product
        return False
    if split.image < 0 and op.inputs[0]._spec.shape[3] != shape[2]:  # groups
        return False
    return products_of(split.image_of(op), split.filter_of(op), 1, _UNKNOWN_BATCH) >= _WORTH


def _window(x, f, attrs):
    """Returns the window of a convolution without groups; None for what the library is not asked for."""
    if attrs["data_format"] != "NHWC" or len(x) != 4 or len(f) != 4 or x[3] != f[2]:
        return None
    strides, dilations = (spatial(attrs[k], "NHWC", 2) for k in ("strides", "dilations"))
    try:
        w = window(x[1:3], f[:2], strides, dilations, attrs["padding"], attrs["explicit_paddings"], "NHWC")
    except Complaint:  # the kernel raises it
        return None
    sizes = (*x, *f, *w.out)
    if min(sizes) < 1 or max(math.prod(x), math.prod(f), x[0] * math.prod(w.out) * f[3]) > _MOST:
        return None
    return w


def _forward(shapes, sizes, attrs):
    x, f = shapes
    w = _window(x, f, attrs)
    if w is None:
        return None
    text = _Text(x, f)
    image, kernel = text.arguments
    return text.program(text.convolution(image, kernel, (x[0], *w.out, f[3]), w.pads, w.strides, w.dilations))


def _to_input(shapes, sizes, attrs):
    f, dy = shapes
    x = tuple(map(int, sizes))
    w = _window(x, f, attrs)
    if w is None or dy != (x[0], *w.out, f[3]):
        return None
    if w.strides != (1, 1):
        return _to_input_of_strided(x, f, dy, w)
    low = [e - 1 - before for e, (before, _) in zip(w.extent, w.pads, strict=True)]
    high = [n + e - 1 - b - out for n, e, b, out in zip(x[1:3], w.extent, low, w.out, strict=True)]
    if min(*low, *high) < 0:
        return None
    text = _Text(f, dy)
    kernel, image = text.arguments
    pads = list(zip(low, high, strict=True))
    kernel = text.reverse(kernel, 0, 1)
    return text.program(text.convolution(image, kernel, x, pads, dilations=w.dilations, channels=(3, 2)))


def _to_input_of_strided(x, f, dy, w):
    """Computes the positions of each residue by the strides with the part of the filter that reaches them."""
    if w.dilations != (1, 1) or math.prod(w.strides) > _MOST_RESIDUES:
        return None
    text = _Text(f, dy)
    kernel, image = text.arguments
    counts = [-(-n // s) for n, s in zip(x[1:3], w.strides, strict=True)]
    shape = x[0], *counts, x[3]
    blocks = []
    for residues in itertools.product(*map(range, w.strides)):
        parts = [_of_residue(*row) for row in
                 zip(residues, w.strides, w.kernel, [before for before, _ in w.pads], counts, w.out, strict=True)]
        if None in parts:
            part = text.zeros(shape)
        else:
            taps, seen, pads = zip(*parts, strict=True)
            some = text.reverse(text.slice(kernel, *taps, (0, f[2], 1), (0, f[3], 1)), 0, 1)
            cut = text.slice(image, (0, dy[0], 1), *seen, (0, dy[3], 1))
            part = text.convolution(cut, some, shape, pads, channels=(3, 2))
        blocks.append(text.reshape(part, x[0], counts[0], 1, counts[1], 1, x[3]))
    (rows, columns), row = w.strides, w.strides[1]
    blocks = [text.join(blocks[i * row : (i + 1) * row], 4) for i in range(rows)]
    whole = text.reshape(text.join(blocks, 2), x[0], counts[0] * rows, counts[1] * columns, x[3])
    return text.program(text.slice(whole, *((0, n, 1) for n in x)))


def _of_residue(residue, stride, size, before, count, out):
    """Finds what the positions residue, residue + stride, ... of the input get, along one dimension.

    Returns: (start, stop, step) of the cells of the filter and of the positions of the result, and the padding of
      these; None if they get nothing.
    """
    first = (residue + before) % stride
    taps = len(range(first, size, stride))
    if not taps:
        return None
    shift = (residue + before - first) // stride
    low, high = taps - 1 - shift, count + shift - out
    start, stop = max(0, -low), out - max(0, -high)
    if stop <= start:
        return None
    return (first, size, stride), (start, stop, 1), (max(0, low), max(0, high))


def _to_filter(shapes, sizes, attrs):
    x, dy = shapes
    f = tuple(map(int, sizes))
    w = _window(x, f, attrs)
    if w is None or dy != (x[0], *w.out, f[3]) or w.dilations != (1, 1):
        return None
    after = [e + (out - 1) * s - n - before
             for n, e, s, (before, _), out in zip(x[1:3], w.extent, w.strides, w.pads, w.out, strict=True)]
    batch, channels = x[0], x[3]
    height, width = (n + min(0, a) for n, a in zip(x[1:3], after, strict=True))  # the rest is not seen
    if min(height, width) < 1:
        return None
    text = _Text(x, dy)
    image, kernel = text.arguments
    if min(after) < 0:
        image = text.slice(image, (0, batch, 1), (0, height, 1), (0, width, 1), (0, channels, 1))
    groups = max(g for g in range(1, _MOST_GROUPS + 1) if channels % g == 0 and (g == 1 or channels // g >= _CHANNELS))
    each = channels // groups
    image = text.reshape(image, batch, height, width, groups, each)
    image = text.reshape(text.transpose(image, (3, 1, 2, 4, 0)), groups, height, width * each, batch)
    (top, left), (bottom, right) = [before for before, _ in w.pads], [max(0, a) for a in after]
    pads = (top, bottom), (left * each, right * each)
    df = text.convolution(image, kernel, (groups, f[0], f[1] * each, f[3]), pads,
                          dilations=(w.strides[0], w.strides[1] * each), channels=(0, 3))
    df = text.transpose(text.reshape(df, groups, f[0], f[1], each, f[3]), (1, 2, 0, 3, 4))
    return text.program(text.reshape(df, *f))


forward, to_input, to_filter = (Library(_takes, rule) for rule in (_forward, _to_input, _to_filter))

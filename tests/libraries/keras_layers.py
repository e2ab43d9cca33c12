"""All public layers, losses, metrics and activations of Keras: values and gradients with fixed weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds
RTOL, ATOL = 1e-4, 2e-5


def _numbers(shape: Any, start: float = 0.0) -> Any:
    """Numbers between -1 and 1 that have no pattern."""
    n = int(np.prod(shape))
    return np.sin(np.arange(1, n + 1) * 1.7 + start + (np.arange(n) % 7) ** 2).reshape(shape).astype(np.float32)


def _short(value: Any) -> Any:
    """An array, or what three fixed sums make of a longer one."""
    flat = np.asarray(value, np.float64).ravel()
    if flat.size <= 12:
        return flat
    i = np.arange(flat.size)
    return np.array([flat.size, *[(flat * np.cos(k * i + k)).sum() / np.sqrt(flat.size) for k in (0.3, 1.1, 2.3)]])


def _trained(tf: Any, layer: Any, inputs: Any, training: Any, **kwargs: Any) -> Any:
    """The results of a layer with fixed weights, and the gradients by what it is given and by its weights."""
    if training is not None:
        kwargs["training"] = training
    given = tf.nest.map_structure(tf.constant, inputs)
    layer(given, **kwargs)  # makes the weights
    layer.set_weights([0.5 * _numbers(w.shape, i) + (0.7 if "variance" in v.name else 0.0)
                       for i, (w, v) in enumerate(zip(layer.get_weights(), layer.weights, strict=True))])
    floats = [x for x in tf.nest.flatten(given) if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(floats)
        results = tf.nest.flatten(layer(given, **kwargs))
        loss = sum(tf.reduce_sum(tf.sin(r) * _numbers(r.shape, 2.0)) for r in results if r.dtype.is_floating)
    gradients = tape.gradient(loss, [*floats, *layer.trainable_variables], unconnected_gradients="zero")
    gradients = [tf.convert_to_tensor(g) for g in gradients]
    return [_short(v) for v in [*results, *gradients, *layer.get_weights()]]


def _layer(name: str, make: Callable[[Any], Any], *shapes: Any, inputs: Any = None, training: Any = None,
           **kwargs: Any) -> None:
    given = inputs if inputs is not None else [_numbers(s, i) for i, s in enumerate(shapes)]
    if inputs is None and len(shapes) == 1:
        (given,) = given
    CASES[name] = lambda tf: _trained(tf, make(tf.keras.layers), given, training, **kwargs)


_SEQUENCE, _IMAGE, _VOLUME = (2, 7, 4), (2, 7, 8, 4), (1, 5, 6, 4, 4)
_INTS = np.array([[0, 3, 1], [2, 2, 4]], np.int32)

# -- without weights -----------------------------------------------------------------------

for _name, _shapes in {
    "Add": [(2, 3), (2, 3)], "Subtract": [(2, 3), (2, 3)], "Multiply": [(2, 3), (2, 3)], "Average": [(2, 3), (2, 3)],
    "Maximum": [(2, 3), (2, 3)], "Minimum": [(2, 3), (2, 3)], "Concatenate": [(2, 3), (2, 4)], "Flatten": [_IMAGE],
    "Identity": [(2, 3)], "Attention": [(2, 3, 4), (2, 5, 4)], "ReLU": [(3, 4)], "ELU": [(3, 4)], "LeakyReLU": [(3, 4)],
    "ThresholdedReLU": [(3, 4)], "Softmax": [(3, 4)], "UnitNormalization": [(3, 4)], "Masking": [_SEQUENCE],
    "MaxPooling1D": [_SEQUENCE], "AveragePooling1D": [_SEQUENCE], "MaxPooling2D": [_IMAGE],
    "AveragePooling2D": [_IMAGE], "MaxPooling3D": [_VOLUME], "AveragePooling3D": [_VOLUME],
    "GlobalMaxPooling1D": [_SEQUENCE], "GlobalAveragePooling1D": [_SEQUENCE], "GlobalMaxPooling2D": [_IMAGE],
    "GlobalAveragePooling2D": [_IMAGE], "GlobalMaxPooling3D": [_VOLUME], "GlobalAveragePooling3D": [_VOLUME],
    "UpSampling1D": [_SEQUENCE], "UpSampling2D": [_IMAGE], "UpSampling3D": [(1, 2, 3, 2, 2)],
    "ZeroPadding1D": [_SEQUENCE], "ZeroPadding2D": [_IMAGE], "ZeroPadding3D": [(1, 2, 3, 2, 2)],
    "Cropping1D": [_SEQUENCE], "Cropping2D": [_IMAGE], "Cropping3D": [_VOLUME],
}.items():
    _layer(_name, lambda layers, name=_name: getattr(layers, name)(), *_shapes)
_layer("ActivityRegularization", lambda layers: layers.ActivityRegularization(0.1, 0.2), (2, 3))
_layer("Activation", lambda layers: layers.Activation("selu"), (2, 3))
_layer("Attention: scores of a causal kind", lambda layers: layers.Attention(use_scale=True, score_mode="concat"),
       (2, 3, 4), (2, 3, 4), use_causal_mask=True)
_layer("Dot", lambda layers: layers.Dot((1, 2), normalize=True), (2, 3, 4), (2, 5, 3))
_layer("Lambda", lambda layers: layers.Lambda(lambda x: x**2 + 1.0), (2, 3))
_layer("Permute", lambda layers: layers.Permute((2, 1)), (2, 3, 4))
_layer("Reshape", lambda layers: layers.Reshape((-1, 2)), (2, 3, 4))
_layer("RepeatVector", lambda layers: layers.RepeatVector(3), (2, 4))
_layer("Rescaling", lambda layers: layers.Rescaling(0.5, 1.0), (2, 4))
_layer("Resizing", lambda layers: layers.Resizing(5, 11), _IMAGE)
_layer("CenterCrop", lambda layers: layers.CenterCrop(4, 5), _IMAGE)
_layer("MaxPooling2D: same", lambda layers: layers.MaxPooling2D(3, 2, "same"), _IMAGE)
_layer("AveragePooling2D: same", lambda layers: layers.AveragePooling2D((3, 2), 2, "same"), _IMAGE)
_layer("UpSampling2D: bilinear", lambda layers: layers.UpSampling2D(3, interpolation="bilinear"), (1, 3, 4, 2))
for _name in ("Dropout", "SpatialDropout1D", "GaussianDropout", "AlphaDropout", "GaussianNoise"):
    for _training in (False, True):
        _layer(f"{_name}: {'training' if _training else 'inference'}",
               lambda layers, name=_name: getattr(layers, name)(0.3), _SEQUENCE, training=_training)
_layer("SpatialDropout2D", lambda layers: layers.SpatialDropout2D(0.4), _IMAGE, training=True)
_layer("SpatialDropout3D", lambda layers: layers.SpatialDropout3D(0.4), _VOLUME, training=True)
for _name, _arguments in {"RandomFlip": (), "RandomRotation": (0.2,), "RandomZoom": (0.3,), "RandomContrast": (0.4,),
                          "RandomTranslation": (0.2, 0.3), "RandomCrop": (4, 5), "RandomBrightness": (0.3,),
                          "RandomHeight": (0.3,), "RandomWidth": (0.3,)}.items():
    _layer(_name, lambda layers, name=_name, a=_arguments: getattr(layers, name)(*a, seed=4), (2, 6, 6, 3),
           training=False)

# -- with weights --------------------------------------------------------------------------

_layer("Dense", lambda layers: layers.Dense(5, activation="tanh"), (3, 4))
_layer("Dense: three axes", lambda layers: layers.Dense(5, use_bias=False), (2, 3, 4))
_layer("EinsumDense", lambda layers: layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d"), (2, 3, 4))
_layer("Embedding", lambda layers: layers.Embedding(6, 3), inputs=_INTS)
_layer("PReLU", lambda layers: layers.PReLU(shared_axes=[1]), (2, 3, 4))
for _d, _shape in ((1, _SEQUENCE), (2, _IMAGE), (3, _VOLUME)):
    _layer(f"Conv{_d}D", lambda layers, d=_d: getattr(layers, f"Conv{d}D")(3, 2, activation="relu"), _shape)
    _layer(f"Conv{_d}D: same, strides",
           lambda layers, d=_d: getattr(layers, f"Conv{d}D")(4, 3, 2, "same", use_bias=False), _shape)
    _layer(f"Conv{_d}DTranspose", lambda layers, d=_d: getattr(layers, f"Conv{d}DTranspose")(3, 2, 2), _shape)
    _layer(f"Conv{_d}DTranspose: same", lambda layers, d=_d: getattr(layers, f"Conv{d}DTranspose")(2, 3, 2, "same"),
           _shape)
    _layer(f"ConvLSTM{_d}D", lambda layers, d=_d: getattr(layers, f"ConvLSTM{d}D")(2, 2),
           (1, 3, *([4] * _d), 2))
_layer("Conv1D: causal, dilated", lambda layers: layers.Conv1D(3, 2, padding="causal", dilation_rate=2), _SEQUENCE)
_layer("Conv2D: groups", lambda layers: layers.Conv2D(6, 3, groups=2), _IMAGE)
_layer("Conv2D: dilated", lambda layers: layers.Conv2D(3, 2, dilation_rate=2, padding="same"), _IMAGE)
_layer("DepthwiseConv1D", lambda layers: layers.DepthwiseConv1D(3, depth_multiplier=2), _SEQUENCE)
_layer("DepthwiseConv2D", lambda layers: layers.DepthwiseConv2D(3, 2, "same"), _IMAGE)
_layer("SeparableConv1D", lambda layers: layers.SeparableConv1D(3, 2), _SEQUENCE)
_layer("SeparableConv2D", lambda layers: layers.SeparableConv2D(3, 3, padding="same"), _IMAGE)
_layer("LocallyConnected1D", lambda layers: layers.LocallyConnected1D(3, 2), _SEQUENCE)
_layer("LocallyConnected2D", lambda layers: layers.LocallyConnected2D(2, 3), _IMAGE)
for _training in (False, True):
    _word = "training" if _training else "inference"
    _layer(f"BatchNormalization: {_word}", lambda layers: layers.BatchNormalization(), _IMAGE, training=_training)
    _layer(f"SpectralNormalization: {_word}", lambda layers: layers.SpectralNormalization(layers.Dense(3)), (4, 5),
           training=_training)
_layer("BatchNormalization: of an axis", lambda layers: layers.BatchNormalization(1, 0.9, scale=False), _SEQUENCE,
       training=True)
_layer("LayerNormalization", lambda layers: layers.LayerNormalization([1, 2]), _SEQUENCE)
_layer("GroupNormalization", lambda layers: layers.GroupNormalization(2), _IMAGE)
_layer("AdditiveAttention", lambda layers: layers.AdditiveAttention(), (2, 3, 4), (2, 5, 4))
_layer("MultiHeadAttention", lambda layers: layers.MultiHeadAttention(2, 3), _SEQUENCE, value=_numbers((2, 5, 4), 3.0))

# -- recurrent -----------------------------------------------------------------------------

for _name in ("SimpleRNN", "GRU", "LSTM"):
    _layer(_name, lambda layers, name=_name: getattr(layers, name)(3), _SEQUENCE)
    _layer(f"{_name}: all steps and the state, backwards",
           lambda layers, name=_name: getattr(layers, name)(3, return_sequences=True, return_state=True,
                                                            go_backwards=True), _SEQUENCE)
    _layer(f"{_name}: with a mask", lambda layers, name=_name: getattr(layers, name)(3, return_sequences=True),
           _SEQUENCE, mask=np.arange(7)[None] < np.array([[5], [3]]))
    _layer(f"{_name}: unrolled", lambda layers, name=_name: getattr(layers, name)(3, unroll=True), _SEQUENCE)
    _layer(f"Bidirectional: {_name}",
           lambda layers, name=_name: layers.Bidirectional(getattr(layers, name)(3, return_sequences=True)), _SEQUENCE)
_layer("GRU: of version 1", lambda layers: layers.GRU(3, reset_after=False), _SEQUENCE)
_layer("LSTM: dropout", lambda layers: layers.LSTM(3, dropout=0.3, recurrent_dropout=0.2), _SEQUENCE, training=True)
_layer("RNN", lambda layers: layers.RNN(layers.StackedRNNCells([layers.GRUCell(3), layers.LSTMCell(2),
                                                                layers.SimpleRNNCell(2)])), _SEQUENCE)
_layer("TimeDistributed", lambda layers: layers.TimeDistributed(layers.Dense(3)), _SEQUENCE)

# -- preprocessing -------------------------------------------------------------------------


@_case
def preprocessing(tf: Any) -> Any:
    layers = tf.keras.layers
    normalization, discretization = layers.Normalization(), layers.Discretization(num_bins=3)
    normalization.adapt(_numbers((20, 3)))
    discretization.adapt(_numbers((20, 1)))
    words = layers.TextVectorization(output_sequence_length=4)
    words.adapt(["a cat sat", "the cat ran, the dog sat", "a dog"])
    strings, integers = layers.StringLookup(output_mode="multi_hot"), layers.IntegerLookup()
    strings.adapt(["x", "y", "x", "z"])
    integers.adapt([5, 7, 5, 9])
    return [normalization(_numbers((4, 3), 1.0)), discretization(_numbers((4, 1), 1.0)), words(["The cat!", "no dog"]),
            strings([["x", "q"], ["z", "y"]]), integers([[5, 8, 7]]),
            layers.CategoryEncoding(5, "count")(_INTS), layers.Hashing(7)([["a"], ["b"], ["cat"]]),
            layers.Hashing(7, salt=[1, 2])([["a"], ["b"], ["cat"]]),
            layers.HashedCrossing(11)((tf.constant(["a", "b"]), tf.constant([1, 2])))]


# -- losses, metrics, activations ----------------------------------------------------------

_TRUE, _SCORES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], np.float32), _numbers((4, 3), 0.4)
_SHARES = np.exp(_SCORES) / np.exp(_SCORES).sum(1, keepdims=True)
_BINARY = "AUC BinaryAccuracy Precision Recall TruePositives TrueNegatives FalsePositives FalseNegatives".split()


def _loss(name: str, **kwargs: Any) -> None:
    def case(tf: Any) -> Any:
        classes = name.startswith("Sparse")
        given = tf.constant(_SCORES if kwargs.get("from_logits") else _SHARES)
        found = []
        for reduction in ("none", "sum", "sum_over_batch_size"):
            loss = getattr(tf.keras.losses, name)(reduction=reduction, **kwargs)
            with tf.GradientTape() as tape:
                tape.watch(given)
                value = loss(_TRUE.argmax(1) if classes else _TRUE, given, sample_weight=[1.0, 0.5, 2.0, 0.0])
            found += [value, tape.gradient(value, given)]
        return found

    CASES[f"loss {name} {' '.join(map(str, kwargs.values()))}".strip()] = case


for _name in ("CategoricalHinge CosineSimilarity Hinge Huber KLDivergence LogCosh MeanAbsoluteError "
              "MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson SquaredHinge").split():
    _loss(_name)
for _name in ("BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy "
              "SparseCategoricalCrossentropy").split():
    for _logits in (False, True):
        _loss(_name, from_logits=_logits)
_loss("BinaryCrossentropy", from_logits=True, label_smoothing=0.1)
_loss("CategoricalCrossentropy", from_logits=False, label_smoothing=0.2)
_loss("Huber", delta=0.2)


def _metric(name: str, *arguments: Any) -> None:
    def case(tf: Any) -> Any:
        metric, found = getattr(tf.keras.metrics, name)(*arguments), []
        for rows in (slice(0, 3), slice(1, 4)):
            true, guessed = _TRUE[rows], _SHARES[rows]
            if name.startswith("Sparse"):
                true = true.argmax(1)
            if name in ("IoU", "MeanIoU", "Accuracy"):
                true, guessed = true.argmax(1), guessed.argmax(1)
            given = (guessed,) if name in ("Mean", "Sum", "MeanTensor") else (true, guessed)
            weights = {} if name in ("R2Score", "MeanTensor", "OneHotIoU", "BinaryIoU") else [1.0, 0.5, 2.0]
            metric.update_state(*given, **({"sample_weight": weights} if weights else {}))
            found.append(metric.result())
        return found

    CASES[f"metric {name}"] = case


for _name in (*_BINARY, "Accuracy", "BinaryCrossentropy", "CategoricalAccuracy", "CategoricalCrossentropy",
              "CategoricalHinge", "CosineSimilarity", "F1Score", "FBetaScore", "Hinge", "KLDivergence", "LogCoshError",
              "Mean", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError",
              "MeanSquaredLogarithmicError", "MeanTensor", "Poisson", "R2Score", "RootMeanSquaredError",
              "SparseCategoricalAccuracy", "SparseCategoricalCrossentropy", "SquaredHinge", "Sum"):
    _metric(_name)
for _name, _given in {"TopKCategoricalAccuracy": (2,), "SparseTopKCategoricalAccuracy": (2,), "MeanIoU": (3,),
                      "IoU": (3, [0, 2]), "OneHotIoU": (3, [0, 1]), "OneHotMeanIoU": (3,), "BinaryIoU": ([0, 1], 0.3),
                      "PrecisionAtRecall": (0.5,), "RecallAtPrecision": (0.5,), "SensitivityAtSpecificity": (0.5,),
                      "SpecificityAtSensitivity": (0.5,)}.items():
    _metric(_name, *_given)


@_case
def activations(tf: Any) -> Any:
    """Values and first two derivatives of all."""
    found = []
    for name in ("elu exponential gelu hard_sigmoid linear mish relu selu sigmoid softmax softplus softsign swish "
                 "tanh").split():
        x = tf.constant(2.0 * _numbers((2, 5)))
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = getattr(tf.keras.activations, name)(x)
            first = inner.gradient(y, x, output_gradients=_numbers((2, 5), 3.0))
        found += [y, first]
        if name != "softsign":  # of which TensorFlow has no second derivative
            found += [outer.gradient(first, x, unconnected_gradients="zero")]
    return found


@_case
def initializers(tf: Any) -> Any:
    """Values with a seed, and those that follow no chance."""
    made = tf.keras.initializers
    random = [getattr(made, n)(seed=3) for n in (
        "GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform RandomNormal RandomUniform "
        "TruncatedNormal VarianceScaling").split()]
    return [*[_short(i((4, 6))) for i in random], np.abs(made.Orthogonal(seed=3)((4, 4)) @ tf.transpose(
        made.Orthogonal(seed=3)((4, 4)))), made.Identity(2.0)((3, 3)), made.Constant(1.5)((2,)), made.Zeros()((2,))]

"""Connectionist temporal classification: the public functions."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, bfloat16, float16, float32, int32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.common.synonyms import either


def _turned(t, time_major):
    return t if time_major else raw.Transpose(t, np.asarray([1, 0, 2], np.int32))


def ctc_loss_v1(labels: TensorLike, inputs: TensorLike = None, sequence_length: TensorLike = None,
                preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
                ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True,
                logits: TensorLike = None) -> Tensor:
    """Computes the negative log probability of label sequences, summed over all alignments with the inputs.

    Args:
      labels: a `SparseTensor` (B, L), int32: for each row its labels.
      inputs, logits: (T, B, C), float, unnormalised; the last class is the blank.
      sequence_length: (B), int32: the number of steps of each row.
      preprocess_collapse_repeated: whether to merge equal labels before anything else.
      ctc_merge_repeated: whether equal classes in a row, without a blank between, are one label.
      ignore_longer_outputs_than_inputs: whether rows whose labels do not fit have the loss 0, instead of an error.
      time_major: whether inputs are (T, B, C), else (B, T, C).
    Returns: (B), the losses.
    Raises: InvalidArgumentError at run time for labels that do not fit or are out of range.
    Gradient: of any order; beyond the first, T must be known while the graph is built.
    Reference: TensorFlow 2.21 CTCLoss; Graves et al. 2006.

    >>> labels = tf.SparseTensor([[0, 0]], [0], [1, 1])
    >>> loss = tf.nn.ctc_loss(labels, np.zeros((2, 1, 2)), [2])
    >>> np.exp(-sess.run(loss))  # 3 of 4 alignments
    array([0.75])
    """
    with name_scope(None, "CTCLoss"):
        x = convert_to_tensor(either("logits", logits, "inputs", inputs), name="inputs")
        if not isinstance(labels, SparseTensor):
            raise TypeError("Expected argument `labels` to be a SparseTensor. Received labels="
                            f"{labels} of type: {type(labels).__name__}. Fix: tf.nn.ctc_loss_v2 takes a matrix")
        dtype = x.dtype
        x = raw.Cast(x, DstT=float32) if dtype in (float16, bfloat16) else x
        loss, _ = raw.CTCLoss(_turned(x, time_major), labels.indices, raw.Cast(labels.values, DstT=int32),
                              convert_to_tensor(sequence_length, int32, name="sequence_length"),
                              preprocess_collapse_repeated=bool(preprocess_collapse_repeated),
                              ctc_merge_repeated=bool(ctc_merge_repeated),
                              ignore_longer_outputs_than_inputs=bool(ignore_longer_outputs_than_inputs))
        return loss if loss.dtype is dtype else raw.Cast(loss, DstT=dtype)


def ctc_loss(labels: TensorLike, logits: TensorLike, label_length: TensorLike, logit_length: TensorLike,
             logits_time_major: bool = True, unique: bool | None = None, blank_index: TensorLike = None,
             name: str | None = None) -> Tensor:
    """Computes the negative log probability of label sequences, summed over all alignments with the logits.

    Args:
      labels: a matrix (B, L) of integers, or a `SparseTensor` of that shape.
      logits: (T, B, C), float, unnormalised.
      label_length: (B), the number of labels of each row; not used for a `SparseTensor`.
      logit_length: (B), the number of steps of each row.
      logits_time_major: whether logits are (T, B, C), else (B, T, C).
      unique: accepted as TensorFlow does, for speed; not needed.
      blank_index: the class of the blank, counted from the end if negative; 0 by default for a matrix.
      name: a name for the scope of the operations.
    Returns: (B), the losses; 706.9 with no gradient where a matrix's labels do not fit into the steps.
    Raises: ValueError for a `SparseTensor` without `blank_index`.
    Gradient: of any order; beyond the first, T must be known while the graph is built.
    Reference: TensorFlow 2.21 `tf.nn.ctc_loss`; Graves et al. 2006.

    >>> np.exp(-sess.run(ctc_loss([[1]], np.zeros((2, 1, 2)), [1], [2])))  # 3 of 4 alignments
    array([0.75])
    """
    with name_scope(name, "ctc_loss"):
        x = convert_to_tensor(logits, name="logits")
        dtype = x.dtype
        x = _turned(raw.Cast(x, DstT=float32) if dtype in (float16, bfloat16) else x, logits_time_major)
        steps = convert_to_tensor(logit_length, int32, name="logit_length")
        if isinstance(labels, SparseTensor):
            loss = _sparse_loss(labels, x, steps, blank_index)
        else:
            labels = raw.Cast(convert_to_tensor(labels, name="labels"), DstT=int32)
            lengths = convert_to_tensor(label_length, int32, name="label_length")
            blank = _from_start(0 if blank_index is None else blank_index, x)
            loss, _ = raw.CTCLossDense(x, labels, lengths, steps, blank_index=blank)
        return loss if loss.dtype is dtype else raw.Cast(loss, DstT=dtype)


def _from_start(blank, x):
    if blank >= 0:
        return int(blank)
    classes = x._spec.shape and x._spec.shape[2]
    if classes is None:
        raise ValueError(f"a negative blank_index ({blank}) needs logits with a known number of classes. "
                         "Fix: count it from the start, or use set_shape")
    return int(blank) + classes


def _sparse_loss(labels, x, steps, blank_index):
    """Computes CTCLoss after the blank has been moved to the end of the classes."""
    if blank_index is None:
        raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`. "
                         "Fix: say which class is the blank, e.g. blank_index=-1")
    blank = _from_start(blank_index, x)
    values = raw.Cast(labels.values, DstT=int32)
    if x._spec.shape is None or x._spec.shape[2] != blank + 1:
        end = np.asarray([0, 0, blank], np.int32), np.asarray([0, 0, blank + 1], np.int32)
        ones = np.ones(3, np.int32)
        before = raw.StridedSlice(x, np.zeros(3, np.int32), end[0], ones, begin_mask=7, end_mask=3)
        itself = raw.StridedSlice(x, end[0], end[1], ones, begin_mask=3, end_mask=3)
        after = raw.StridedSlice(x, end[1], np.zeros(3, np.int32), ones, begin_mask=3, end_mask=7)
        x = raw.ConcatV2([before, after, itself], 2)
        values = raw.SelectV2(raw.Less(values, np.int32(blank)), values, raw.Sub(values, np.int32(1)))
    return raw.CTCLoss(x, labels.indices, values, steps)[0]


# -- decoders ------------------------------------------------------------------------------


def ctc_greedy_decoder(inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True,
                       blank_index: TensorLike = None) -> tuple[list[SparseTensor], Tensor]:
    """Decodes to the most likely class of each step.

    Args:
      inputs: (T, B, C), float logits.
      sequence_length: (B), int32: the number of steps of each row.
      merge_repeated: whether equal classes in a row are one label.
      blank_index: the class of the blank, counted from the end if negative; the last by default.
    Returns: ([decoded], score): a list of one `SparseTensor` (B, longest), int64, and (B, 1), minus the sum of the
      largest logits.
    Raises: FailedPreconditionError at run time for a length beyond T.
    Gradient: none.
    Reference: TensorFlow 2.21 CTCGreedyDecoder.

    >>> x = np.float32([[[0, 5, 0]], [[0, 5, 0]], [[0, 0, 5]], [[5, 0, 0]]])
    >>> [decoded], score = tf.nn.ctc_greedy_decoder(x, [4])
    >>> sess.run(decoded).values
    array([1, 0])
    """
    inputs = convert_to_tensor(inputs, name="inputs")
    lengths = convert_to_tensor(sequence_length, int32, name="sequence_length")
    blank = -1 if blank_index is None else whole(blank_index)
    indices, values, shape, score = raw.CTCGreedyDecoder(inputs, lengths, merge_repeated=bool(merge_repeated),
                                                         blank_index=blank)
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder_v1(inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100,
                               top_paths: int = 1, merge_repeated: bool = True) -> tuple[list[SparseTensor], Tensor]:
    """Finds the most likely sequences of labels, by a beam search; the last class is the blank.

    Args:
      inputs: (T, B, C), float logits.
      sequence_length: (B), int32: the number of steps of each row.
      beam_width: the number of prefixes kept after each step.
      top_paths: the number of sequences to return, at most `beam_width`.
      merge_repeated: whether repeated labels are merged in the result.
    Returns: (decoded, scores): a list of `top_paths` `SparseTensor`s (B, longest), int64, and (B, top_paths), the
      logarithms of their probabilities.
    Raises: ValueError for more paths than the beam is wide; FailedPreconditionError at run time for a length beyond T.
    Gradient: none.
    Reference: TensorFlow 2.21 CTCBeamSearchDecoder; Graves et al. 2006.

    >>> [decoded], score = tf.nn.ctc_beam_search_decoder(np.zeros((2, 1, 2)), [2])
    >>> sess.run([decoded.values, tf.exp(score)])
    [array([0]), array([[0.75]])]
    """
    inputs = convert_to_tensor(inputs, name="inputs")
    lengths = convert_to_tensor(sequence_length, int32, name="sequence_length")
    indices, values, shapes, scores = raw.CTCBeamSearchDecoder(
        inputs, lengths, beam_width=whole(beam_width), top_paths=whole(top_paths), merge_repeated=bool(merge_repeated)
    )
    return [SparseTensor(*each) for each in zip(indices, values, shapes, strict=True)], scores


def ctc_beam_search_decoder(inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100,
                            top_paths: int = 1) -> tuple[list[SparseTensor], Tensor]:
    """Finds the most likely sequences of labels, by a beam search; the last class is the blank.

    Args:
      inputs: (T, B, C), float logits.
      sequence_length: (B), int32: the number of steps of each row.
      beam_width: the number of prefixes kept after each step.
      top_paths: the number of sequences to return, at most `beam_width`.
    Returns: (decoded, scores): a list of `top_paths` `SparseTensor`s (B, longest), int64, and (B, top_paths), the
      logarithms of their probabilities.
    Raises: ValueError for more paths than the beam is wide; FailedPreconditionError at run time for a length beyond T.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.nn.ctc_beam_search_decoder`.
    """
    return ctc_beam_search_decoder_v1(inputs, sequence_length, beam_width, top_paths, False)


# -- labels --------------------------------------------------------------------------------


@op("CTCUniqueLabels", "labels: T -> unique: T, indices: int32", T=INDEX, flags=("host",))
def unique_labels_op(xp, labels):
    """Returns the distinct labels of each row, padded with zeros, and the index of each label among them."""
    found, places = np.zeros_like(labels), np.zeros(labels.shape, np.int32)
    for b, row in enumerate(labels.tolist()):
        numbers = {}
        places[b] = [numbers.setdefault(v, len(numbers)) for v in row]
        found[b, : len(numbers)] = list(numbers)
    return found, places


@unique_labels_op.shape
def _unique_labels_shape(labels):
    labels = with_rank(labels, 2, "labels")
    return [labels, labels]


unique_labels_op.grad(NOT_DIFFERENTIABLE)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Tensor]:
    """Returns the distinct labels of each row, as `ctc_loss` accepts them.

    Args:
      labels: (B, L), integers.
      name: a name for the operation.
    Returns: (unique, indices), both (B, L): the distinct labels in order padded with zeros, int64, and for
      each label its index among these, int32.
    Raises: ValueError for another rank.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.nn.ctc_unique_labels`.

    >>> sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3]]))
    [array([[3, 4, 0, 0]]), array([[0, 1, 1, 0]], dtype=int32)]
    """
    with name_scope(name, "ctc_unique_labels"):
        labels = raw.Cast(convert_to_tensor(labels, name="labels"), DstT=int64)
        return list(raw.CTCUniqueLabels(labels))


@op("CollapseRepeated", "labels: T, seq_length: int32 -> collapsed: T, lengths: int32", T=INDEX, flags=("host",))
def collapse_repeated_op(xp, labels, lengths):
    """Merges repeated labels of each row, up to its length, and pads with zeros."""
    rows = []
    for row, n in zip(labels, lengths, strict=True):
        kept = row[:n]
        rows.append(kept[np.concatenate([[True], kept[1:] != kept[:-1]])] if n else kept)
    new = np.asarray([len(row) for row in rows], np.int32).reshape(-1)
    result = np.zeros((len(rows), new.max(initial=0)), labels.dtype)
    for b, row in enumerate(rows):
        result[b, : len(row)] = row
    return result, new


@collapse_repeated_op.shape
def _collapse_repeated_shape(labels, lengths):
    return [(with_rank(labels, 2, "labels")[0], None), with_rank(lengths, 1, "seq_length")]


collapse_repeated_op.grad(NOT_DIFFERENTIABLE)


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Merges equal labels that follow each other.

    Args:
      labels: (B, L), integers.
      seq_length: (B), the number of labels of each row.
      name: a name for the operation.
    Returns: (collapsed, lengths): (B, L'), padded with zeros, L' being the largest of the new lengths.
    Raises: ValueError for another rank.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.nn.collapse_repeated`.

    >>> sess.run(tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5]))
    (array([[1, 2, 1]], dtype=int32), array([3], dtype=int32))
    """
    labels = convert_to_tensor(labels, name="labels")
    return raw.CollapseRepeated(labels, convert_to_tensor(seq_length, int32, name="seq_length"), name=name)

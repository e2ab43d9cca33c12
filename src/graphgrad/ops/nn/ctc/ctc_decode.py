"""Connectionist temporal classification: decoders."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint, FailedPreconditionError
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.shape import with_rank


def _check(x, steps):
    if len(steps) != x.shape[1]:
        raise Complaint(f"len(sequence_length) != batch_size.  len(sequence_length):  {len(steps)} batch_size: "
                        f"{x.shape[1]}", "give one length for each row")
    for b, t in enumerate(steps):
        if t > x.shape[0]:
            raise Complaint(f"sequence_length({b}) <= {x.shape[0]}", "use lengths of at most the number of steps",
                            FailedPreconditionError)


def _sparse(rows):
    """Returns indices, values and shape of a sparse matrix of labels."""
    indices = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    values = [v for row in rows for v in row]
    shape = [len(rows), max(map(len, rows), default=0)]
    return np.asarray(indices, np.int64).reshape(-1, 2), np.asarray(values, np.int64), np.asarray(shape, np.int64)


def _shapes(x, steps, paths=1):
    batch = with_rank(x, 3, "inputs")[1]
    (lengths,) = with_rank(steps, 1, "sequence_length")
    if None not in (batch, lengths) and batch != lengths:
        raise Complaint(f"sequence_length has {lengths} elements for {batch} rows", "give one length for each row")
    batch = lengths if batch is None else batch
    return [*[(None, 2)] * paths, *[(None,)] * paths, *[(2,)] * paths, (batch, paths)]


@op("CTCGreedyDecoder", "inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, "
    "decoded_shape: int64, log_probability: T", T=FLOATING, flags=("host",))
def greedy_decoder(xp, x, steps, *, merge_repeated=False, blank_index=-1):
    """Decodes to the most likely class of each step, without blanks."""
    _check(x, steps)
    classes = x.shape[2]
    if not -classes <= blank_index < classes:
        raise Complaint(f"blank_index {blank_index} is not one of {classes} classes", "use one of 0 to num_classes - 1")
    blank = blank_index % classes
    best = x.argmax(-1)
    live = np.arange(x.shape[0])[:, None] < steps
    score = -np.where(live, x.max(-1, initial=-np.inf), 0).sum(0)[:, None].astype(x.dtype)
    rows = []
    for b, n in enumerate(steps):
        row = best[:n, b].tolist()
        rows.append([v for t, v in enumerate(row) if v != blank and not (merge_repeated and t and v == row[t - 1])])
    return (*_sparse(rows), score)


@greedy_decoder.shape
def _greedy_decoder_shape(x, steps):
    return _shapes(x, steps)


greedy_decoder.grad(NOT_DIFFERENTIABLE)


def _search(logp, width):
    """Returns the most likely prefixes of one row, with the logarithms of their probabilities, best first.

    Args:
      logp: (T, C), logarithms of probabilities; the last class is the blank.
      width: the number of prefixes kept after each step.
    """
    blank = logp.shape[1] - 1
    # prefix -> (ends in a blank, ends in its last label)
    beam = {(): (0.0, -np.inf)}
    for at in logp:
        found = {}
        for prefix, (by_blank, by_label) in beam.items():
            total = np.logaddexp(by_blank, by_label)
            label = by_label
            if prefix and prefix[:-1] in beam:
                before = beam[prefix[:-1]]
                same = len(prefix) > 1 and prefix[-2] == prefix[-1]
                label = np.logaddexp(label, before[0] if same else np.logaddexp(*before))
            found[prefix] = (total + at[blank], label + at[prefix[-1]] if prefix else -np.inf)
        for prefix, (by_blank, by_label) in beam.items():
            total = np.logaddexp(by_blank, by_label)
            for c in range(blank):
                longer = (*prefix, c)
                if longer not in beam:
                    found[longer] = (-np.inf, at[c] + (by_blank if prefix and prefix[-1] == c else total))
        kept = sorted(found, key=lambda p: -np.logaddexp(*found[p]))[:width]
        beam = {p: found[p] for p in kept}
    return [(p, np.logaddexp(*beam[p])) for p in beam]


@op("CTCBeamSearchDecoder", "inputs: T, sequence_length: int32 -> decoded_indices: top_paths*int64, "
    "decoded_values: top_paths*int64, decoded_shape: top_paths*int64, log_probability: T", T=FLOATING,
    flags=("host",))
def beam_search_decoder(xp, x, steps, *, beam_width, top_paths, merge_repeated=True):
    """Finds the most likely sequences of labels, by a search that keeps `beam_width` prefixes."""
    _check(x, steps)
    wide = x.astype(np.float64)
    wide = wide - wide.max(-1, keepdims=True)
    logp = wide - np.log(np.exp(wide).sum(-1, keepdims=True))
    paths = [[] for _ in range(top_paths)]
    scores = np.zeros((x.shape[1], top_paths))
    with np.errstate(all="ignore"):
        for b, n in enumerate(steps):
            best = _search(logp[:n, b], beam_width)
            if len(best) < top_paths:
                raise Complaint("Less leaves in the beam search than requested.", "ask for fewer top_paths")
            for k in range(top_paths):
                prefix, scores[b, k] = best[k]
                merged = [v for i, v in enumerate(prefix) if not (merge_repeated and i and v == prefix[i - 1])]
                paths[k].append(merged)
    indices, values, shapes = zip(*map(_sparse, paths), strict=True)
    return list(indices), list(values), list(shapes), scores.astype(x.dtype)


@beam_search_decoder.shape
def _beam_search_decoder_shape(x, steps, beam_width, top_paths):
    if top_paths > beam_width:
        raise Complaint("requested more paths than the beam width.", "use a larger beam_width")
    return _shapes(x, steps, top_paths)


beam_search_decoder.grad(NOT_DIFFERENTIABLE)

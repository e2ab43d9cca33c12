"""Expressions of ragged tensors, evaluated by TensorFlow (`tests/record/ragged.py`) and by the tests."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[1] / "recorded" / "ragged.json"

EXPRESSIONS = {
    "unary": """
        tf.abs(-R)
        tf.exp(R)
        tf.nn.relu(R-2.)
        tf.math.log1p(R)
        tf.cast(R,tf.int32)
        tf.square(D)
        tf.identity(R)
        tf.ones_like(R)
        tf.zeros_like(D)
        tf.math.is_nan(R)
        tf.sigmoid(E)
        tf.stop_gradient(R)
        tf.round(R)
        tf.sign(R)
        tf.math.erf(R)
        tf.nn.gelu(R)
        tf.nn.leaky_relu(R)
        tf.nn.elu(R)
        tf.nn.silu(R)
        tf.saturate_cast(R,tf.uint8)
        tf.clip_by_value(R,2.,4.)
        tf.debugging.check_numerics(R,'m')
        tf.logical_not(B)
        tf.bitwise.invert(I)
        tf.math.rsqrt(R)
        tf.negative(R)
    """,
    "binary": """
        tf.add(R,S)
        tf.multiply(R,2.)
        tf.subtract(1.,R)
        tf.maximum(R,3.)
        tf.pow(R,2.)
        R+S
        R*2.
        2.-R
        R/S
        R**2.
        R//2.
        R%2.
        -R
        abs(-R)
        R<S
        R>=2.
        tf.equal(R,S)
        tf.not_equal(R,2.)
        tf.less(R,S)
        tf.logical_and(B,B)
        B&B
        B | ~B
        tf.math.atan2(R,S)
        tf.math.squared_difference(R,S)
        tf.math.divide_no_nan(R,S)
        tf.add(C(1.),R)
        C(2.)*R
        tf.add_n([R,S,R])
        tf.complex(R,S)
        I+1
        tf.math.floormod(I,2)
        tf.where(B,R,S)
        tf.math.xlogy(R,S)
    """,
    "broadcast": """
        R+C([[1.],[2.],[3.]])
        C([[1.],[2.],[3.]])*R
        R+C([5.])
        E+C([1.,2.])
        E*C([[[1.,2.]],[[3.,4.]],[[5.,6.]]])
        D+C([[[1.]],[[2.]],[[3.]]])
        R+C([1.,2.])
        R+I
        R+tf.ragged.constant([[1.],[2.],[3.]])
        R+tf.ragged.constant([[1.,2.],[2.],[3.,1.]])
    """,
    "reduce": """
        tf.reduce_sum(R)
        tf.reduce_sum(R,axis=0)
        tf.reduce_sum(R,axis=1)
        tf.reduce_sum(R,1)
        tf.reduce_sum(R,axis=-1)
        tf.reduce_sum(R,axis=[0,1])
        tf.reduce_mean(R,axis=1)
        tf.reduce_mean(R,axis=0)
        tf.reduce_max(R,axis=1)
        tf.reduce_min(R,axis=0)
        tf.reduce_prod(R,axis=1)
        tf.reduce_any(B,axis=1)
        tf.reduce_all(B,axis=0)
        tf.reduce_all(B)
        tf.reduce_sum(D,axis=0)
        tf.reduce_sum(D,axis=1)
        tf.reduce_sum(D,axis=2)
        tf.reduce_sum(D,axis=[1,2])
        tf.reduce_sum(D,[0,2])
        tf.reduce_sum(E,axis=1)
        tf.reduce_sum(E,axis=2)
        tf.reduce_sum(E,axis=0)
        tf.reduce_sum(R,axis=1,keepdims=True)
        tf.reduce_sum(R,axis=0,keepdims=True)
        tf.reduce_mean(D,axis=-1)
        tf.reduce_max(R)
        tf.math.reduce_variance(R,axis=1)
        tf.math.reduce_std(R,axis=1)
        tf.reduce_sum(R,axis=2)
        tf.reduce_mean(R)
        tf.reduce_logsumexp(R,axis=1)
    """,
    "join": """
        tf.concat([R,S],0)
        tf.concat([R,S],axis=1)
        tf.concat([R,T],0)
        tf.concat([R,T],1)
        tf.concat([D,D],2)
        tf.concat([E,E],2)
        tf.concat([R,S],-1)
        tf.stack([R,S])
        tf.stack([R,S],axis=1)
        tf.stack([R,S],axis=2)
        tf.stack([R,T])
        tf.concat([R],0)
        tf.stack([D,D],1)
        tf.concat([R,D],0)
    """,
    "gather": """
        tf.gather(R,[2,0])
        tf.gather(R,I)
        tf.gather(T,I)
        tf.gather(C([10,20,30]),I)
        tf.gather(R,I,batch_dims=1)
        tf.gather(R,[[0],[0],[2]],batch_dims=1)
        tf.gather(R,1)
        tf.gather(D,[2,0])
        tf.gather(R,[5])
        tf.gather_nd(R,[[0,1],[2,2]])
        tf.gather_nd(R,[[0],[2]])
        tf.gather_nd(D,[[2,1],[0,0]])
        tf.gather_nd(D,[[2,1,2]])
        tf.gather(E,[2,0])
        tf.gather(T,I,batch_dims=1)
        tf.gather(C([[1,2,3],[4,5,6,7]]),[2,0],axis=1)
        tf.gather(C([[1,2,3],[4,5,6,7]]),1,axis=-1)
        tf.gather(C([[1,2,3],[4,5,6,7]]),[[2,0],[1,1]],axis=1)
        tf.gather(C([[[1,2],[3]],[[4],[5,6,7],[8]]]),[1,0],axis=1)
        tf.gather(C([[[1,2],[3,4]],[[5,6,7],[8,9]]]),[1,0],axis=-1)
        tf.gather(D,[1,0],axis=-1)
        tf.gather(D,1,axis=2)
        tf.gather(T,I,axis=1)
        tf.gather(T,I,axis=-1)
        tf.gather(T,K([[[0,1],[2]],[[1]]]),axis=1)
        tf.gather(D,[0],axis=1)
        tf.gather(tf.reshape(tf.range(24),[2,3,4]),K([[0,2],[1]]),axis=2)
        tf.gather(tf.reshape(tf.range(24),[2,3,4]),K([[0,2],[1]]),axis=2,batch_dims=1)
        tf.gather(tf.reshape(tf.range(24),[2,3,4]),K([[[0,2],[1]],[[1]]]),axis=1,batch_dims=1)
        tf.gather(tf.reshape(tf.range(24),[2,3,4]),K([[[0,2],[1]],[[1]]]),axis=1)
        tf.gather(K([[[1,2],[3]],[[4,5,6]],[[7],[8],[9,10]]]),[[0],[1],[0]],axis=2,batch_dims=1)
        tf.gather(K([[[1,2],[3]],[[4,5,6]],[[7],[8],[9,10]]]),K([[[0],[0,0]],[[2]],[[],[0],[1]]]),batch_dims=2)
        tf.gather(K([[1,2,3],[4],[5,6]]),K([[0],[0,0]]),axis=1)
        tf.gather(K([[1,2,3],[4],[5,6]]),K([[3]]))
        C(3)
    """,
    "arrays": """
        tf.tile(R,[2,1])
        tf.tile(R,[1,2])
        tf.tile(E,[1,1,2])
        tf.tile(D,[1,2,1])
        tf.expand_dims(R,0)
        tf.expand_dims(R,1)
        tf.expand_dims(R,2)
        tf.expand_dims(R,-1)
        tf.expand_dims(D,2)
        tf.one_hot(I,3)
        tf.size(R)
        tf.rank(D)
        tf.rank(E)
        tf.where(B)
        tf.where([True,False,True],R,S)
        tf.reverse(R,[0])
        tf.reverse(R,[1])
        tf.squeeze(tf.expand_dims(R,0),0)
        tf.squeeze(tf.expand_dims(R,1),1)
        tf.nn.softmax(R)
        tf.nn.softmax(E)
        tf.nn.embedding_lookup(T,I)
        tf.math.unsorted_segment_sum(R,[1,0,1],2)
        tf.math.unsorted_segment_max(R,[1,0,1],2)
        tf.split(R,[1,2])[1]
        tf.nn.dropout(R,0.0)
    """,
    "index": """
        R[0]
        R[1:]
        R[:,:1]
        R[:,1:]
        R[:,-2:]
        R[2,1]
        R[-1]
        R[::2]
        R[:,0]
        D[0,0]
        D[:,:1]
        D[:,:,:1]
        D[2,1,0]
        D[:,1:,:1]
        E[:,:,0]
        E[:,:,0:1]
        R[...]
        R[:,::2]
        R[:,::-1]
        R[0,:1]
        R[0,...]
        R[tf.newaxis]
        R[:,tf.newaxis]
        E[:,:1,1]
        D[1:,...,:1]
    """,
    "counts": """
        tf.math.bincount(I)
        tf.math.bincount(I,axis=-1)
        tf.math.bincount(J,axis=-1,binary_output=True)
        tf.math.bincount(J,axis=-1,minlength=8)
        tf.math.bincount(J,axis=-1,maxlength=3)
        tf.math.bincount(J,axis=0,minlength=3,maxlength=4)
        tf.math.bincount(J,axis=-1,dtype=tf.float32)
        tf.math.bincount(I,K([[.5,2.],[],[1.]]))
        tf.math.bincount(I,K([[.5,2.],[],[1.]]),axis=-1)
        tf.math.bincount(K([[1,-1],[2]]),axis=-1)
        tf.sparse.bincount(I)
        tf.sparse.bincount(J,axis=-1)
        tf.sparse.bincount(I,K([[.5,2.],[],[1.]]),axis=-1)
        tf.sparse.bincount(J,axis=-1,maxlength=3,binary_output=True)
        tf.raw_ops.RaggedBincount(splits=I.row_splits,values=I.values,size=6,weights=[.5,2.,1.])
        tf.raw_ops.RaggedBincount(splits=I.row_splits,values=I.values,size=2,weights=[])
    """,
    "strings": """
        tf.strings.join([W,W],'-')
        tf.strings.length(W)
        tf.strings.upper(W)
        tf.strings.lower(W)
        tf.strings.strip(W)
        tf.strings.substr(W,0,1)
        tf.strings.regex_replace(W,'a','x')
        tf.strings.regex_full_match(W,'a+')
        tf.strings.to_hash_bucket_fast(W,10)
        tf.strings.as_string(I)
        tf.strings.reduce_join(W,axis=1)
        tf.strings.reduce_join(W,axis=1,separator=',')
        tf.strings.to_number(tf.strings.as_string(I))
        tf.strings.reduce_join(W)
        tf.io.encode_base64(W)
        tf.strings.to_hash_bucket_strong(W,10,[1,2])
        tf.strings.join([W,'x'])
        tf.strings.reduce_join(W,axis=0)
    """,
    "parts": """
        R.uniform_row_length
        R.bounding_shape()
        R.merge_dims(0,1)
        E.merge_dims(1,2)
        D.row_lengths(axis=2)
        R.shape
        E.shape
        tf.ragged.stack([R,S],axis=1)
        tf.ragged.stack([[1,2],[3]])
        tf.ragged.boolean_mask(D,[True,False,True])
    """,
    "ngrams": r"""
        tf.strings.ngrams(['A','B','C','D'],2)
        tf.strings.ngrams(['A','B','C','D'],[2,1],separator='|')
        tf.strings.ngrams(G,2,pad_values='_')
        tf.strings.ngrams(['TF','and'],1,pad_values=('L','R'))
        tf.strings.ngrams(['a','b'],3,pad_values='_',padding_width=1)
        tf.strings.ngrams(['a','b'],3,preserve_short_sequences=True)
        tf.strings.ngrams(['a','b'],3)
        tf.strings.ngrams(['a','b'],0)
        tf.strings.ngrams('a',1)
        tf.strings.ngrams([['a','b'],['c','d']],2)
        tf.strings.ngrams(['a','b'],2,padding_width=1)
        tf.strings.ngrams(['a','b'],2,pad_values=3)
        tf.strings.ngrams(['a','b'],[3,2],pad_values='_')
        tf.strings.ngrams(['a','b'],2,pad_values='_',padding_width=0)
    """,
    "unicode": r"""
        tf.strings.unicode_decode('h\xe9llo','UTF-8')
        tf.strings.unicode_decode(['a\xe9','','\U0001F600'],'UTF-8')
        tf.strings.unicode_decode([X],'UTF-8')
        tf.strings.unicode_decode([X],'UTF-8',errors='ignore')
        tf.strings.unicode_decode([X],'UTF-8',errors='strict')
        tf.strings.unicode_decode([X],'UTF-8',replacement_char=63)
        tf.strings.unicode_decode(['a\tb'],'UTF-8',replace_control_characters=True)
        tf.strings.unicode_decode([b'\x00\xe9'],'UTF-16-BE')
        tf.strings.unicode_decode([b'\xe9'],'ISO-8859-1')
        tf.strings.unicode_decode([b'\x00\x00\x00\xe9'],'UTF-32-BE')
        tf.strings.unicode_decode([['a','b']],'UTF-8')
        tf.strings.unicode_decode(['x'],'nix')
        tf.strings.unicode_decode(['x'],'UTF-8',errors='q')
        tf.strings.unicode_decode(['x'],'UTF-8',replacement_char=-1)
        tf.strings.unicode_decode(W,'UTF-8')
        tf.strings.unicode_decode([b'\xed\xa0\x80',b'\xf4\x90\x80\x80',b'\xc0\x80',b'\xe2\x28\xa1',b'\xf0\x9f\x98',b'\xef\xbb\xbfx'],'UTF-8')
        tf.strings.unicode_decode_with_offsets(['a\xe9\U0001F600b',''],'UTF-8')
        tf.strings.unicode_split(['a\xe9','x'],'UTF-8')
        tf.strings.unicode_split([X],'UTF-8')
        tf.strings.unicode_split_with_offsets('a\xe9','UTF-8')
        tf.strings.unicode_encode([104,233],'UTF-8')
        tf.strings.unicode_encode(I,'UTF-32-BE')
        tf.strings.unicode_encode([[104,0xD800]],'UTF-8')
        tf.strings.unicode_encode([[104,0xD800]],'UTF-8','ignore')
        tf.strings.unicode_encode([[104,0xD800]],'UTF-8','strict')
        tf.strings.unicode_encode([[1114112]],'UTF-32-BE')
        tf.strings.unicode_encode([[1]],'nix')
        tf.strings.unicode_encode(5,'UTF-8')
        tf.strings.unicode_encode([[[97],[98]]],'UTF-8')
        tf.strings.unicode_transcode(['\xe9',X],'UTF-8','UTF-16-BE')
        tf.strings.unicode_transcode([X],'UTF-8','UTF-8',errors='ignore')
        tf.strings.unicode_transcode(['a\n'],'UTF-8','UTF-8',replace_control_characters=True)
        tf.strings.unicode_transcode([b'\xe9'],'LATIN1','UTF-8')
        tf.strings.unicode_transcode([X],'UTF-8','UTF-8',errors='strict')
        tf.strings.unicode_transcode(W,'UTF-8','UTF-16-BE')
        tf.strings.unicode_script([65,0x3b1,0x4e00,48,-1,0x110000])
        tf.reduce_sum(tf.strings.unicode_script(tf.range(0x110000)) * tf.range(0x110000))
    """,
    "crosses": r"""
        tf.sparse.cross([P,Q,N])
        tf.sparse.cross([P,M],separator='/')
        tf.sparse.cross_hashed([P,Q,N])
        tf.sparse.cross_hashed([P,M],num_buckets=100)
        tf.sparse.cross_hashed([P,M],num_buckets=1000,hash_key=5)
        tf.sparse.cross([N,C([[1],[2]])])
        tf.sparse.cross([P,3.5])
        tf.sparse.cross([])
        tf.sparse.cross([P,tf.SparseTensor([[0,0]],[1.5],[2,1])])
        tf.sparse.cross([P,C([['a']])])
        tf.ragged.cross([H,N])
        tf.ragged.cross([H,tf.ragged.constant([['x','y'],[]])])
        tf.ragged.cross_hashed([H,tf.ragged.constant([[1],[2]])],num_buckets=100)
        tf.ragged.cross_hashed([H,Q])
        tf.ragged.cross([H,Q,N])
        tf.ragged.cross([C(['a'])])
        tf.ragged.cross([])
        tf.sparse.sampled_addmm([[0,1],[1,0]],[10.,20.],[2,2],T[:2],T[:,:2])
        tf.sparse.sampled_addmm([[0,1],[1,0]],[10.,20.],[2,2],T[:2],T[:,:2],beta=0.5,alpha=2.)
    """,
    "sound": r"""
        tf.audio.encode_wav(C([[.5,-.5],[1.,-1.2],[.1,0]]),44100)
        tf.audio.decode_wav(V)
        tf.audio.decode_wav(V,desired_channels=1)
        tf.audio.decode_wav(V,desired_samples=5)
        tf.audio.decode_wav(V,desired_channels=3)
        tf.audio.decode_wav(V,desired_samples=2)
        tf.audio.decode_wav('x'*50)
        tf.audio.encode_wav([1.,2.],1)
    """,
}


def operands(tf: Any) -> dict[str, Any]:
    """What the names in the expressions stand for."""
    constant, ragged = tf.constant, tf.ragged.constant
    return {
        "G": ragged([["a", "b", "c"], ["d"], []]), "H": ragged([["a"], ["b", "c"]]), "X": b"a\xffb\xe2\x82",
        "P": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]), "N": constant([["f"], ["g"]]),
        "Q": tf.SparseTensor([[0, 0], [1, 0]], ["d", "e"], [2, 1]),
        "M": tf.SparseTensor([[0, 0], [1, 0]], constant([7, 8], tf.int64), [2, 1]),
        "V": tf.audio.encode_wav(constant([[0.5, -0.5], [1.0, -1.2], [0.1, 0.0]]), 44100),
        "J": ragged([[1, 2, 2], [5], [], [0, 1]]), "K": ragged,
        "tf": tf, "C": constant, "T": constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        "R": ragged([[1.0, 2.0], [], [3.0, 4.0, 5.0]]), "S": ragged([[10.0, 20.0], [], [30.0, 40.0, 50.0]]),
        "I": ragged([[2, 0], [], [1]]), "B": ragged([[True, False], [], [False, True, True]]),
        "D": ragged([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]]]), "W": ragged([["aa", "b"], [], ["C d"]]),
        "E": tf.RaggedTensor.from_row_splits(constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [0, 2, 2, 3]),
    }


def shown(value: Any) -> Any:
    """A value as JSON has it: kind, ragged rank or shape, elements."""
    if hasattr(value, "to_list") and hasattr(value, "row_splits"):
        return ["ragged", value.ragged_rank if hasattr(value, "ragged_rank") else 0, _plain(value.to_list())]
    if hasattr(value, "dense_shape"):
        return ["sparse", *[shown(part) for part in (value.indices, value.values, value.dense_shape)]]
    if isinstance(value, tuple):
        return ["several", *map(shown, value)]
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic, bytes)):
        return ["dense", list(np.shape(value)), _plain(np.asarray(value).tolist())]
    return ["other", str(value)]


def _plain(x: Any) -> Any:
    if isinstance(x, list):
        return [_plain(i) for i in x]
    if isinstance(x, bytes):
        return x.decode("latin1")
    if isinstance(x, complex):
        return str(x)
    if isinstance(x, float):
        return float(f"{x:.5g}") if math.isfinite(x) else str(x)
    return _plain(x.tolist()) if isinstance(x, np.ndarray) else x


def evaluated(tf: Any, expression: str) -> Any:
    """The value of an expression in eager mode, or the class of its error."""
    try:
        return shown(eval(expression, operands(tf)))
    except Exception as e:  # the class is what is compared
        return ["error", type(e).__name__]


def expressions(group: str) -> list[str]:
    """The expressions of a group."""
    return [line.strip() for line in EXPRESSIONS[group].strip().splitlines()]


def recorded() -> dict[str, Any]:
    """What TensorFlow gave."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found

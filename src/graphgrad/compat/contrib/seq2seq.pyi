"""`tf.contrib.seq2seq` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.seq2seq.attention import AttentionMechanism as AttentionMechanism
from graphgrad.extras.contrib.seq2seq.attention import BahdanauAttention as BahdanauAttention
from graphgrad.extras.contrib.seq2seq.attention import BahdanauMonotonicAttention as BahdanauMonotonicAttention
from graphgrad.extras.contrib.seq2seq.attention import LuongAttention as LuongAttention
from graphgrad.extras.contrib.seq2seq.attention import LuongMonotonicAttention as LuongMonotonicAttention
from graphgrad.extras.contrib.seq2seq.attention import hardmax as hardmax
from graphgrad.extras.contrib.seq2seq.attention import monotonic_attention as monotonic_attention
from graphgrad.extras.contrib.seq2seq.attention import safe_cumprod as safe_cumprod
from graphgrad.extras.contrib.seq2seq.attention_wrapper import AttentionWrapper as AttentionWrapper
from graphgrad.extras.contrib.seq2seq.attention_wrapper import AttentionWrapperState as AttentionWrapperState
from graphgrad.extras.contrib.seq2seq.beam import BeamSearchDecoder as BeamSearchDecoder
from graphgrad.extras.contrib.seq2seq.beam import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from graphgrad.extras.contrib.seq2seq.beam import BeamSearchDecoderState as BeamSearchDecoderState
from graphgrad.extras.contrib.seq2seq.beam import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from graphgrad.extras.contrib.seq2seq.beam import gather_tree as gather_tree
from graphgrad.extras.contrib.seq2seq.decoder import BasicDecoder as BasicDecoder
from graphgrad.extras.contrib.seq2seq.decoder import BasicDecoderOutput as BasicDecoderOutput
from graphgrad.extras.contrib.seq2seq.decoder import Decoder as Decoder
from graphgrad.extras.contrib.seq2seq.decoder import dynamic_decode as dynamic_decode
from graphgrad.extras.contrib.seq2seq.decoder_functions import attention_decoder_fn_inference as attention_decoder_fn_inference
from graphgrad.extras.contrib.seq2seq.decoder_functions import attention_decoder_fn_train as attention_decoder_fn_train
from graphgrad.extras.contrib.seq2seq.decoder_functions import dynamic_rnn_decoder as dynamic_rnn_decoder
from graphgrad.extras.contrib.seq2seq.decoder_functions import prepare_attention as prepare_attention
from graphgrad.extras.contrib.seq2seq.decoder_functions import simple_decoder_fn_inference as simple_decoder_fn_inference
from graphgrad.extras.contrib.seq2seq.decoder_functions import simple_decoder_fn_train as simple_decoder_fn_train
from graphgrad.extras.contrib.seq2seq.decoding_helpers import CustomHelper as CustomHelper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import Helper as Helper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import InferenceHelper as InferenceHelper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import SampleEmbeddingHelper as SampleEmbeddingHelper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper
from graphgrad.extras.contrib.seq2seq.decoding_helpers import TrainingHelper as TrainingHelper
from graphgrad.extras.contrib.seq2seq.sequence_loss import sequence_loss as sequence_loss
from graphgrad.extras.contrib.seq2seq.sequence_loss import tile_batch as tile_batch

__all__ = [
    "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention",
    "BahdanauMonotonicAttention", "BasicDecoder", "BasicDecoderOutput", "BeamSearchDecoder", "BeamSearchDecoderOutput",
    "BeamSearchDecoderState", "CustomHelper", "Decoder", "FinalBeamSearchDecoderOutput", "GreedyEmbeddingHelper",
    "Helper", "InferenceHelper", "LuongAttention", "LuongMonotonicAttention", "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "TrainingHelper",
    "attention_decoder_fn_inference", "attention_decoder_fn_train", "dynamic_decode", "dynamic_rnn_decoder",
    "gather_tree", "hardmax", "monotonic_attention", "prepare_attention", "safe_cumprod", "sequence_loss",
    "simple_decoder_fn_inference", "simple_decoder_fn_train", "tile_batch"
]

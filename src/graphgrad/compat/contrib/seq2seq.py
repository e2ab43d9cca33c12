"""`tf.contrib.seq2seq`, of 1.15 and of 1.0."""

from graphgrad.contrib.seq2seq import sequence_loss as sequence_loss
from graphgrad.contrib.seq2seq import tile_batch as tile_batch
from graphgrad.contrib.seq2seq_attention import AttentionMechanism as AttentionMechanism
from graphgrad.contrib.seq2seq_attention import BahdanauAttention as BahdanauAttention
from graphgrad.contrib.seq2seq_attention import BahdanauMonotonicAttention as BahdanauMonotonicAttention
from graphgrad.contrib.seq2seq_attention import LuongAttention as LuongAttention
from graphgrad.contrib.seq2seq_attention import LuongMonotonicAttention as LuongMonotonicAttention
from graphgrad.contrib.seq2seq_attention import hardmax as hardmax
from graphgrad.contrib.seq2seq_attention import monotonic_attention as monotonic_attention
from graphgrad.contrib.seq2seq_attention import safe_cumprod as safe_cumprod
from graphgrad.contrib.seq2seq_beam import BeamSearchDecoder as BeamSearchDecoder
from graphgrad.contrib.seq2seq_beam import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from graphgrad.contrib.seq2seq_beam import BeamSearchDecoderState as BeamSearchDecoderState
from graphgrad.contrib.seq2seq_beam import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from graphgrad.contrib.seq2seq_beam import gather_tree as gather_tree
from graphgrad.contrib.seq2seq_decoder import BasicDecoder as BasicDecoder
from graphgrad.contrib.seq2seq_decoder import BasicDecoderOutput as BasicDecoderOutput
from graphgrad.contrib.seq2seq_decoder import Decoder as Decoder
from graphgrad.contrib.seq2seq_decoder import dynamic_decode as dynamic_decode
from graphgrad.contrib.seq2seq_functions import attention_decoder_fn_inference as attention_decoder_fn_inference
from graphgrad.contrib.seq2seq_functions import attention_decoder_fn_train as attention_decoder_fn_train
from graphgrad.contrib.seq2seq_functions import dynamic_rnn_decoder as dynamic_rnn_decoder
from graphgrad.contrib.seq2seq_functions import prepare_attention as prepare_attention
from graphgrad.contrib.seq2seq_functions import simple_decoder_fn_inference as simple_decoder_fn_inference
from graphgrad.contrib.seq2seq_functions import simple_decoder_fn_train as simple_decoder_fn_train
from graphgrad.contrib.seq2seq_helpers import CustomHelper as CustomHelper
from graphgrad.contrib.seq2seq_helpers import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from graphgrad.contrib.seq2seq_helpers import Helper as Helper
from graphgrad.contrib.seq2seq_helpers import InferenceHelper as InferenceHelper
from graphgrad.contrib.seq2seq_helpers import SampleEmbeddingHelper as SampleEmbeddingHelper
from graphgrad.contrib.seq2seq_helpers import ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper
from graphgrad.contrib.seq2seq_helpers import ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper
from graphgrad.contrib.seq2seq_helpers import TrainingHelper as TrainingHelper
from graphgrad.contrib.seq2seq_wrapper import AttentionWrapper as AttentionWrapper
from graphgrad.contrib.seq2seq_wrapper import AttentionWrapperState as AttentionWrapperState

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)

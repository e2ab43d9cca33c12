"""`tf.contrib.seq2seq` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.seq2seq.attention: AttentionMechanism BahdanauAttention BahdanauMonotonicAttention
    LuongAttention LuongMonotonicAttention hardmax monotonic_attention safe_cumprod
graphgrad.extras.contrib.seq2seq.attention_wrapper: AttentionWrapper AttentionWrapperState
graphgrad.extras.contrib.seq2seq.beam: BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState
    FinalBeamSearchDecoderOutput gather_tree
graphgrad.extras.contrib.seq2seq.decoder: BasicDecoder BasicDecoderOutput Decoder dynamic_decode
graphgrad.extras.contrib.seq2seq.decoder_functions: attention_decoder_fn_inference attention_decoder_fn_train
    dynamic_rnn_decoder prepare_attention simple_decoder_fn_inference simple_decoder_fn_train
graphgrad.extras.contrib.seq2seq.decoding_helpers: CustomHelper GreedyEmbeddingHelper Helper InferenceHelper
    SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper TrainingHelper
graphgrad.extras.contrib.seq2seq.sequence_loss: sequence_loss tile_batch
""")

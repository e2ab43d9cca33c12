"""`tf.strings`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.ragged.ragged_strings: bytes_split split=string_split_v2
graphgrad.extras.ragged.ragged_unicode: ngrams unicode_decode unicode_decode_with_offsets unicode_encode unicode_split
    unicode_split_with_offsets
graphgrad.extras.strings.hashing: to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong
graphgrad.extras.strings.string_functions: as_string format=string_format join=string_join length lower reduce_join
    regex_full_match regex_replace strip substr to_number unsorted_segment_join upper
graphgrad.extras.strings.unicode: unicode_script unicode_transcode
""")

"""`tf.strings` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.ragged.ragged_strings import bytes_split as bytes_split
from graphgrad.extras.ragged.ragged_strings import string_split_v1 as split
from graphgrad.extras.ragged.ragged_unicode import ngrams as ngrams
from graphgrad.extras.ragged.ragged_unicode import unicode_decode as unicode_decode
from graphgrad.extras.ragged.ragged_unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from graphgrad.extras.ragged.ragged_unicode import unicode_encode as unicode_encode
from graphgrad.extras.ragged.ragged_unicode import unicode_split as unicode_split
from graphgrad.extras.ragged.ragged_unicode import unicode_split_with_offsets as unicode_split_with_offsets
from graphgrad.extras.strings.hashing import to_hash_bucket_fast as to_hash_bucket_fast
from graphgrad.extras.strings.hashing import to_hash_bucket_strong as to_hash_bucket_strong
from graphgrad.extras.strings.hashing import to_hash_bucket_v1 as to_hash_bucket
from graphgrad.extras.strings.string_functions import as_string as as_string
from graphgrad.extras.strings.string_functions import length_v1 as length
from graphgrad.extras.strings.string_functions import lower as lower
from graphgrad.extras.strings.string_functions import reduce_join_v1 as reduce_join
from graphgrad.extras.strings.string_functions import regex_full_match as regex_full_match
from graphgrad.extras.strings.string_functions import regex_replace as regex_replace
from graphgrad.extras.strings.string_functions import string_format as format
from graphgrad.extras.strings.string_functions import string_join as join
from graphgrad.extras.strings.string_functions import strip as strip
from graphgrad.extras.strings.string_functions import substr_v1 as substr
from graphgrad.extras.strings.string_functions import to_number_v1 as to_number
from graphgrad.extras.strings.string_functions import unsorted_segment_join as unsorted_segment_join
from graphgrad.extras.strings.string_functions import upper as upper
from graphgrad.extras.strings.unicode import unicode_script as unicode_script
from graphgrad.extras.strings.unicode import unicode_transcode as unicode_transcode

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong",
    "to_number", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_script", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper"
]

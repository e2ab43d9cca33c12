"""`tf.flags` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
absl.flags: ArgumentParser ArgumentSerializer BaseListParser BooleanFlag BooleanParser CantOpenFlagFileError
    CsvListSerializer DEFINE DEFINE_alias DEFINE_enum DEFINE_enum_class DEFINE_flag DEFINE_list DEFINE_multi
    DEFINE_multi_enum DEFINE_multi_enum_class DEFINE_multi_float DEFINE_multi_integer DEFINE_multi_string
    DEFINE_spaceseplist DuplicateFlagError EnumClassFlag EnumClassListSerializer EnumClassParser EnumClassSerializer
    EnumFlag EnumParser Error Flag FlagHolder FlagNameConflictsWithMethodError FlagValues FloatParser
    IllegalFlagValueError IntegerParser ListParser ListSerializer MultiEnumClassFlag MultiFlag UnparsedFlagAccessError
    UnrecognizedFlagError ValidationError WhitespaceSeparatedListParser adopt_module_key_flags declare_key_flag
    disclaim_key_flags doc_to_help flag_dict_to_args get_help_width mark_bool_flags_as_mutual_exclusive
    mark_flag_as_required mark_flags_as_mutual_exclusive mark_flags_as_required multi_flags_validator override_value
    register_multi_flags_validator register_validator set_default text_wrap validator
graphgrad.platform.flags: DEFINE_bool DEFINE_boolean DEFINE_float DEFINE_integer DEFINE_string FLAGS
""")

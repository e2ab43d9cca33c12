"""`tf.flags`: the DEFINE functions and validators."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .flag_parsers import (
    ArgumentParser,
    ArgumentSerializer,
    BooleanParser,
    CsvListSerializer,
    EnumClassParser,
    EnumClassSerializer,
    EnumParser,
    FloatParser,
    IntegerParser,
    ListParser,
    ListSerializer,
    UnrecognizedFlagError,
    ValidationError,
    WhitespaceSeparatedListParser,
)
from .flag_values import FLAGS, Flag, FlagHolder, FlagValues, MultiFlag, calling_module

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a DEFINE function take the argument names of TensorFlow before 1.5 as well."""

    @functools.wraps(function)
    def define(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{_OLD_NAMES.get(k, k): v for k, v in kwargs.items()})

    return define


def DEFINE_flag(flag: Flag, flag_values: FlagValues = FLAGS, module_name: Any = None, required: bool = False) -> Any:
    """Adds a `Flag` to `flag_values`.

    Args:
      flag: the flag.
      flag_values: where to put it.
      module_name: the module that is said to define it; the caller's by default.
      required: whether the command line has to give it.
    Returns: a `FlagHolder`.
    Raises: DuplicateFlagError if there is one of that name.
    """
    if required and flag.default is not None:
        raise ValueError(f"Required flag --{flag.name} needs to have None as default")
    flag.module = module_name or calling_module()
    flag_values[flag.name] = flag
    if required:
        mark_flag_as_required(flag.name, flag_values)
    return FlagHolder(flag_values, flag, required)


def DEFINE(parser: Any, name: Any, default: Any, help: Any, flag_values: FlagValues = FLAGS,
           serializer: Any = None, module_name: Any = None, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag with a parser of one's own.

    Args:
      parser: an `ArgumentParser`.
      name, default, help: name, default value and purpose of the flag.
      flag_values, module_name, required: as in `DEFINE_flag`.
      serializer: an `ArgumentSerializer`.
      **args: further arguments of `Flag`, such as `short_name`.
    Returns: a `FlagHolder`.
    """
    return DEFINE_flag(Flag(parser, serializer, name, default, help, **args), flag_values, module_name, required)


@_with_old_names
def DEFINE_string(name: Any, default: Any, help: Any, flag_values: FlagValues = FLAGS,
                  required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is text.

    Args:
      name, default, help: name, default value and purpose of the flag.
      flag_values, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`, such as `short_name`.
    Returns: a `FlagHolder`.
    Raises: DuplicateFlagError if there is one of that name.
    Reference: absl.flags, which TensorFlow 1.5 and later use.

    >>> own = tf.flags.FlagValues()
    >>> _ = tf.flags.DEFINE_string("data_dir", "data", "where the data are", own)
    >>> own(["train.py", "--data_dir=/tmp", "more"])
    ['train.py', 'more']
    >>> own.data_dir
    '/tmp'
    """
    return DEFINE(ArgumentParser(), name, default, help, flag_values, ArgumentSerializer(), required=required, **args)


@_with_old_names
def DEFINE_boolean(name: Any, default: Any, help: Any, flag_values: FlagValues = FLAGS,
                   module_name: Any = None, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag that is true or false: `--flag`, `--noflag`, `--flag=true`.

    Args:
      name, default, help: name, default value and purpose of the flag.
      flag_values, module_name, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    return DEFINE(BooleanParser(), name, default, help, flag_values, None, module_name, required, boolean=True, **args)


@_with_old_names
def DEFINE_bool(name: Any, default: Any, help: Any, flag_values: FlagValues = FLAGS,
                module_name: Any = None, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Another name of `DEFINE_boolean`."""
    return DEFINE_boolean(name, default, help, flag_values, module_name, required, **args)


def _define_number(parser: Any, name: Any, default: Any, help: Any, flag_values: FlagValues, required: bool,
                   args: dict[str, Any]) -> Any:  # fmt: skip
    holder = DEFINE(parser, name, default, help, flag_values, ArgumentSerializer(), required=required, **args)

    def within(value: Any) -> bool:
        low, high = parser.lower_bound, parser.upper_bound
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise ValidationError(f"{value} is not {parser.syntactic_help}")
        return True

    if parser.lower_bound is not None or parser.upper_bound is not None:
        register_validator(name, within, flag_values=flag_values)
    return holder


@_with_old_names
def DEFINE_float(name: Any, default: Any, help: Any, lower_bound: Any = None, upper_bound: Any = None,
                 flag_values: FlagValues = FLAGS, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is a number.

    Args:
      name, default, help: name, default value and purpose of the flag.
      lower_bound, upper_bound: the range.
      flag_values, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    return _define_number(FloatParser(lower_bound, upper_bound), name, default, help, flag_values, required, args)


@_with_old_names
def DEFINE_integer(name: Any, default: Any, help: Any, lower_bound: Any = None, upper_bound: Any = None,
                   flag_values: FlagValues = FLAGS, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is a whole number.

    Args:
      name, default, help: name, default value and purpose of the flag.
      lower_bound, upper_bound: the range.
      flag_values, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    return _define_number(IntegerParser(lower_bound, upper_bound), name, default, help, flag_values, required, args)


def DEFINE_enum(name: Any, default: Any, enum_values: Any, help: Any, flag_values: FlagValues = FLAGS,
                module_name: Any = None, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is one of some texts.

    Args:
      name, default, help: name, default value and purpose of the flag.
      enum_values: the texts.
      flag_values, module_name, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    parser = EnumParser(enum_values, args.pop("case_sensitive", True))
    text = f"<{'|'.join(parser.enum_values)}>: {help}"
    return DEFINE(parser, name, default, text, flag_values, ArgumentSerializer(), module_name, required, **args)


def DEFINE_enum_class(name: Any, default: Any, enum_class: Any, help: Any, flag_values: FlagValues = FLAGS,
                      module_name: Any = None, case_sensitive: bool = False, required: bool = False,
                      **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is a member of an enum.

    Args:
      name, default, help: name, default value and purpose of the flag.
      enum_class: the enum.
      flag_values, module_name, required: as in `DEFINE_flag`.
      case_sensitive: whether capitals matter.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    parser = EnumClassParser(enum_class, case_sensitive)
    text = f"<{'|'.join(parser.member_names)}>: {help}"
    return DEFINE(parser, name, default, text, flag_values, EnumClassSerializer(not case_sensitive), module_name,
                  required, **args)  # fmt: skip


def DEFINE_list(name: Any, default: Any, help: Any, flag_values: FlagValues = FLAGS,
                required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is a list of texts, with commas between them.

    Args:
      name, default, help: name, default value and purpose of the flag.
      flag_values, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    return DEFINE(ListParser(), name, default, help, flag_values, CsvListSerializer(","), required=required, **args)


def DEFINE_spaceseplist(name: Any, default: Any, help: Any, comma_compat: bool = False,
                        flag_values: FlagValues = FLAGS, required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag whose value is a list of texts, with white space between them.

    Args:
      name, default, help: name, default value and purpose of the flag.
      comma_compat: whether commas count as well.
      flag_values, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    return DEFINE(WhitespaceSeparatedListParser(comma_compat), name, default, help, flag_values, ListSerializer(" "),
                  required=required, **args)  # fmt: skip


def DEFINE_multi(parser: Any, serializer: Any, name: Any, default: Any, help: Any,
                 flag_values: FlagValues = FLAGS, module_name: Any = None, required: bool = False,
                 **args: Any) -> Any:  # fmt: skip
    """Defines a flag that may be given several times, with a parser of one's own.

    Args:
      parser, serializer: for one value.
      name, default, help: name, default list and purpose of the flag.
      flag_values, module_name, required: as in `DEFINE_flag`.
      **args: further arguments of `Flag`.
    Returns: a `FlagHolder`.
    """
    return DEFINE_flag(MultiFlag(parser, serializer, name, default, help, **args), flag_values, module_name, required)


def DEFINE_multi_string(name: Any, default: Any, help: Any, flag_values: FlagValues = FLAGS,
                        required: bool = False, **args: Any) -> Any:  # fmt: skip
    """Defines a flag of text that may be given several times; see `DEFINE_multi`."""
    return DEFINE_multi(ArgumentParser(), ArgumentSerializer(), name, default, help, flag_values, required=required,
                        **args)  # fmt: skip


def DEFINE_multi_integer(name: Any, default: Any, help: Any, lower_bound: Any = None,
                         upper_bound: Any = None, flag_values: FlagValues = FLAGS, required: bool = False,
                         **args: Any) -> Any:  # fmt: skip
    """Defines a flag of a whole number that may be given several times; see `DEFINE_multi`."""
    return DEFINE_multi(IntegerParser(lower_bound, upper_bound), ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)  # fmt: skip


def DEFINE_multi_float(name: Any, default: Any, help: Any, lower_bound: Any = None,
                       upper_bound: Any = None, flag_values: FlagValues = FLAGS, required: bool = False,
                       **args: Any) -> Any:  # fmt: skip
    """Defines a flag of a number that may be given several times; see `DEFINE_multi`."""
    return DEFINE_multi(FloatParser(lower_bound, upper_bound), ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)  # fmt: skip


def DEFINE_multi_enum(name: Any, default: Any, enum_values: Any, help: Any,
                      flag_values: FlagValues = FLAGS, case_sensitive: bool = True, required: bool = False,
                      **args: Any) -> Any:  # fmt: skip
    """Defines a flag of one of some texts that may be given several times; see `DEFINE_multi`."""
    parser = EnumParser(enum_values, case_sensitive)
    return DEFINE_multi(parser, ArgumentSerializer(), name, default, f"<{'|'.join(parser.enum_values)}>: {help}",
                        flag_values, required=required, **args)  # fmt: skip


def DEFINE_alias(name: str, original_name: str, flag_values: FlagValues = FLAGS, module_name: Any = None) -> Any:
    """Defines a second name of a flag.

    Args:
      name: the new name.
      original_name: the flag that is meant.
      flag_values: where both are.
      module_name: accepted; without effect.
    Returns: a `FlagHolder`.
    Raises: UnrecognizedFlagError if there is no such flag.
    """
    if original_name not in flag_values:
        raise UnrecognizedFlagError(original_name)
    flag = flag_values[original_name]
    flag_values[name] = flag
    return FlagHolder(flag_values, flag)


# -- validators ------------------------------------------------------------------------


def register_validator(flag_name: Any, checker: Any, message: str = "Flag validation failed",
                       flag_values: FlagValues = FLAGS) -> None:  # fmt: skip
    """Has a flag's value checked after parsing, and whenever it is set.

    Args:
      flag_name: the flag.
      checker: a function of its value that returns whether it is good, or raises ValidationError.
      message: what the error says if it is not.
      flag_values: where the flag is.
    """
    name = getattr(flag_name, "name", flag_name)
    flag_values._add_validator([name], lambda: checker(flag_values[name].value), message)


def validator(flag_name: Any, message: str = "Flag validation failed", flag_values: FlagValues = FLAGS) -> Any:
    """A decorator that does what `register_validator` does."""

    def decorate(function: Any) -> Any:
        register_validator(flag_name, function, message, flag_values)
        return function

    return decorate


def register_multi_flags_validator(flag_names: Any, multi_flags_checker: Any, message: str = "Flags validation failed",
                                   flag_values: FlagValues = FLAGS) -> None:  # fmt: skip
    """Has the values of several flags checked together.

    Args:
      flag_names: the flags.
      multi_flags_checker: a function of a dict of their values; see `register_validator`.
      message: what the error says.
      flag_values: where the flags are.
    """
    names = [getattr(n, "name", n) for n in flag_names]
    flag_values._add_validator(names, lambda: multi_flags_checker({n: flag_values[n].value for n in names}), message)


def multi_flags_validator(flag_names: Any, message: str = "Flag validation failed",
                          flag_values: FlagValues = FLAGS) -> Any:  # fmt: skip
    """A decorator that does what `register_multi_flags_validator` does."""

    def decorate(function: Any) -> Any:
        register_multi_flags_validator(flag_names, function, message, flag_values)
        return function

    return decorate


def mark_flag_as_required(flag_name: Any, flag_values: FlagValues = FLAGS) -> None:
    """Refuses a command line that leaves the flag at None.

    Args:
      flag_name: the flag.
      flag_values: where it is.
    """
    name = getattr(flag_name, "name", flag_name)
    register_validator(name, _is_given, f"Flag --{name} must have a value other than None.", flag_values)


def _is_given(value: Any) -> bool:
    return value is not None


def mark_flags_as_required(flag_names: Any, flag_values: FlagValues = FLAGS) -> None:
    """`mark_flag_as_required` for several flags."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(flag_names: Any, required: bool = False, flag_values: FlagValues = FLAGS) -> None:
    """Refuses a command line that gives more than one of the flags.

    Args:
      flag_names: the flags.
      required: whether one of them has to be given.
      flag_values: where they are.
    """
    names = [getattr(n, "name", n) for n in flag_names]

    def check(values: dict[str, Any]) -> bool:
        given = sum(v is not None for v in values.values())
        if given == 1 or (not given and not required):
            return True
        raise ValidationError(f"{'Exactly' if required else 'At most'} one of ({', '.join(names)}) must have a value "
                              "other than None.")

    register_multi_flags_validator(names, check, flag_values=flag_values)


def declare_key_flag(flag_name: Any, flag_values: FlagValues = FLAGS) -> None:
    """Accepted; all flags of the main module are shown by --help."""
    if getattr(flag_name, "name", flag_name) not in flag_values:
        raise UnrecognizedFlagError(str(flag_name))


def adopt_module_key_flags(module: Any, flag_values: FlagValues = FLAGS) -> None:
    """Accepted; --helpfull shows the flags of all modules."""


def disclaim_key_flags() -> None:
    """Accepted; without effect."""


def define_help_flags() -> None:
    """Defines --help, --helpshort and --helpfull, unless the program has flags of these names."""
    for name in ("help", "helpshort", "helpfull"):
        if name not in FLAGS:
            DEFINE_boolean(name, False, "show this help", module_name="graphgrad")


def show_help(text: str) -> None:
    """Prints the program's help."""
    main = sys.modules.get("__main__")
    doc = (getattr(main, "__doc__", None) or f"\nUSAGE: {sys.argv[0]} [flags]\n").replace("%s", sys.argv[0])
    print(f"{doc}\nflags:\n{text}\n\nTry --helpfull to get a list of all flags.")

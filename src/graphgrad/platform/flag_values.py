"""Flags, and the object that holds all flags of a program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .flag_parsers import (
    ArgumentParser,
    ArgumentSerializer,
    CantOpenFlagFileError,
    DuplicateFlagError,
    Error,
    FlagNameConflictsWithMethodError,
    IllegalFlagValueError,
    UnparsedFlagAccessError,
    UnrecognizedFlagError,
    ValidationError,
)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def calling_module() -> str:
    """The name of the module that defines a flag; the program's file for the main one."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__", "__main__"))
    return sys.argv[0] if name == "__main__" else name


class Flag:
    """One flag: its name, value and default.

    Args:
      parser: turns text into a value.
      serializer: turns a value into text, or None.
      name: the name.
      default: the value as long as the command line gives none: a value or its text.
      help_string: what the flag is for.
      short_name: a second, short name.
      boolean: whether `--flag` and `--noflag` need no value.
      allow_override, allow_override_cpp, allow_hide_cpp: whether another definition may take its place.
      allow_overwrite: whether the command line may give it twice.
      allow_using_method_names: whether it may be called like a method of `FlagValues`.
    """

    def __init__(self, parser: Any, serializer: Any, name: str, default: Any, help_string: str | None,
                 short_name: str | None = None, boolean: bool = False, allow_override: bool = False,
                 allow_override_cpp: bool = False, allow_hide_cpp: bool = False, allow_overwrite: bool = True,
                 allow_using_method_names: bool = False):  # fmt: skip
        self.name = name
        self.help = help_string or "(no help available)"
        self.short_name = short_name
        self.boolean = boolean
        self.parser = parser
        self.serializer = serializer
        self.allow_override = allow_override
        self.allow_override_cpp = allow_override_cpp
        self.allow_hide_cpp = allow_hide_cpp
        self.allow_overwrite = allow_overwrite
        self.allow_using_method_names = allow_using_method_names
        self.present = 0
        self.using_default_value = True
        self.module = ""
        self._value: Any = None
        self.validators: list[Any] = []
        self._set_default(default)

    @property
    def value(self) -> Any:
        """The value."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    @property
    def default_as_str(self) -> str | None:
        """The default, as help shows it."""
        if self.default is None:
            return None
        return repr(self._text_of(self.default))

    def _text_of(self, value: Any) -> str:
        if self.boolean:
            return "true" if value else "false"
        return str(self.serializer.serialize(value)) if self.serializer else str(value)

    def flag_type(self) -> str:
        """The name of its type."""
        return str(self.parser.flag_type())

    def _parse(self, argument: Any) -> Any:
        try:
            return self.parser.parse(argument)
        except (TypeError, ValueError, OverflowError) as e:
            raise IllegalFlagValueError(f"flag --{self.name}={argument}: {e}") from e

    def parse(self, argument: Any) -> None:
        """Takes the value from a text; IllegalFlagValueError if it has none."""
        if self.present and not self.allow_overwrite:
            raise IllegalFlagValueError(f"flag --{self.name}={argument}: already defined as {self.value}")
        self.value = self._parse(argument)
        self.present += 1

    def unparse(self) -> None:
        """Goes back to the default."""
        self.value = self.default
        self.using_default_value = True
        self.present = 0

    def serialize(self) -> str:
        """What the command line would have to say for this value."""
        if self.value is None:
            return ""
        if self.boolean:
            return f"--{'' if self.value else 'no'}{self.name}"
        return f"--{self.name}={self._text_of(self.value)}"

    def _set_default(self, value: Any) -> None:
        self.default_unparsed = value
        self.default = None if value is None else self._parse_default(value)
        if self.using_default_value:
            self.value = self.default

    def _parse_default(self, value: Any) -> Any:
        if not isinstance(value, str) and type(self.parser) is ArgumentParser:
            return value  # a text flag whose default is no text; TensorFlow takes it
        return self._parse(value)


class MultiFlag(Flag):
    """A flag that may be given several times; its value is the list of all."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.help += ";\n    repeat this option to specify a list of values"

    def _parse(self, argument: Any) -> Any:
        several = isinstance(argument, (list, tuple, set, frozenset))
        return [super(MultiFlag, self)._parse(a) for a in (argument if several else [argument])]

    def _parse_default(self, value: Any) -> Any:
        return self._parse(value)

    def parse(self, arguments: Any) -> None:
        """Adds the values of a text."""
        new = self._parse(arguments)
        self.value = [*self.value, *new] if self.present else new
        self.present += 1

    def serialize(self) -> str:
        """What the command line would have to say for this value."""
        single = self.serializer or ArgumentSerializer()
        return "\n".join(f"--{self.name}={single.serialize(v)}" for v in self.value or ())

    def _text_of(self, value: Any) -> str:
        return str(value)


class FlagValues:
    """The flags of a program: `FLAGS.name` is the value of the flag `name`, `FLAGS["name"]` the flag itself."""

    def __init__(self) -> None:
        self.__dict__["__flags"] = {}
        self.__dict__["_parsed"] = False
        self.__dict__["_from_argv"] = False  # whether reading a flag parses sys.argv
        self.__dict__["_gnu"] = True
        self.__dict__["_validators"] = []

    def _flags(self) -> dict[str, Flag]:
        flags: dict[str, Flag] = self.__dict__["__flags"]
        return flags

    # -- defining --

    def __setitem__(self, name: str, flag: Flag) -> None:
        flags = self._flags()
        if not isinstance(flag, Flag):
            raise IllegalFlagValueError(f"Expect Flag instances, found type {type(flag)}. Maybe you didn't mean to use "
                                        "FlagValue.__setitem__?")
        if not isinstance(name, str):
            raise Error("Flag name must be a string")
        if not name:
            raise Error("Flag name cannot be empty")
        if " " in name:
            raise Error("Flag name cannot contain a space")
        if hasattr(FlagValues, name) and not flag.allow_using_method_names:
            raise FlagNameConflictsWithMethodError(f'Cannot define a flag named "{name}". It conflicts with a method '
                                                   'on class "FlagValues". Fix: choose another name')
        there = flags.get(name)
        if there is not None and there is not flag and not (flag.allow_override or there.allow_override):
            raise DuplicateFlagError(f"The flag '{name}' is defined twice. First from {there.module}, second from "
                                     f"{flag.module}. Description from first occurrence: {there.help}")
        flags[name] = flag
        if flag.short_name:
            flags[flag.short_name] = flag

    def __getitem__(self, name: str) -> Flag:
        return self._flags()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._flags()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._flags()))

    def __len__(self) -> int:
        return len(self._flags())

    def __dir__(self) -> list[str]:
        return sorted(self._flags())

    def _own(self) -> list[Flag]:
        """The flags, each once."""
        return list(dict.fromkeys(self._flags().values()))

    # -- values --

    def __getattr__(self, name: str) -> Any:
        flags = self.__dict__.get("__flags", {})
        if name not in flags:
            near = [] if name.startswith("__") else _near(name, flags, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise AttributeError(name + hint)
        if not self._parsed:
            if not self._from_argv:
                raise UnparsedFlagAccessError(f"Trying to access flag --{name} before flags were parsed.")
            self(sys.argv)
        return flags[name].value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags():
            raise UnrecognizedFlagError(name, value)
        flag = self._flags()[name]
        flag.value = value
        self._validate([v for v in self._validators if flag.name in v[0]])
        flag.using_default_value = False

    def __delattr__(self, name: str) -> None:
        flag = self._flags().get(name)
        if flag is None:
            raise AttributeError(name)
        for key in [k for k, f in self._flags().items() if f is flag]:
            del self._flags()[key]

    def set_default(self, name: str, value: Any) -> None:
        """Changes the default of a flag."""
        if name not in self._flags():
            raise UnrecognizedFlagError(name, value)
        self._flags()[name]._set_default(value)

    def get_flag_value(self, name: str, default: Any) -> Any:
        """The value of a flag; `default` if it is None or there is no such flag."""
        value = self._flags()[name].value if name in self._flags() else None
        return default if value is None else value

    def flag_values_dict(self) -> dict[str, Any]:
        """All values, by name."""
        return {name: flag.value for name, flag in self._flags().items()}

    # -- validators --

    def _add_validator(self, names: Sequence[str], check: Callable[[], bool], message: str) -> None:
        entry = (tuple(names), check, message)
        self._validators.append(entry)

    def _validate(self, validators: Any) -> None:
        for names, check, message in validators:
            try:
                good, text = check(), message
            except ValidationError as e:
                good, text = False, str(e)
            if not good:
                shown = " ".join(f"flag --{n}={self._flags()[n].value}" for n in names)
                raise IllegalFlagValueError(f"{shown}: {text}")

    def validate_all_flags(self) -> None:
        """Asks all validators; IllegalFlagValueError if one refuses."""
        self._validate(self._validators)

    # -- parsing --

    def is_parsed(self) -> bool:
        """Whether a command line was parsed."""
        return bool(self._parsed)

    def mark_as_parsed(self) -> None:
        """Lets flags be read without a command line."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self) -> None:
        """Goes back to the time before the command line was parsed."""
        for flag in self._own():
            flag.unparse()
        self.__dict__["_parsed"] = False

    def _parse_flags(self, args: Any = None) -> None:
        """Parses the command line, as programs before TensorFlow 1.5 asked for it."""
        self(sys.argv if args is None else [sys.argv[0], *args], known_only=True)

    def set_gnu_getopt(self, gnu_getopt: bool = True) -> None:
        """Whether flags may follow other arguments."""
        self.__dict__["_gnu"] = gnu_getopt

    def is_gnu_getopt(self) -> bool:
        """Whether flags may follow other arguments."""
        return bool(self._gnu)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parses a command line.

        Args:
          argv: the program's name and its arguments.
          known_only: whether unknown flags are left alone instead of an error.
        Returns: the program's name and what is left.
        Raises: Error for what cannot be parsed.
        """
        if isinstance(argv, (str, bytes)):
            raise TypeError(f"argv should be a tuple/list of strings, not bytes or string. {argv!r}")
        if not argv:
            raise ValueError("argv cannot be an empty list, and must contain the program name as the first element.")
        unknown, rest = self._parse(self.read_flags_from_files(argv[1:]), known_only)
        for name, value in unknown:
            raise UnrecognizedFlagError(name, value, _near(name, self._flags(), 3))
        self.mark_as_parsed()
        self.validate_all_flags()
        return [argv[0], *rest]

    def _parse(self, args: Sequence[str], known_only: bool) -> tuple[list[tuple[str, str]], list[str]]:
        unknown: list[tuple[str, str]] = []
        rest: list[str] = []
        undefok: set[str] = set()
        waiting = list(reversed(args))
        while waiting:
            arg = waiting.pop()
            if not arg.startswith("-") or not arg.strip("-"):
                if arg == "--":
                    rest += [arg] if known_only else []
                    break
                rest.append(arg)
                if not self._gnu:
                    break
                continue
            name, equals, value = arg.lstrip("-").partition("=")
            if name == "undefok":
                undefok |= set((value if equals else waiting.pop()).split(","))
                continue
            flag = self._flags().get(name)
            opposite = self._flags().get(name[2:]) if flag is None and name.startswith("no") else None
            if opposite is not None and opposite.boolean:
                if equals:
                    raise ValueError(f"{arg} does not take an argument")
                flag, value = opposite, "false"
            elif flag is None:
                if known_only:
                    rest.append(arg)
                else:
                    unknown.append((name, arg))
                continue
            elif not equals:
                if not flag.boolean and not waiting:
                    raise Error(f"Missing value for flag {arg}")
                value = "true" if flag.boolean else waiting.pop()
            flag.parse(value)
            flag.using_default_value = False
        unknown = [(n, a) for n, a in unknown if n not in undefok and n.removeprefix("no") not in undefok]
        return unknown, [*rest, *reversed(waiting)]

    def read_flags_from_files(self, argv: Sequence[str], force_gnu: bool = True) -> list[str]:
        """The arguments, with each `--flagfile=FILE` replaced by what the file says."""
        result: list[str] = []
        waiting = list(reversed(argv))
        seen = 0
        while waiting:
            arg = waiting.pop()
            name, equals, value = arg.lstrip("-").partition("=")
            if not arg.startswith("-") or name != "flagfile":
                result.append(arg)
                if arg == "--":
                    return [*result, *reversed(waiting)]
                continue
            path = value if equals else waiting.pop() if waiting else ""
            seen += 1
            try:
                with open(os.path.expanduser(path), encoding="utf-8") as f:
                    lines = [line.strip() for line in f]
            except OSError as e:
                raise CantOpenFlagFileError(f"ERROR:: Unable to open flagfile: {e}") from e
            if seen > 100:
                raise Error(f"Flag files name each other: {path}")
            waiting += reversed([s for s in lines if s and not s.startswith(("#", "//"))])
        return result

    # -- text --

    def flags_into_string(self) -> str:
        """The values as a flag file would hold them."""
        return "".join(f"{flag.serialize()}\n" for flag in self._own() if flag.value is not None)

    def append_flags_into_file(self, filename: str) -> None:
        """Adds the values to a flag file."""
        with open(filename, "a", encoding="utf-8") as f:
            f.write(self.flags_into_string())

    def flags_by_module_dict(self) -> dict[str, list[Flag]]:
        """The flags, by the module that defines them."""
        modules: dict[str, list[Flag]] = {}
        for flag in self._own():
            modules.setdefault(flag.module, []).append(flag)
        return modules

    def find_module_defining_flag(self, flagname: str, default: Any = None) -> Any:
        """The module that defines a flag; `default` if there is none."""
        flag = self._flags().get(flagname)
        return default if flag is None else flag.module

    def get_help(self, prefix: str = "", include_special_flags: bool = True) -> str:
        """What --helpfull shows."""
        modules = self.flags_by_module_dict()
        order = sorted(modules, key=lambda m: (m != sys.argv[0], m))
        return "\n".join(self._module_help(m, modules[m], prefix) for m in order)

    def main_module_help(self) -> str:
        """What --help shows."""
        return self._module_help(sys.argv[0], self.flags_by_module_dict().get(sys.argv[0], []), "")

    def module_help(self, module: Any) -> str:
        """The help for the flags of one module."""
        name = module if isinstance(module, str) else module.__name__
        return self._module_help(name, self.flags_by_module_dict().get(name, []), "")

    def _module_help(self, module: str, flags: list[Flag], prefix: str) -> str:
        lines = [f"\n{prefix}{module}:"] if flags else []
        for flag in sorted(flags, key=lambda f: f.name):
            names = (f"-{flag.short_name}," if flag.short_name else "") + "--" + ("[no]" if flag.boolean else "")
            lines += _wrapped(f"{names}{flag.name}: {flag.help}", prefix)
            if flag.default_as_str is not None:
                lines.append(f"{prefix}    (default: {flag.default_as_str})")
            if flag.parser.syntactic_help:
                lines.append(f"{prefix}    ({flag.parser.syntactic_help})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.get_help()


def _near(name: str, names: Any, n: int) -> list[str]:
    """The names that are most like `name`."""
    import difflib

    return difflib.get_close_matches(name, names, n)


def _wrapped(text: str, prefix: str) -> list[str]:
    import textwrap

    first, *more = text.split("\n")
    lines = textwrap.wrap(first, 80, initial_indent=f"{prefix}  ", subsequent_indent=f"{prefix}    ")
    return [*lines, *(prefix + line for line in more)]


class FlagHolder:
    """What a DEFINE function returns: the flag, whose `value` can be read after parsing.

    Args:
      flag_values: where the flag is.
      flag: the flag.
      ensure_non_none_value: whether None may not be read.
    """

    def __init__(self, flag_values: FlagValues, flag: Flag, ensure_non_none_value: bool = False):
        self._flag_values = flag_values
        self._flag = flag
        self._ensure = ensure_non_none_value

    @property
    def name(self) -> str:
        """The flag's name."""
        return self._flag.name

    @property
    def value(self) -> Any:
        """The flag's value."""
        value = getattr(self._flag_values, self._flag.name)
        if value is None and self._ensure:
            raise IllegalFlagValueError(f"Unexpected None value for flag {self._flag.name}")
        return value

    @property
    def default(self) -> Any:
        """The flag's default."""
        return self._flag.default

    @property
    def present(self) -> bool:
        """Whether the command line gave it."""
        return bool(self._flag.present)

    def serialize(self) -> str:
        """What the command line would have to say for this value."""
        return self._flag.serialize()


FLAGS = FlagValues()
FLAGS.__dict__["_from_argv"] = True

"""How the text of a command line becomes the value of a flag, and back."""

from __future__ import annotations

import enum
from typing import Any


class Error(Exception):
    """The base of all errors that flags raise."""


class CantOpenFlagFileError(Error):
    """A file named by --flagfile cannot be read."""


class DuplicateFlagError(Error):
    """A flag of that name is defined already."""


class FlagNameConflictsWithMethodError(Error):
    """The name of a flag is that of a method of `FlagValues`."""


class IllegalFlagValueError(Error):
    """The value does not suit the flag."""


class UnparsedFlagAccessError(Error):
    """A flag was read before the command line was parsed."""


class ValidationError(Error):
    """A validator refused a value."""


class UnrecognizedFlagError(Error):
    """The command line has a flag that is not defined.

    Args:
      flagname: the flag.
      flagvalue: what was given to it.
      suggestions: flags of similar names.
    """

    def __init__(self, flagname: str, flagvalue: Any = "", suggestions: Any = ()):
        self.flagname = flagname
        self.flagvalue = flagvalue
        tip = f". Did you mean: {', '.join(suggestions)} ?" if suggestions else ""
        super().__init__(f"Unknown command line flag '{flagname}'{tip}")


# -- parsers ---------------------------------------------------------------------------


class ArgumentParser:
    """From text to a value; the base of all parsers, which takes everything as it is."""

    syntactic_help = ""

    def parse(self, argument: Any) -> Any:
        """The value that a text stands for; ValueError or TypeError if it stands for none."""
        if not isinstance(argument, str):
            raise TypeError(f"flag value must be a string, found {type(argument)!r}")
        return argument

    def flag_type(self) -> str:
        """The name of the type."""
        return "string"


class _NumericParser(ArgumentParser):
    number_article = "a"
    number_name = "number"

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.syntactic_help = self._described()

    def _described(self) -> str:
        low, high, name = self.lower_bound, self.upper_bound, self.number_name
        article = f"{self.number_article} {name}"
        if low is not None and high is not None:
            return f"{article} in the range [{low}, {high}]"
        for bound, at, word in ((low, 1, "positive"), (high, -1, "negative")):
            if bound == at and name == "integer":
                return f"a {word} {name}"
        if low == 0 and low is not None:
            return f"a non-negative {name}"
        if high == 0 and high is not None:
            return f"a non-positive {name}"
        if high is not None:
            return f"{article} <= {high}"
        if low is not None:
            return f"{article} >= {low}"
        return article

    def convert(self, argument: Any) -> Any:
        """The number that a text stands for."""
        raise NotImplementedError  # each subclass has its own

    def parse(self, argument: Any) -> Any:
        """The number that a text stands for; ValueError if there is none within the bounds."""
        value = self.convert(argument)
        low, high = self.lower_bound, self.upper_bound
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"{value} is not {self.syntactic_help}")
        return value


class FloatParser(_NumericParser):
    """Texts of numbers.

    Args:
      lower_bound, upper_bound: the range, None for no bound.
    """

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None):
        super().__init__(lower_bound, upper_bound)

    def convert(self, argument: Any) -> float:
        """The number."""
        if isinstance(argument, (int, float, str)) and not isinstance(argument, bool):
            return float(argument)
        raise TypeError(f"Expect argument to be a string, int, or float, found {type(argument)}")

    def flag_type(self) -> str:
        """The name of the type."""
        return "float"


class IntegerParser(_NumericParser):
    """Texts of whole numbers, 0x and 0o included.

    Args:
      lower_bound, upper_bound: the range, None for no bound.
    """

    number_article = "an"
    number_name = "integer"

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None):
        super().__init__(lower_bound, upper_bound)

    def convert(self, argument: Any) -> int:
        """The number."""
        if isinstance(argument, int) and not isinstance(argument, bool):
            return argument
        if isinstance(argument, str):
            base = {"0x": 16, "0o": 8}.get(argument[:2].lower(), 10)
            return int(argument, base)
        raise TypeError(f"Expect argument to be a string or int, found {type(argument)}")

    def flag_type(self) -> str:
        """The name of the type."""
        return "int"


class BooleanParser(ArgumentParser):
    """`true`, `t`, `1` and their opposites."""

    def parse(self, argument: Any) -> bool:
        """The truth value; ValueError for what is none."""
        if isinstance(argument, str):
            if argument.lower() in ("true", "t", "1"):
                return True
            if argument.lower() in ("false", "f", "0"):
                return False
            raise ValueError("Non-boolean argument to boolean flag", argument)
        if isinstance(argument, int) and argument in (0, 1):
            return bool(argument)
        if isinstance(argument, int):
            raise ValueError("Non-boolean argument to boolean flag", argument)
        raise TypeError("Non-boolean argument to boolean flag", argument)

    def flag_type(self) -> str:
        """The name of the type."""
        return "bool"


class EnumParser(ArgumentParser):
    """One of some texts.

    Args:
      enum_values: the texts.
      case_sensitive: whether capitals matter.
    """

    def __init__(self, enum_values: Any, case_sensitive: bool = True):
        if not enum_values:
            raise ValueError(f"enum_values cannot be empty, found {enum_values!r}")
        if isinstance(enum_values, str):
            raise ValueError(f"enum_values cannot be a str, found {enum_values!r}")
        self.enum_values = list(enum_values)
        self.case_sensitive = case_sensitive

    def parse(self, argument: Any) -> str:
        """The text; ValueError if it is none of the values."""
        for value in self.enum_values:
            if value == argument or (not self.case_sensitive and value.upper() == argument.upper()):
                return str(value)
        raise ValueError(f"value should be one of <{'|'.join(self.enum_values)}>")

    def flag_type(self) -> str:
        """The name of the type."""
        return "string enum"


class EnumClassParser(ArgumentParser):
    """The name of a member of an enum.

    Args:
      enum_class: the enum.
      case_sensitive: whether capitals matter.
    """

    def __init__(self, enum_class: Any, case_sensitive: bool = True):
        if not (isinstance(enum_class, type) and issubclass(enum_class, enum.Enum)):
            raise TypeError(f"{enum_class} is not a subclass of Enum.")
        if not enum_class.__members__:
            raise ValueError(f"enum_class cannot be empty, but \"{enum_class}\" is empty.")
        self.enum_class = enum_class
        self._sensitive = case_sensitive
        self._members = {self._key(n): m for n, m in enum_class.__members__.items()}

    def _key(self, name: str) -> str:
        return name if self._sensitive else name.lower()

    @property
    def member_names(self) -> list[str]:
        """The names that are accepted."""
        return list(self._members)

    def parse(self, argument: Any) -> Any:
        """The member; ValueError if the text names none."""
        if isinstance(argument, self.enum_class):
            return argument
        if isinstance(argument, str) and self._key(argument) in self._members:
            return self._members[self._key(argument)]
        raise ValueError(f"value should be one of <{'|'.join(self._members)}>")

    def flag_type(self) -> str:
        """The name of the type."""
        return "enum class"


class BaseListParser(ArgumentParser):
    """Texts that hold several values, with something between them.

    Args:
      token: what is between; None for white space.
      name: how to call it.
    """

    def __init__(self, token: str | None = None, name: str | None = None):
        assert name
        self._token = token
        self._name = name
        self.syntactic_help = f"a {name} separated list"

    def parse(self, argument: Any) -> list[str]:
        """The values."""
        if isinstance(argument, list):
            return argument
        return [s.strip() for s in argument.split(self._token)] if argument else []

    def flag_type(self) -> str:
        """The name of the type."""
        return f"{self._name} separated list of strings"


class ListParser(BaseListParser):
    """Values with commas between them; quotes as in CSV."""

    def __init__(self) -> None:
        super().__init__(",", "comma")

    def parse(self, argument: Any) -> list[str]:
        """The values; ValueError for quotes that do not end."""
        if isinstance(argument, list):
            return argument
        if not argument:
            return []
        import csv

        try:
            return [s.strip() for s in next(csv.reader([argument], strict=True))]
        except csv.Error as e:
            raise ValueError(f"Unable to parse the value {argument!r} as a {self.flag_type()}: {e}") from None


class WhitespaceSeparatedListParser(BaseListParser):
    """Values with white space between them.

    Args:
      comma_compat: whether commas count too.
    """

    def __init__(self, comma_compat: bool = False):
        self._comma_compat = comma_compat
        super().__init__(None, "whitespace or comma" if comma_compat else "whitespace")

    def parse(self, argument: Any) -> list[str]:
        """The values."""
        if isinstance(argument, list):
            return argument
        return (argument.replace(",", " ") if self._comma_compat else argument or "").split()


# -- serializers -----------------------------------------------------------------------


class ArgumentSerializer:
    """From a value to text."""

    def serialize(self, value: Any) -> str:
        """The text."""
        return str(value)


class ListSerializer(ArgumentSerializer):
    """A list as text.

    Args:
      list_sep: what to put between.
    """

    def __init__(self, list_sep: str):
        self.list_sep = list_sep

    def serialize(self, value: Any) -> str:
        """The text."""
        return self.list_sep.join(str(x) for x in value)


class CsvListSerializer(ListSerializer):
    """A list as a line of CSV.

    Args:
      list_sep: what to put between.
    """

    def serialize(self, value: Any) -> str:
        """The text."""
        import csv
        import io

        line = io.StringIO()
        csv.writer(line, delimiter=self.list_sep, lineterminator="").writerow([str(x) for x in value])
        return line.getvalue()


class EnumClassSerializer(ArgumentSerializer):
    """The name of an enum's member as text.

    Args:
      lowercase: whether to write it so.
    """

    def __init__(self, lowercase: bool):
        self._lowercase = lowercase

    def serialize(self, value: Any) -> str:
        """The text."""
        return str(value.name.lower() if self._lowercase else value.name)

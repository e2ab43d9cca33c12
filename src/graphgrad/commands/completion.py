"""Completion in bash, zsh and fish, from what argparse knows of a command.

We wrote it because what is needed is one level of sub-commands, and then files: the scripts are short, and a package
for it would be one more dependency of every installation.
"""

from __future__ import annotations

import argparse
import shlex
from typing import NamedTuple


class _Command(NamedTuple):
    """A sub-command: its name, what it does, its options."""

    name: str
    help: str
    options: tuple[_Option, ...]
    choices: tuple[str, ...]  # of its argument; empty if it is a file or free text


class _Option(NamedTuple):
    """An option: its names, what it does, the values it takes (None for a switch, empty for any)."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...] | None


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Writes a completion script.

    Args:
      parser: the command's parser, with sub-commands.
      shell: "bash", "zsh" or "fish".
    Returns: its text, to be sourced by the shell.
    """
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](parser.prog, _commands(parser))


def _commands(parser: argparse.ArgumentParser) -> list[_Command]:
    (inner,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in inner._choices_actions}
    return [_command(name, helps.get(name, ""), sub) for name, sub in inner.choices.items()]


def _command(name: str, text: str, parser: argparse.ArgumentParser) -> _Command:
    options = tuple(_Option(tuple(a.option_strings), _first(a.help), _values(a))
                    for a in parser._actions if a.option_strings)
    choices = tuple(str(c) for a in parser._actions if not a.option_strings for c in a.choices or ())
    return _Command(name, text, options, choices)


def _first(text: str | None) -> str:
    """Returns the first clause of a help text."""
    return (text or "").partition("; ")[0].partition(" (")[0].replace("`", "")


def _values(action: argparse.Action) -> tuple[str, ...] | None:
    return None if action.nargs == 0 else tuple(str(c) for c in action.choices or ())


def _names(command: _Command) -> list[str]:
    return [name for option in command.options for name in option.names]


def _bash(prog: str, commands: list[_Command]) -> str:
    cases = []
    for c in commands:
        chosen = [f"      {'|'.join(o.names)}) COMPREPLY=($(compgen -W '{' '.join(o.values)}' -- \"$word\")); return;;"
                  for o in c.options if o.values]
        inner = "\n".join(["    case \"$before\" in", *chosen, "    esac"]) if chosen else "    :"
        argument = f"COMPREPLY=($(compgen -W '{' '.join(c.choices)}' -- \"$word\"))" if c.choices else \
            'COMPREPLY=($(compgen -f -- "$word"))'
        cases.append(f"""  {c.name})
{inner}
    case "$word" in
      -*) COMPREPLY=($(compgen -W '{' '.join(_names(c))}' -- "$word"));;
      *) {argument};;
    esac;;""")
    every = "\n".join(cases)
    return f"""# bash completion of {prog}: eval "$({prog} completion bash)"
_{prog}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{' '.join(c.name for c in commands)} --help --version' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{every}
  esac
}}
complete -o filenames -F _{prog} {prog}"""


def _zsh(prog: str, commands: list[_Command]) -> str:
    def spec(option: _Option) -> str:
        names = f"{{{','.join(option.names)}}}" if len(option.names) > 1 else option.names[0]
        text = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:").replace("'", "")
        value = "" if option.values is None else f":value:({' '.join(option.values)})" if option.values else \
            ":value:_files"
        return f"{names}'[{text}]{value}'"

    cases = []
    for c in commands:
        argument = f"'1:argument:({' '.join(c.choices)})'" if c.choices else "'*:file:_files'"
        cases.append(f"    {c.name}) _arguments {' '.join(spec(o) for o in c.options)} {argument};;")
    every = "\n".join(cases)
    names = " ".join(shlex.quote(f"{c.name}:{c.help.replace(chr(96), '')}") for c in commands)
    return f"""#compdef {prog}
# zsh completion of {prog}: eval "$({prog} completion zsh)"
_{prog}() {{
  local -a commands
  commands=({names})
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{every}
  esac
}}
compdef _{prog} {prog}"""


def _fish(prog: str, commands: list[_Command]) -> str:
    lines = [f"# fish completion of {prog}: {prog} completion fish | source"]
    for c in commands:
        lines.append(f"complete -c {prog} -f -n __fish_use_subcommand -a {c.name} -d {_quoted(c.help)}")
        used = f"-n '__fish_seen_subcommand_from {c.name}'"
        for o in c.options:
            flags = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in o.names)
            value = "" if o.values is None else f" -x -a '{' '.join(o.values)}'" if o.values else " -r"
            lines.append(f"complete -c {prog} {used} {flags}{value} -d {_quoted(o.help)}")
        if c.choices:
            lines.append(f"complete -c {prog} -f {used} -a '{' '.join(c.choices)}'")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "").replace("'", "").replace("`", "") + "'"

"""The programs of a page: its blocks marked `python`, one after the other; one with a title begins another program.

    python -m tests.docs.page_programs PAGE [N]

runs the Nth program and prints, as JSON, what each of its blocks printed. A block that is marked `text` and follows one
says what that should be. A program may `import tensorflow`, which is graphgrad then. Sessions begin with `>>>`, and
test_docs.py runs them.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import pathlib
import re
import sys
import tempfile
from typing import NamedTuple

from graphgrad.compat import importing

_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A block of a page: its first line's number, its code, and what the page says that it prints."""

    line: int
    code: str
    shown: str | None


def programs(text: str) -> list[list[Block]]:
    """The programs of a page, each a list of its blocks."""
    fences = list(_FENCE.finditer(text))
    found: list[list[Block]] = []
    for fence, after in zip(fences, [*fences, None][1:], strict=True):
        if fence[1] == "python" and not fence[3].startswith(">>>"):
            directly = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
            block = Block(text[: fence.start()].count("\n") + 2, fence[3], after[3] if directly else None)
            if "title=" in fence[2] or not found:
                found.append([])
            found[-1].append(block)
    return found


def main() -> None:
    """Runs a program of a page."""
    page = pathlib.Path(sys.argv[1]).resolve()
    sink, sys.stdout = sys.stdout, io.StringIO()
    namespace = {"__name__": "__main__"}
    printed = []
    blocks = programs(page.read_text())[int((*sys.argv[2:], 0)[0])]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if any("import tensorflow" in block.code for block in blocks):  # as `graphgrad run` does
            program = pathlib.Path("program.py")
            program.write_text("".join(block.code for block in blocks))
            importing.install(importing.detect_version(str(program), folder))
        for block in blocks:
            source = "\n" * (block.line - 1) + block.code
            name = str(page.with_suffix(".py").name)
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(source, name, "exec"), namespace)
            printed.append(out.getvalue())
    json.dump(printed, sink)


if __name__ == "__main__":
    main()

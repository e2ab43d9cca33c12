"""What MkDocs calls while it builds the site: adds the reference and the pages that stand beside `docs/`."""

from __future__ import annotations

import functools
import os
import pathlib
import posixpath
import re
import sys
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [p for p in (str(ROOT), str(ROOT / "src")) if p not in sys.path]

from tools.site import diagrams, reference  # noqa: E402  # found by the line before

# Pages of the repository's own folder -> where they stand in the site.
BESIDE = {"CONTRIBUTING.md": "inside/contributing.md", "CHANGELOG.md": "inside/changelog.md",
          "SECURITY.md": "reference/security.md", "LICENSE": "reference/license.md"}
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]*)(#[^)\s]*)?\)")


@functools.cache
def _reference() -> dict[str, tuple[str, str]]:
    return reference.pages()


def on_config(config: Any) -> Any:
    """Puts the pages of the reference where the navigation names their folder."""
    overview, *pages = _reference()
    faces: dict[str, list[dict[str, str]]] = {title: [] for title in reference.TITLES.values()}
    for place in pages:
        faces[reference.TITLES[place.split("/")[2]]].append({_reference()[place][0]: place})
    made = [overview, *({title: own} for title, own in faces.items())]
    for part in config.nav:
        for name, entries in part.items():
            if isinstance(entries, list):
                part[name] = [{next(iter(e)): made} if isinstance(e, dict) and reference.FOLDER in e.values() else e
                              for e in entries]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made here."""
    moved = {posixpath.basename(f.src_uri): f.src_uri for f in files.documentation_pages()}
    for name, place in BESIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        text = f"# License\n\n```text\n{text}```\n" if name == "LICENSE" else text
        files.append(File.generated(config, place, content=_relinked(text, "", place, moved)))
    for place, (_, text) in _reference().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Draws diagrams, and leads links that leave `docs/` to where it is in the site."""
    source = page.file.src_uri
    if source in BESIDE.values() or source.startswith(f"{reference.FOLDER}/"):
        return markdown
    return _sessions(diagrams.boxes(_relinked(markdown, f"docs/{posixpath.dirname(source)}", source, {})))


def _sessions(markdown: str) -> str:
    """A page whose interactive sessions say that they are such, for their colours."""
    marked = re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.M)

    def fenced(match: re.Match[str]) -> str:
        return "\n```pycon\n" + re.sub(r"^ {4}", "", match[1], flags=re.M) + "```\n"

    return re.sub(r"(?<=\n)\n((?: {4}>>> .*\n)(?: {4}.*\n)*)", lambda m: fenced(m), marked)


def _relinked(text: str, folder: str, source: str, moved: dict[str, str]) -> str:
    """A page with its links as they are in the site.

    Args:
      text: the page.
      folder: where it is in the repository.
      source: where it is in the site.
      moved: base names of pages -> where they are in the site; for a page that names places of earlier days.
    """
    here = posixpath.dirname(source)

    def place(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        in_repository = posixpath.normpath(posixpath.join(folder, path)) if path else ""
        if in_repository in BESIDE:
            return f"]({posixpath.relpath(BESIDE[in_repository], here)}{anchor})"
        if in_repository == "README.md":
            return f"]({posixpath.relpath('index.md', here)}{anchor})"
        if folder.startswith("docs") or not in_repository.startswith("docs/"):
            return match[0]
        target = in_repository.removeprefix("docs/")
        if not os.path.exists(ROOT / in_repository):
            target = moved.get(posixpath.basename(target), target)
        return f"]({posixpath.relpath(target, here)}{anchor})"

    return _LINK.sub(place, text)

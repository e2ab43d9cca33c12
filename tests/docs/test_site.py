"""The documentation site: its navigation, its links, and its reference, which has every public name."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests import ROOT
from tests.support.effort import long
from tests.support.faces import FACES, exported
from tests.viz.test_view_in_browser import said_of

_DOCS = ROOT / "docs"
_PAGES = sorted(p.relative_to(_DOCS).as_posix() for p in _DOCS.rglob("*.md"))
_MADE = "reference/api/"  # is there when the site has been built
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
# What a page loads when it is opened; what it links to may be anywhere.
_LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source|object)\b[^>]*\b(?:src|href|data)=["']?((?:https?:)?//[^"' >]+)""")


def _entries(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _entries(entry)


def _configuration() -> Any:
    return pytest.importorskip("yaml").safe_load((ROOT / "mkdocs.yml").read_text())


def test_navigation_has_every_page() -> None:
    """Each page stands in the navigation of `mkdocs.yml`, once; each entry is a page, or is made by the hooks."""
    named = list(_entries(_configuration()["nav"]))
    hooks = (ROOT / "tools" / "site" / "hooks.py").read_text()
    made = {*re.findall(r'"([\w/]+\.md)"', hooks), _MADE.rstrip("/")}
    assert sorted(set(_PAGES) - set(named)) == [], "pages that mkdocs.yml does not name"
    assert sorted(set(named) - set(_PAGES) - made) == [], "entries of mkdocs.yml that are no pages"
    assert len(named) == len(set(named))


@pytest.mark.parametrize("name", [*(f"docs/{p}" for p in _PAGES), "README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_pages_can_be_read(name: str) -> None:
    """What a page links to exists, and no line of it is endless."""
    page = ROOT / name
    text = page.read_text()
    prose = _CODE.sub("`", text)  # f(x)[0](1.0) is no link
    lost = [target for target in _LINK.findall(prose) if not (page.parent / target).exists()]
    assert [target for target in lost if f"docs/{_MADE}" not in (page.parent / target).as_posix()] == []
    assert [line[:60] for line in text.splitlines() if len(line) > 1000] == []


@long("the pages are made from what test_docs.py looks at")
def test_reference_has_every_name() -> None:
    """Every public name of the faces is on a page of the reference, and links lead to what is described."""
    from tools.site import reference

    pages = reference.pages()
    for face in FACES:
        title = reference.TITLES[face]
        for name in exported(face):
            page = pages[f"{reference.FOLDER}/{face}/{name.split('.')[0] if '.' in name else 'core'}.md"][1]
            assert f"<code>{name.rpartition('.')[2]}</code>" in page, f"{title}.{name}"
    links = {link for _, text in pages.values() for link in re.findall(r'href="\.\./(\w+/\w+)\.html#([\w.]+)"', text)}
    places = {(file.removeprefix(f"{reference.FOLDER}/").removesuffix(".md"), place)
              for file, (_, text) in pages.items() for place in re.findall(r"^### .*\{ #([\w.]+) ", text, re.M)}
    assert len(places) > 1900
    assert links - places == set()


def _built(folder: pathlib.Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@long("make docs-site fails in the same way")
def test_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: pathlib.Path) -> None:
    """The strict build succeeds, and its pages, styles and the search need no network."""
    _built(tmp_path)
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 100
    assert {url for page in pages for url in _LOADED.findall(page.read_text())} == set()
    styles = [*tmp_path.rglob("*.css")]
    assert [s.name for s in styles if re.search(r"""url\(["']?(?:https?:)?//|@import""", s.read_text())] == []
    assert "var __index" in (tmp_path / "search" / "search_index.js").read_text()[:50]


_LOOK = """
  const faults = [];
  addEventListener("error", e => faults.push(String(e.message || e.target.src || e.target.href)), true);
  console.error = (...a) => faults.push(a.join(" "));
  addEventListener("load", () => setTimeout(() => {
    const scrolled = "pre, table, .md-typeset__scrollwrap, .gg-names, h1, h2, h3";
    const beyond = [...document.querySelectorAll("article *")]
      .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(scrolled))
      .map(e => e.tagName + " " + e.textContent.slice(0, 60));
    const loaded = performance.getEntriesByType("resource").map(r => r.name);
    const outside = loaded.filter(name => !/^(file|data|blob):/.test(name));
    document.documentElement.setAttribute("data-said", JSON.stringify({ faults, beyond, outside,
      wide: document.documentElement.scrollWidth - innerWidth,
      broken: [...document.images].filter(i => !i.naturalWidth).map(i => i.src) }));
  }, 500));
"""


@long("it builds the site; a browser is started for each page")
def test_pages_in_a_narrow_window(tmp_path: pathlib.Path) -> None:
    """Pages of each kind load all that they need, and none is wider than a telephone."""
    _built(tmp_path / "site")
    for name in ("index", "learn/gradients", "howto/profiling", "howto/derivatives", "reference/cli", "reference/ops",
                 "reference/api/v2/autodiff", "inside/performance", "architecture"):
        path = tmp_path / "site" / f"{name}.html"
        beside = path.with_name("looked_at.html")
        beside.write_text(path.read_text().replace("<title>", f"<script>{_LOOK}</script><title>", 1))
        said = said_of(beside, tmp_path / "profile", "400,900")
        assert said == {"faults": [], "beyond": [], "outside": [], "wide": said["wide"], "broken": []}, name
        assert said["wide"] <= 0, name

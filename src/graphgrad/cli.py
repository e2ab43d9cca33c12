"""The command line: `graphgrad run`, `launch`, `compile`, `draw`, `ops`, `check-imports`, `completion`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

_USAGE = """\
graphgrad run [options] PROGRAM [ARGS ...]
       graphgrad launch -n N [options] PROGRAM [ARGS ...]
       graphgrad compile [options] PROGRAM [ARGS ...]
       graphgrad draw [options] PROGRAM [ARGS ...]"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
      argv: the arguments after the command's name; those of this process by default.
    Returns: the exit status.
    """
    options = _parser().parse_args(argv)
    commands = {"run": _run, "launch": _launch, "compile": _compile, "view": _view, "draw": _draw, "ops": _ops,
                "check-imports": _check_imports, "completion": _completion}
    return commands[options.command](options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphgrad",
        description="Runs TensorFlow programs, unmodified, without TensorFlow; draws their graphs.",
    )
    parser.add_argument("--version", action="version", version=f"graphgrad {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run a program in which `tensorflow` is this package",
                              description="Runs a program in which `import tensorflow` gives this package.")
    launch = _launch_parser(commands)
    ahead = _compile_parser(commands)
    view = commands.add_parser("view", help="run a program, then show its graph as a page that opens and closes",
                               description="Runs a program as `graphgrad run` does, then writes the graph it built as "
                               "one HTML file that works offline: the default graph, or the largest one if that is "
                               "empty.")
    draw = commands.add_parser("draw", help="run a program, then draw its graph as SVG",
                               description="Runs a program as `graphgrad run` does, then draws the graph it built: the "
                               "default graph, or the largest one if that is empty.")
    for p in (run, launch, ahead, view, draw):
        p.add_argument("--tf", choices=("1", "2", "auto"), default="auto",
                       help="which TensorFlow `import tensorflow` is; auto (the default) looks in the program for "
                       "names that only 1.x has, such as tf.Session")
    for p in (run, ahead):
        p.add_argument("--optimize-derivatives", action="store_true", help="compute nested derivatives by Taylor "
                       "coefficients where that is exact and faster, and say at the end what became of them")
    _add_picture_options(view, draw)
    ops = commands.add_parser("ops", help="list the op types", description="Lists the op types: whether they have a "
                              "gradient, for which dtypes they exist, where they run, and which functions build them.")
    ops.add_argument("--json", action="store_true", help="write JSON: a list with an object for each op type")
    ops.add_argument("pattern", nargs="?", default="*", metavar="PATTERN",
                     help="only op types that match it, such as '*Grad' (default: all)")
    completion = commands.add_parser("completion", help="write a completion script for a shell", description="Writes a "
                                     "script that completes the options of this command in a shell.")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    check = commands.add_parser("check-imports", help="list missing names of TensorFlow that a package uses",
                                description="Looks through the files of a package, without running them, for names of "
                                "TensorFlow, and lists those that are missing here, with the number of uses.")
    check.add_argument("package", metavar="PACKAGE", help="an installed package, or the path of a file or folder")
    check.add_argument("--tf", choices=("1", "2"), default="2",
                       help="which TensorFlow `import tensorflow` is (default: 2)")
    for p in (run, launch, ahead, view, draw):
        p.add_argument("-m", action="store_true", dest="is_module",
                       help="PROGRAM is the name of a module or package, as for python -m")
        p.add_argument("--traceback", action="store_true",
                       help="show whole tracebacks of uncaught errors, with graphgrad's own frames")
        p.add_argument("program", metavar="PROGRAM", help="a Python file, or - for standard input")
        p.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="the program's own arguments")
    return parser


def _add_picture_options(view: argparse.ArgumentParser, draw: argparse.ArgumentParser) -> None:
    """Adds what is shown, and how."""
    draw.add_argument("--out", default="graph.svg", metavar="FILE", help="where to write (default: graph.svg)")
    view.add_argument("--out", default="graph.html", metavar="FILE", help="where to write (default: graph.html)")
    for p in (view, draw):
        p.add_argument("--fetch", action="append", default=[], metavar="NAME",
                       help="show what this tensor or operation needs instead of everything; may be repeated")
        p.add_argument("--explain", nargs=2, metavar=("Y", "X"),
                       help="say why the gradient of tensor Y with respect to tensor X is None or zero, and mark it")
        p.add_argument("--at-run", type=int, metavar="N",
                       help="stop the program at its Nth Session.run and show what that fetches")
        p.add_argument("--title", help="the heading")
    view.add_argument("--trace", type=int, metavar="N",
                      help="measure the program's Nth Session.run: times, bytes, memory over time")
    view.add_argument("--check-numerics", action="store_true",
                      help="check every run for infinity and NaN, and mark the operation where one came from")
    view.add_argument("--open", action="store_true", dest="open_browser", help="show the page in a browser")
    draw.add_argument("--depth", type=int, metavar="N", help="how many levels of name scopes to show")
    draw.add_argument("--max-boxes", type=int, default=60, metavar="N",
                      help="fold name scopes and repeated parts until at most N boxes are left (default: 60)")
    draw.add_argument("--initializers", action="store_true", help="also show what gives variables their first value")


def _launch_parser(commands: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        "launch", help="run a program in several processes that compute together",
        description="Runs a program as `graphgrad run` does, in several processes. What they print has their numbers "
        "in front. If one fails, the others are ended, and its exit status is the command's.")
    parser.add_argument("-n", type=int, default=1, dest="count", metavar="N", help="how many processes to start here")
    parser.add_argument("--ps", type=int, default=0, metavar="P", help="start N workers and P parameter servers, and "
                        "tell each its task by the flags --ps_hosts, --worker_hosts, --job_name and --task_index, as "
                        "programs of TensorFlow 1 have them, and by TF_CONFIG")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="where processes on several machines find each "
                        "other; a free port of this machine, for this machine alone, if not given")
    parser.add_argument("--process", type=int, default=0, metavar="I", help="the number of the first process here "
                        "(default: 0); the machine of process 0 runs the coordinator")
    parser.add_argument("--processes", type=int, metavar="M", help="the number of processes on all machines "
                        "(default: N)")
    return parser


def _compile_parser(commands: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        "compile", help="run a program, and store its compiled programs for later runs",
        description="Runs a program as `graphgrad run` does, with all that it prints and writes, so that everything "
        "XLA may be asked for is compiled and stored. Later runs then wait for no compiler.")
    parser.add_argument("--output", metavar="DIR", help="store in this directory, to be shipped with the program "
                        "(GRAPHGRAD_PROGRAMS names it where the program runs), instead of the user's disk cache")
    parser.add_argument("--steps", type=int, metavar="N",
                        help="stop the program after N runs of sessions and compiled functions")
    parser.add_argument("--check", action="store_true", help="store nothing; say how many of the programs are found, "
                        "in DIR if one is given; exit with 1 if not all are")
    return parser


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("graphgrad")
    except metadata.PackageNotFoundError:  # used from the source tree
        return "(not installed)"


def _check_imports(options: argparse.Namespace) -> int:
    from graphgrad.compat import check_imports

    try:
        text = check_imports.report(options.package, int(options.tf))
    except ModuleNotFoundError as error:
        print(f"graphgrad: {error}", file=sys.stderr)
        return 2
    _say(text)
    return 1 if "missing\n" in text else 0


# -- run -------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    status = _execute(options)
    if options.optimize_derivatives:
        from graphgrad.gradients.rewriting import reports

        print(f"\nNested derivatives:\n{reports.of_all_graphs()}", file=sys.stderr)
    return _exit_status(status)


def _execute(options: argparse.Namespace, watch: _Watch | None = None) -> Any:
    """Runs the program; returns its argument of sys.exit, None without one, 1 if it failed."""
    from graphgrad.commands import programs, uncaught

    text: str | None = None
    path: str | None = options.program
    if options.is_module:
        path = programs.module_file(options.program)
    elif path == "-":
        text, path = sys.stdin.read(), programs.STDIN
    if path is None or (text is None and not os.path.isfile(path)):
        print(f"graphgrad: {_no_program(options)}", file=sys.stderr)
        return 2
    from graphgrad.compat import importing
    from graphgrad.gradients.core.backprop import optimize_in_process

    if getattr(options, "optimize_derivatives", False):
        optimize_in_process(True)
    folder = os.getcwd() if options.is_module or text is not None else os.path.dirname(os.path.abspath(path))
    importing.install(_version_for(options, text, path, folder))
    sys.argv = [path if text is None else "-", *options.args]
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    try:
        if text is not None:
            programs.run_text(text)
        else:
            programs.run_file(path, options.program if options.is_module else None)
    except SystemExit as stop:
        return stop.code
    except _Reached:
        return None
    except KeyboardInterrupt as error:
        sys.last_value = error
        print("KeyboardInterrupt", file=sys.stderr)
        return 130
    except BaseException as error:
        sys.last_value = error  # as where Python shows it
        if isinstance(error, ModuleNotFoundError) and error.name in ("google", "google.protobuf"):
            error.add_note("Fix: pip install protobuf; its text_format and json_format work on graphgrad's messages")
        uncaught.show(error, path, options.traceback)
        if watch is not None:
            watch.error = error
        return 1
    return None


def _version_for(options: argparse.Namespace, text: str | None, path: str, folder: str) -> int:
    """Returns which TensorFlow a program is to find."""
    from graphgrad.commands import programs

    if options.tf != "auto":
        return int(options.tf)
    return programs.version_of(path, folder, options.args) if text is None else programs.version_of_text(text)


def _no_program(options: argparse.Namespace) -> str:
    """Says why there is nothing to run."""
    if options.is_module:
        return (f"no module {options.program!r} in {os.getcwd()} or among the installed ones, or a package without "
                "__main__")
    what = "is a folder; name a file in it" if os.path.isdir(options.program) else "does not exist"
    return f"the program {options.program!r} {what}"


def _exit_status(code: Any) -> int:
    """Returns the exit status for an argument of sys.exit."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _launch(options: argparse.Namespace) -> int:
    total = options.processes or options.count
    if options.count < 1 or options.process < 0 or options.process + options.count > total:
        print(f"graphgrad: -n {options.count} processes from number {options.process} on are no part of {total}",
              file=sys.stderr)
        return 2
    if total > options.count and not options.coordinator:
        print("graphgrad: processes on several machines need --coordinator HOST:PORT", file=sys.stderr)
        return 2
    if options.ps < 0 or (options.ps and total > options.count):
        print("graphgrad: --ps starts all tasks on this machine; start those of several machines by hand",
              file=sys.stderr)
        return 2
    from graphgrad.commands.launch import launch, launch_tasks

    given = ["--tf", options.tf, *(["-m"] if options.is_module else []), *(["--traceback"] * options.traceback)]
    command = [sys.executable, "-m", "graphgrad", "run", *given, options.program, *options.args]
    if options.ps:
        return launch_tasks(command, options.count, options.ps)
    return launch(command, options.count, options.coordinator, options.process, total)


# -- compile ---------------------------------------------------------------------------


def _compile(options: argparse.Namespace) -> int:
    if options.steps is not None and options.steps < 1:
        print(f"graphgrad: --steps must be 1 or more, not {options.steps}", file=sys.stderr)
        return 2
    from graphgrad.executor.runtime import ahead

    try:
        with ahead.compiling(options.steps, options.output, options.check) as tally:
            status = _exit_status(_execute(options))
    except OSError as error:
        print(f"graphgrad: --output {options.output!r}: {error.strerror or error}", file=sys.stderr)
        return 2
    print(tally)
    return status or int(not tally.is_complete())


# -- ops -------------------------------------------------------------------------------


def _ops(options: argparse.Namespace) -> int:
    from graphgrad.compat.operations import as_json, as_text
    from graphgrad.system.terminal import width

    text = as_json(options.pattern) if options.json else as_text(options.pattern, width(sys.stdout))
    if "\n" not in text:
        print(f"graphgrad: no op type matches {options.pattern!r}", file=sys.stderr)
        return 1
    _say(text)
    return 0


def _say(text: str) -> None:
    """Prints a text, as far as it is read: `graphgrad ops | head`."""
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)


def _completion(options: argparse.Namespace) -> int:
    from graphgrad.commands.completion import script

    _say(script(_parser(), options.shell))
    return 0


# -- view and draw ---------------------------------------------------------------------


_FULL_TRACE = 3  # of RunOptions


class _Reached(BaseException):
    """Stops the program at the run to be drawn."""


class _Watch:
    """Records the runs and graphs of the program for `view` and `draw`.

    Attributes:
      graphs: the graphs that were made.
      fetches: what the run at which the program was stopped would have fetched.
      runs: how many runs there were.
      metadata: the `RunMetadata` of the run that was measured.
      error: the error that ended the program.
    """

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.fetches: list[Any] | None = None
        self.runs = 0
        self.metadata: Any = None
        self.error: BaseException | None = None


def _view(options: argparse.Namespace) -> int:
    if not options.out.endswith((".html", ".htm")):
        print(f"graphgrad: --out {options.out!r}: the page is HTML; name a file that ends in .html", file=sys.stderr)
        return 2
    if options.check_numerics:
        from graphgrad.executor.runtime.nonfinite import enable_check_numerics

        enable_check_numerics()
    with _watching(options.at_run, options.trace) as watch:
        status = _exit_status(_execute(options, watch))
    from graphgrad.viz.live.view_graph import view_graph

    try:
        view = view_graph(_what_to_draw(options, watch), options.out, run_metadata=watch.metadata, error=watch.error,
                          title=options.title or os.path.basename(options.program))
    except (ValueError, KeyError, TypeError) as error:
        print(f"graphgrad: nothing was written: {error.args[0] if error.args else error}", file=sys.stderr)
        return status or 1
    print(f"{view.operations} operations written to {options.out}")
    if options.open_browser:
        import webbrowser

        webbrowser.open("file://" + os.path.abspath(options.out))
    return status


def _draw(options: argparse.Namespace) -> int:
    if not options.out.endswith(".svg"):
        print(f"graphgrad: --out {options.out!r}: the picture is SVG; name a file that ends in .svg", file=sys.stderr)
        return 2
    if options.depth is not None and options.depth < 1:
        print(f"graphgrad: --depth must be 1 or more, not {options.depth}", file=sys.stderr)
        return 2
    try:
        import igraph  # noqa: F401  # checked now, not after the program has run for an hour
    except ImportError:
        print("graphgrad: drawing needs the package 'igraph'. Fix: pip install 'graphgrad[draw]'", file=sys.stderr)
        return 2
    with _watching(options.at_run) as watch:
        status = _exit_status(_execute(options))
    from graphgrad.viz import draw

    try:
        draw(_what_to_draw(options, watch), options.out, depth=options.depth, max_boxes=options.max_boxes,
             initializers=options.initializers, title=options.title or os.path.basename(options.program))
    except (ValueError, KeyError, TypeError) as error:
        print(f"graphgrad: nothing was drawn: {error.args[0] if error.args else error}", file=sys.stderr)
        return status or 1
    print(f"Graph drawn to {options.out}")
    return status


@contextlib.contextmanager
def _watching(at_run: int | None, trace: int | None = None) -> Iterator[_Watch]:
    """Notes the graphs that a program makes, stops it at its run number `at_run`, measures its run number `trace`."""
    from graphgrad.executor.runtime.session import Session
    from graphgrad.ir.graph import Graph

    watch = _Watch()
    make, run = Graph.__init__, Session.run

    def noting(graph: Any, *args: Any, **kwargs: Any) -> None:
        make(graph, *args, **kwargs)
        watch.graphs.append(graph)

    def counting(session: Any, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        watch.runs += 1
        if watch.runs == trace:
            from graphgrad.frontend.config.config_proto import RunMetadata, RunOptions

            watch.metadata = RunMetadata()
            feed = args[0] if args else kwargs.get("feed_dict")
            return run(session, fetches, feed, RunOptions(trace_level=_FULL_TRACE), watch.metadata)
        if watch.runs == at_run:
            watch.fetches = [_element(session.graph, f) for f in _leaves(fetches)]
            raise _Reached
        return run(session, fetches, *args, **kwargs)

    patches: list[tuple[Any, str, Any, Any]] = [(Graph, "__init__", noting, make)]
    if at_run is not None or trace is not None:
        patches.append((Session, "run", counting, run))
    for owner, name, function, _ in patches:
        setattr(owner, name, function)
    try:
        yield watch
    finally:
        for owner, name, _, original in patches:
            setattr(owner, name, original)


def _leaves(fetches: Any) -> Iterator[Any]:
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        for f in fetches:
            yield from _leaves(f)
    else:
        yield fetches


def _element(graph: Any, fetch: Any) -> Any:
    return graph.as_graph_element(fetch) if isinstance(fetch, (str, bytes)) else fetch


def _tensor(element: Any) -> Any:
    """Returns the first output of an operation; a tensor itself."""
    return element.outputs[0] if getattr(element, "outputs", None) else element


def _what_to_draw(options: argparse.Namespace, watch: _Watch) -> Any:
    """Returns a graph, some elements of it, or the explanation that is asked for, which is printed, too."""
    what = _chosen(options, watch)
    if not options.explain:
        return what
    from graphgrad.gradients.diagnose.explain import explain_gradient

    explanation = explain_gradient(*map(_tensor, what))
    print(explanation)
    return explanation


def _chosen(options: argparse.Namespace, watch: _Watch) -> Any:
    if options.at_run is not None and not options.explain:
        if watch.fetches is None:
            raise ValueError(f"the program ran a session {watch.runs} times, not {options.at_run}")
        return watch.fetches
    graphs = [g for g in watch.graphs if g.version]
    if not graphs:
        raise ValueError("the program built no graph; in TensorFlow 2 a graph is built by tf.function or Graph()")
    names = options.explain or options.fetch
    if names:
        for graph in sorted(graphs, key=lambda g: -g.version):
            try:
                return [graph.as_graph_element(name) for name in names]
            except KeyError as error:
                missing = error
        raise missing
    from graphgrad.ir.context import get_default_graph

    default = get_default_graph()
    return default if default.version else max(graphs, key=lambda g: g.version)


if __name__ == "__main__":
    sys.exit(main())

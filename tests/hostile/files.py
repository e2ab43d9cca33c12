"""Faults while files are written and read, and files that are not what they should be.

A seed chooses what is done, what lies around, and which call into the system goes wrong and how: the process ends
there, the disk is full, reads or writes fail or are short, locks are not to be had. Promised is that whoever comes next
finds the old or the new checkpoint or data set whole, that the next save leaves nothing behind, that errors are
TensorFlow's, that the disk cache makes no run fail and gives back what was stored or nothing, and that nobody else's
files change.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import fcntl
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

QUICK = 100
KILLED = 77
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.EROFS, errno.EFBIG)
_CALLS = ("open", "replace", "link", "unlink", "mkdir", "fsync", "fstat", "lstat", "stat", "scandir", "utime", "fdopen")
_KEYS = [f"{n:064x}" for n in range(4)]


# -- what goes wrong ---------------------------------------------------------------------------


class Faults:
    """A `with` block in which a call into the system goes wrong.

    Args:
      at: the number of the call, from 0.
      kind: a number of <errno.h>; "kill", which ends the process; "short", where fewer bytes are written.
      lasting: whether the calls after it go wrong, too.
      locks: whether files can be locked.
    """

    def __init__(self, at: int, kind: Any, lasting: bool = False, locks: bool = True):
        self.at, self.kind, self.lasting, self.locks = at, kind, lasting, locks
        self.calls = 0

    def tick(self, halfway: Callable[[], Any] = lambda: None) -> bool:
        """A call; whether it is to be short."""
        now, self.calls = self.calls, self.calls + 1
        if now < self.at or (now > self.at and not self.lasting):
            return False
        if self.kind == "kill":
            halfway()
            os._exit(KILLED)
        if self.kind == "short":
            return True
        raise OSError(self.kind, os.strerror(self.kind))

    def __enter__(self) -> Faults:
        self.undo: list[tuple[Any, str, Any]] = []
        for name in _CALLS:
            self._patch(os, name, self._ticking(getattr(os, name)))
        self._patch(os, "fdopen", self._ticking(self._opened))
        self._patch(builtins, "open", self._open(builtins.open))
        if not self.locks:
            self._patch(fcntl, "flock", self._unlocked)
        return self

    def __exit__(self, *exc: Any) -> None:
        for owner, name, value in reversed(self.undo):
            setattr(owner, name, value)

    def _patch(self, owner: Any, name: str, value: Any) -> None:
        self.undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _ticking(self, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.tick()
            return function(*args, **kwargs)

        return call

    def _open(self, function: Any) -> Any:
        def call(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if not set(mode) & set("wxa"):
                return function(file, mode, *args, **kwargs)
            self.tick()
            return self._opened(function(file, mode if "b" in mode else f"{mode}b", buffering=0), mode)

        return call

    def _opened(self, file: Any, mode: str = "r", **kwargs: Any) -> Any:
        fd = os.dup(file.fileno()) if hasattr(file, "fileno") else file
        raw = _Raw(fd, "rb" if "r" in mode else "wb")
        raw.faults = self
        buffered: Any = io.BufferedReader(raw) if "r" in mode else io.BufferedWriter(raw, 4096)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, kwargs.get("encoding"))

    @staticmethod
    def _unlocked(*args: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


class _Raw(io.FileIO):
    faults: Faults

    def write(self, data: Any) -> Any:
        half = memoryview(data)[: (len(data) + 1) // 2]
        write = super().write
        return write(half if self.faults.tick(lambda: write(half)) else data)

    def readinto(self, data: Any) -> Any:
        self.faults.tick()
        return super().readinto(data)


def _faults(rng: Any, calls: int) -> Faults:
    kind = rng.choice(["kill", "kill", "short", *ERRORS], p=[0.25, 0.25, 0.06, *[0.44 / len(ERRORS)] * len(ERRORS)])
    kind = int(kind) if kind.isdigit() else str(kind)
    return Faults(int(rng.integers(0, calls)), kind, bool(rng.integers(0, 2)), bool(rng.integers(0, 4)))


def _do(faults: Faults, action: Callable[[], Any]) -> str:
    """Does something with faults, in a process of its own if it is to be killed; what came of it."""
    from graphgrad.errors import OpError

    if faults.kind != "kill":
        try:
            with faults:
                action()
        except (OpError, ValueError) as e:
            assert isinstance(e, OpError) or "Parent directory of" in str(e), e  # as TensorFlow says it
            return type(e).__name__
        return "ok"
    child = os.fork()
    if not child:
        code = 1
        try:
            with faults:
                action()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, KILLED):
        raise AssertionError(f"the process failed with exit code {code}")
    return "ok (killed)" if code else "ok"


# -- what lies around ----------------------------------------------------------------------------


def _strangers(rng: Any, folder: str, outside: str) -> dict[str, Any]:
    """Puts other people's things into a folder; how they look."""
    names = ["notes.txt", "array.npy", ".graphgrad-1.part", f".graphgrad-{'g' * 32}.part", "m.data-00000-of-00002",
             "m.data-00001-of-60000", "m.index.tempstate1", "my.program", f"{'F' * 64}.program",
             "m2.data-00000-of-60000", "xm.data-00000-of-60000", "checkpoint.tmp7", "sizes"]
    for name in rng.permutation(names)[:6]:
        path = os.path.join(folder, str(name))
        how = rng.integers(0, 5)
        if how == 0:
            os.mkfifo(path)
        elif how == 1:
            os.symlink(outside, path)
        elif how == 2:
            os.mkdir(path)
        else:
            with open(path, "wb") as f:
                f.write(rng.bytes(100))
            os.utime(path, (1, 1))
    return _look(folder)


def _look(folder: str) -> dict[str, Any]:
    """What is in a folder: name -> kind, and content."""
    found = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        mode = os.lstat(path).st_mode
        content: Any = None
        if stat.S_ISREG(mode):
            with open(path, "rb") as f:
                content = f.read()
        found[name] = stat.S_IFMT(mode), os.readlink(path) if stat.S_ISLNK(mode) else content
    return found


def _untouched(before: dict[str, Any], folder: str) -> None:
    now = _look(folder)
    changed = [n for n in before if now.get(n) != before[n]]
    assert not changed, f"others' files were touched: {changed}"


def _nothing_left(folder: str, allowed: set[str]) -> None:
    left = set(os.listdir(folder)) - allowed
    assert not left, f"left behind: {sorted(left)}"


@contextlib.contextmanager
def _folder() -> Iterator[tuple[str, str]]:
    """A directory to work in, and a file outside of it that nothing may change."""
    base = tempfile.mkdtemp(prefix="graphgrad-hostile-")
    folder, outside = os.path.join(base, "here"), os.path.join(base, "outside")
    os.mkdir(folder)
    with open(outside, "wb") as f:
        f.write(b"mine")
    try:
        yield folder, outside
        with open(outside, "rb") as f:
            assert f.read() == b"mine", "a file outside was written to, through a link"
    finally:
        shutil.rmtree(base)


# -- checkpoints -------------------------------------------------------------------------------


class _Model:
    """A session with a variable, in NumPy: a process that forks has no other threads."""

    def __init__(self) -> None:
        import graphgrad.compat.v1 as tf
        from graphgrad.executor.runtime.session import HostSession

        self.tf = tf
        with tf.Graph().as_default() as graph:
            self.v = tf.get_variable("v", [3000], initializer=tf.zeros_initializer())
            self.s = tf.get_variable("s", [2], tf.string, initializer=tf.constant_initializer(["a", "b"]))
            self.new = tf.placeholder(tf.float32, [])
            self.set = self.v.assign(tf.fill([3000], self.new))
            self.session = HostSession(graph=graph)
            self.session.run(tf.global_variables_initializer())
            self.session.run(self.set, {self.new: 0.0})

    def saver(self, keep: int) -> Any:
        with self.session.graph.as_default():
            return self.tf.train.Saver(max_to_keep=keep)

    def save(self, saver: Any, path: str, value: float, step: Any = None, meta: bool = False) -> str:
        with self.session.graph.as_default():
            self.session.run(self.set, {self.new: value})
            return str(saver.save(self.session, path, global_step=step, write_meta_graph=meta))


_made: list[_Model] = []


def prepare() -> None:
    """Imports what is needed, and makes the model."""
    if not _made:
        _made.append(_Model())


def _value_of(path: str) -> float:
    """The one value of all elements of a checkpoint's tensor; AssertionError if it is not whole."""
    from graphgrad.training.checkpoints.bundle import BundleReader

    reader = BundleReader(path)
    values = set(reader.read("v").tolist())
    assert len(values) == 1 and reader.read("s").tolist() == [b"a", b"b"], "a checkpoint is mixed"
    return float(values.pop())


def _overwritten(rng: Any, folder: str, outside: str) -> str:
    """A checkpoint of the same name is saved again."""
    model = _made[0]
    saver, path, meta = model.saver(1), os.path.join(folder, "m"), bool(rng.integers(0, 4) == 0)
    model.save(saver, path, 1.0, meta=meta)
    before = _strangers(rng, folder, outside)
    value, outcome = 1.0, ""
    for _ in range(rng.integers(1, 4)):  # who was killed may be killed again
        outcome = _do(_faults(rng, 70), lambda: model.save(saver, path, 2.0, meta=meta))
        found = _value_of(path)
        assert found in (value, 2.0) and (found == 2.0 or outcome != "ok"), (found, outcome)
        assert model.tf.train.latest_checkpoint(folder) == path
        value = found
    model.save(saver, path, 3.0, meta=meta)
    assert _value_of(path) == 3.0
    own = {"checkpoint", "m.index", "m.data-00000-of-00001", "m.meta"}
    _untouched({n: v for n, v in before.items() if n not in own}, folder)
    _nothing_left(folder, own | set(before))
    return outcome


def _steps(rng: Any, folder: str, outside: str) -> str:
    """Checkpoints with numbers, of which one is kept, by a Saver or a CheckpointManager."""
    model = _made[0]
    if rng.integers(0, 2):
        saver = model.saver(1)

        def save(value: int) -> Any:
            return model.save(saver, os.path.join(folder, "m"), float(value), step=value)

        def read(path: str) -> float:
            return _value_of(path)

    else:
        import graphgrad.compat.v2 as tf

        with tf.init_scope():
            v = tf.Variable(np.zeros(300, np.float32))
            manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), folder, 1, checkpoint_name="m")

        def save(value: int) -> Any:
            with tf.init_scope():
                v.assign(np.full(300, value, np.float32))
                return manager.save(value)

        def read(path: str) -> float:
            values = set(tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist())
            assert len(values) == 1, "a checkpoint is mixed"
            return float(values.pop())

    save(1)
    before = _strangers(rng, folder, outside)
    outcome = _do(_faults(rng, 60), lambda: save(2))
    latest = model.tf.train.latest_checkpoint(folder)
    assert latest is not None, "no checkpoint can be found any more"
    assert read(latest) == float(latest.rpartition("-")[2]) and (latest.endswith("-2") or outcome != "ok"), latest
    save(3)
    assert model.tf.train.latest_checkpoint(folder) == os.path.join(folder, "m-3") and read(folder + "/m-3") == 3.0
    own = {f"m-{n}.{e}" for n in (1, 2, 3) for e in ("index", "data-00000-of-00001")} | {"checkpoint"}
    _untouched({n: v for n, v in before.items() if n not in own}, folder)
    _nothing_left(folder, own | set(before))
    return outcome


def _one_file(rng: Any, folder: str, outside: str) -> str:
    """A graph's file, or a directory's state, is written anew."""
    tf = _made[0].tf
    path = os.path.join(folder, "graph.pb")
    graphs = [tf.GraphDef() for _ in range(3)]
    for n, graph in enumerate(graphs):
        graph.versions.producer = n + 1
    texts = [g.SerializeToString() for g in graphs]

    def write(n: int) -> None:
        tf.train.write_graph(graphs[n], folder, "graph.pb", as_text=False)

    write(0)
    before = _strangers(rng, folder, outside)
    outcome = _do(_faults(rng, 20), lambda: write(1))
    with open(path, "rb") as f:
        found = f.read()
    assert found in texts[:2] and (found == texts[1] or outcome != "ok"), found
    write(2)
    _untouched({n: v for n, v in before.items() if n != "graph.pb"}, folder)
    _nothing_left(folder, {"graph.pb", *before})
    return outcome


def _events(rng: Any, folder: str, outside: str) -> str:
    """Events and records are written."""
    tf = _made[0].tf
    before = _strangers(rng, folder, outside)

    def write() -> None:
        with tf.summary.FileWriter(folder) as writer:
            for i in range(5):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a" * 3000, simple_value=i)]), i)
        with tf.python_io.TFRecordWriter(os.path.join(folder, "records")) as records:
            for i in range(5):
                records.write(bytes([i]) * 3000)

    outcome = _do(_faults(rng, 16), write)
    _untouched(before, folder)
    path = os.path.join(folder, "records")
    if os.path.exists(path):
        try:
            found = list(tf.python_io.tf_record_iterator(path))
            assert len(found) == 5 or outcome != "ok"
        except tf.errors.DataLossError:
            found = []
            assert outcome != "ok"
        assert all(r == bytes([i]) * 3000 for i, r in enumerate(found))
    return outcome


def _strange_checkpoint(rng: Any, folder: str, outside: str) -> str:
    """One of a checkpoint's files is of another kind, or damaged: it is refused, or read as it was saved."""
    model = _made[0]
    saver, path = model.saver(1), os.path.join(folder, "m")
    model.save(saver, path, 1.0)
    victim = os.path.join(folder, str(rng.choice(["m.index", "m.data-00000-of-00001", "checkpoint"])))
    kind = _replace(rng, victim, outside)
    outcome = "ok"
    try:
        model.tf.train.latest_checkpoint(folder)
        with model.session.graph.as_default():
            saver.restore(model.session, path)
        assert set(model.session.run(model.v).tolist()) == {1.0}
    except (model.tf.errors.OpError, ValueError) as e:  # ValueError: there is no checkpoint
        outcome = type(e).__name__
        assert outcome != "ValueError" or "not a valid checkpoint" in str(e), e
    try:
        model.save(saver, path, 2.0)
        assert _value_of(path) == 2.0
        _nothing_left(folder, {"checkpoint", "m.index", "m.data-00000-of-00001"})
    except model.tf.errors.FailedPreconditionError:
        assert kind == "folder", kind
    return outcome


def _replace(rng: Any, path: str, outside: str) -> str:
    """Puts something else in the place of a file; what."""
    with open(path, "rb") as f:
        content = f.read()
    kind = str(rng.choice(["pipe", "link", "loop", "folder", "cut", "flipped", "huge", "empty", "foreign", "second",
                           "open to all"]))
    if kind not in ("second", "open to all"):
        os.unlink(path)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        os.symlink(outside, path)
    elif kind == "loop":
        os.symlink(path, path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "second":
        os.link(path, path + ".kept")
    elif kind == "open to all":
        os.chmod(path, 0o666)
    else:
        at = int(rng.integers(0, len(content)))
        with open(path, "wb") as f:
            if kind == "flipped":
                f.write(content[:at] + bytes([content[at] ^ 1 << int(rng.integers(0, 8))]) + content[at + 1 :])
            else:
                f.write({"cut": content[:at], "foreign": rng.bytes(len(content)), "huge": content}.get(kind, b""))
            if kind == "huge":
                f.truncate(1 << 40)
    if kind == "second":
        os.rename(path + ".kept", outside + ".kept")
    return kind


# -- data sets ---------------------------------------------------------------------------------


_LENGTHS = {1: 3, 2: 4, 3: 5}  # of the data set of that value


def _dataset(value: int) -> Any:
    data = _made[0].tf.data.Dataset
    floats = data.from_tensors(np.full(900, value, np.float32))
    if value == 2:  # of another structure
        return floats.map(lambda x: {"x": x, "s": "b"}).repeat(_LENGTHS[value])
    return floats.repeat(_LENGTHS[value])


def _value_of_dataset(dataset: Any) -> int:
    """The one value of all of a data set's elements; AssertionError if it is not whole."""
    elements = list(dataset.as_numpy_iterator())
    parts = [(e["x"], e["s"]) if isinstance(e, dict) else (e, None) for e in elements]
    values = {v for x, _ in parts for v in x.tolist()}
    assert len(values) == 1, "a data set is mixed"
    value = int(values.pop())
    assert len(elements) == _LENGTHS[value] == int(dataset.cardinality()), "a data set has lost elements"
    assert all(s == (b"b" if value == 2 else None) and len(x) == 900 for x, s in parts), "a data set is mixed"
    return value


def _saved_dataset(rng: Any, folder: str, outside: str) -> str:
    """A data set is saved where another one is, and what the files hold is damaged then."""
    tf = _made[0].tf
    with tf.init_scope():
        data = tf.data.Dataset
        _dataset(1).save(folder)
        loaded = data.load(folder)
        before = _strangers(rng, folder, outside)
        outcome = _do(_faults(rng, 70), lambda: _dataset(2).save(folder))
        found = _value_of_dataset(data.load(folder))
        assert found in (1, 2) and (found == 2 or outcome != "ok"), (found, outcome)
        try:
            assert _value_of_dataset(loaded) == found == 1  # it says what is there by now, or is refused
        except tf.errors.DataLossError:
            assert found == 2
        own = {"elements.index", "elements.data-00000-of-00001"}
        if rng.integers(0, 2):
            _dataset(3).save(folder)
            assert _value_of_dataset(data.load(folder)) == 3
            _nothing_left(folder, own | set(before))
        _untouched({n: v for n, v in before.items() if n not in own}, folder)
        victim = os.path.join(folder, str(rng.choice(sorted(own.intersection(os.listdir(folder))))))
        _replace(rng, victim, outside)
        try:
            _value_of_dataset(data.load(folder))
        except tf.errors.OpError as e:
            outcome = f"{outcome}, {type(e).__name__}"
    return outcome


# -- the disk cache ----------------------------------------------------------------------------


@contextlib.contextmanager
def _cache(folder: str, limit: str) -> Iterator[Any]:
    from graphgrad.executor.backend import disk_cache as disk

    kept = {n: os.environ.get(n) for n in ("GRAPHGRAD_CACHE_DIR", "GRAPHGRAD_CACHE_BYTES")}
    os.environ.update(GRAPHGRAD_CACHE_DIR=folder, GRAPHGRAD_CACHE_BYTES=limit)
    disk._log.setLevel("CRITICAL")
    disk._swept.clear()
    try:
        yield disk
    finally:
        disk._log.setLevel("NOTSET")
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _code(key: str) -> bytes:
    return key.encode() * 150


def _cached(rng: Any, folder: str, outside: str) -> str:
    """Programs are stored, looked up and taken away."""
    limit = int(rng.choice([0, 5_000, 25_000, 10**6]))
    with _cache(folder, str(limit)) as disk:
        programs = os.path.join(folder, "programs")
        os.mkdir(programs, 0o700)
        for key in _KEYS[:2]:
            disk.write(key, {"n": 1}, _code(key))
        here, within = _strangers(rng, folder, outside), _strangers(rng, programs, outside)
        within = {n: v for n, v in within.items() if n not in {"size", *(f"{k}.program" for k in _KEYS)}}

        def use() -> None:
            for i in rng.permutation(12):
                key = _KEYS[i % 4]
                if i < 5:
                    disk.write(key, {"n": 1}, _code(key))
                elif i < 11:
                    found = disk.read(key)
                    assert found in (None, ({"n": 1}, _code(key))), "something else was read than was stored"
                else:
                    disk.remove(key)

        outcome = _do(_faults(rng, 150), use)
        assert outcome.startswith("ok"), f"the cache raised {outcome}"
        _within_limit(programs, limit)
        disk._swept.clear()  # the next process
        for key in _KEYS[2:]:
            disk.write(key, {"n": 1}, _code(key))
            assert (disk.read(key) is not None) == (limit > len(_code(key)))
        _within_limit(programs, limit)
        _untouched(here, folder)
        _untouched(within, programs)
        _nothing_left(programs, {"size", *within, *(f"{k}.program" for k in _KEYS)})
    return outcome


def _within_limit(folder: str, limit: int) -> None:
    sizes = [e.stat().st_size for e in os.scandir(folder) if e.name.removesuffix(".program") in _KEYS]
    assert sum(sizes) <= limit, f"{sum(sizes)} bytes, {limit} are allowed"


def _strange_entry(rng: Any, folder: str, outside: str) -> str:
    """An entry, or what counts the entries, is of another kind, another user's or damaged."""
    key = _KEYS[0]
    with _cache(folder, "1M") as disk:
        disk.write(key, {}, _code(key))
        path = os.path.join(folder, "programs", str(rng.choice([f"{key}.program", f"{key}.program", "size"])))
        if rng.integers(0, 6) == 0 and os.getuid() == 0:
            kind = "another's"
            os.chown(path, 12345, 12345)
        else:
            kind = _replace(rng, path, outside)
        found = disk.read(key)
        assert found is None or (path.endswith("size") and found == ({}, _code(key))), kind
        disk.write(key, {}, _code(key))
        assert kind == "folder" or disk.read(key) == ({}, _code(key)), kind
    return "ok"


def _strange_folder(rng: Any, folder: str, outside: str) -> str:
    """The directory, or one above it, is one that others can change, or none."""
    root = os.path.join(folder, "a", "b")
    os.makedirs(root, 0o755)
    with _cache(root, str(rng.choice(["1M", "-1", "many", "1e3", "5 GB", ""]))) as disk:
        disk.write(_KEYS[0], {}, b"code")
        assert disk.read(_KEYS[0]) == ({}, b"code")
        victim = str(rng.choice([os.path.join(folder, "a"), root, os.path.join(root, "programs")]))
        kind = str(rng.choice(["open", "group", "another's", "sticky", "link", "file", "pipe", "gone", "read-only"]))
        trusted = False
        if kind in ("open", "group"):
            os.chmod(victim, 0o777 if kind == "open" else 0o775)
        elif kind == "sticky":
            os.chmod(victim, 0o1777)
            trusted = not victim.endswith("programs")
        elif kind == "another's":
            if os.getuid():
                return "ok"
            os.chown(victim, 12345, 12345)
        elif kind == "read-only":
            os.chmod(victim, 0o500)
            trusted = True
        else:
            os.rename(victim, victim + ".old")
            trusted = kind in ("link", "gone")
            if kind == "link":
                os.symlink(victim + ".old", victim)
            elif kind == "file":
                with open(victim, "wb") as f:
                    f.write(b"x")
            elif kind == "pipe":
                os.mkfifo(victim)
        before = sorted(os.listdir(victim)) if os.path.isdir(victim) else []
        found = disk.read(_KEYS[0])
        assert found is None if not trusted else found in (None, ({}, b"code")), (kind, found)
        disk.write(_KEYS[1], {}, b"more")
        assert (disk.read(_KEYS[1]) is not None) == trusted or kind == "read-only", kind
        if not trusted:
            assert before == (sorted(os.listdir(victim)) if os.path.isdir(victim) else []), kind
        if os.path.exists(victim):
            os.chmod(victim, 0o755)
    return "ok"


_ATTACKS = (_saved_dataset, _overwritten, _overwritten, _overwritten, _steps, _steps, _one_file, _events,
            _strange_checkpoint, _cached, _cached, _cached, _strange_entry, _strange_folder)


def attack(seed: int) -> str:
    """Makes the seed's fault; see the module's text for what is promised."""
    rng = np.random.default_rng(seed)
    with _folder() as (folder, outside):
        return _ATTACKS[seed % len(_ATTACKS)](rng, folder, outside)

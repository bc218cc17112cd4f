"""The project's files: a damaged or foreign file raises one error with its name and the reason."""

from __future__ import annotations

import json
import lzma
import os
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.equilibrium.strategy import Solved
from crib_agents.files import SEAL, compress, inflate, read_arrays, read_header, to_bytes, write_whole
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.loading import load_agent
from crib_agents.policy_net import PolicyNetAgent

from crib_env import PRESETS
from learned_nets import drawn_weights, policy

WEIGHTS = drawn_weights(PRESETS["table_top"])
TENSORS: dict[str, Any] = {
    "0.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0.bias": np.ones(2),
    "half": np.arange(3, dtype=np.float16),
}
SMALL = to_bytes({"format": "a test", "version": 1}, TENSORS)


def laid_out(described: Any, numbers: bytes = b"") -> bytes:
    """Return a safetensors file of any JSON."""
    text = described if isinstance(described, bytes) else json.dumps(described).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def header(text: Any) -> bytes:
    """Return a file with the project's header and no tensors."""
    return laid_out({"__metadata__": {"crib_env": text}})


def numbers(kind: str, data: bytes) -> bytes:
    """Return a file of one tensor of 8 bytes."""
    shape = [2 if kind == "F32" else 1]
    return laid_out({"a": {"dtype": kind, "shape": shape, "data_offsets": [0, 8]}}, data)


MALFORMED: dict[str, bytes] = {
    "empty": b"",
    "text": b"not at all a file of ours",
    "longer header than file": (1 << 62).to_bytes(8, "little") + b"{}",
    "header of nested lists": laid_out(b"[" * 100_000),
    "our header is a number": header(5),
    "our header is no JSON": header("{"),
    "our header is a list": header("[]"),
    "our header is nested": header("[" * 100_000),
    "type is unknown": numbers("F128", bytes(8)),
    "numbers cut short": numbers("F32", bytes(7)),
    "NaN": numbers("F32", np.array([0.0, np.nan], np.float32).tobytes()),
    "too large for float32": numbers("F64", np.array([-1e300]).tobytes()),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_files_malformed_are_rejected_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(MALFORMED[name])
    for read in (read_header, Weights.load, PolicyNetAgent.load, Solved.load, load_agent):
        with pytest.raises(ValueError, match=r"x\.safetensors is not a safetensors file of ours: ."):
            read(str(path) if read is load_agent else path)


def tried(read: Callable[[Path], Any], path: Path) -> Any:
    """Return the content read from a file, or the error raised."""
    try:
        return read(path)
    except ValueError as error:
        return error


@pytest.mark.parametrize(("file", "name"), [("mine/policy.safetensors", "mine"), ("mine/other.safetensors", "other")])
def test_load_agent_names_a_run_after_its_folder(
    file: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    for agent in (policy(), MonteCarloAgent([drawn_weights(PRESETS["hoyle"])], "any")):
        agent.save(path)
        assert load_agent(str(path)).name == name
    monkeypatch.chdir(path.parent)
    assert load_agent(path.name).name == name


ODD: list[Any] = [None, True, -1, 10**30, 1e308, "two_hand\0", [], {"a": [1]}]


@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize("kind", ["weights", "policy", "strategy"])
def test_files_with_any_header_are_read_or_rejected(kind: str, value: Any, tmp_path: Path) -> None:
    """Each entry of the header, and each field of its rules, is replaced by ``value`` in turn."""
    tensors: Any
    load: Any
    if kind == "weights":
        about, tensors, load = WEIGHTS.header(), {}, Weights.load
        for name, layers in WEIGHTS.nets.items():
            for i, (weight, bias) in enumerate(layers):
                tensors |= {f"{name}.{i}.weight": weight, f"{name}.{i}.bias": bias}
        tensors |= WEIGHTS.tables
    elif kind == "policy":
        agent = policy()
        agent.save(tmp_path / "policy.safetensors")
        about, tensors = read_header(tmp_path / "policy.safetensors")
        load = PolicyNetAgent.load
    else:
        nothing = np.frombuffer(zlib.compress(b""), np.uint8)
        tensors, load = {"discard": nothing, "pegging": nothing}, Solved.load
        about = {"format": "crib_env strategy", "version": 1, "rules": "five_card",
                 "rules_fields": {"dealt": 5, "single_count": True, "flush_size": 3,
                                  "crib_flush_size": 5, "target": 61, "for_last": 3},
                 "shapes": {"discard": [2, 134459, 10], "pegging": [13, 228046]},
                 "about": {}, "made_by": ""}  # fmt: skip
    path = tmp_path / "x.safetensors"
    changed = [{**about, name: value} for name in about]
    fields = about["rules_fields"]
    changed += [{**about, "rules_fields": {**fields, name: value}} for name in [*fields, "more"]]
    for each in changed:
        path.write_bytes(to_bytes(each, tensors))
        found = tried(load, path)
        if isinstance(found, ValueError):
            assert str(found).startswith(str(path))
            assert len(str(found)) < 3000
        elif kind == "weights":
            found.flat()


def test_files_altered_fail_their_checksum(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    for at in (SMALL.index(b"a test"), SMALL.index(b"sha256") + 20, len(SMALL) - 3):
        path.write_bytes(SMALL[:at] + bytes([SMALL[at] ^ 1]) + SMALL[at + 1 :])
        with pytest.raises(ValueError, match=r"x\.safetensors .*was damaged or altered"):
            read_header(path)
    for at in range(len(SMALL)):
        path.write_bytes(SMALL[:at] + bytes([SMALL[at] ^ 1]) + SMALL[at + 1 :])
        with pytest.raises(ValueError, match=r"x\.safetensors is not a safetensors file of ours: "):
            read_header(path, sealed=True)
    path.write_bytes(SMALL)
    assert read_header(path)[0] == {"format": "a test", "version": 1}


def test_files_with_checksum_are_valid_safetensors(tmp_path: Path) -> None:
    from safetensors.numpy import load

    path = tmp_path / "x.safetensors"
    path.write_bytes(SMALL)
    for found in (load(SMALL), read_header(path)[1]):
        assert found.keys() == TENSORS.keys()
        for name, array in TENSORS.items():
            assert found[name].dtype == array.dtype
            assert np.array_equal(found[name], array)


def test_files_without_required_checksum_are_rejected(tmp_path: Path) -> None:
    from safetensors.numpy import save

    path = tmp_path / "x.safetensors"
    path.write_bytes(save(TENSORS, metadata={"crib_env": "{}"}))
    read_header(path)
    with pytest.raises(ValueError, match="it has no checksum"):
        read_header(path, sealed=True)
    path.write_bytes(SMALL.replace(SEAL.encode(), b"sha257"))
    with pytest.raises(ValueError, match="it has no checksum"):
        read_header(path, sealed=True)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, -1e300])
def test_files_writer_rejects_unreadable_numbers(bad: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'a' holds numbers that are not finite, or too large"):
        to_bytes({}, {"a": np.array([1.0, bad])})
    large = drawn_weights(PRESETS["table_top"])
    large.tables["owing"][0] = 1e6
    with pytest.raises(ValueError, match="'owing'"), np.errstate(over="ignore"):
        large.save(tmp_path / "x.safetensors", np.float16)
    assert not list(tmp_path.iterdir())


def peak(work: Callable[[], object]) -> int:
    """Return the peak memory of ``work``, which must refuse the file, in bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"expand|expected"):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("squeezed", [zlib.compressobj(9), lzma.LZMACompressor()], ids=["zlib", "xz"])
def test_files_small_strategy_takes_little_memory(squeezed: Any, tmp_path: Path) -> None:
    path = tmp_path / "bomb.safetensors"
    bomb = b"".join(squeezed.compress(bytes(1 << 20)) for _ in range(64)) + squeezed.flush()
    table = np.frombuffer(bomb, dtype=np.uint8)
    about = {
        "format": "crib_env strategy",
        "version": 1,
        "rules": "five_card",
        "rules_fields": {"dealt": 5, "single_count": True, "flush_size": 3, "crib_flush_size": 5},
        "shapes": {"discard": [2, 134459, 10], "pegging": [13, 228046]},
    }
    path.write_bytes(to_bytes(about, {"discard": table, "pegging": table}))
    assert path.stat().st_size < 2 << 20
    with pytest.raises(ValueError, match="does not expand to the 2689180 bytes expected"):
        Solved.load(path)  # fills the caches for the game's rules
    assert peak(lambda: Solved.load(path)) < 50 << 20
    about["shapes"] = {"discard": [1 << 26], "pegging": [1 << 26]}
    path.write_bytes(to_bytes(about, {"discard": table, "pegging": table}))
    assert peak(lambda: Solved.load(path)) < 50 << 20


@pytest.mark.parametrize("pack", [zlib.compress, lzma.compress, compress])
def test_files_compressed_are_whole_or_rejected(pack: Callable[[bytes], bytes]) -> None:
    data = np.random.default_rng(5).integers(0, 9, 5000).astype(np.uint8).tobytes()
    packed = pack(data)
    assert inflate(packed, len(data)) == data
    for size in (len(data) - 1, len(data) + 1):
        with pytest.raises(ValueError, match=f"does not expand to the {size} bytes expected"):
            inflate(packed, size)
    for bad in (packed[:-1], packed + b"x", packed[:900] + b"?" + packed[901:]):
        with pytest.raises(ValueError, match=r"damaged|expand"):
            inflate(bad, len(data))


def test_files_small_archive_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, views=np.zeros(1 << 26, dtype=np.uint8))
    assert path.stat().st_size < 2 << 20
    assert peak(lambda: read_arrays(path)) < 50 << 20


def test_files_damaged_archive_is_rejected_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.random.default_rng(1).normal(size=100))
    assert set(read_arrays(path)) == {"a"}
    data = path.read_bytes()
    for damaged in (data[:300] + bytes([data[300] ^ 4]) + data[301:], data[:200], b"not at all"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"x\.npz cannot be read as arrays"):
            read_arrays(path)


def test_write_whole_leaves_a_pipe_or_device_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"to the reader")
    assert os.read(end, 99) == b"to the reader"
    os.close(end)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
    with pytest.raises(OSError, match="/dev/full cannot be written: No space left"):
        write_whole(Path("/dev/full"), b"x")
    with pytest.raises(OSError, match=f"{tmp_path} cannot be written: Is a directory"):
        write_whole(tmp_path, b"x")


def test_files_two_writers_do_not_mix(tmp_path: Path, monkeypatch: Any) -> None:
    """Each writer uses a separate temporary file, so the target is one writer's whole file."""

    path, replace = tmp_path / "x", os.replace

    def meanwhile(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        write_whole(path, b"another's")
        assert path.read_bytes() == b"another's"
        replace(source, target)

    monkeypatch.setattr(os, "replace", meanwhile)
    write_whole(path, b"mine")
    assert path.read_bytes() == b"mine"
    assert [one.name for one in tmp_path.iterdir()] == ["x"]

"""Our files: safetensors with a header and a checksum, written atomically, refused if damaged.

A safetensors file is eight bytes with the length of its JSON, the JSON, and the numbers. Reading
one takes only a few lines, so agents need no library for it; the package safetensors writes them.

The checksum is in our header and covers the whole file, including that header. Older files without
one are read, unless `read_header` requires one.
"""

from __future__ import annotations

import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from crib_env.arrays import Array

HEADER = "crib_env"  # where the file's metadata hold our header
LENGTH = 8  # bytes
DTYPES = {"U8": np.uint8, "F16": np.float16, "F32": np.float32, "F64": np.float64, "I64": np.int64}
LARGEST = float(np.finfo(np.float32).max)  # what nets are computed in
SEAL = "sha256"
UNSEALED = "0" * 64  # stands in the place of the checksum while it is computed
BESIDE = ".partial"
MOST_EXPANSION = 100  # times its size to which an archive of ours expands
EXPANSION_FLOOR = 1 << 24  # bytes to which it may expand in any case
XZ = b"\xfd7zXZ\0"  # what such data begin with
MOST_MEMORY = 1 << 24  # bytes that unpacking may take beside its result

Tensors = Mapping[str, Array]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there as a whole or not at all; an older one stays till then.

    It is written beside its place, under a temporary name, and then renamed: a kill or a full disk
    leaves the old file as it was.
    """
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}{BESIDE}")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error


def to_bytes(about: Mapping[str, Any], tensors: Tensors) -> bytes:
    """Return a safetensors file of tensors, with a header of ours and a checksum."""
    from safetensors.numpy import save

    for name, array in tensors.items():
        _check_finite(name, array)
    text = json.dumps({SEAL: UNSEALED, **about})
    data = save(dict(tensors), metadata={HEADER: text})
    return data.replace(UNSEALED.encode(), sha256(data).hexdigest().encode(), 1)


def read_header(path: str | Path, *, sealed: bool = False) -> tuple[dict[str, Any], Tensors]:
    """Return our header and the tensors of a safetensors file."""
    try:
        return _read(Path(path).read_bytes(), sealed)
    except OSError as error:
        why = error.strerror or str(error)
    except RecursionError:
        why = "its header is nested too deeply"
    except ValueError as error:
        why = str(error)
    raise ValueError(f"{path} is not a safetensors file of ours: {why}")


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Prefix errors in a file's contents with the name of the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


@contextmanager
def reading(path: str | Path, *, sealed: bool = False) -> Iterator[tuple[dict[str, Any], Tensors]]:
    """Yield our header and the tensors of a file, whose name an error in the block begins with."""
    found = read_header(path, sealed=sealed)
    with naming(path):
        yield found


def check_format(about: Mapping[str, Any], expected: str, version: int) -> None:
    """Raise a ValueError unless a header says that its file is of this format and version."""
    found = about.get("format"), about.get("version")
    if found != (expected, version):
        raise ValueError(f"expected the format {expected!r} version {version}, found "
                         f"{shown(found[0])} version {shown(found[1])}")  # fmt: skip


def shown(value: object) -> str:
    """Return a file's value for a message, cut to a limit."""
    try:
        text = repr(value)
    except RecursionError:
        return "what is nested too deeply to be shown"
    return text if len(text) <= 200 else f"{text[:200]} ..."


def compress(data: bytes | memoryview, level: int) -> bytes:
    """Return bytes as `inflate` reads them; ``level`` is xz's: 1 is fast, 6 is a third smaller."""
    import lzma  # here, since some builds of Python lack it

    return lzma.compress(data, preset=level)


def inflate(data: bytes, size: int) -> bytes:
    """Return decompressed bytes (xz or zlib), within the expected memory."""
    stream: Any = zlib.decompressobj()
    damaged: type[Exception] = zlib.error
    if data.startswith(XZ):
        import lzma

        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
        damaged = lzma.LZMAError
    try:
        found: bytes = stream.decompress(data, size + 1)
    except damaged as error:
        raise ValueError(f"it is damaged: {error}") from None
    if len(found) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"it does not expand to the {size} bytes expected")
    return found


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` file, whose checksums are zip's."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > max(EXPANSION_FLOOR, MOST_EXPANSION * path.stat().st_size):
            raise ValueError(f"it says that it expands to {size:,} bytes")
        with np.load(path) as held:
            return dict(held)
    except (OSError, ValueError, EOFError, KeyError, MemoryError, NotImplementedError,
            RuntimeError, zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        raise ValueError(f"{path} cannot be read as arrays: {error}") from None


def _read(data: bytes, sealed: bool) -> tuple[dict[str, Any], Tensors]:
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    if not LENGTH < begin <= len(data):
        raise ValueError("it is too short for its own header")
    described = json.loads(data[LENGTH:begin].decode())
    metadata = described.pop("__metadata__", {}) if isinstance(described, dict) else None
    text = metadata.get(HEADER, "{}") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ValueError("its header is not of the form that safetensors have")
    try:
        about = json.loads(text)
    except ValueError as error:
        raise ValueError(f"its header is not JSON: {error}") from None
    if not isinstance(about, dict):
        raise ValueError(f"its header is not a JSON object: {shown(about)}")
    tensors = _tensors(described, memoryview(data)[begin:])
    _check_seal(data, begin, about.pop(SEAL, None), sealed)
    return about, tensors


def _check_seal(data: bytes, begin: int, seal: object, needed: bool) -> None:
    """Raise a ValueError unless a file is as it was written, as far as its checksum says."""
    if seal is None and not needed:
        return
    if not isinstance(seal, str) or len(seal) != len(UNSEALED):
        raise ValueError("it has no checksum: it was altered, or comes from a version that wrote "
                         "none")  # fmt: skip
    found = sha256(data[:begin].replace(seal.encode("utf-8", "replace"), UNSEALED.encode(), 1))
    found.update(memoryview(data)[begin:])
    if found.hexdigest() != seal:
        raise ValueError("its checksum does not fit: it was damaged or altered since it was "
                         "written")  # fmt: skip


def _tensors(described: dict[str, Any], numbers: memoryview) -> Tensors:
    """Return the tensors, which must lie one behind the other and fill the file."""
    places = {name: _place(name, one, len(numbers)) for name, one in described.items()}
    tensors: dict[str, Array] = {}
    end = 0
    for name, (dtype, shape, first, last) in sorted(places.items(), key=lambda one: one[1][2:]):
        if first != end:
            raise ValueError(f"the tensor {name!r} begins at byte {first}, expected {end}")
        end = last
        tensors[name] = np.frombuffer(bytes(numbers[first:last]), dtype=dtype).reshape(shape)
        _check_finite(name, tensors[name])
    if end != len(numbers):
        raise ValueError(f"{len(numbers) - end} bytes follow its last tensor")
    return tensors


def _place(name: str, described: Any, size: int) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return the type and the shape of a tensor, where it begins and where it ends."""
    described = described if isinstance(described, dict) else {}
    kind, shape, offsets = (described.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(kind, str) or kind not in DTYPES:
        raise ValueError(f"the tensor {name!r} is of the type {shown(kind)}, expected one of "
                         f"{', '.join(DTYPES)}")  # fmt: skip
    dtype = np.dtype(DTYPES[kind])
    fits = _whole(shape, size) and _whole(offsets, size) and len(offsets) == 2
    if not fits or offsets[1] - offsets[0] != prod(shape) * dtype.itemsize:
        raise ValueError(f"the tensor {name!r} of shape {shown(shape)} lies outside of it, or does "
                         f"not fill its place {shown(offsets)}")  # fmt: skip
    return dtype, tuple(shape), *offsets


def _check_finite(name: str, array: Array) -> None:
    if array.dtype.kind != "f" or not array.size:
        return
    if not -LARGEST <= float(array.min()) <= float(array.max()) <= LARGEST:
        raise ValueError(f"the tensor {name!r} holds numbers that are not finite, or too large for "
                         f"float32")  # fmt: skip


def _whole(values: Any, most: int) -> bool:
    """Return whether something is a list of whole numbers from 0 to ``most``."""
    return isinstance(values, list) and all(type(n) is int and 0 <= n <= most for n in values)

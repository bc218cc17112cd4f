"""Our files: safetensors with a header and a checksum, written atomically, refused if damaged.

The checksum is in our header and covers the whole file, including that header. Older files without
one are read, unless the caller passes ``sealed=True``.
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
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from crib_env.arrays import Array

HEADER = "crib_env"  # key of our header in the file's metadata
LENGTH = 8  # bytes at the start of a file, which hold the length of its JSON
LARGEST = float(np.finfo(np.float32).max)  # nets compute in float32
SEAL = "sha256"
UNSEALED = "0" * 64  # stands in the place of the checksum while it is computed
BESIDE = ".partial"
MOST_EXPANSION = 100  # largest ratio of an archive's expanded size to its file size
EXPANSION_FLOOR = 1 << 24  # bytes to which every archive may expand
XZ = b"\xfd7zXZ\0"  # magic bytes of xz data
MOST_MEMORY = 1 << 24  # bytes that decompression may use besides its result

OF_A_RUN = ("policy", "model")  # stems of a run's files; the run's folder names the agent

Tensors = Mapping[str, Array]


def name_of(path: str | Path) -> str:
    """Return an agent's name: its file's stem; for ``policy.*`` or ``model.*`` the run's folder."""
    path = Path(path)
    return (path.stem in OF_A_RUN and path.resolve().parent.name) or path.stem


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically, by renaming a temporary file. A device is written directly."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}{BESIDE}")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error


def to_bytes(about: Mapping[str, Any], tensors: Tensors) -> bytes:
    """Return the bytes of a safetensors file with our header and a checksum."""
    for name, array in tensors.items():
        _check_finite(name, array)
    text = json.dumps({SEAL: UNSEALED, **about})
    data = save(dict(tensors), metadata={HEADER: text})
    return data.replace(UNSEALED.encode(), sha256(data).hexdigest().encode(), 1)


def read_header(path: str | Path, *, sealed: bool = False) -> tuple[dict[str, Any], Tensors]:
    """Return our header and the tensors of a safetensors file; ``sealed`` requires a checksum."""
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
    """Prefix ValueErrors raised in the block with a file's name."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


@contextmanager
def reading(path: str | Path, *, sealed: bool = False) -> Iterator[tuple[dict[str, Any], Tensors]]:
    """Yield the result of `read_header`; prefix ValueErrors in the block with the file's name."""
    found = read_header(path, sealed=sealed)
    with naming(path):
        yield found


def check_format(about: Mapping[str, Any], expected: str, version: int) -> None:
    """Raise a ValueError unless a header says that its file is of this format and version."""
    found = about.get("format"), about.get("version")
    if found != (expected, version):
        raise ValueError(
            f"expected the format {expected!r} version {version}, found {shown(found[0])} version {shown(found[1])}"
        )


def shown(value: object) -> str:
    """Return an untrusted value's ASCII repr, cut to 200 characters, without control characters."""
    try:
        text = ascii(value)
    except RecursionError:
        return "what is nested too deeply to be shown"
    return text if len(text) <= 200 else f"{text[:200]} ..."


def compress(data: bytes | memoryview) -> bytes:
    """Compress bytes to xz, for `inflate`."""
    import lzma  # here, since some builds of Python lack it

    return lzma.compress(data, preset=1)  # preset 6 is a third smaller, but slow


def inflate(data: bytes, size: int) -> bytes:
    """Decompress xz or zlib data to ``size`` bytes, in bounded memory; a ValueError otherwise."""
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
    """Return the arrays of an ``.npz`` file; zip's checksums reveal damage."""
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
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise ValueError(str(error)) from None
    except KeyError as error:  # a dtype that NumPy lacks
        raise ValueError(f"a tensor is of the type {error}") from None
    for name, array in tensors.items():
        array.flags.writeable = False  # all readers of a shipped file share it
        _check_finite(name, array)
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    metadata = json.loads(data[LENGTH:begin]).get("__metadata__", {})
    if metadata is None:  # safetensors accepts null
        raise ValueError("its metadata are null")
    try:
        about = json.loads(metadata.get(HEADER, "{}"))
    except ValueError as error:
        raise ValueError(f"its header is not JSON: {error}") from None
    if not isinstance(about, dict):
        raise ValueError(f"its header is not a JSON object: {shown(about)}")
    _check_seal(data, begin, about.pop(SEAL, None), sealed)
    return about, tensors


def _check_seal(data: bytes, begin: int, seal: object, needed: bool) -> None:
    """Raise ValueError unless a file's checksum matches its content."""
    if seal is None and not needed:
        return
    if not isinstance(seal, str) or len(seal) != len(UNSEALED):
        raise ValueError("it has no checksum: it was altered, or comes from a version that wrote none")
    found = sha256(data[:begin].replace(seal.encode("utf-8", "replace"), UNSEALED.encode(), 1))
    found.update(memoryview(data)[begin:])
    if found.hexdigest() != seal:
        raise ValueError("its checksum does not fit: it was damaged or altered since it was written")


def _check_finite(name: str, array: Array) -> None:
    if array.dtype.kind != "f" or not array.size:
        return
    if not -LARGEST <= float(array.min()) <= float(array.max()) <= LARGEST:
        raise ValueError(f"the tensor {name!r} holds numbers that are not finite, or too large for float32")

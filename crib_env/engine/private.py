"""The private parts of Numba that fast compiling and storing need; a later version may lack some.

`missing` names those. Code is then compiled in every process, as it is where a part works in
another way (`crib_env.engine.cache.find_fault`).
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import Any

missing: list[str] = []


def _find(module: str, name: str) -> Any:
    """Return an object of a module; None, noted in `missing`, if there is none of this name."""
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        missing.append(f"{module}.{name}")
        return None


FunctionIdentity = _find("numba.core.bytecode", "FunctionIdentity")
JITCodeLibrary = _find("numba.core.codegen", "JITCodeLibrary")
Compiler = _find("numba.core.compiler", "Compiler")
CompileResult = _find("numba.core.compiler", "CompileResult")
compiler_lock = _find("numba.core.compiler_lock", "global_compiler_lock") or nullcontext()
register_pass = _find("numba.core.compiler_machinery", "register_pass")
CPUTargetOptions = _find("numba.core.cpu", "CPUTargetOptions")
Intrinsic = _find("numba.core.extending", "_Intrinsic")
CPUDispatcher = _find("numba.core.registry", "CPUDispatcher")
dumps = _find("numba.core.serialize", "dumps")
NativeLowering = _find("numba.core.typed_passes", "NativeLowering")
builtin_registry = _find("numba.core.typing.templates", "builtin_registry")
Signature = _find("numba.core.typing.templates", "Signature")
llvm_lock = getattr(_find("llvmlite.binding.ffi", "lib"), "_lock", nullcontext())

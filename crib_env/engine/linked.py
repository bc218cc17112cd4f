"""How helpers are compiled: into code for their callers alone, which is linked into them.

Numba optimizes every function that it compiles, and makes machine code of it and of two wrappers,
for Python and for C. Callers take only the code, and are optimized with it. Without the rest a cold
start takes half the time (`python -m benchmarks --only start`), and its code is as fast. With a
version of Numba that lacks a part, helpers are compiled as any function.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numba
from llvmlite.binding import parse_assembly
from numba.types import RecursiveCall

from crib_env.engine import private

UNRESOLVED = ".numba.unresolved$"  # begins the name of a variable for the address of a function
LinkedCompiler: Any = None

if not private.missing:

    class LinkedCode(private.JITCodeLibrary):  # type: ignore[misc]
        """Code that is neither optimized (its callers are) nor given to LLVM's execution engine.

        Recursive code is both: it may call a function by the address that the engine gives it.
        """

        recursive = False

        def _is_recursive(self) -> bool:
            names = (each.name for each in self._final_module.global_variables)
            return self.recursive or any(name.startswith(UNRESOLVED) for name in names)

        def _optimize_final_module(self) -> None:
            if self._is_recursive():
                super()._optimize_final_module()

        def _finalize_final_module(self) -> None:
            if self._is_recursive():
                super()._finalize_final_module()
                return
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    @private.register_pass(mutates_CFG=True, analysis_only=False)
    class LinkedLowering(private.NativeLowering):  # type: ignore[misc]
        """The step that makes code, without wrappers and without machine code."""

        _name = "linked_lowering"

        def run_pass(self, state: Any) -> bool:
            """Make the code of one function."""
            flags = state.flags
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            state.library = LinkedCode(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.recursive = any(isinstance(each, RecursiveCall) for each in state.typemap.values())
            return bool(super().run_pass(state))

    class LinkedCompiler(private.Compiler):  # type: ignore[misc,no-redef]
        """Numba's compiler with `LinkedLowering`."""

        def define_pipelines(self) -> list[Any]:
            """Return the steps."""
            (steps,) = super().define_pipelines()
            steps.passes = [
                (LinkedLowering if step is private.NativeLowering else step, text) for step, text in steps.passes
            ]
            steps.finalize()
            return [steps]


def linked(function: Any, options: dict[str, Any]) -> Any:
    """Return the dispatcher of a helper; calls from Python compile the function separately."""
    if LinkedCompiler is None:
        return numba.njit(**options)(function)
    dispatcher: Any = numba.njit(**options, pipeline_class=LinkedCompiler)(function)

    @cache  # few helpers are ever called from Python
    def from_python() -> Any:
        return numba.njit(**options)(_twin(function))

    def add_overload(code: Any) -> None:
        key = object()  # callers find this code by the key, other code by its wrapper for Python
        code.target_context.insert_user_function(key, code.fndesc, [code.library])
        _set_environment(code)
        dispatcher.overloads[tuple(code.signature.args)] = code._replace(entry_point=key)

    def compile_for_python(*args: Any) -> Any:
        dispatcher._types_active_call.clear()
        return from_python()._compile_for_args(*args)

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = compile_for_python
    # Numba asks for it where a function is a value.
    dispatcher.get_compile_result = lambda signature: from_python().get_compile_result(signature)
    return dispatcher


def _twin(function: Any) -> FunctionType:
    """Return a copy of a function: Numba takes a call of the same function for recursion."""
    twin = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


def _set_environment(code: Any) -> None:
    """Define the variable that holds the Python objects which code uses, as ``print`` does."""
    target, codegen = code.target_context, code.codegen
    name = target.get_env_name(code.fndesc)
    module = codegen._create_empty_module(name)
    target.declare_env_global(module, name)
    codegen._add_module(parse_assembly(str(module)))
    codegen.set_env(name, code.environment)

"""dlc.from_jax: compiles a JAX function to a model that takes and returns the function's trees of arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dlc import _runtime
from dlc._compile import Compiler, _Source
from dlc._model import Model
from dlc._option_checks import require_texts, require_threads

if TYPE_CHECKING:
    from dlc._progress import Progress


class JaxModel(Model):
    """A compiled JAX function, created by dlc.from_jax.

    net(*arguments): arguments of the structure, shapes and element types for which the function was compiled; returns what the function returns.
    net.run({"x": x}): leaves of the arguments by name, as `net.inputs` lists them; returns all leaves of the result by name.

    Arguments that are JAX arrays are read in place, and the leaves of the result are arrays of the library of the first leaf of the arguments.
    """

    _trees: tuple[Any, Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Calls the compiled function. Raises TypeError if the arguments have another tree structure than those for which the function was compiled."""
        if self._trees is None:
            return super().__call__(*arguments)
        tree_util = sys.modules["jax"].tree_util
        leaves, tree = tree_util.tree_flatten(arguments)
        if tree != self._trees[0]:
            raise TypeError(
                f"arguments: required: the structure {self._trees[0]}; found: {tree}; call dlc.from_jax again for other arguments"
            )
        results = super().__call__(*map(_to_array, leaves, self.inputs))
        return tree_util.tree_unflatten(
            self._trees[1], [results] if len(self.outputs) == 1 else results
        )

    def __copy__(self) -> Model:
        """Returns a model that shares the programs, their memory and their state with this one."""
        return self._with_trees(super().__copy__())

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        """Returns a model with its own memory, so that both models can be called in parallel."""
        return self._with_trees(super().__deepcopy__(memo))

    def __reduce__(self) -> tuple[Any, ...]:
        raise ValueError(
            "a compiled JAX function cannot be pickled; save it, and load it with dlc.load, which takes and returns the leaves"
        )

    def _with_trees(self, made: Any) -> Model:
        made._trees = self._trees
        return made


class _JaxSource(_Source):
    """A temporary file with the StableHLO text of a lowered JAX function."""

    def __init__(self, text: str):
        self.is_program = False
        self._write(text.encode("utf-8"), ".mlir")


def from_jax(
    function: Callable[..., Any],
    *arguments: Any,
    device: str = "cpu",
    threads: int = 0,
    precision: str = "none",
    accuracy: str = "default",
    progress: Progress | None = None,
) -> JaxModel:
    """Compiles a JAX function for the structure, shapes and element types of its arguments.

    function: a function of trees of arrays that jax.jit accepts, such as jax.value_and_grad(loss). Arrays that it captures become constants.
    arguments: example arguments, of which only structure, shapes and element types matter; also jax.ShapeDtypeStruct.
    device, threads, precision, accuracy, progress: as in dlc.compile.

    Raises ImportError if JAX is not installed, ValueError for a function with operations that dlc does not support (docs/reference/stablehlo.md), and
    what jax.jit raises for the function.
    """
    require_texts(device=device, precision=precision, accuracy=accuracy)
    require_threads(threads)
    if not callable(function):
        raise TypeError(f"function: required: a function; found: {type(function).__name__}")
    jax = _import_jax()
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    # The generic form of the module keeps the source lines of the function.
    module = lowered.compiler_ir("stablehlo")
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    compiler = Compiler(_JaxSource(text), (device, threads, precision, accuracy), progress)
    made = JaxModel(compiler.inputs, compiler.outputs, compiler=compiler)
    made._trees = (jax.tree_util.tree_structure(arguments), lowered.out_tree)
    made.prepare()
    return made


def _import_jax() -> Any:
    """Returns the module jax."""
    try:
        import jax
    except ImportError as error:
        raise ImportError(
            f"dlc.from_jax: required: the package jax; found: none that can be imported ({error}); install it, as in pip install jax"
        ) from error
    return jax


def _to_array(leaf: Any, value: _runtime.Value) -> Any:
    """Returns a leaf of the arguments as an array. Numbers and NumPy arrays are converted to the element type of the input, as in jax.jit."""
    import numpy as np

    jax = sys.modules["jax"]
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(leaf)
    if not isinstance(leaf, (np.ndarray, np.generic, bool, int, float)):
        return leaf
    return np.asarray(leaf, dtype=_to_numpy_dtype(value.dtype))


def _to_numpy_dtype(name: str) -> Any:
    """Returns NumPy's type for an element type of dlc."""
    import numpy as np

    if name == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    kinds = {"f": "float", "i": "int", "u": "uint"}
    return np.dtype("bool" if name == "bool" else kinds[name[0]] + name[1:])

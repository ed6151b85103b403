"""16-bit values have the precision of their type in every operation that reads them (rounding.py has the models)."""

import os

import numpy as np
import pytest
import rounding

# A number of both types: PyTorch multiplies 16 bits by Python's numbers, which dlc rounds to the tensor's type.
FACTOR = 77 / 256
GPU = pytest.mark.skipif(not os.environ.get("DLC_EMULATED_GPU"), reason="no emulated GPU is named")


@pytest.mark.parametrize("case", rounding.cases(), ids=lambda case: ", ".join(map(str, case)))
def test_members(case):
    rounding.check(*case)


@pytest.mark.parametrize(
    "kind,accuracy,expected",
    [
        ("f16", "strict", np.inf),
        ("f16", "default", 90),
        ("bf16", "strict", 90),
        ("bf16", "default", 90),
    ],
)
def test_overflow(kind, accuracy, expected):
    """(300 * 300) * 0.001 in f16: 90000 is no number of the type."""
    net = rounding.dlc.compile(rounding.product_of_three(kind), accuracy=accuracy)
    found = np.asarray(
        net(np.full(4, 300, np.float32), np.array(300, np.float32), np.array(0.001, np.float32))
    )
    assert np.allclose(found, expected, rtol=1e-2)


@GPU
def test_members_on_a_gpu(python):
    emulated = os.environ["DLC_EMULATED_GPU"]
    none = {f"DLC_CUDA_{library}": "/none" for library in ("CUBLASLT", "CUDNN", "NCCL")}
    python(
        """
import os, sys
sys.path.insert(0, os.environ["MODELS"])
import rounding
for member in rounding.MEMBERS:
    rounding.check(member, "f16", 0, "few", "default", "cuda:0")
for member in ("ArgMax", "Hardmax", "less ReduceMax", "Floor", "Cast to i32", "Where Greater"):
    rounding.check(member, "bf16", 2, "many", "strict", "cuda:0")
    rounding.check(member, "bf16", 0, "product", "default", "cuda:0")
""",
        MODELS=os.path.dirname(rounding.__file__),
        DLC_CUDA_DRIVER=emulated,
        DLC_CUDA_NVRTC=emulated,
        DLC_EMULATED_OPTIMIZE="0",
        DLC_CACHE_DIR="",
        **none,
    )


def torch_members():
    """Functions of a PyTorch tensor that has many elements next to its largest."""
    import torch

    return {
        "argmax": lambda x: (x * FACTOR).argmax(1),
        "argmin": lambda x: (x * FACTOR).argmin(1),
        "max": lambda x: (x * FACTOR).max(1),
        "min": lambda x: (x * FACTOR).min(1),
        "topk": lambda x: (x * FACTOR).topk(3, 1).values,
        "equal to amax": lambda x: (q := x * FACTOR) == q.amax(1, keepdim=True),
        "less amax": lambda x: (q := x * FACTOR) - q.amax(1, keepdim=True),
        "floor": lambda x: (x * FACTOR).floor(),
        "less floor": lambda x: (q := x * FACTOR) - q.floor(),
        "round": lambda x: (x * FACTOR).round(),
        "to int": lambda x: (x * FACTOR).int(),
        "compare": lambda x: torch.where((q := x * FACTOR) > q[:, 7:8], q, -q),
        "remainder": lambda x: torch.remainder(x * FACTOR, 0.75),
    }


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_torch(kind):
    torch = pytest.importorskip("torch")
    x = torch.tensor(rounding.operands("f16" if kind == "float16" else "bf16")[0]).to(
        getattr(torch, kind)
    )
    for name, function in torch_members().items():
        torch._dynamo.reset()
        want, found = function(x), torch.compile(function, backend="dlc")(x)
        for w, f in zip(
            want if isinstance(want, tuple) else [want],
            found if isinstance(found, tuple) else [found],
            strict=True,
        ):
            assert torch.equal(w, f), f"{name}: {w} and {f}"


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["max", "amax", "amin"])
def test_torch_gradients(kind, name):
    """The gradient of an extreme goes to the elements that are equal to it, and to no others."""
    torch = pytest.importorskip("torch")
    functions = {
        "max": lambda x: (x * FACTOR).max(1).values,
        "amax": lambda x: (x * FACTOR).amax(1),
        "amin": lambda x: (x * FACTOR).amin(1),
    }
    torch._dynamo.reset()
    gradients = []
    for function in (functions[name], torch.compile(functions[name], backend="dlc")):
        x = (
            torch.tensor(rounding.operands("f16" if kind == "float16" else "bf16")[0])
            .to(getattr(torch, kind))
            .requires_grad_()
        )
        function(x).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients), gradients

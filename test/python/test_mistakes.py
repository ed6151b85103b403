"""Mistakes that users make on the command line, in Python and in C: the whole text of the message after each of them.

A message says what is wrong, what is required, what was found and what to do. `...` stands for any text, such as a path or a number that depends on the machine.
"""

import ctypes
import os
import re

import mistakes
import models
import numpy as np
import pytest

import dlc

#: The command-line tool, from test/python/CMakeLists.txt; a wheel has none.
TOOL = os.environ.get("DLC_TOOL", "")

f32 = lambda *shape: np.ones(shape, "float32")

# Commands with exit status 1: the files do not fit.
FILES = {
    # Models.
    "compile none.onnx -o out.dlcx": "none.onnx: cannot be opened: No such file or directory; check the path",
    "compile folder -o out.dlcx": "folder: is a folder; required: a model file (.onnx, .mlir, .aten, .gguf or .dlcx)",
    "compile model.pt -o out.dlcx": "model.pt: unknown kind of model '.pt'; required: a file named .onnx, .mlir, .aten, .gguf or .dlcx; export the model to one of these formats",
    "compile cut.onnx -o out.dlcx": "cut.onnx: cannot be read as an ONNX model: at byte 2: a field of ... bytes is longer than the remaining message (... bytes): the file is cut off or damaged; "
    "export the model again",
    "compile picture.onnx -o out.dlcx": "picture.onnx: cannot be read as an ONNX model: at byte 10: a field number is out of range: the file is damaged, or of another format; export the model again",
    "compile unsupported.onnx -o out.dlcx": "unsupported.onnx: 'n0': node 'n0' (Frobnicate): operator ai.onnx.Frobnicate (opset 17) is not supported, and the model has no function of that name; "
    "replace it by operators that docs/reference/onnx.md lists",
    "compile unequal.onnx -o out.dlcx": "unequal.onnx: 'n0': node 'n0' (MatMul): 'dlc.matmul' op C2: the contracted dimensions must agree; found 3 in 'a' and 4 in 'b'; "
    "transpose one operand or correct the shape",
    "compile syntax.mlir -o out.dlcx": "syntax.mlir:2:59: expected '>' in tensor type\nsyntax.mlir: required: MLIR text with operations of dlc (docs/reference/operations.md) or StableHLO "
    "(docs/reference/stablehlo.md); correct the text at the position above",
    "compile unknown.mlir -o out.dlcx": "unknown.mlir:2:10: custom op 'dlc.addition' is unknown...required: MLIR text with operations of dlc (docs/reference/operations.md) or StableHLO "
    "(docs/reference/stablehlo.md); correct the text at the position above",
    "compile devices.mlir -o out.dlcx": "devices.mlir:2:10: 'dlc.add' op C2: operands must be on one device; 'a' is on cpu, 'b' on cpu:1; move one with dlc.transfer...",
    "compile two.dlcx -o out.dlcx": "two.dlcx: is already compiled; required: a model (.onnx, .mlir, .aten or .gguf); use the model from which it was made",
    # Shapes and arrays of inputs.
    "compile batch.onnx -o out.dlcx": "batch.onnx: input 'x': required: all sizes; found: f32[batch, 3]; give its shape, as in --shape x=1x3 (Python: shapes={'x': (1, 3)})",
    "compile batch.onnx --shape y=2x3 -o out.dlcx": "batch.onnx: there is no input 'y'; the inputs are: x f32[batch, 3]",
    "compile batch.onnx --shape x=3 -o out.dlcx": "batch.onnx: input 'x': required: f32[batch, 3]; found: the shape 3; correct it, or export the model with other sizes",
    "compile batch.onnx --shape x:2x3 -o out.dlcx": "--shape 'x:2x3': required: NAME=1x3x224x224 (NAME= alone for a 0-d tensor)",
    "run two.dlcx --input a=f64.npy": "input 'a': required: f32 2x3; found: f64 2x3; convert the array before numpy.save, as in x.astype(..)",
    "run two.dlcx --input a=none.npy": "cannot open 'none.npy': No such file or directory; check the path",
    "run two.dlcx --input a=notes.npy": "'notes.npy' is not a .npy file: it does not begin with \"\\x93NUMPY\" and a version; write the array with numpy.save",
    "run two.dlcx --input c=f32.npy": "two.dlcx: there is no input 'c'; the inputs are: a f32[2, 3], b/1 f32[2, 3]",
    "run two.dlcx --input a=f32.npy --input a=f32.npy": "--input is given twice for input 'a'; remove one of them",
    # Programs.
    "run version.dlcx": "'version.dlcx' has format version ...; this runtime requires version ...; compile the model again",
    "run cut.dlcx": "'cut.dlcx' has 3000 bytes; required by its header: ...; the file is truncated, or data was appended; copy it again, or compile the model again",
    "run damaged.dlcx": "'damaged.dlcx': section 'manifest' (... bytes at ...) is damaged: its hash differs; copy it again, or compile the model again",
    # Outputs.
    "compile two.onnx -o two.onnx": "the output would overwrite the model; required: another file; found: 'two.onnx'; give another name with -o",
    "compile two.onnx -o /dev/full": "cannot write '/dev/full': No space left on device; free some space or write elsewhere",
    "compile two.onnx -o none/out.dlcx": "cannot create 'none/out.dlcx': No such file or directory; create its folder first",
    "compile two.onnx -o folder": "cannot create 'folder': Is a directory; give the name of a file in it",
    # Devices.
    "run two.onnx --device gpu": "two.onnx: --device: 'gpu' is not a device; write for example cpu, cpu:1 or cuda:0; there are no devices of kind 'gpu': no libdlc_gpu.so in ...; "
    "set $DLC_PLUGINS to search more folders",
    "run two.onnx --device cuda:0": "two.onnx: 'n0': device not found: cuda:0: no NVIDIA driver: libcuda: missing (to run on a GPU); install NVIDIA's driver, or name its folder in $DLC_CUDA_PATH; "
    "tried\n    /none/libcuda.so.1: no such file; to compile for the GPU of another machine, name its architecture, as in --gpu-arch sm_90",
    "run two.onnx --place zz*=cpu:1": "two.onnx: --place 'zz*=cpu:1': no operation has a name that matches; found 'n0' 'n1'",
    # Training data and checkpoints.
    "train network.onnx --data good.npz": "network.onnx: required: a compiled training step; run dlc compile --train network.onnx -o step.dlcx",
    "train two.dlcx --data good.npz": "two.dlcx: has no state, so there is nothing to train; required: a program made by dlc compile --train",
    "train step.dlcx --data no-target.npz": "no-target.npz: required: an array 'target' of i64 4 per batch; found: 'x'",
    "train step.dlcx --data few.npz": "few.npz: has 2 samples; required: at least one batch of 4",
    "train step.dlcx --data f32.npy": "'f32.npy' is not a .npz file: it has no .zip directory; numpy.savez makes one",
    "train step.dlcx --data good.npz --checkpoint other.safetensors --resume": "other.safetensors: this is a checkpoint of another model ('...'): it lacks 'w' of program '...'; "
    "give a checkpoint of this program, or allow missing states, which keep their values",
    # Options whose values are read later.
    "inspect two.onnx --link fast": "--link 'fast': required: a latency (ns, us, ms or s) and a bandwidth (kB/s, MB/s, GB/s or Gbit/s), such as 20us,10GB/s",
    "run two.onnx --profile pc": "two.onnx: profile 'pc' is unknown; required: ..., 'measured', or a file that dlc tune --machine wrote",
}

# Commands with exit status 2: the command line itself is wrong.
USAGE = {
    "complie two.onnx": "unknown command 'complie'; did you mean dlc compile?",
    "compile": "dlc compile: 'model' is missing; required: model file (.onnx, .mlir, .aten or .gguf; an .mlir file has operations of dlc or StableHLO) or compiled program (.dlcx)",
    "compile two.onnx --ouput out.dlcx": "unknown option '--ouput' of dlc compile; did you mean --output?",
    "compile two.onnx --optimise": "unknown option '--optimise' of dlc compile; did you mean --optimizer?",
    "compile two.onnx --optimizer adamm --train": "--optimizer: required: sgd, adam, adamw or rmsprop; found: 'adamm'; run dlc compile --help for the options",
    "compile two.onnx --loss mae --train": "--loss: required: cross_entropy, nll, mse, l1 or bce_with_logits; found: 'mae'; run dlc compile --help for the options",
    "compile two.onnx --lr nan --train": "--lr: required: a finite number; found: 'nan'; run dlc compile --help for the options",
    "compile two.onnx --lr 0.1": "--lr requires --train; add --train, or remove --lr",
    "compile two.onnx --precision f8": "--precision 'f8': required: none, bf16 or f16; run dlc compile --help for the options",
    "compile two.onnx -o": "--output: required: a value after the option; found: none",
    "train step.dlcx": "dlc train: '--data' is missing; required: .npz file with one array for each input of the step",
    "train step.dlcx --data good.npz --epochs 0": "--epochs: required: a number of 1 or more; found: '0'; run dlc train --help for the options",
    "train step.dlcx --data good.npz --epochs 1 --steps 1": "--epochs and --steps cannot be combined; remove one of them",
    "run two.onnx --repeat often": "--repeat: required: a number; found: 'often'",
    "run two.onnx --threads 99999": "--threads '99999': required: a number from 0 to 4096; run dlc run --help for the options",
    "tune two.onnx --budget fast": "--budget 'fast': required: a time, as in 60s, 1.5m or 500ms; run dlc tune --help for the options",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    if not TOOL:
        pytest.skip("DLC_TOOL is not set")
    folder = tmp_path_factory.mktemp("mistakes")
    mistakes.write(folder, TOOL)
    return folder


@pytest.mark.parametrize(
    "command, expected, status",
    [*((*each, 1) for each in FILES.items()), *((*each, 2) for each in USAGE.items())],
    ids=[*FILES, *USAGE],
)
def test_command_line(files, command, expected, status):
    done = mistakes.run(files, TOOL, command)
    assert done.returncode == status, done
    assert done.stderr.startswith("dlc: error: ") and done.stderr.endswith("\n")
    mistakes.check(expected, done.stderr.removeprefix("dlc: error: ").rstrip("\n"))
    assert not done.stdout and not (files / "out.dlcx").exists()


NO_LIST = "found: an object of type list, which is not a NumPy array and has no __dlpack__; convert it first, as in numpy.asarray(x)"

# Calls in Python. `net` has the inputs a and b/1 of the type f32[2, 3].
PYTHON = {
    "a wrong shape": (
        lambda net: net(f32(2, 4), f32(2, 3)),
        ValueError,
        "input 'a': required: f32[2, 3]; found: the shape [2, 4]; pass an array of the required shape, or compile the model for this shape",
    ),
    "a wrong element type": (
        lambda net: net(f32(2, 3).astype("float64"), f32(2, 3)),
        TypeError,
        "input 'a': required: f32[2, 3]; found: f64; convert it first, as in x.astype(..)",
    ),
    "a missing input": (
        lambda net: net(f32(2, 3)),
        TypeError,
        "input 'b/1' is missing; required: f32[2, 3]; pass it by position or by name",
    ),
    "an unknown input": (
        lambda net: net(f32(2, 3), c=f32(2, 3)),
        TypeError,
        "there is no input 'c'; the inputs are: a f32[2, 3], b/1 f32[2, 3]",
    ),
    "too many inputs": (
        lambda net: net(f32(2, 3), f32(2, 3), f32(2, 3)),
        TypeError,
        "required: 2 inputs (a f32[2, 3], b/1 f32[2, 3]); found: 3...",
    ),
    "a list": (
        lambda net: net([[1.0] * 3] * 2, f32(2, 3)),
        TypeError,
        f"input 'a': required: f32[2, 3]; {NO_LIST}",
    ),
    "rows of different lengths": (
        lambda net: net([[1.0, 2.0], [3.0]], f32(2, 3)),
        TypeError,
        f"input 'a': required: f32[2, 3]; {NO_LIST}",
    ),
    "an array of objects": (
        lambda net: net(np.array([[1.0, 2.0], [3.0]], dtype=object), f32(2, 3)),
        TypeError,
        "input 'a': required: f32[2, 3]; found: object; convert it first, as in x.astype(..)",
    ),
    "an array instead of arrays by name": (
        lambda net: net.run(f32(2, 3)),
        TypeError,
        "run: required: a dict of arrays by input name, as in {'x': x}; found: ...ndarray; to pass arrays by position, call the model",
    ),
    "a masked array": (
        lambda net: net(np.ma.masked_array(f32(2, 3)), f32(2, 3)),
        TypeError,
        "input 'a': required: f32[2, 3]; found: a masked array, whose mask dlc would ignore; fill it first, as in x.filled(0)",
    ),
    "a copy of a masked array": (
        lambda net: dlc.to(np.ma.masked_array(f32(2, 3)), "cpu"),
        TypeError,
        "array: required: an array without a mask; found: a masked array, whose mask dlc would ignore; fill it first, as in x.filled(0)",
    ),
    "a missing file": (
        lambda net: dlc.compile("none.onnx"),
        FileNotFoundError,
        "[Errno 2] No such file or directory; required: a model file (.onnx, .mlir, .dlcx): 'none.onnx'",
    ),
    "a path as bytes": (
        lambda net: dlc.compile(b"model.onnx"),
        ValueError,
        "model: required: the bytes of a model file; found: the text 'model.onnx'; pass a path as a str",
    ),
    "bytes of another file": (
        lambda net: dlc.compile(b"\x89PNG\r\n\x1a\n\0"),
        ValueError,
        "the model: cannot be read as an ONNX model: at byte 2: a number ends past its message: the file is cut off or damaged; export the model again",
    ),
    "an unsupported operator": (
        lambda net: dlc.compile(mistakes.unsupported()),
        ValueError,
        "the model: 'n0': node 'n0' (Frobnicate): operator ai.onnx.Frobnicate (opset 17) is not supported, and the model has no function of that name; "
        "replace it by operators that docs/reference/onnx.md lists",
    ),
    "a shape as a text": (
        lambda net: dlc.compile(models.two(), shapes={"a": "2x3"}),
        TypeError,
        "shapes['a']: required: numbers, as in (1, 3, 224, 224); found: '2x3'",
    ),
    "a missing shape": (
        lambda net: dlc.compile(models.open_batch(), shapes={}),
        ValueError,
        "the model: input 'x': required: all sizes; found: f32[batch, 3]; give its shape, as in --shape x=1x3 (Python: shapes={'x': (1, 3)})",
    ),
    "an unknown device": (
        lambda net: dlc.compile(models.two(), device="gpu"),
        ValueError,
        "the model: --device: 'gpu' is not a device; write for example cpu, cpu:1 or cuda:0; there are no devices of kind 'gpu': ...; set $DLC_PLUGINS to search more folders",
    ),
    "an unknown precision": (
        lambda net: dlc.compile(models.two(), precision="f8"),
        ValueError,
        "precision 'f8': required: none, bf16 or f16",
    ),
    "a folder that does not exist": (
        lambda net: net.save("/none/net.dlcx"),
        FileNotFoundError,
        "[Errno 2] its folder does not exist; create it first: '/none/net.dlcx'",
    ),
    "a full disk": (
        lambda net: net.save("/dev/full"),
        RuntimeError,
        "cannot write '/dev/full': No space left on device; free some space or write elsewhere",
    ),
    "too little memory": (
        lambda net: dlc.compile(models.enormous()),
        MemoryError,
        "the program needs ... bytes for its intermediate values; the machine has ...; reduce the batch or the sizes of the inputs",
    ),
}


@pytest.mark.parametrize("mistake", PYTHON)
def test_python(two, mistake):
    call, kind, expected = PYTHON[mistake]
    with pytest.raises(kind) as raised:
        call(two)
    mistakes.check(expected, str(raised.value))
    assert (two(f32(2, 3), f32(2, 3))[0] == 2).all()


def test_python_no_program(tmp_path):
    path = tmp_path / "two.onnx"
    path.write_bytes(models.two())
    with pytest.raises(ValueError) as raised:
        dlc.load(path)
    mistakes.check(
        "'...two.onnx' is not a dlc program: it does not begin with \"DLCX\"; compile the model with dlc compile",
        str(raised.value).replace(str(tmp_path), ""),
    )


def pytorch(torch):
    """Calls in Python with modules of PyTorch, their exceptions and messages."""
    from torch import nn

    class Decomposed(nn.Module):
        def forward(self, x):
            return torch.linalg.svd(x)[0]

    class Selected(nn.Module):
        def forward(self, x):
            return x[x > 0]

    class Branched(nn.Module):
        def forward(self, x):
            return 2 * x if x.sum() > 0 else x

    x, target = torch.ones(2, 3), torch.zeros(2, dtype=torch.long)
    linear = nn.Linear(3, 4)
    sgd = lambda rate=0.1: torch.optim.SGD(linear.parameters(), lr=rate)
    step = lambda optimizer=None, loss=None: dlc.train_step(
        linear, loss or nn.CrossEntropyLoss(), optimizer or sgd()
    )
    eager = 'use torch.compile(module, backend="dlc"), which runs them in PyTorch'
    exported = "the module cannot be exported; required: a module that torch.export.export supports, with these inputs; found: "
    traced = "the module with its loss cannot be exported; required: a module that torch.export.export supports, and a loss of (output, target); found: "
    return {
        "no example inputs": (
            lambda: dlc.compile(linear),
            TypeError,
            "a torch.nn.Module: required: example inputs, as in dlc.compile(module, (x,)); found: none",
        ),
        "inputs that do not fit the module": (
            lambda: dlc.compile(linear, (torch.ones(2, 5),)),
            ValueError,
            f'{exported}...; correct the inputs, or use torch.compile(module, backend="dlc")',
        ),
        "an operator that dlc lacks": (
            lambda: dlc.compile(Decomposed(), (torch.ones(3, 3),)),
            ValueError,
            f"operators of the module are not supported: aten._linalg_svd.default: dlc has no such operator; rewrite the model without it, or leave it to PyTorch; {eager}",
        ),
        "a size that depends on values": (
            lambda: dlc.compile(Selected(), (torch.ones(3, 3),)),
            ValueError,
            f"operators of the module are not supported: aten.index.Tensor: result 0 is a tensor whose size depends on values, ['u0']; {eager}",
        ),
        "a branch that depends on values": (
            lambda: dlc.compile(Branched(), (torch.ones(3, 3),)),
            ValueError,
            f'{exported}Could not guard on data-dependent expression ...; correct the inputs, or use torch.compile(module, backend="dlc")',
        ),
        "an input that requires gradients": (
            lambda: dlc.compile(linear, (x,))(torch.ones(2, 3, requires_grad=True)),
            ValueError,
            "input 'input': required: f32[2, 3]; found: a tensor that requires gradients, which dlc does not compute; pass x.detach()",
        ),
        "a sparse input": (
            lambda: dlc.compile(linear, (x,))(torch.eye(3)[:2].to_sparse()),
            TypeError,
            "input 'input': required: f32[2, 3]; found: a tensor whose memory cannot be read (...); pass a dense tensor in host memory, as in x.to_dense() or x.cpu()",
        ),
        "a target of another length": (
            lambda: step()(x, torch.zeros(3, dtype=torch.long)),
            ValueError,
            f"{traced}Expected input batch_size (2) to match target batch_size (3); correct the inputs, the module or the loss",
        ),
        "a target of another type": (
            lambda: step()(x, torch.zeros(2)),
            ValueError,
            f"{traced}...; correct the inputs, the module or the loss",
        ),
        "a missing target": (
            lambda: step()(x),
            TypeError,
            "required: the module's inputs and the target, as in step(x, y); found: 1 arguments",
        ),
        "tensors on another device": (
            lambda: step()(x.to("meta"), target),
            ValueError,
            "an input is on meta; required: host memory; move it, as in x.cpu()",
        ),
        "an unsupported optimizer": (
            lambda: step(torch.optim.LBFGS(linear.parameters()))(x, target),
            ValueError,
            "optimizer: required: one of torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop; found: torch.optim.lbfgs.LBFGS; "
            'train with one of these, or use torch.compile(module, backend="dlc")',
        ),
        "an optimizer of another module": (
            lambda: step(torch.optim.SGD(nn.Linear(3, 4).parameters(), lr=0.1))(x, target),
            ValueError,
            "optimizer: parameter 0 of group 0, [4, 3], is not a parameter of the module or the loss; required: an optimizer of module.parameters()",
        ),
        "a learning rate of NaN": (
            lambda: step(sgd(float("nan")))(x, target),
            ValueError,
            "optimizer: required: a finite number 'lr' in each of its groups; found: nan; correct the learning rate",
        ),
        "a loss without reduction": (
            lambda: step(loss=nn.CrossEntropyLoss(reduction="none"))(x, target),
            ValueError,
            "the loss: required: a tensor with one number, of floats; found: torch.float32 of the shape [2]; reduce it, as in loss.mean()",
        ),
        "the name of a loss": (
            lambda: dlc.train_step(linear, "mse", sgd()),
            TypeError,
            "loss: required: a function of (output, target), or a loss module of torch.nn; found: str",
        ),
        "a step that has not run": (
            lambda: step().save("step.dlcx"),
            ValueError,
            "save: the step is not compiled yet; call it first, or pass example_inputs to dlc.train_step",
        ),
    }


def test_pytorch():
    problems = []
    for mistake, (call, kind, expected) in pytorch(pytest.importorskip("torch")).items():
        try:
            call()
            problems.append(f"{mistake}: no exception")
        except Exception as error:  # noqa: BLE001
            if type(error) is not kind or not mistakes.matches(expected, str(error)):
                problems.append(
                    f"{mistake}: required:\n{kind.__name__}: {expected}\nfound:\n{type(error).__name__}: {error}"
                )
            else:
                mistakes.check(expected, str(error))
    assert not problems, "\n".join(problems)


class Tensor(ctypes.Structure):
    """A DLTensor in host memory."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


def tensor_of(array, code=2, device=1):
    """Describes an array, which must outlive the result. The codes are those of DLPack: 2 for floats, 0 for integers; device 1 is host memory."""
    made = Tensor(
        array.ctypes.data,
        (device, 0),
        array.ndim,
        code,
        8 * array.itemsize,
        1,
        (ctypes.c_int64 * array.ndim)(*array.shape),
        None,
        0,
    )
    made.array = array
    return made


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    """The C interface of the runtime that this process has loaded, with a session of a program of two inputs."""
    with open("/proc/self/maps") as maps:
        [path] = set(re.findall(r"/\S*libdlc_runtime\S*", maps.read()))
    library = ctypes.CDLL(path)
    library.dlc_error_message.restype = ctypes.c_char_p

    def message(name, *arguments):
        """Calls a function and returns its error message, or None after success."""
        function = getattr(library, name)
        function.restype = ctypes.c_void_p
        error = function(*arguments)
        if error is None:
            return None
        text = library.dlc_error_message(ctypes.c_void_p(error)).decode()
        library.dlc_error_free(ctypes.c_void_p(error))
        return text

    file = tmp_path_factory.mktemp("c") / "two.dlcx"
    dlc.compile(models.two()).save(file)
    program, session = ctypes.c_void_p(), ctypes.c_void_p()
    assert message("dlc_program_load", str(file).encode(), ctypes.byref(program)) is None
    assert message("dlc_session_create", program, None, ctypes.byref(session)) is None
    yield message, program, session
    library.dlc_session_destroy(session)
    library.dlc_program_destroy(program)


def running(*inputs, outputs=2):
    """Returns a call of dlc_session_run with these inputs and correct outputs."""

    def call(message, program, session):
        results = [
            tensor_of(f32(2, 3)) for _ in range(outputs)
        ]  # own the memory until the run has finished
        return message(
            "dlc_session_run",
            session,
            (Tensor * len(inputs))(*inputs),
            ctypes.c_size_t(len(inputs)),
            (Tensor * outputs)(*results),
            ctypes.c_size_t(outputs),
        )

    return call


GOOD = tensor_of(f32(2, 3))
EMPTY = tensor_of(f32(2, 3))
EMPTY.data = None

# Calls of the C interface, which return an error with this message.
C = {
    "a missing file": (
        lambda message, program, session: message(
            "dlc_program_load", b"none.dlcx", ctypes.byref(ctypes.c_void_p())
        ),
        "cannot open 'none.dlcx': No such file or directory; check the path",
    ),
    "a null path": (
        lambda message, program, session: message(
            "dlc_program_load", None, ctypes.byref(ctypes.c_void_p())
        ),
        "dlc_program_load: argument 'path' is NULL; pass a valid pointer",
    ),
    "a null session": (
        lambda message, program, session: message(
            "dlc_session_run", None, None, ctypes.c_size_t(0), None, ctypes.c_size_t(0)
        ),
        "dlc_session_run: argument 'session' is NULL; pass a valid pointer",
    ),
    "bytes of another file": (
        lambda message, program, session: message(
            "dlc_program_load_memory",
            b"GIF89a" * 20,
            ctypes.c_size_t(120),
            ctypes.byref(ctypes.c_void_p()),
        ),
        "'...' is not a dlc program: it does not begin with \"DLCX\"; compile the model with dlc compile",
    ),
    "an index of no input": (
        lambda message, program, session: message(
            "dlc_program_input", program, ctypes.c_size_t(2), ctypes.create_string_buffer(64)
        ),
        "input 2 does not exist: the program has 2; give an index below this number",
    ),
    "too few inputs": (
        running(GOOD),
        "required: 2 inputs of the program; found: 1; pass one tensor for each, in the order of dlc_program_input",
    ),
    "too few outputs": (
        running(GOOD, GOOD, outputs=1),
        "required: 2 outputs of the program; found: 1; pass one tensor for each, in the order of dlc_program_output",
    ),
    "a wrong rank": (
        running(tensor_of(f32(6)), GOOD),
        "input 'a' must have shape [2, 3]; found: [6]; give a tensor of this shape",
    ),
    "a wrong size": (
        running(tensor_of(f32(2, 4)), GOOD),
        "input 'a' must have shape [2, 3]; found: [2, 4]; give a tensor of this shape",
    ),
    "a wrong element type": (
        running(tensor_of(np.ones((2, 3), "int32"), code=0), GOOD),
        "input 'a' must be of type f32; found: i32; convert it",
    ),
    "no memory": (running(EMPTY, GOOD), "input 'a' has no data; set the tensor's data pointer"),
    "an unknown state": (
        lambda message, program, session: message(
            "dlc_session_get_state", session, b"weight", ctypes.byref(GOOD)
        ),
        "program '...' has no state 'weight'; the program has no state",
    ),
    "an unknown device": (
        lambda message, program, session: message(
            "dlc_device_parse", b"gpu", ctypes.byref(ctypes.c_int64())
        ),
        "'gpu' is not a device name; write for example cpu, cpu:1 or cuda:0; there are no devices of kind 'gpu': ...; set $DLC_PLUGINS to search more folders",
    ),
}


@pytest.mark.parametrize("mistake", C)
def test_c(c, mistake):
    call, expected = C[mistake]
    found = call(*c)
    assert found is not None, "no error"
    mistakes.check(expected, found)
    assert running(GOOD, GOOD)(*c) is None

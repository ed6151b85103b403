"""Calls all functions of the package with odd arguments, in a child process. Each call must return a correct result or raise a Python exception with a
message. A crash, a timeout, another exception or a wrong result is a failure, reported with its seed. The calls of a block of 500 seeds share
their models and steps, so a failure that depends on them is reproduced with `--first` set to the first seed of the block.

usage: fuzz_calls.py [--count N] [--first SEED] [--torch] [--verbose]
With --torch, tests tensors and training steps, too.
"""

import argparse
import collections
import contextlib
import copy
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

sys.path += os.environ.get("DLC_TORCH", "").split()
import numpy as np
import odd
from fuzz_world import MEANING, expect, numbers, onnx_models, World, Wrong

import dlc

BLOCK, PATIENCE = 500, 120
#: What users are told to expect. KeyboardInterrupt is what an odd argument raises itself.
ALLOWED = (
    TypeError,
    ValueError,
    RuntimeError,
    OSError,
    BufferError,
    MemoryError,
    IndexError,
    OverflowError,
    KeyboardInterrupt,
)
NEVER = (RecursionError, NotImplementedError)


def net_of(draw, world):
    return draw.choice(world.nets)


def inputs_of(draw, world, net):
    """Mostly arrays that could be right."""
    given = []
    for value in net.inputs:
        if draw.random() < 0.15:
            given.append(odd.anything(draw, world.torch))
            continue
        shape = [
            size if isinstance(size, int) else draw.choice([0, 1, 2, 5])
            for size in value.shape or (2, 3)
        ]
        if world.torch and value.dtype == "f32" and draw.random() < 0.4:
            given.append(odd.tensor(draw, tuple(shape)))
        elif value.name == "shape":
            given.append(
                np.array(
                    draw.choice(
                        [
                            (2, 3),
                            (3, 2),
                            (6, 1),
                            (1, 6),
                            (-1, 2),
                            (0, 6),
                            (-1, -1),
                            (7, 7),
                            (2**40, 2**40),
                            (-5, 1),
                        ]
                    )
                )
            )
        else:
            given.append(odd.array(draw, shape, {"f32": "float32", "i64": "int64"}[value.dtype]))
    return given


def call(draw, world):
    name, net = net_of(draw, world)
    given = inputs_of(draw, world, net)
    named = {
        draw.choice(odd.NAMES): odd.anything(draw, world.torch)
        for _ in range(draw.choice([0, 0, 0, 0, 1]))
    }
    if draw.random() < 0.3:
        by_name = {**{value.name: each for value, each in zip(net.inputs, given)}, **named}
        found = tuple(net.run(by_name).values())
        given = [by_name[value.name] for value in net.inputs]
    else:
        found = net(*given, **{name: each for name, each in named.items() if isinstance(name, str)})
    if name in MEANING:
        with np.errstate(all="ignore"):
            expect(found, MEANING[name](*map(numbers, given)))


def changed_meanwhile(draw, world):
    """Arguments that change what was given while they are looked at."""
    _, net = draw.choice([each for each in world.nets if each[0] == "two"])
    a = odd.array(draw, (2, 3), "float32")
    named = {"a": a.copy()}

    def act():
        named.clear()
        gc.collect()
        draw.choice(
            [lambda: net(a, a), lambda: net.prepare(), lambda: net.run({}), lambda: copy.copy(net)]
        )()
        return np.ones((2, 3), "float32").__dlpack__()

    named["b/1"] = odd.Lies(act)
    net.run(named)


def shapes_of(draw):
    shape = draw.choice(
        [
            (2, 3),
            (4, 3),
            (0, 3),
            [1, 3],
            "2x3",
            (),
            None,
            3,
            (2, 3.0),
            (draw.choice(odd.NUMBERS), 3),
            (draw.choice(odd.NUMBERS),) * 2,
            np.array([2, 3]),
            iter([2, 3]),
        ]
    )
    return draw.choice(
        [
            None,
            {},
            {"x": shape},
            {"x": shape},
            {draw.choice(odd.NAMES): shape},
            [("x", shape)],
            shape,
        ]
    )


def path_of(draw, world):
    inside = os.path.join(
        world.folder,
        draw.choice(["a.dlcx", "b", "ü.dlcx", "x" * 300, "a\0b", "\udc80.dlcx", "c/d"]),
    )
    return draw.choice(
        [
            inside,
            inside,
            os.fsencode(inside) if "\0" not in inside else b"",
            odd.OddPath(inside),
            odd.OddPath(3),
            "",
            "/",
            ".",
            "/proc/none.dlcx",
            3,
            None,
            inside + "/",
            odd.thing(draw),
        ]
    )


def saved(draw, world):
    name, net = net_of(draw, world)
    path = path_of(draw, world)
    net.save(path, **draw.choice([{}, {}, {"shapes": shapes_of(draw)}]))
    again = dlc.load(path)
    if name == "two":
        a = odd.array(draw, (2, 3), "float32")
        expect(again(a, a), MEANING["two"](np.asarray(a), np.asarray(a)))


def threads_of(draw):
    return draw.choice([0, 1, 2, 3, 64, *odd.NUMBERS, "2", None])


def loaded(draw, world):
    path = draw.choice(
        [world.path, world.path, "/dev/null", "/proc/self/exe", path_of(draw, world)]
    )
    net = dlc.load(path, **draw.choice([{}, {"threads": threads_of(draw)}]))
    a = np.ones((2, 3), "float32")
    expect(net(a, a), MEANING["two"](a, a))
    if draw.random() < 0.1:
        world.nets.append(("two", net))


def compiled(draw, world):
    options = {}
    for name, values in {
        "device": [
            "cpu",
            "cpu:1",
            "cpu:0",
            "cpu:-1",
            "cpu:99999999",
            "cpu:" + "9" * 40,
            "cuda:0",
            "cuda",
            "",
            "toaster:0",
            3,
            None,
            b"cpu",
        ],
        "precision": ["none", "bf16", "f16", "f8", "", 3, None],
        "accuracy": ["strict", "default", "fast", "best", 1, None],
        "threads": [threads_of(draw)],
        "shapes": [shapes_of(draw)],
        "example_inputs": [None, odd.thing(draw)],
        "progress": [
            False,
            True,
            3,
            odd.raises(ValueError("enough")),
            lambda *_: 3,
            lambda: 3,
            lambda *_: world.nets[1][1](np.ones((draw.randrange(9), 3), "float32")),
        ],
        "colour": ["red"],
    }.items():
        if draw.random() < 0.2 and (name != "colour" or draw.random() < 0.1):
            options[name] = draw.choice(values)
    name, model = draw.choice(list(onnx_models().items()))
    cut = bytearray(model)
    cut[draw.randrange(len(cut))] ^= 1 << draw.randrange(8)
    source = draw.choice(
        [
            model,
            model,
            model,
            bytearray(model),
            memoryview(model),
            bytes(cut),
            model[: draw.randrange(len(model))],
            path_of(draw, world),
            odd.thing(draw),
            np.frombuffer(model, "uint8"),
        ]
    )
    net = dlc.compile(source, **options)
    if source is model and options.get("precision", "none") == "none" and draw.random() < 0.3:
        world.nets.append((name, net))


def prepared(draw, world):
    _, net = net_of(draw, world)
    net.prepare(*draw.choice([(), (shapes_of(draw),), (shapes_of(draw), 3)]))


def profiled(draw, world):
    _, net = net_of(draw, world)
    given = draw.choice([[], inputs_of(draw, world, net), [odd.anything(draw, world.torch)]])
    made = net.profile(
        *given,
        **draw.choice(
            [
                {},
                {"repeat": draw.choice([1, 2, 0, -1, 2.0, "2", None, True])},
                {"x": odd.anything(draw)},
            ]
        ),
    )
    draw.choice(
        [
            repr,
            len,
            list,
            lambda p: p.sorted(),
            lambda p: p.to_dict(),
            lambda p: p._repr_html_(),
            lambda p: p[draw.choice(odd.NUMBERS)],
            lambda p: p["x"],
            lambda p: p[0:2],
        ]
    )(made)


def copied(draw, world):
    name, net = net_of(draw, world)
    made = draw.choice(
        [
            copy.copy,
            copy.deepcopy,
            lambda n: pickle.loads(pickle.dumps(n)),
            lambda n: copy.deepcopy([n, n])[0],
        ]
    )(net)
    if name == "two":
        a = odd.array(draw, (2, 3), "float32")
        expect(made(a, a), MEANING["two"](np.asarray(a), np.asarray(a)))
    if draw.random() < 0.1:
        world.nets.append((name, made))


def looked_at(draw, world):
    _, net = net_of(draw, world)

    def refused(change, name, *value):
        try:
            change(net, name, *value)
        except AttributeError:
            return
        raise Wrong(f"'{name}' can be changed")

    draw.choice(
        [
            lambda: repr(net),
            lambda: net.memory,
            lambda: net._repr_html_(),
            lambda: [
                (v.name, v.dtype, v.shape, v.device, repr(v)) for v in (*net.inputs, *net.outputs)
            ],
            lambda: hash(net),
            lambda: net == net,
            lambda: dlc.devices(),
            lambda: dlc.report(draw.choice([False, True, None, 3])),
            lambda: repr(dlc.report()),
            lambda: dlc.Device("cpu", "", 1, 1, 1, (0, 0)),
            lambda: dlc.Device(odd.thing(draw)),
            lambda: repr(dlc.Profile([], draw.choice([0.0, float("nan")]))),
            lambda: refused(setattr, draw.choice(["inputs", "outputs", "memory"]), odd.thing(draw)),
            lambda: refused(delattr, "inputs"),
            lambda: dlc.report(odd.thing(draw), 3),
            lambda: dlc.devices(3),
            lambda: type(net).__call__(net),
            lambda: type(net).__call__(3),
            lambda: type(net).run(None, {}),
        ]
    )()


def built_by_hand(draw, world):
    """Of parts, in the wrong order, or not at all."""
    name, net = net_of(draw, world)
    _, other = net_of(draw, world)
    value = lambda: type(net.inputs[0])(
        draw.choice(odd.NAMES),
        draw.choice(["f32", "f33", "", "i64", 3]),
        draw.choice(
            [
                None,
                (2, 3),
                [2, None],
                ["a", 3],
                (2.5,),
                "ab",
                draw.choice(odd.NUMBERS),
                (draw.choice(odd.NUMBERS),),
            ]
        ),
        draw.choice(["cpu", "", 3]),
    )

    def bare():
        made = dlc.Model.__new__(dlc.Model)
        draw.choice(
            [
                lambda: made(np.ones(3)),
                lambda: made.inputs,
                lambda: made.run({}),
                lambda: made.save(world.path + "1"),
                lambda: made.prepare(),
                lambda: copy.copy(made),
                lambda: made._sessions,
                lambda: made._repr_html_(),
                lambda: made.memory,
            ]
        )()

    def again():
        made = copy.copy(net)
        made.__init__(made.inputs, made.outputs)
        made(*inputs_of(draw, world, net))

    draw.choice(
        [
            lambda: repr(value()),
            lambda: value().shape,
            lambda: dlc.Model([value()], [value()]),
            lambda: dlc.Model([value()], [value()])(odd.anything(draw)),
            lambda: dlc.Model(net.inputs, other.outputs, sessions=net._sessions),
            lambda: dlc.Model(odd.thing(draw), odd.thing(draw)),
            lambda: dlc.Model(net.inputs, net.outputs)(*inputs_of(draw, world, net)),
            lambda: dlc.Model(net.inputs, net.outputs, sessions=other._sessions),
            bare,
            again,
            lambda: dlc.Model(net.inputs, net.outputs, sessions=odd.thing(draw)),
        ]
    )()


def in_threads(draw, world):
    """Several calls at once; what one of them finds is told here."""
    seeds, found = [draw.random() for _ in range(4)], []

    def work(seed):
        inside = random.Random(seed)
        try:
            attempt(
                inside.choice([call, call, copied, prepared, looked_at, profiled, loaded]),
                inside,
                world,
            )
        except BaseException as error:  # noqa: BLE001  raised in the calling thread
            found.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in seeds]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if found:
        raise found[0]


def module_of(t, draw):
    nn = t.nn
    return draw.choice(
        [
            lambda: nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)),
            lambda: nn.Linear(6, 3),
            lambda: nn.Sequential(nn.Flatten(), nn.BatchNorm1d(6), nn.Linear(6, 3)),
            lambda: nn.Sequential(nn.Linear(6, 3), nn.Dropout(draw.choice([0.0, 0.5, 1.0]))),
            lambda: nn.Linear(0, 3),
            lambda: nn.Linear(6, 3).double(),
            lambda: nn.Linear(6, 3).to("meta"),
            lambda: nn.Sequential(),
            lambda: nn.Linear,
            lambda: None,
            lambda: lambda x: x,
        ]
    )()


def train_made(draw, world):
    t = odd.torch()
    module, F = module_of(t, draw), t.nn.functional
    parameters = (
        list(module.parameters())
        if isinstance(module, t.nn.Module)
        else [t.nn.Parameter(t.ones(2))]
    )
    optimizer = draw.choice(
        [
            lambda: t.optim.SGD(
                parameters,
                lr=draw.choice([0.1, 0.0, t.tensor(0.1), 1e30]),
                momentum=draw.choice([0, 0.9]),
            ),
            lambda: t.optim.Adam(parameters, lr=0.01),
            lambda: t.optim.AdamW(parameters),
            lambda: t.optim.RMSprop(parameters),
            lambda: t.optim.Adagrad(parameters),
            lambda: None,
            lambda: 3,
            lambda: t.optim.SGD,
        ]
    )()
    loss = draw.choice(
        [
            F.cross_entropy,
            F.cross_entropy,
            t.nn.CrossEntropyLoss(),
            lambda y, t: y.sum(),
            lambda y, t: y,
            lambda y, t: 3,
            lambda y: y,
            None,
            odd.raises(ValueError("no")),
            lambda y, t: t,
        ]
    )
    options = {}
    for name, values in {
        "accumulate": [1, 2, 0, -1, 2**40, 2.0, "2", None, True],
        "clip_norm": [1, 0, -1, float("nan"), "x", None, 1e300],
        "clip_value": [1, 0, -1, float("inf"), [], None],
        "loss_scale": [1, 0, -1, float("nan"), "x", 65536.0],
        "seed": [0, 3, -1, 2**63, 2**70, 1.5, "x", None],
        "threads": [threads_of(draw)],
        "precision": ["none", "bf16", "f16", "f8", None, 3],
        "accuracy": ["strict", "fast", "best", None],
        "progress": [False, odd.raises(ValueError("enough")), 3],
        "example_inputs": [
            None,
            (t.randn(5, 6), t.randint(3, (5,))),
            [t.randn(5, 6), t.randint(3, (5,))],
            odd.thing(draw),
            (odd.tensor(draw), odd.tensor(draw)),
        ],
    }.items():
        if draw.random() < 0.15:
            options[name] = draw.choice(values)
    step = dlc.train_step(module, loss, optimizer, **options)
    world.steps = [*world.steps[-3:], step]


def train_called(draw, world):
    t = odd.torch()
    if not world.steps or draw.random() < 0.004:
        return train_made(draw, world)
    step = draw.choice(world.steps)
    # A new shape is a new program, which takes its time.
    given = (
        [t.randn(5, 6), t.randint(3, (5,))]
        if draw.random() < 0.9
        else [odd.anything(draw, True) for _ in range(draw.choice([0, 1, 2, 2, 2, 3]))]
    )
    if draw.random() < 0.1:
        given[:1] = [
            draw.choice(
                [
                    t.randn(6, 5).T,
                    t.randn(5, 12)[:, ::2],
                    t.full((5, 6), float("nan")),
                    t.randn(5, 6, requires_grad=True),
                    t.randn(5, 6).to("meta"),
                    t._efficientzerotensor((5, 6)),
                ]
            )
        ]
    if draw.random() < 0.05:
        with contextlib.suppress(Exception):  # of PyTorch's own
            spoil(draw, step)
    draw.choice(
        [
            lambda: step(*given),
            lambda: step(*given),
            lambda: step(*given),
            lambda: step.save(path_of(draw, world)),
            lambda: repr(step),
            lambda: step.memory,
            lambda: copy.copy(step),
            lambda: pickle.dumps(step),
        ]
    )()


def spoil(draw, step):
    """What users do to a module and an optimizer between steps."""
    t, state, groups = odd.torch(), step.optimizer.state, step.optimizer.param_groups
    parameter = draw.choice([each for group in groups for each in group["params"]])
    here = state[parameter]

    def resized():
        with t.no_grad():
            parameter.set_(t.zeros(draw.choice([(0,), (2, 2), (3, 6)])))

    def turned():
        # PyTorch itself reads a storage that was given up.
        if parameter.untyped_storage().nbytes() >= parameter.numel() * parameter.element_size():
            parameter.data = parameter.data.T.contiguous().T

    key = draw.choice([*here, "step", "momentum_buffer", "exp_avg"])
    draw.choice(
        [
            lambda: here.update(
                {
                    key: draw.choice(
                        [
                            None,
                            3,
                            "x",
                            t.zeros(1),
                            t.zeros(2, 2),
                            t.zeros_like(parameter).double(),
                            t.zeros(parameter.shape, device="meta"),
                            float("nan"),
                            t.tensor(float("nan")),
                        ]
                    )
                }
            ),
            lambda: here.pop(key, None),
            lambda: groups[0].update(
                {
                    draw.choice(["lr", "momentum", "betas", "eps"]): draw.choice(
                        [0.1, None, "x", float("nan"), (1, 2), t.tensor(0.1), t.zeros(2)]
                    )
                }
            ),
            lambda: groups[0].pop(draw.choice(["lr", "momentum"]), None),
            lambda: parameter.requires_grad_(False),
            turned,
            lambda: setattr(parameter, "data", parameter.data.double()),
            resized,
            lambda: parameter.untyped_storage().resize_(0),
            lambda: step.module.to("meta"),
            lambda: step.module.eval(),
            lambda: step.optimizer.load_state_dict(step.optimizer.state_dict()),
        ]
    )()


def module_compiled(draw, world):
    t = odd.torch()
    module = module_of(t, draw)
    net = dlc.compile(
        module.eval() if isinstance(module, t.nn.Module) else module,
        draw.choice(
            [
                (t.randn(2, 6),),
                t.randn(2, 6),
                [t.randn(2, 6)],
                None,
                odd.thing(draw),
                (odd.tensor(draw),),
            ]
        ),
    )
    net(odd.tensor(draw, (2, 6)))


#: How often, of a thousand.
CALLS = {
    call: 600,
    changed_meanwhile: 20,
    loaded: 60,
    saved: 40,
    prepared: 20,
    profiled: 50,
    copied: 70,
    looked_at: 60,
    built_by_hand: 40,
    in_threads: 30,
    compiled: 10,
}
TORCH_CALLS = {**CALLS, train_called: 300, module_compiled: 1}


def attempt(action, draw, world):
    """The name of what came of it."""
    try:
        action(draw, world)
        return "returned"
    except Wrong:
        raise
    except ALLOWED as error:
        if (
            isinstance(error, NEVER)
            or not str(error)
            and not isinstance(error, KeyboardInterrupt)
            and type(error) is not MemoryError
        ):
            raise
        return type(error).__name__


def child(first, count, with_torch):
    warnings.simplefilter("ignore")
    weights = TORCH_CALLS if with_torch else CALLS
    world, kinds = None, collections.Counter()
    for seed in range(first, first + count):
        if world is None or seed % BLOCK == 0:
            if world:
                world.close()
            world = World(with_torch)
        draw = random.Random(seed)
        [action] = draw.choices(list(weights), list(weights.values()))
        print(f"at {seed} {action.__name__}", flush=True)
        begin = time.process_time()
        try:
            kinds[attempt(action, draw, world)] += 1
        except BaseException:  # noqa: BLE001  is printed as a failure
            lines = traceback.format_exc().strip().splitlines()
            print(
                f"bad {seed} {action.__name__}: {lines[-1][:400]} | {' '.join(line.strip() for line in lines[-7:-1])[:500]}",
                flush=True,
            )
        if time.process_time() - begin > PATIENCE / 2:
            print(
                f"bad {seed} {action.__name__}: took {time.process_time() - begin:.0f} s",
                flush=True,
            )
    world.close()
    print(f"kinds {dict(kinds)}", flush=True)


def watched(arguments, failures):
    """Runs a child from a seed on; where the next one begins, or None at the end."""
    command = [
        sys.executable,
        "-X",
        "faulthandler",
        os.path.abspath(__file__),
        "--child",
        "--first",
        str(arguments.first),
        "--count",
        str(arguments.count),
    ] + ["--torch"] * arguments.torch
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        # Seconds that this process has lived through: both may have been stopped for a while.
        at, quiet, ended = (arguments.first, "start"), [0], threading.Event()

        def watch():
            while not ended.wait(1):
                quiet[0] += 1
                if quiet[0] > PATIENCE:
                    process.send_signal(signal.SIGABRT)  # faulthandler says where it was
                    return

        watcher = threading.Thread(target=watch)
        watcher.start()
        done = False
        for line in process.stdout:
            quiet[0] = 0
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == "at":
                at = (int(rest.split()[0]), rest.split()[1])
            elif kind == "bad":
                failures.append(rest)
                print(f"FAILED seed {rest}", flush=True)
            elif kind == "kinds":
                done = True
                print(
                    f"seeds {arguments.first} to {arguments.first + arguments.count - 1}: {rest}",
                    flush=True,
                )
            elif arguments.verbose:
                print(line, end="")
        status = process.wait()
        ended.set()
        watcher.join()
        if done and status == 0:
            return None
        errors.seek(0)
        told = errors.read().decode(errors="replace").strip()
        failures.append(f"{at[0]}")
        print(
            f"FAILED seed {at[0]} {at[1]}: the process ended with status {status}{' after the last call' if done else ''}:\n{told[-3000:]}",
            flush=True,
        )
        return None if done else at[0] + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="what calls print")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.first, arguments.count, arguments.torch)
    last, calls, failures = arguments.first + arguments.count, arguments.count, []
    while arguments.first is not None and arguments.first < last:
        arguments.count = last - arguments.first
        arguments.first = watched(arguments, failures)
    print(f"odd calls: {calls - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""dlc.world, and training in several processes started by mpirun and torchrun. Skipped if PyTorch or the MPI engine is missing."""

import os
import re
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")

import dlc
import world_steps
from dlc import _runtime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
import worlds

ENVIRONMENT = {
    **os.environ,
    **worlds.ENVIRONMENT,
    "PYTHONPATH": os.pathsep.join(sys.path),
    "OMP_NUM_THREADS": "1",
}
ENGINE = os.path.join(os.path.dirname(dlc.__file__), "..", "..", "lib", "libdlc_mpi.so")
LAUNCHERS = {
    "mpirun": worlds.command(2, [sys.executable]),
    "torchrun": [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ],
}


def run(launcher, *arguments):
    """(status, what it said, seconds)"""
    if launcher == "mpirun" and not os.path.exists(ENGINE):
        pytest.skip("libdlc_mpi is missing")
    begin = time.monotonic()
    done = subprocess.run(
        [*LAUNCHERS[launcher], os.path.join(HERE, "world_steps.py"), *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begin


def same(found, wanted, bound):
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        torch.testing.assert_close(
            found[name],
            value,
            rtol=bound,
            atol=10 * bound,
            msg=lambda text, name=name: f"{name}: {text}",
        )


@pytest.mark.parametrize(
    "launcher, scenario", [("mpirun", "all"), ("torchrun", "all"), ("torchrun", "own-group")]
)
def test_two_processes_train_as_one(launcher, scenario, tmp_path):
    status, said, _ = run(launcher, tmp_path, scenario)
    assert status == 0, said
    ranks = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    for rank, found in enumerate(ranks):
        assert found["world"] == (rank, 2, rank, 2)
        assert found.get("sum", [3.0] * 3) == [3.0] * 3
        if scenario != "all":
            continue
        rates = "rank [1] has a different one than rank 0: 'learning rate 1.1 of group 0'; rank 0 has 'learning rate 0.1 of group 0'"
        assert rates in found["mistakes"]["rate"]
        batch = r"rank \[1\] has a different one than rank 0: 'input x f32 \[7, 3, 8, 8\]'; rank 0 has 'input x f32 \[8, 3, 8, 8\]'; use the same batch size"
        assert re.search(batch, found["mistakes"]["batch"]), found["mistakes"]
    for case, (*_, bound) in world_steps.CASES.items():
        if case not in ranks[0]:
            continue
        wanted, _ = world_steps.trained(case, 0, 1)
        one, other = (found[case] for found in ranks)
        assert one["losses"] == other["losses"]
        assert one["losses"] == pytest.approx(wanted["losses"], rel=bound)
        for found in (one, other):
            same(found["state"], wanted["state"], bound)
            for moments, those in zip(found["moments"], wanted["moments"], strict=True):
                same(moments, those, bound)
        # To the bit.
        same(one["state"], other["state"], 0)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_one_that_raises_ends_all(launcher, tmp_path):
    status, said, seconds = run(launcher, tmp_path, "raises")
    assert status != 0 and seconds < 30
    assert "rank 1 of 2, step 0: KeyError: 'no more data'" in said, said
    assert not list(tmp_path.iterdir())


def test_a_process_alone():
    assert dlc.world() == dlc.World(rank=0, size=1, local_rank=0, local_size=1)
    losses = [
        world_steps.trained("adamw", 0, 1, **options)[0]["losses"]
        for options in ({}, {"data_parallel": True})
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    with pytest.raises(
        RuntimeError,
        match="the processes that run the program are already connected, as a world of 1 rank; required: to set the engine before",
    ):
        _runtime.form_world(object(), (0, 2, 0, 2))


def test_wrong_use_tells_the_mend():
    module = world_steps.net(0)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)

    def refused(kind, text, **options):
        with pytest.raises(kind, match=re.escape(text)):
            dlc.train_step(module, world_steps.cross_entropy, optimizer, **options)

    refused(TypeError, "data_parallel: required: True or False; found: 2", data_parallel=2)
    refused(
        ValueError,
        "gradients: required: 'f32' or 'bf16'; found: 'f16'",
        data_parallel=True,
        gradients="f16",
    )
    refused(
        ValueError,
        "sync_batch_norm: has no effect on a step of one process; required: data_parallel=True",
        sync_batch_norm=True,
    )
    refused(
        ValueError,
        "gradients: has no effect on a step of one process; required: data_parallel=True",
        gradients="bf16",
    )
    module.eval()
    with pytest.raises(
        ValueError,
        match="sync_batch_norm has no effect on a module without batch norm in training mode; remove it",
    ):
        dlc.train_step(
            module, world_steps.cross_entropy, optimizer, data_parallel=True, sync_batch_norm=True
        )(*world_steps.batches()[0])

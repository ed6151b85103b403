"""Fixtures that the tests share: models, each compiled once."""

import os
import subprocess
import sys

import models
import numpy as np
import pytest

import dlc

# Where PyTorch lies; behind all that this Python has itself.
sys.path += os.environ.get("DLC_TORCH", "").split()
# The folder of JAX's packages.
sys.path += os.environ.get("DLC_JAX", "").split()


#: The tests on the emulated GPU need its driver in the whole process (the ctest python-gpu).
collect_ignore = [] if os.environ.get("DLC_CUDA_DRIVER") else ["gpu"]

#: Modules whose parametrized tests take long. Each check runs every n-th case of them, and all cases with --all-cases.
SAMPLED = {
    "test_constants": 3,
    "test_corners": 3,
    "test_gpu_step": 2,
    "test_gpu_torch": 4,
    "test_rounding": 2,
    "test_step_changes": 2,
}


def pytest_addoption(parser):
    parser.addoption(
        "--all-cases",
        action="store_true",
        help="run all cases of parametrized tests, instead of a sample of the long ones",
    )


def pytest_configure(config):
    # The tests' training steps are well-conditioned, so that a large effect of rounding errors is a fault.
    config.addinivalue_line("filterwarnings", "error:.*rounding errors have a large effect")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all-cases"):
        return
    cases, kept, left_out = {}, [], []
    for item in items:
        share = SAMPLED.get(item.module.__name__, 1) if hasattr(item, "callspec") else 1
        case = cases[item.module, item.originalname] = (
            cases.get((item.module, item.originalname), -1) + 1
        )
        (left_out if case % share else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_terminal_summary(terminalreporter):
    """The line that test/count.py reads."""
    count = {
        kind: len(terminalreporter.stats.get(kind, ()))
        for kind in ("passed", "failed", "error", "skipped")
    }
    terminalreporter.write_line(
        f"python: {count['passed']} passed, {count['failed'] + count['error']} failed, {count['skipped']} skipped"
    )


@pytest.fixture(scope="session")
def ten():
    return dlc.compile(models.ten_operations())


@pytest.fixture(scope="session")
def two():
    return dlc.compile(models.two())


@pytest.fixture
def x():
    return np.linspace(-1, 1, 16, dtype="float32")


@pytest.fixture
def python(tmp_path):
    """Runs a script in a Python of its own, with models.py beside it; what it prints."""

    def run(script, **environment):
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run

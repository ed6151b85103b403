"""Fixtures of the tests on the emulated GPU. The tests need a process of their own, because the driver of a process is chosen at its first use."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))
import emulated
import models

import dlc


@pytest.fixture(autouse=True)
def late():
    """Resets the emulator: work runs as late as possible, and no wait is skipped."""
    emulated.configure("revive")
    emulated.configure("order", "late")
    emulated.configure("drop")
    yield
    emulated.Array.current = 1
    emulated.configure("drop")


@pytest.fixture(scope="session")
def double():
    """Returns a model of y = x + x on cuda:0, for x: f32[2, 3]."""
    return dlc.compile(models.doubled(models.F32), device="cuda:0")


@pytest.fixture(scope="session")
def two():
    """Returns a model with two inputs and two outputs on cuda:0."""
    return dlc.compile(models.two(), device="cuda:0")


@pytest.fixture(scope="session")
def chain():
    """Returns a model of several kernels with intermediate values, on cuda:0."""
    return dlc.compile(models.long_to_compile(3), device="cuda:0")

"""A sample of gradients.py and of gradients_modules.py: gradients of operators and modules compared with eager PyTorch. The ctests python-gradients-long and
python-gradients-modules-long run all of them. Skipped if PyTorch is missing."""

import pytest

torch = pytest.importorskip("torch")

import gradients
import gradients_modules
from dlc import _compiler

#: Every nth sample of the table, at one kind of point each.
STEP = 24
#: Every nth case of a module.
STEP_OF_MODULES = 97


def test_every_operator_has_a_row():
    """An operator that dlc imports without a row in operators.txt, and a row without an operator, are errors."""
    assert set(gradients.table()) == set(_compiler.graph_operators())


def test_rows_without_samples_say_why():
    assert all(rest for rest in gradients.table().values())


def test_gradients_at_random_points_and_corners():
    pairs = sorted(
        {
            pair
            for samples in gradients.table().values()
            if isinstance(samples, list)
            for pair in samples
        }
    )[::STEP]
    kinds = [kind for kind in gradients.KINDS if kind != "infinite"]
    cases = [
        case
        for at, pair in enumerate(pairs)
        for case in gradients.cases_of([pair], [kinds[at % len(kinds)]])[0]
    ]
    failures = [
        each
        for at in range(0, len(cases), gradients.GROUP)
        for each in gradients.run(cases[at : at + gradients.GROUP])
    ]
    assert [
        (case.name, case.kind, text) for case, text in failures if not gradients.is_known(case)
    ] == []
    assert len(cases) > 10


def test_gradients_of_modules():
    cases, _ = gradients_modules.cases_of(
        [kind for kind in gradients.KINDS if kind != "infinite"], step=STEP_OF_MODULES
    )
    failures = [
        each
        for at in range(0, len(cases), gradients_modules.GROUP)
        for each in gradients.run(
            cases[at : at + gradients_modules.GROUP], program_of=gradients_modules.program_of
        )
        if not gradients_modules.is_refused(*each) and not gradients_modules.is_known(each[0])
    ]
    assert [(case.name, case.kind, text) for case, text in failures] == []
    assert len(cases) > 10

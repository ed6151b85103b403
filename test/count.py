#!/usr/bin/env python3
"""Adds up the tests in ctest's reports, and the lines `N skipped` and `N passed, N failed` in the output of the programs.

usage: count.py REPORT.xml...
A program that prints how many cases it ran counts as that many tests, any other program as one.
"""

import re
import sys
import xml.etree.ElementTree as ET

#: How programs that count their own cases print the numbers of passed, failed and skipped ones: lit, GoogleTest, and the drivers of this project.
OWN = [
    (
        r"^\s+Passed\s*:\s*(\d+)",
        r"^\s+(?:Failed|Unresolved|Timed Out|Unexpectedly Passed)\s*:\s*(\d+)",
        r"^\s+(?:Unsupported|Skipped|Excluded|Expectedly Failed)\s*:\s*(\d+)",
    ),
    (r"^\[  PASSED  \] (\d+) test", r"^\[  FAILED  \] (\d+) test", r"^\[  SKIPPED \] (\d+) test"),
    (
        r"^\w[\w -]*: (\d+) passed, \d+ failed",
        r"^\w[\w -]*: \d+ passed, (\d+) failed",
        r"^\w[\w -]*: \d+ passed, \d+ failed, (\d+) skipped",
    ),
    (
        r"^onnx \w+ tests: (\d+) of \d+ pass",
        r"^FAIL ()",
        r"^onnx \w+ tests: \d+ of \d+ pass, (\d+) skipped",
    ),
]
OWN = [tuple(re.compile(pattern, re.M) for pattern in row) for row in OWN]


def counts(case):
    """Numbers of passed, failed and skipped tests."""
    text = "".join(t.text or "" for t in case.iter("system-out"))
    bad = (
        case.get("status") not in ("run", "notrun", "disabled") or case.find("failure") is not None
    )
    if case.get("status") in ("notrun", "disabled"):
        bad = True
    for patterns in OWN:
        if patterns[0].search(text) or patterns[1].search(text):
            passed, failed, skipped = (
                sum(int(n or 1) for n in pattern.findall(text)) for pattern in patterns
            )
            return passed, max(failed, 1) if bad else failed, skipped
    return (0, 1, 0) if bad else (1, 0, 0)


def main():
    passed = failed = skipped = 0
    for path in sys.argv[1:]:
        try:
            cases = list(ET.parse(path).getroot().iter("testcase"))
        except (OSError, ET.ParseError) as error:
            print(f"{path}: no report: {error}")
            failed += 1
            continue
        if not cases:
            print(f"{path}: holds no test")
            failed += 1
        for case in cases:
            good, lost, left = counts(case)
            passed, failed, skipped = passed + good, failed + lost, skipped + left
            print(
                f"{case.get('name'):24} {good:6} passed {lost:4} failed {left:5} skipped {float(case.get('time', 0)):7.1f} s"
            )
    print(f"{skipped} skipped")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())

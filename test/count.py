#!/usr/bin/env python3
"""Adds up the tests in ctest's reports, and in what the programs in them printed: `N passed, N failed`.

usage: count.py REPORT.xml...
A program that counts its own cases is as many tests as it says; any other is one.
"""
import re
import sys
import xml.etree.ElementTree as ET

OWN = [
    # lit, GoogleTest, then what our own drivers print last.
    (re.compile(r"^\s+Passed\s*:\s*(\d+)", re.M), re.compile(r"^\s+(?:Failed|Unresolved|Timed Out|Unexpectedly Passed)\s*:\s*(\d+)", re.M)),
    (re.compile(r"^\[  PASSED  \] (\d+) test", re.M), re.compile(r"^\[  FAILED  \] (\d+) test", re.M)),
    (re.compile(r"^\w[\w -]*: (\d+) passed, \d+ failed", re.M), re.compile(r"^\w[\w -]*: \d+ passed, (\d+) failed", re.M)),
    (re.compile(r"^onnx \w+ tests: (\d+) of \d+ pass", re.M), re.compile(r"^FAIL ()", re.M)),
]


def counts(case):
    text = "".join(t.text or "" for t in case.iter("system-out"))
    bad = case.get("status") not in ("run", "notrun", "disabled") or case.find("failure") is not None
    if case.get("status") in ("notrun", "disabled"):
        bad = True
    for passed, failed in OWN:
        if passed.search(text) or failed.search(text):
            good = sum(int(n or 1) for n in passed.findall(text))
            lost = sum(int(n or 1) for n in failed.findall(text))
            return good, max(lost, 1) if bad else lost
    return (0, 1) if bad else (1, 0)


def main():
    passed = failed = 0
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
            good, lost = counts(case)
            passed, failed = passed + good, failed + lost
            print(f"{case.get('name'):24} {good:6} passed {lost:4} failed  {float(case.get('time', 0)):7.1f} s")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())

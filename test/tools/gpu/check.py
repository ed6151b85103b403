"""Checks the files that the short form of the GPU kit writes for each step: check.py FOLDER [OUTPUT-FILE]."""

import json
import os
import sys


def main():
    folder = sys.argv[1]

    def read(name):
        with open(os.path.join(folder, name + ".json")) as f:
            return json.load(f)

    def all_ok(cases, where):
        assert cases, where
        for key, case in cases.items():
            assert case["status"] == "ok", (where, key, case)

    machine, conformance, networks, tune, torch, sanitizer = map(
        read, ("machine", "conformance", "networks", "tune", "torch", "sanitizer")
    )
    all_ok(machine["cases"], "machine")
    assert {
        "open",
        "copies",
        "vectors",
        "launches",
        "product f32",
        "product bf16, tuned",
    } <= machine["cases"].keys()
    assert (
        machine["peaks"]["gigabytes"] > 0
        and machine["peaks"]["f32"] > 0
        and machine["peaks"]["bf16"] > 0
    )
    assert machine["nvidia-smi"] == "not found"
    for part in ("generated", "cublaslt", "cudnn"):
        total = conformance["totals"][part]
        assert (
            total["passed"] > 3 and total["failed"] == 0 and total["slices_without_result"] == 0
        ), (part, total, conformance.get("failures"))
    all_ok(networks["cases"], "networks")
    assert {"fcn-r/inference/f32", "alexnet-r/training/bf16", "alexnet-r/training/f32"} <= networks[
        "cases"
    ].keys()
    assert networks["cases"]["fcn-r/inference/f32"]["result"]["graph_launches"] > 0
    for part in ("model", "tuning", "tuned"):
        all_ok(tune[part], part)
    slowest = next(iter(tune["tuned"].values()))["result"]["slowest"]
    assert slowest[0]["us"] >= slowest[-1]["us"] and all(
        "fraction" in kernel and "bytes" in kernel for kernel in slowest
    )
    assert any("cublaslt" in line for line in tune["database"])
    assert "found no python3 with torch" in torch["skipped"]
    assert "compute-sanitizer was not found" in sanitizer["skipped"]
    for name, about in dict(
        machine=machine,
        conformance=conformance,
        networks=networks,
        tune=tune,
        torch=torch,
        sanitizer=sanitizer,
    ).items():
        assert all(about["complete"].values()), (name, about["complete"])

    files = os.listdir(folder)
    assert len(files) <= 8 and all(
        os.path.getsize(os.path.join(folder, f)) < 4 << 20 for f in files
    ), files
    with open(os.path.join(folder, "summary.txt")) as f:
        summary = f.read()
    assert len(summary) < 12000 and "FAIL" not in summary, summary
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as f:
            assert f.read().endswith(summary)


main()

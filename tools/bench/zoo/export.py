#!/usr/bin/env python3
"""Exports the networks of networks.json as ONNX without weights: build/venv-bench/bin/python tools/bench/zoo/export.py [--jobs 2] [NAME...]

Writes graphs/NAME-bBATCH.onnx.xz (zoo/weightless.py fills the weights again); what is there already stays, unless it is named. A network that PyTorch's
exporter of the row does not take is tried with the other one; what neither takes goes into graphs/refused.json with the exporter's words.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import drawn


def export(row, batch, exporter):
    import onnx
    import torch
    import listing
    import weightless
    torch.set_num_threads(1)
    module, inputs = listing.build(row, batch)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        file = os.path.join(folder, "m.onnx")
        torch.onnx.export(module, listing.examples(inputs), file, input_names=list(inputs), dynamo=exporter == "export", external_data=False, verbose=False)
        model = onnx.load(file)
    for value in model.graph.input:
        if value.name in inputs and inputs[value.name][0] != "float":
            value.doc_string = f"below {inputs[value.name][0]}"
    return weightless.write(model, drawn.path_of(row["name"], batch))


def asked(row, batch):
    """The bytes written, or why not, from a process of its own."""
    why = ""
    for exporter in (row["exporter"], "trace" if row["exporter"] == "export" else "export"):
        try:
            done = subprocess.run([sys.executable, __file__, "--one", json.dumps(row), str(batch), exporter], capture_output=True, text=True, timeout=400)
        except subprocess.TimeoutExpired:
            why += f"{exporter}: longer than 400 s. "
            continue
        lines = done.stdout.splitlines()
        if done.returncode == 0 and lines and lines[-1].startswith("bytes "):
            return exporter, int(lines[-1].split()[1]), why
        why += f"{exporter}: {(lines or done.stderr.strip().splitlines() or ['no word'])[-1][:300]} "
    return None, 0, why


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("networks", nargs="*")
    a.add_argument("--jobs", type=int, default=2)
    a.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    o = a.parse_args()
    warnings.filterwarnings("ignore")
    if o.one:
        try:
            print("bytes", export(json.loads(o.one[0]), int(o.one[1]), o.one[2]))
        except Exception as error:
            print(f"{type(error).__name__}: {str(error)[:400]}".replace("\n", " "))
        return
    os.makedirs(drawn.GRAPHS, exist_ok=True)
    kept = os.path.join(drawn.GRAPHS, "refused.json")
    refused = json.load(open(kept)) if os.path.exists(kept) else {}
    wanted = [(row, batch) for row in drawn.rows()["networks"] for batch in row["batches"]
              if row["name"] in o.networks or not o.networks and f"{row['name']}-b{batch}" not in refused and not os.path.exists(drawn.path_of(row["name"], batch))]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for (row, batch), (exporter, size, why) in zip(wanted, pool.map(lambda each: asked(*each), wanted)):
            name = f"{row['name']}-b{batch}"
            refused.pop(name, None)
            if not exporter:
                refused[name] = why
            print(f"{name:50} {size:8} bytes by {exporter}  {why}", flush=True)
            with open(kept + ".part", "w") as file:
                json.dump(refused, file, indent=1)
                file.write("\n")
            os.rename(kept + ".part", kept)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Exports the networks of networks.json as ONNX without weights:
    build/venv-bench/bin/python tools/bench/zoo/export.py [--jobs 2] [NAME...]
    DLC_ZOO=FOLDER build/venv-others/bin/python tools/bench/zoo/export.py --others [NAME...]    # those of the folder `others`, after tools/setup --others

Writes graphs/NAME-bBATCH.onnx.xz (zoo/weightless.py generates the weights again). Existing files are kept unless they are named. If the exporter of the row
rejects a network, the other exporter is tried. Networks that both reject are listed in graphs/refused.json with the exporter's message.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn


def export_torch_network(row, batch, exporter):
    """Exports the network of a row. Returns the ONNX model, and its inputs by name."""
    import onnx
    import torch
    import listing

    torch.set_num_threads(1)
    module, inputs = listing.build_network(row, batch)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        if row["source"] == "others":
            module(
                *listing.random_examples(inputs)
            )  # run once, because some modules cache tensors at their first call, and are usually exported after it
        file = os.path.join(folder, "m.onnx")
        torch.onnx.export(
            module,
            listing.random_examples(inputs),
            file,
            input_names=list(inputs),
            dynamo=exporter == "export",
            opset_version=row.get("opset"),
            external_data=False,
            verbose=False,
        )
        return onnx.load(file), inputs


def export(row, batch, exporter):
    import weightless

    if exporter == "keras":
        from others import keras_networks

        model, inputs = keras_networks.convert_to_onnx(row)
    else:
        model, inputs = export_torch_network(row, batch, exporter)
    for value in model.graph.input:
        if value.name in inputs and isinstance(inputs[value.name][0], int):
            value.doc_string = f"below {inputs[value.name][0]}"
    return weightless.write_without_weights(
        model, drawn.graph_path(row["name"], batch), row.get("kept", weightless.KEPT)
    )


def export_in_subprocess(row, batch):
    """Exports a network in another process. Returns the number of bytes written, or the reason of the failure."""
    why = ""
    for exporter in row.get("exporters") or (
        row["exporter"],
        "trace" if row["exporter"] == "export" else "export",
    ):
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--one", json.dumps(row), str(batch), exporter],
                capture_output=True,
                text=True,
                timeout=400,
            )
        except subprocess.TimeoutExpired:
            why += f"{exporter}: longer than 400 s. "
            continue
        lines = done.stdout.splitlines()
        if done.returncode == 0 and lines and lines[-1].startswith("bytes "):
            return exporter, int(lines[-1].split()[1]), why
        why += (
            f"{exporter}: {(lines or done.stderr.strip().splitlines() or ['no word'])[-1][:300]} "
        )
    return None, 0, why


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("networks", nargs="*")
    a.add_argument("--jobs", type=int, default=2)
    a.add_argument(
        "--others",
        action="store_true",
        help="export networks of libraries that draw.py does not sample",
    )
    a.add_argument("--list", action="store_true", help="print the names and export nothing")
    a.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    o = a.parse_args()
    warnings.filterwarnings("ignore")
    if o.one:
        try:
            print("bytes", export(json.loads(o.one[0]), int(o.one[1]), o.one[2]))
        except common.failures() as error:
            print(f"{type(error).__name__}: {str(error)[:400]}".replace("\n", " "))
        return
    rows = drawn.read_networks_json()["networks"]
    if o.others:
        import others

        rows = others.list_rows()
    if o.list:
        print("\n".join(row["name"] for row in rows))
        return
    if o.others and drawn.PLACE == drawn.OWN:
        a.error(
            "--others requires DLC_ZOO=FOLDER, such as build/zoo/other: these graphs are not stored in the repository"
        )
    unknown = set(o.networks) - {row["name"] for row in rows}
    if unknown:
        a.error(f"unknown network {', '.join(sorted(unknown))}; --list prints the names")
    os.makedirs(drawn.GRAPHS, exist_ok=True)
    kept = os.path.join(drawn.GRAPHS, "refused.json")
    refused = json.load(open(kept)) if os.path.exists(kept) else {}
    wanted = [
        (row, batch)
        for row in rows
        for batch in row["batches"]
        if row["name"] in o.networks
        or not o.networks
        and f"{row['name']}-b{batch}" not in refused
        and not os.path.exists(drawn.graph_path(row["name"], batch))
    ]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for (row, batch), (exporter, size, why) in zip(
            wanted, pool.map(lambda each: export_in_subprocess(*each), wanted)
        ):
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

#!/usr/bin/env python3
"""Selects the networks of the zoo with a seed and writes networks.json:
    build/venv-bench/bin/python tools/bench/zoo/draw.py [--seed 17] [--sources timm,transformers]

For timm and torchvision: one network of each module that defines networks (a family), selected from its members with at most 100 million parameters and 25
billion multiplications per example; quantized ones are excluded, because they are not f32 networks. For transformers: the requested number of families,
selected from all that have a configuration; with its default configuration or, if it has more than 100 million parameters, with four layers, and if that is
not enough, 512 channels. A third is also selected for batch 8, and a third for export by tracing (TorchScript) instead of torch.export. No network is
excluded because of a compiler: only networks that PyTorch itself cannot run with a known kind of input are, with the reason in `left_out`.
With --sizes N instead: selects N of the zoo's own networks with random sizes, for DLC_ZOO=FOLDER: images and sequences of between half and one and a half
times the size, token sequences from one token up (if PyTorch rejects the size, with the original one), in batches of 1 to 7.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn

PARAMETERS, MULTIPLICATIONS = 100e6, 25e9


def timm_families():
    import timm

    return {
        module: [{"source": "timm", "model": name} for name in timm.list_models(module=module)]
        for module in timm.list_modules()
    }


def torchvision_families():
    import torchvision

    found = collections.defaultdict(list)
    for name in torchvision.models.list_models():
        module = torchvision.models.get_model_builder(name).__module__.split(".", 2)[2]
        if not module.startswith("quantization"):
            found[module].append({"source": "torchvision", "model": name})
    return found


def transformers_families():
    from transformers import CONFIG_MAPPING, MODEL_MAPPING

    return {
        name: [{"source": "transformers", "model": name}]
        for name, kind in CONFIG_MAPPING.items()
        if kind in MODEL_MAPPING
    }


def input_size(row):
    """Returns the input size of a network from the listing, or the usual size for its kind if the listing has none."""
    if row["source"] == "timm":
        import timm

        return list(timm.create_model(row["model"], pretrained=False).default_cfg["input_size"])
    family = row["family"]
    if family.startswith("video"):
        return [3, 16, 112, 112] if family == "video.resnet" else [3, 16, 224, 224]
    return {
        "detection": [3, 320, 320],
        "segmentation": [3, 320, 320],
        "optical_flow": [3, 256, 256],
        "inception": [3, 299, 299],
    }.get(family.split(".")[0], [3, 224, 224])


SMALLER = [
    {},
    {"num_hidden_layers": 4, "encoder_layers": 2, "decoder_layers": 2, "num_layers": 4},
    {
        "num_hidden_layers": 4,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "num_layers": 4,
        "hidden_size": 512,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "intermediate_size": 1408,
        "vocab_size": 16384,
        "num_experts": 8,
        "num_local_experts": 8,
        "n_routed_experts": 8,
        "moe_intermediate_size": 352,
    },
]


def recommender_families():
    return {
        name: [{"source": "own", "model": name}] for name in ("Dlrm", "DeepFm", "Dcn", "TwoTower")
    }


SOURCES = {
    "timm": timm_families,
    "torchvision": torchvision_families,
    "transformers": transformers_families,
    "own": recommender_families,
}


def guess_transformers_inputs(config):
    """Yields inputs that a model of this configuration may accept, the most likely first."""
    vision = getattr(config, "vision_config", config)
    size = getattr(vision, "image_size", None) or 224
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    channels = getattr(vision, "num_channels", None) or 3
    words = getattr(config, "vocab_size", None) or 1000
    length = min(128, getattr(config, "max_position_embeddings", None) or 128)
    after = (
        {"decoder_input_ids": [words, [32]]} if getattr(config, "is_encoder_decoder", False) else {}
    )
    bins = (
        getattr(config, "num_mel_bins", None)
        or getattr(config, "input_feat_per_channel", None)
        or 80
    )
    yield {"input_ids": [words, [length]], **after}
    yield {"pixel_values": ["float", [channels, height, width]]}
    yield {"pixel_values": ["float", [channels, 224, 224]]}
    yield {"pixel_values": ["float", [getattr(config, "num_frames", 8), channels, height, width]]}
    yield {
        "pixel_values_videos": [
            "float",
            [getattr(config, "frames_per_clip", 8), channels, height, width],
        ]
    }
    yield {"input_values": ["float", [16000]]}
    yield {"input_values": ["float", [1, 24000]]}
    yield {"input_values": ["float", [getattr(config, "max_length", 1024), bins]]}
    yield {"input_features": ["float", [bins, 3000]], **after}
    yield {"input_features": ["float", [500, bins]], **after}
    yield {"hidden_states": ["float", [128, getattr(config, "hidden_size", 64)]]}
    yield {
        "past_values": [
            "float",
            [getattr(config, "context_length", 32), getattr(config, "num_input_channels", 1)],
        ]
    }


def measure_cost(row):
    """Returns (parameters, multiplications of a forward pass) of a complete row.
    The network is run with real tensors, because not every network supports fake ones."""
    from torch.utils.flop_counter import FlopCounterMode
    import listing

    module, inputs = listing.build_network(row, 1)
    parameters = sum(p.numel() for p in module.parameters())
    if parameters > PARAMETERS:
        return parameters, 0
    # FlopCounterMode's hooks fail without gradients if a module modifies its input, so the inputs require gradients.
    with FlopCounterMode(display=False) as counter:
        results = module(
            *(
                x.requires_grad_() if x.is_floating_point() else x
                for x in listing.random_examples(inputs)
            )
        )
    if not results or not any(r.is_floating_point() for r in results):
        raise ValueError("no float results")
    return parameters, counter.get_total_flops() / 2


def complete_row(row):
    """Determines the input sizes of a row in this process (`draw.py --complete`). Returns the completed row. Raises an error with the reason if it fails."""
    if row["source"] != "transformers":
        if row["source"] != "own" and "size" not in row:
            row["size"] = input_size(row)
        parameters, multiplications = measure_cost(row)
    else:
        import transformers
        import torch

        kind, why = transformers.CONFIG_MAPPING[row["model"]], "no configuration"
        for more in SMALLER:
            try:
                known = {
                    key: value
                    for key, value in more.items()
                    if hasattr(kind(), key) and isinstance(getattr(kind(), key), int)
                }
                config = kind(**known)
                with torch.device("meta"):
                    parameters = sum(
                        p.numel() for p in transformers.AutoModel.from_config(config).parameters()
                    )
            except common.failures() as error:
                why = f"{type(error).__name__}: {error}"
                continue
            if parameters <= PARAMETERS:
                break
            why = f"{parameters / 1e6:.0f} million parameters"
        else:
            raise ValueError(why)
        row["config"], whys = known, []
        for inputs in [row["inputs"]] if "inputs" in row else guess_transformers_inputs(config):
            row["inputs"] = inputs
            try:
                parameters, multiplications = measure_cost(row)
                break
            except common.failures() as error:
                whys.append(f"{' and '.join(inputs)}: {type(error).__name__}: {str(error)[:60]}")
        else:
            raise ValueError("takes no single kind of input: " + "; ".join(whys))
    if parameters > PARAMETERS or multiplications > MULTIPLICATIONS:
        raise OverflowError(
            f"{parameters / 1e6:.0f} million parameters, {multiplications / 1e9:.1f} billion multiplications"
        )
    row["parameters"], row["multiplications"] = (
        round(parameters / 1e6, 2),
        round(multiplications / 1e9, 3),
    )
    return row


def complete_in_subprocess(row):
    """Calls complete_row() for the row in another process, which may crash or hang."""
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--complete", json.dumps(row)],
            capture_output=True,
            text=True,
            timeout=150,
        )
    except subprocess.TimeoutExpired:
        return None, "takes longer than 150 s in PyTorch"
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return None, f"status {done.returncode}: " + (done.stderr.strip().splitlines() or [""])[-1][
            :200
        ]
    answer = json.loads(lines[-1])
    return (answer, None) if "source" in answer else (None, answer["error"])


def select_family_member(family, families, seed, source):
    """Returns one member of a family of networks that PyTorch can run, or None, and the reasons why other members are excluded."""
    left_out = {}
    members = sorted(families[family], key=lambda row: row["model"])
    random.Random(f"{seed} {source} {family}").shuffle(members)
    for row in members[:12]:
        answer, why = complete_in_subprocess({**row, "family": family})
        if answer:
            return answer, left_out
        left_out[f"{source}/{row['model']}"] = why
    return None, left_out


def select_networks(source, seed, count):
    """Selects networks of one source. Returns their rows, and the excluded networks."""
    families = SOURCES[source]()
    if drawn.PLACE != drawn.OWN:
        has = {
            (row["source"], row["model"]) for row in drawn.read_networks_json(drawn.OWN)["networks"]
        }
        families = {
            family: [row for row in members if (source, row["model"]) not in has]
            for family, members in families.items()
        }
    order = sorted(family for family, members in families.items() if members)
    if count is None:
        count = len(order)
    else:
        random.Random(f"{seed} {source}").shuffle(order)
    rows, left_out, at_once = [], {}, os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for start in range(0, len(order), at_once):
            if len(rows) >= count:
                break
            some = order[start : start + at_once]
            for family, (answer, others) in zip(
                some,
                pool.map(lambda family: select_family_member(family, families, seed, source), some),
            ):
                left_out.update(others)
                print(
                    f"{source}/{family}: {answer['model'] if answer else list(others.values())[-1:]}",
                    flush=True,
                )
                if answer and len(rows) < count:
                    rows.append(answer)
    for row in rows:
        rng = random.Random(f"{seed} {source} {row['model']}")
        row["name"] = f"{source}-{row['model']}".lower()
        row["batches"] = [1, 8] if rng.random() < 1 / 3 else [1]
        row["exporter"] = "trace" if rng.random() < 1 / 3 else "export"
    return rows, left_out


def resize_inputs(row, rng):
    """Returns the row with another batch size and, unless PyTorch rejects them, with other input sizes."""
    other = {**row, "batches": [rng.randint(1, 7)]}
    length = lambda usual, least: rng.randint(max(least, 1), usual * 3 // 2)
    if "inputs" in row:
        lengths = {}  # maps original to new lengths, so that dimensions of equal length remain equal
        size = lambda usual, least: lengths.setdefault(usual, length(usual, least))

        def shaped(kind, shape):
            if kind != "float":
                return [size(shape[0], 1)]
            if len(shape) > 2:
                return [*shape[:-2], *(size(x, x // 2) for x in shape[-2:])]
            return [size(shape[0], shape[0] // 2), *shape[1:]]

        other["inputs"] = {
            name: [kind, shaped(kind, shape)] for name, (kind, shape) in row["inputs"].items()
        }
    else:
        other["size"] = [*row["size"][:-2], *(length(x, x // 2) for x in row["size"][-2:])]
    answer, _ = complete_in_subprocess(other)
    return answer or {**row, "batches": other["batches"]}


def select_random_sizes(seed, count):
    rows = [
        row for row in drawn.read_networks_json(drawn.OWN)["networks"] if row["source"] != "own"
    ]
    random.Random(f"{seed} sizes").shuffle(rows)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(
            pool.map(
                lambda row: resize_inputs(row, random.Random(f"{seed} {row['name']}")), rows[:count]
            )
        )


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--seed", type=int, default=17)
    a.add_argument(
        "--transformers", type=int, default=64, help="number of transformer families to sample"
    )
    a.add_argument(
        "--families",
        type=int,
        help="maximum number of families to sample from timm, and from torchvision",
    )
    a.add_argument(
        "--sources",
        default=",".join(SOURCES),
        help="sources to sample again; the rows of other sources remain unchanged",
    )
    a.add_argument(
        "--sizes", type=int, metavar="N", help="add N of the networks with other input sizes"
    )
    a.add_argument("--complete", help=argparse.SUPPRESS)
    o = a.parse_args()
    warnings.filterwarnings("ignore")
    if o.complete:
        try:
            print(json.dumps(complete_row(json.loads(o.complete))))
        except common.failures() as error:
            print(json.dumps({"error": f"{type(error).__name__}: {str(error)[:1200]}"}))
        return
    path, before = os.path.join(drawn.PLACE, "networks.json"), drawn.read_networks_json()
    result = {"seed": o.seed, "networks": [], "left_out": {}}
    if o.sizes:
        if drawn.PLACE == drawn.OWN:
            a.error("--sizes requires DLC_ZOO=FOLDER")
        result["networks"] = select_random_sizes(o.seed, o.sizes)
    for source in SOURCES if not o.sizes else ():
        rows, left_out = (
            select_networks(
                source, o.seed, o.transformers if source == "transformers" else o.families
            )
            if source in o.sources.split(",")
            else (
                [row for row in before["networks"] if row["source"] == source],
                {k: v for k, v in before["left_out"].items() if k.startswith(source + "/")},
            )
        )
        result["networks"] += rows
        result["left_out"].update(left_out)
    os.makedirs(drawn.PLACE, exist_ok=True)
    with open(path + ".part", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.rename(path + ".part", path)
    print(f"{len(result['networks'])} networks, {len(result['left_out'])} skipped")


if __name__ == "__main__":
    main()

"""Writes variants of a model folder whose files name all tokens or no token as end tokens.

usage: end_tokens.py FOLDER
"""

import json
import pathlib
import shutil
import sys

import families

ALL = list(range(families.VOCABULARY))
# Per folder: `eos_token_id` in config.json, and members of generation_config.json; None if there is no such file.
VARIANTS = {
    "config": (ALL, None),
    "list": ([], dict(eos_token_id=ALL, temperature=0.6)),
    "replaced": (ALL, dict(eos_token_id=families.VOCABULARY)),
    "none": ([], None),
}


def main():
    source = pathlib.Path(sys.argv[1])
    for name, (ends, generation) in VARIANTS.items():
        folder = source.parent / name
        shutil.copytree(source, folder)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | dict(eos_token_id=ends)))
        if generation is not None:
            (folder / "generation_config.json").write_text(json.dumps(generation))


main()

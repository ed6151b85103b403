"""Opens a file with an error in dlc-lsp-server and prints the server's diagnostics."""

import json
import subprocess

TEXT = """func.func @f(%x: tensor<4xf32>) {
  %0 = dlc.softmax %x {axis = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
"""
MESSAGES = [
    {
        "id": 0,
        "method": "initialize",
        "params": {"processId": 1, "rootPath": "", "capabilities": {}},
    },
    {
        "method": "textDocument/didOpen",
        "params": {
            "textDocument": {
                "uri": "file:///f.mlir",
                "languageId": "mlir",
                "version": 1,
                "text": TEXT,
            }
        },
    },
    {"id": 1, "method": "shutdown"},
    {"method": "exit"},
]


def frame(message):
    body = json.dumps({"jsonrpc": "2.0", **message})
    return f"Content-Length: {len(body)}\r\n\r\n{body}"


result = subprocess.run(
    ["dlc-lsp-server"],
    input="".join(map(frame, MESSAGES)).encode(),
    capture_output=True,
    timeout=60,
    check=True,
)
print(result.stdout.decode())

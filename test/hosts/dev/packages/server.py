# The same server as server.mjs, as the program of a wheel.

import json
import os
import sys

TOOL = {"name": "describe_start", "description": "How it was started.", "inputSchema": {"type": "object"}}


def result_of(method):
    if method == "initialize":
        info = {"name": "bees", "version": "1.2.3"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method != "tools/call":
        return None
    start = {"args": sys.argv[1:], "variables": sorted(os.environ)}
    return {"content": [{"type": "text", "text": json.dumps(start)}]}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = result_of(message["method"])
        error = {"error": {"code": -32601, "message": "Method not found"}}
        answer = {"jsonrpc": "2.0", "id": message["id"], **(error if result is None else {"result": result})}
        print(json.dumps(answer), flush=True)

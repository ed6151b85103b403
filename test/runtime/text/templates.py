"""Compares rendered chat templates with Jinja2's sandbox.

usage: templates.py TOOL FOLDER

FOLDER has the templates (*.jinja). At least 50 templates must render equally for all conversations. The other templates must be
refused with the name and the line of an unsupported construct.
"""

import glob
import itertools
import json
import os
import re
import subprocess
import sys
from datetime import datetime

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

LEAST = 50
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


class Generation(Extension):
    """The tag `generation` of transformers, which marks the answers of the model."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
    )
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return made


def call(name, arguments, kind):
    """Returns a tool call whose arguments are an object, or the JSON text of one (kind "text")."""
    if kind == "text":
        arguments = json.dumps(arguments)
    return {
        "id": "call00001",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Returns the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city"},
                "days": {"type": "integer", "enum": [1, 2, 3]},
            },
            "required": ["city"],
        },
    },
}


def conversations():
    """Generates lists of messages, each with further variables of the template."""
    user = {"role": "user", "content": "Hello <|im_end|> Grüße\n  'quoted' \"text\" 你好 "}
    answer = {"role": "assistant", "content": " Hi there!\n"}
    system = {"role": "system", "content": "You are helpful."}
    again = {"role": "user", "content": "And now?"}
    thought = {
        "role": "assistant",
        "content": "<think>\nwell\n</think>\n\nYes.",
        "reasoning_content": "well",
    }
    parts = {
        "role": "user",
        "content": [{"type": "text", "text": "part one"}, {"type": "text", "text": "two"}],
    }
    yield [user], {}
    yield [system, user], {}
    yield [user, answer, again], {}
    yield [system, user, answer, again, thought, again], {}
    yield [system, user], {"enable_thinking": False}
    yield [system, user], {"tools": [TOOL]}
    yield [parts], {}
    for kind in ("object", "text"):
        request = {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("get_weather", {"city": "Bonn", "days": 2}, kind)],
        }
        reply = {
            "role": "tool",
            "name": "get_weather",
            "tool_call_id": "call00001",
            "content": '{"sky": "blue"}',
        }
        yield [system, user, request, reply], {"tools": [TOOL]}
        yield [user, request, reply, answer, again], {"tools": [TOOL]}


def expected(template, variables):
    """Returns the text that Jinja2 renders, or its error."""
    try:
        return template.render(**variables)
    except Exception as error:  # noqa: BLE001 - templates raise errors of any type
        return error


def main():
    tool, folder = sys.argv[1:3]
    process = subprocess.Popen(
        [tool, "render"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(source, given):
        request = {"template": source, "input": json.dumps(given), "trusted": json.dumps(TOKENS)}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    equal, refused, wrong, rendered = 0, [], [], 0
    for path in sorted(glob.glob(os.path.join(folder, "*.jinja"))):
        name = os.path.basename(path)
        with open(path, encoding="utf-8", newline="") as file:
            source = file.read()
        try:
            template = environment().from_string(source)
        except jinja2.exceptions.TemplateError as error:
            template = error
        problems, successes = [], 0
        for (messages, more), prompt in itertools.product(conversations(), (True, False)):
            given = {"messages": messages, "add_generation_prompt": prompt, **more}
            want = (
                template
                if isinstance(template, Exception)
                else expected(template, {**given, **TOKENS})
            )
            got = ask(source, given)
            if isinstance(want, Exception) and "error" in got:
                continue
            # Filters return lists, which `tojson` accepts, instead of generators.
            if isinstance(want, TypeError) and "generator" in str(want):
                continue
            if "error" in got:
                problems.append((got["error"], want))
            elif isinstance(want, Exception):
                problems.append(("".join(text for text, _ in got["pieces"]), repr(want)))
            elif "".join(text for text, _ in got["pieces"]) != want:
                problems.append(("".join(text for text, _ in got["pieces"]), want))
            else:
                successes += 1
        rendered += successes
        unsupported = problems and all(
            re.match(r"chat template, line \d+: unsupported \w+( \w+)? '", got)
            for got, _ in problems
        )
        if not problems and successes:
            equal += 1
        elif unsupported or not problems:
            refused.append((name, problems[0][0] if problems else str(template)[:100]))
        else:
            wrong.append((name, problems))
    for name, reason in refused:
        print(f"refused: {name}: {reason}")
    for name, problems in wrong:
        print(
            f"different: {name}: {len(problems)} conversations\n  got:  {problems[0][0]!r}\n  want: {problems[0][1]!r}"
        )
    print(
        f"templates: {equal} equal ({rendered} texts), {len(refused)} refused, {len(wrong)} different"
    )
    return int(equal < LEAST or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

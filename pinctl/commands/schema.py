"""`pinctl schema`: the JSON Schema of pins.toml."""

import json

from pinctl import manifest
from pinctl.options import Options
from pinctl.outcome import Outcome, Text


def run(options: Options) -> Outcome:  # noqa: ARG001 - every verb takes the options
    document = manifest.json_schema()
    return Outcome(command="schema", body=Text(json.dumps(document, indent=2) + "\n"), result=document)

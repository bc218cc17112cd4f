"""A bot of the protocol with one fault, named on its command line: python broken_bot.py FAULT.

It plays the first legal action, and fails at its third decision.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FAULT = sys.argv[1]
FAULTS = {
    "illegal": '{"action": "ZZ"}',
    "not held": '{"action": ["AC", "AC"]}',
    "malformed": "the five of hearts",
    "raw escape": "\x1b[31mred",
    "no result": '{"error": "no idea", "no_result": true}',
    "nan": '{"action": NaN}',
    "nested": "[" * 100_000,
    "twice": '{"action": ["FIRST", "FIRST"]}',
    "two answers": '{"action": null}\n{"action": null}\n{"action": null}',
}
GREETINGS = {
    "bad name": '{"name": 7}',
    "bad games": '{"name": "bad", "games": 0}',
    "bad plays": '{"name": "bad", "plays": ["go fish"]}',
    "bad rules": '{"name": "bad", "rules": "some"}',
    "no greeting": "hello",
    "named to harm": '{"name": "\\u001b[31mred\\u0007"}',
}
PROBABILITIES: dict[str, list[float | None]] = {
    "too few": [1],
    "too much": [0.5] * 6,
    "below zero": [2, -1, 0, 0, 0, 0],
    "no number": [1, None, 0, 0, 0, 0],
}


def say(text: str) -> None:
    """Write a line in one piece, with PYTHONUNBUFFERED too."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def fail(message: dict[str, Any]) -> None:
    """Commit the fault."""
    if FAULT in FAULTS:
        say(FAULTS[FAULT].replace("FIRST", str(message["legal"][0])))
    elif FAULT == "dies":
        print("\x1b[31mlast words", file=sys.stderr, flush=True)
        os._exit(3)
    elif FAULT == "closes":
        os.close(1)
        time.sleep(600)
    elif FAULT == "half":
        sys.stdout.write('{"action": ')
        sys.stdout.flush()
        time.sleep(600)
    elif FAULT == "endless":
        while True:
            sys.stdout.write("x" * 65536)
            sys.stdout.flush()
    elif FAULT == "deaf":
        time.sleep(600)


def main() -> None:
    """Answer until the fault."""
    decisions = 0
    log = os.environ.get("BOT_LOG")
    for line in sys.stdin:
        if log:
            with Path(log).open("a") as file:
                file.write(line)
        message: dict[str, Any] = json.loads(line)
        if message["type"] == "hello":
            say(
                GREETINGS.get(
                    FAULT,
                    json.dumps(
                        {
                            "name": f"broken-{FAULT}",
                            "games": 1 if FAULT == "single" else 64,
                            "plays": message["games"],
                            "rules": "ask" if FAULT == "slow start" else "presets",
                            "probabilities": FAULT in PROBABILITIES,
                        }
                    ),
                )
            )
        elif message["type"] == "accepts":
            say(json.dumps({"accepts": True}))
        elif message["type"] == "probabilities":
            say(json.dumps({"probabilities": PROBABILITIES[FAULT]}))
        elif message["type"] == "decision":
            decisions += 1
            if FAULT == "slow start" and decisions == 1:
                time.sleep(1.0)
            if decisions == 3:
                fail(message)
            if decisions != 3 or FAULT in ("none", "single", "slow start"):
                say(json.dumps({"action": message["legal"][0]}))
        elif message["type"] == "quit":
            return


if __name__ == "__main__":
    main()

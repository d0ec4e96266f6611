#!/usr/bin/env python3
"""commands.py PAGE.md: runs the commands of a page, all that stand between ```sh and ```, one after the other in an empty
folder, as its reader would; `binnacle` is found by PATH. Pages of the tutorials promise that these suffice."""
import os
import re
import subprocess
import sys
import tempfile

text = open(sys.argv[1], encoding="utf-8").read()
commands = [c for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M) for c in re.sub(r"\\\n", " ", block).splitlines() if c.strip()]
with tempfile.TemporaryDirectory() as folder:
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        # compare tells by its status alone that runs differ beyond a tolerance, which none of the pages asks for
        if done.returncode != 0:
            sys.exit(f"{sys.argv[1]}: {command}\nended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    print(f"{len(commands)} commands, {sum(len(files) for _, _, files in os.walk(folder))} files")
sys.exit(len(commands) == 0)

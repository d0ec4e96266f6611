"""Makes binnacle/_abi.py of the C headers: what cffi needs to call the shared library, without a compiler there.

python3 abi.py INCLUDE_FOLDER OUTPUT    ($CC preprocesses; the default is cc)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cffi


def declarations(include: str) -> str:
    """All of the interface as plain C. The standard headers are empty ones: cffi knows their types."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            Path(empty, name).touch()
        command = [
            *os.environ.get("CC", "cc").split(),
            "-E",
            "-P",
            "-U__GNUC__",
            "-nostdinc",
            "-I",
            empty,
            "-I",
            include,
            "-",
        ]
        headers = "#include <binnacle/binnacle.h>\n#include <binnacle/flood.h>\n"
        return subprocess.run(command, input=headers, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(include: str, output: str) -> None:
    builder = cffi.FFI()
    builder.cdef(declarations(include) + "\nvoid free(void *);\n")
    builder.set_source("binnacle._abi", None)
    builder.emit_python_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])

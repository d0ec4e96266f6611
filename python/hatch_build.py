"""Puts program and libraries into the wheel: `make bundle` gathers them, so that it runs on machines without any."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TREE = Path(__file__).resolve().parent.parent


class Gather(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build = TREE / "build"
        gathered = build / "wheel"
        subprocess.run(["make", "-C", str(TREE), "bundle", f"TREE={gathered}"], check=True, stdout=sys.stderr)
        abi = build / "wheel-abi.py"
        subprocess.run([sys.executable, str(TREE / "python/abi.py"), str(TREE / "include"), str(abi)], check=True)
        native = {str(gathered / part): f"binnacle/native/{part}" for part in ("bin", "lib", "share")}
        build_data["force_include"] = {**native, str(abi): "binnacle/_abi.py"}
        build_data["pure_python"] = False
        # cffi needs no compiled module: one wheel is good for all versions of Python, from this glibc on.
        glibc = (gathered / "NEEDS").read_text().split()[2].replace(".", "_")
        build_data["tag"] = f"py3-none-manylinux_{glibc}_{os.uname().machine}"

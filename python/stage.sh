#!/bin/sh
# stage.sh: the Python package as its users have it, beside a build: PYTHONPATH=TO.
#   PYTHON=python3 CC=cc sh python/stage.sh BUILD TO
set -eu
build=$(realpath "$1")
mkdir -p "$2/binnacle/native/bin" "$2/binnacle/native/lib" "$2/binnacle/native/share/binnacle"
to=$(realpath "$2")/binnacle
cp python/binnacle/*.py python/binnacle/*.pyi python/binnacle/py.typed "$to"
"${PYTHON:-python3}" python/abi.py include "$to/_abi.py"
ln -sf "$build/libbinnacle.so" "$to/native/lib/libbinnacle.so"
ln -sf "$build/binnacle" "$to/native/bin/binnacle"
ln -sfn "$PWD/data/cases" "$to/native/share/binnacle/cases"

#!/bin/sh
# python.sh: the Python package, staged beside the build, and its tests: with the first Python that has cffi, numpy and
# pytest. BN_TEST_LONG: also its types, and the notebooks.
. tests/cli_lib.subr
build=${BUILD:-build}
for python in python3 /usr/bin/python3; do
    "$python" -c 'import cffi, numpy, pytest' 2>/dev/null && break
    python=
done
if [ -z "$python" ]; then
    echo 'no Python with cffi, numpy and pytest: skipped'
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
# The library is not loaded into a Python without the sanitizers' runtime, which looks for C++'s when it starts.
runtime=
for sanitizer in $(echo "${SAN:-}" | tr , ' '); do
    [ "$sanitizer" != address ] || runtime="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libstdc++.so)"
done
ok 'the package is staged' env PYTHON="$python" sh python/stage.sh "$build" "$work/stage"
export PYTHONPATH="$work/stage" PYTHONDONTWRITEBYTECODE=1
${runtime:+env LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0} \
    "$python" -m pytest -q -p no:cacheprovider tests/python >"$work/out" 2>&1
code=$?
tail -n 60 "$work/out"
count() { tail -n 1 "$work/out" | grep -oE "[0-9]+ $1" | tr -cd 0-9; }
passed=$((passed + $(count passed || true) + 0))
failed=$((failed + $(count failed || true) + $(count error || true) + 0))
[ $code = 0 ] || [ $failed != 0 ] || failed=1
if [ -n "${BN_TEST_LONG:-}" ]; then
    if "$python" -c 'import mypy' 2>/dev/null; then
        ok 'its types' "$python" -m mypy --config-file python/pyproject.toml "$work/stage/binnacle"
    fi
    # As .ipynb, cell by cell, where Jupytext and a kernel are; else as scripts.
    jupytext=
    "$python" -c 'import jupytext, nbconvert, ipykernel' 2>/dev/null && jupytext=yes
    for notebook in python/notebooks/*.py; do
        if [ "$jupytext" ]; then
            ok "$notebook" "$python" -m jupytext --set-kernel python3 --to ipynb --execute -o "$work/notebook.ipynb" "$notebook"
        else
            ok "$notebook" env MPLBACKEND=Agg "$python" "$notebook"
        fi
    done
fi
finish

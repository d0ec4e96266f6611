#!/bin/sh
# report.sh: `devices --report` on PoCL: every self-test case with equal bits, a row of bench for each solver, the limits of the
# device; no paths and no user's name, also where a compiler names them.
. tests/cli_lib.subr

mkdir -p "$work/mortimer/cache" "$work/kernels"
cp kernels/*.cl "$work/kernels"
# A warning of the compiler with the user's name and a path in it.
sed -i '1i #warning "see /home/mortimer/secret/flow.h of mortimer"' "$work/kernels/flow.cl"
report()
{
    HOME=$work/mortimer USER=mortimer XDG_CACHE_HOME=$work/mortimer/cache BINNACLE_KERNEL_PATH=$work/kernels \
        "$BINNACLE" devices --report "$work/report.json" --quiet
}
expect 0 '10 of 10 self-tests passed' 'all self-tests pass' report
ok 'every case, row and limit is there' python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
device, = report["devices"]
assert device["device"]["extensions"] and device["device"]["driver"] and report["system"], report
tests = device["self_tests"]
assert len(tests) == 10 and all(t["verdict"] == "passed" and t["cases"] for t in tests), tests
assert all(c["equal"] and c["ulps"] == 0 and c["fields"] > 0 for t in tests for c in t["cases"]), tests
assert {r["solver"] for r in device["bench"]} == {"bpm", "flood", "flow", "maxwell", "xray"}, device["bench"]
assert all(r["trouble"] is None and r["seconds"] > 0 for r in device["bench"]), device["bench"]
assert device["limits"]["copy"] > 0, device
assert any("flow.h" in text for text in device["compiler_logs"].values()), device["compiler_logs"]' "$work/report.json"
ok 'no paths' sh -c '! grep -E "/home|/tmp|$1" "$2"' sh "$work" "$work/report.json"
ok 'no name' sh -c '! grep mortimer "$1"' sh "$work/report.json"
expect 1 'needs a value' 'a report needs a file' "$BINNACLE" devices --report
expect 6 'No such file' 'a folder that is not there' "$BINNACLE" devices --report "$work/none/report.json" --quiet
finish

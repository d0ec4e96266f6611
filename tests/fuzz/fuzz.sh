#!/bin/sh
# fuzz.sh PROGRAM: `make fuzz`: every parser, or those with ONLY in their name, for SECONDS each (60). PROGRAM is linked with
# libFuzzer, which looks for inputs that reach new lines; FUZZER=no: it is the plain test_fuzz, and SECONDS stand for
# thousands of mutants. What is found is kept in build/fuzz-findings.
set -u
program=$1 failed=0
found=$PWD/build/fuzz-findings
# HDF5 copies what lies behind damaged attributes: what that ends is a child (bn_hdf5_rehearse).
export ASAN_OPTIONS=suppressions=$PWD/tests/fuzz/hdf5.supp:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=9000:detect_odr_violation=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
for target in $(sed -n 's/^    { "\([a-z0-9]*\)", .*/\1/p' tests/fuzz/targets.c); do
    case $target in *"${ONLY:-}"*) ;; *) continue ;; esac
    if [ "${FUZZER:-}" = no ]; then
        "$program" "$target" $((1000 * ${SECONDS_EACH:-60})) || failed=$((failed + 1))
        continue
    fi
    corpus=$PWD/build/fuzz/corpus/$target # grows from one call to the next
    mkdir -p "$corpus" "$found"
    BN_FUZZ=$target BN_FUZZ_SEEDS=$corpus "$program" "$corpus" -max_total_time="${SECONDS_EACH:-60}" -timeout=5 \
        -rss_limit_mb=9000 -max_len=65536 -dict=tests/fuzz/words.dict -artifact_prefix="$found/$target-" -print_final_stats=1 \
        -verbosity=0 >"$corpus.log" 2>&1
    code=$?
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log") inputs, exit $code"
    [ $code = 0 ] || { failed=$((failed + 1)); tail -n 30 "$corpus.log"; }
done
echo "$failed parsers failed"
test $failed = 0

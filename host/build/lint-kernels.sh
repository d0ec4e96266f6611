#!/bin/sh
# lint-kernels.sh: compiles every kernel without a device, in both precisions, and reads it for what would break equal
# bits or portability.
#   sh lint-kernels.sh [FILE.cl...]      all of kernels/ unless files are named
# BINNACLE: the program, which tells the constants of the solvers' self-test cases.
set -u
cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 0 ] || set -- kernels/*.cl kernels/studies/*.cl

clang=
for candidate in ${CLANG:-} clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
    version=$("$candidate" -dumpversion 2>/dev/null | cut -d . -f 1)
    if [ "${version:-0}" -ge 14 ]; then
        clang=$candidate
        break
    fi
done
if [ -z "$clang" ]; then
    echo 'lint: clang 14 or newer is needed to check kernels (package clang)' >&2
    exit 1
fi

# Files that a program has in front of this one (bn_program_build).
before()
{
    case $1 in
    */spectral.cl) echo '-include kernels/transform.cl -include kernels/columns.cl' ;;
    */cut_columns.cl) echo '-include kernels/columns.cl' ;;
    */flood_step.cl | */flow_newton.cl | */maxwell_anderson.cl | */maxwell_rows.cl | */xray_slabs.cl) echo "-include ${1%_*}.cl" ;;
    */bpm_lanes.cl) echo '-include kernels/bpm.cl' ;;
    */flow_step.cl) echo '-include kernels/transform.cl -include kernels/columns.cl -include kernels/flow.cl' ;;
    esac
}

# What the host injects (kernels/lib/index.h), for a box of a grid cut along y; and what it puts in front.
box='-DDIMS=2 -DNX=300 -DNY=40 -DNZ=1 -DHALO=1 -DPITCH=320 -DPLANE=13440 -DSLICE=13440 -DFIRST=336
     -DGNX=300 -DGNY=120 -DGNZ=1 -DSUM_BLOCKS_X=2 -DSUM_BLOCKS_Y=30 -DPARTIALS=60 -DTOTALS=60 -DPERIODIC_X=0 -DPERIODIC_Y=1
     -DTILE_X=64 -DTILE_Y=4 -DTILE_LAYERS=32'
single='-DREAL_BYTES=4 -DINDEX_BITS=32 -DHAS_FP64=0 -DHAS_INT64_ATOMICS=0 -DIS_CPU=0'
double='-DREAL_BYTES=8 -DINDEX_BITS=64 -DHAS_FP64=1 -DHAS_INT64_ATOMICS=1 -DIS_CPU=1'
# The single build is for the least device there is: no fp64, no 64-bit atomics.
least='-Xclang -cl-ext=-cl_khr_fp64,-cl_khr_int64_base_atomics,-cl_khr_int64_extended_atomics,-cl_khr_fp16'
prelude=$(sed -n 's/^BN_PRELUDE("\(.*\)").*/-include \1/p' host/device/prelude.def)


failed=0 compiled=0
compile()
{
    # shellcheck disable=SC2046,SC2086 # lists of options
    "$clang" -x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra \
        -Wdouble-promotion -Wshadow -Werror "$@" $box $prelude $(before "$file") "$file" || failed=$((failed + 1))
    compiled=$((compiled + 1))
}

# Barriers of the build for CPUs (barriers.awk), but for those of kernels that PoCL 3.1, 5.0 and 6.0 were seen to take.
# spectral_columns was seen on 3.1 and 5.0 alone, spectral_rows and flow_newton_... on 3.1; of those that only tests run
# on a CPU, bpm_steps, flow_step and spectral_solve on 3.1, maxwell_both on 3.1 and 5.0.
taken=' bpm_crank_nicolson bpm_half_step bpm_steps cg_products_dot cg_products_norm maxwell_both maxwell_fused maxwell_anderson_gram_sum spectral_columns spectral_rows spectral_solve flow_step flow_newton_panel flow_newton_substitute '
llvm=$(mktemp) constants=$(mktemp)
trap 'rm -f "$llvm" "$constants"' EXIT
look_at_barriers()
{
    # shellcheck disable=SC2046,SC2086 # lists of options
    if ! "$clang" -x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -O1 -fno-unroll-loops -w -S \
        -emit-llvm -o "$llvm" "$@" $box $prelude $(before "$file") "$file" ||
        ! awk -v allowed="$taken" -f host/build/barriers.awk "$llvm"; then
        echo "lint: $file" >&2
        failed=$((failed + 1))
    fi
}

# Of bpm: steps along z in one launch.
several_steps_of()
{
    [ "$name" = bpm ] || return 0
    "${BINNACLE:-build/binnacle}" check data/cases/bpm/selftest-square.toml --defines --set solver.launches=one \
        --set "case.precision=$1" | tr '\n' ' ' && echo
}

# The constants of a solver's kernels are those of its self-test cases; of the others, one line a variant.
# shellcheck disable=SC2086 # $wish is words
constants_of()
{
    name=${1##*/}
    name=${name%.cl}
    wish=
    case $name in flood_step | flow_newton | bpm_lanes | maxwell_anderson | maxwell_rows | xray_slabs | spectral_lines) name=${name%%_*} ;; esac
    [ "$name" != flow_step ] || { name=flow && wish='--set solver.launches=one'; }
    for case in data/cases/"$name"/selftest*.toml data/studies/"$name"/selftest*.toml; do
        [ -z "$wish" ] || [ "${case##*/}" = selftest-step.toml ] || continue
        [ ! -f "$case" ] || "${BINNACLE:-build/binnacle}" check "$case" --defines $wish --set "case.precision=$2" | tr '\n' ' ' && echo
    done | LC_ALL=C sort -u | grep . && several_steps_of "$2" && return
    awk -v name="$name" '$1 == name { sub(/^[^ ]+ */, ""); print; found = 1 } END { exit !found }' host/build/lint-kernels.txt ||
        echo ' '
}

for file; do
    case ${file##*/} in transform.cl | columns.cl | flood.cl | xray.cl) continue ;; esac # whose functions the files behind them need
    [ -f "$file" ] || continue
    for precision in single double; do
        constants_of "$file" $precision >"$constants"
        while IFS= read -r variant; do
            # shellcheck disable=SC2086 # lists of options
            if [ $precision = single ]; then
                compile $single $least $variant
            else
                compile $double $variant
                look_at_barriers $double $variant
            fi
        done <"$constants"
    done
done

texts=$(for file; do [ ! -f "$file" ] || echo "$file"; done)
# Words that do not belong into kernel text, outside comments. Literals stand inside REAL() and get the build's type.
awk '
    function report(why) { printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"; bad++ }
    FNR == 1 { comment = 0 }
    {
        text = $0
        code = ""
        while (text != "") {
            if (comment) {
                at = index(text, "*/")
                if (!at) break
                text = substr(text, at + 2); comment = 0
            } else {
                line = index(text, "//"); block = index(text, "/*")
                if (line && (!block || line < block)) { code = code substr(text, 1, line - 1); break }
                if (!block) { code = code text; break }
                code = code substr(text, 1, block - 1) " "
                text = substr(text, block + 2); comment = 1
            }
        }
        code = " " code " "
        if (code ~ /[^A-Za-z0-9_]mad *\(/) report("mad() rounds as the device likes; write fma() or a * b + c")
        if (code ~ /[^A-Za-z0-9_](native|half)_[a-z0-9]+ *\(/) report("native_ and half_ differ from device to device")
        if (code ~ /[^A-Za-z0-9_]printf *\(/) report("printf in a kernel")
        if (code ~ /# *include/) report("kernels are one text: no #include at run time")
        if (FILENAME != "kernels/lib/real.h") {
            if (code ~ /[^A-Za-z0-9_](float|double)[0-9]*[^A-Za-z0-9_]/) report("say real, real2 or acc")
            gsub(/REAL\([^()]*\)/, "", code)
            if (code ~ /[^A-Za-z0-9_.]([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+[eE][-+]?[0-9])/)
                report("a floating literal outside REAL()")
        }
    }
    END { exit bad > 0 }
' $texts kernels/lib/*.h || failed=$((failed + 1))

echo "kernels: $compiled builds without a device, $failed with findings"
[ $failed = 0 ]

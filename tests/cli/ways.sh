#!/bin/sh
# ways.sh: the two ways through the house that docs/architecture.md lists, from a number of the case to the kernel and from the
# kernel to a picture, are the ways that there are: every file is there, each calls one before it, is called by it or shares a
# header with it, and no other file knows the number.
. tests/cli_lib.subr
build=${BUILD:-build}
book=docs/architecture.md

# files_of HEADING: the paths in backticks of the numbered list below a heading.
files_of()
{
    awk -v heading="$1" '/^#/ { here = index($0, heading) } here && /^[0-9]+\. / && match($0, /`[^`]*`/) {
        print substr($0, RSTART + 1, RLENGTH - 2) }' "$book"
}

# Symbols that an object defines, or needs; a reference has two objects.
symbols()
{
    for object in "$build/obj/${2%.c}".o "$build/obj/${2%.c}"_single.o; do
        [ ! -f "$object" ] || nm "$object"
    done | awk -v what="$1" '{ type = $(NF - 1) } what == "needs" ? type == "U" : type ~ /^[TDRBCV]$/ { print $NF }' | LC_ALL=C sort -u
}

# Whether one of two files calls or reads the other: by symbols, by an include, or by a kernel's name.
are_neighbours()
{
    case $1$2 in
    *.cl* | *.h* | *.def*)
        name=$(basename "$2")
        other=$(basename "$1")
        grep -q -- "$name" "$1" || grep -q -- "$other" "$2" ||
            sed -n 's/^kernel void \([a-z_A-Z0-9]*\).*/\1/p' "$1" "$2" 2>/dev/null | grep -qFf - -- "$1" "$2"
        return
        ;;
    esac
    symbols defines "$1" >"$work/a" && symbols needs "$2" >"$work/b"
    symbols defines "$2" >"$work/c" && symbols needs "$1" >"$work/d"
    [ -n "$(LC_ALL=C comm -12 "$work/a" "$work/b")$(LC_ALL=C comm -12 "$work/c" "$work/d")" ] ||
        includes "$1" | grep -qxF -f - "$work/included"
}

# The headers of its own room that a file includes.
includes() { sed -n 's/^#include "\(.*\)"$/\1/p' "$1" | sed 's|.*/||' | grep -v '^binnacle' | sort -u; }

# Whether a file is a neighbour of one of those before it, in $work/before.
is_connected()
{
    case $1 in *.c) includes "$1" ;; esac >"$work/included"
    while IFS= read -r other; do
        are_neighbours "$other" "$1" && return 0
    done <"$work/before"
    return 1
}

# way HEADING MOST: the list below a heading.
way()
{
    files_of "$1" >"$work/way"
    count=$(wc -l <"$work/way")
    ok "$1: $count files, at most $2" test "$count" -gt 3 -a "$count" -le "$2"
    : >"$work/before"
    while IFS= read -r file; do
        ok "$1: $file is there" test -f "$file"
        [ ! -s "$work/before" ] || ok "$1: $file is connected with one before it" is_connected "$file"
        echo "$file" >>"$work/before"
    done <"$work/way"
}

way "From the case to the kernel" 9
# Whoever names flow's viscosity is on the way, other than to measure it or, in Newton's method, to begin with more of it.
grep -lE 'fluid\.viscosity|[.>]nu\b|\bNU(_[A-Z]+)?\b' src/solvers/flow/*.[ch] src/numerics/*.[ch] kernels/*.cl kernels/lib/*.h 2>/dev/null |
    grep -v 'measure\|_reference\|_newton' >"$work/knows"
while IFS= read -r file; do
    ok "flow's viscosity: $file is on the way" grep -qxF "$file" "$work/way"
done <"$work/knows"
way "From the kernel to the picture" 11
finish

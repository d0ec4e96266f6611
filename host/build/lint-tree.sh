#!/bin/sh
# lint-tree.sh [rules]: what compilers do not check: who includes what, names, line lengths, and, unless the rules alone
# are asked for, scripts and static analysis where the tools are present.
set -u
cd "$(dirname "$0")/../.." || exit 1
findings=0

# Prints what it reads under a title; anything at all is a finding.
report()
{
    lines=$(cat)
    [ -n "$lines" ] || return 0
    findings=$((findings + $(printf '%s\n' "$lines" | wc -l)))
    printf '%s:\n%s\n' "$1" "$lines" | sed '2,$s/^/  /' >&2
}

sources=$(find host src include tests -name '*.[ch]' -o -name '*.cpp' | LC_ALL=C sort)
kernels=$(find kernels tests -name '*.cl' | LC_ALL=C sort)
program=$(printf '%s\n' "$sources" | grep -v '^tests/')
c_files=$(printf '%s\n' "$sources" | grep '\.c$')
scripts=$(find host tests .ci -name '*.sh' -o -path .ci/run | LC_ALL=C sort)

report 'file names are unique in the tree, these are not' <<EOF
$(printf '%s\n' "$c_files" | sed 's|.*/||' | sort | uniq -d)
EOF

report 'types of one name in two places' <<EOF
$(for file in $program; do
    grep -oE '^(typedef (struct|enum|union) bn_[a-z0-9_]+ \{|struct bn_[a-z0-9_]+ \{|\} bn_[a-z0-9_]+;)' \
        "$file" | grep -oE 'bn_[a-z0-9_]+' | sort -u | sed "s|$| $file|"
done | awk '{ at[$1] = at[$1] " " $2; count[$1]++ } END { for (n in count) if (count[n] > 1) print n ":" at[n] }' | sort)
EOF

report 'structs of more than 30 members' <<EOF
$(printf '%s\n' "$program" | xargs awk -v most=30 -f host/build/lint-structs.awk)
EOF

report 'kernels that tell CPUs from GPUs outside kernels/lib' <<EOF
$(grep -nE 'IS_CPU|POCL_' kernels/*.cl kernels/studies/*.cl 2>/dev/null)
EOF

report 'names that docs/glossary.md has other words for' <<EOF
$(find host src include kernels -name '*.[ch]' -o -name '*.cl' -o -name '*.cpp' | LC_ALL=C sort |
    LC_ALL=C xargs awk -f host/build/lint-names.awk)
EOF

report 'includes that leave their folder' <<EOF
$(grep -n '#include "\.\./' $sources)
EOF

report 'these rooms know no library but C'\''s own (formats: src/io, units and TOML: src/case, OpenCL: host)' <<EOF
$(find src/numerics src/solvers src/studies -name '*.[ch]' ! -name parallel_rows.c -exec grep -Hn '#include <' {} + |
    grep -Ev '<(assert|complex|ctype|errno|float|inttypes|limits|math|stdarg|std(atomic|bool|def|int|io|lib)|string|tgmath)\.h>')
EOF

report 'functions that the house does without' <<EOF
$(grep -nE '(^|[^A-Za-z0-9_])(gets|strcpy|sprintf|vsprintf|strtok|setlocale) *\(' $program)
EOF

report 'marks of unfinished work' <<EOF
$(grep -nwE "TO""DO|FIX""ME|XX""X" $sources Makefile $scripts)
EOF

report 'lines longer than 120 columns' <<EOF
$(LC_ALL=C.UTF-8 awk 'length($0) > 120 { printf "%s:%d: %d\n", FILENAME, FNR, length($0) }' $sources $kernels)
EOF

report 'white space at the end of lines, or tabs' <<EOF
$(grep -nE '[[:space:]]$|	' $sources)
EOF

if [ "${1:-}" = rules ]; then
    echo "tree: $findings findings"
    [ "$findings" = 0 ]
    exit
fi

if command -v shellcheck >/dev/null; then
    report 'shellcheck' <<EOF
$(shellcheck -f gcc -S warning -e SC2154,SC2125,SC3045 $scripts 2>&1)
EOF
fi

if command -v cppcheck >/dev/null; then
    report 'cppcheck' <<EOF
$(cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --suppress=missingInclude \
    --suppress=toomanyconfigs --suppress=missingIncludeSystem --suppress=unmatchedSuppression -Iinclude -Ihost -Isrc \
    --template='{file}:{line}: {severity}: {message} [{id}]' -j "$(getconf _NPROCESSORS_ONLN)" host src 2>&1)
EOF
fi

if command -v clang-format >/dev/null; then
    unformatted=$(for file in $sources; do
        clang-format --dry-run -Werror "$file" >/dev/null 2>&1 || echo "$file"
    done | wc -l)
    echo "format: clang-format would change $unformatted of $(printf '%s\n' "$sources" | wc -l) files (make format)"
fi

echo "tree: $findings findings"
[ "$findings" = 0 ]

#!/bin/sh
# lint-physics.sh: every key of every solver that changes results is held to a number by a test. Keys and choices are what
# `binnacle new SOLVER --all` prints of the schemas.
#   tests/physics/SOLVER.txt     section.key[=choice] TEST_FILE:test...   such as  boundary.left.kind=slip test_flow:walls
#   tests/physics/common.txt     the same, of keys that all solvers have
#   tests/physics/no-result.txt  [SOLVER/]section.key[=choice] why it changes no result
# A key with choices needs a line for each, and none without. `#` begins a comment. BINNACLE: the program.
set -u
cd "$(dirname "$0")/../.." || exit 1
binnacle=${BINNACLE:-build/binnacle}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# "K key", or "K key=choice" for each of its choices, of the schema of solver $1.
keys()
{
    "$binnacle" new "$1" --all | awk '
        function flush()
        {
            sub(/^required, /, "", comment)
            if (key != "" && comment !~ /^true \| false/ && match(comment, /^[a-z0-9_-]+( \| [a-z0-9_-]+)+/)) {
                n = split(substr(comment, 1, RLENGTH), choice, / \| /)
                for (i = 1; i <= n; i++)
                    print "K", key "=" choice[i]
            } else if (key != "") {
                print "K", key
            }
            key = ""
        }
        /^(# )?\[+[a-z0-9_.]+\]+$/ { flush(); gsub(/[][# ]/, ""); table = $0; next }
        /^ +# / { sub(/^ +# /, ""); comment = comment " " $0; next }
        /^(# )?[a-z0-9_]+ += / {
            flush()
            sub(/^# /, "")
            key = table "." $1
            comment = substr($0, index($0, " # ") + 3)
        }
        END { flush() }'
}

# "T FILE test" for every test there is.
find tests -name 'test_*.c' -exec grep -HoE '^(LOOP_)?TEST\([A-Za-z0-9_]+' {} + |
    sed 's|^.*/\([^/]*\)\.c:[A-Z_]*(\(.*\)$|T \1 \2|' >"$work/tests"

for solver in $("$binnacle" new | awk '{ print $1 }'); do
    keys "$solver" >"$work/keys"
    [ -s "$work/keys" ] || echo "$solver: no keys in \`$binnacle new $solver --all\`"
    awk -v solver="$solver" '
        FILENAME ~ /\/tests$/ { test[$2 ":" $3] = 1; next }
        FILENAME ~ /\/keys$/ { is[$2] = 1; sub(/=.*/, "", $2); is_key[$2] = 1; next }
        /^ *(#|$)/ { next }
        FILENAME ~ /no-result.txt$/ {
            if (NF < 2)
                printf "%s:%d: %s: no reason\n", FILENAME, FNR, $1
            key = $1
            if (sub("^" solver "/", "", key) && !(key in is) && !(key in is_key))
                printf "%s:%d: %s has no key %s\n", FILENAME, FNR, solver, key
            free[key] = 1
            next
        }
        {
            if (!($1 in is) && FILENAME !~ /common.txt$/)
                printf "%s:%d: %s is no key of %s%s\n", FILENAME, FNR, $1, solver, $1 in is_key ? " without its choice" : ""
            if (NF < 2)
                printf "%s:%d: %s: no test\n", FILENAME, FNR, $1
            for (i = 2; i <= NF; i++) {
                name = $i
                sub(/^.*\//, "", name)
                sub(/\.c:/, ":", name)
                if (!(name in test))
                    printf "%s:%d: there is no test %s\n", FILENAME, FNR, $i
            }
            held[$1] = 1
        }
        END {
            for (k in is) {
                key = k
                sub(/=.*/, "", key)
                if (!(k in held) && !(k in free) && !(key in free))
                    printf "tests/physics/%s.txt: no test of %s\n", solver, k
            }
        }' "$work/tests" "$work/keys" tests/physics/no-result.txt tests/physics/common.txt \
        "$(ls tests/physics/"$solver".txt 2>/dev/null || echo /dev/null)" | LC_ALL=C sort -u
done >"$work/findings"
findings=$(LC_ALL=C sort -u "$work/findings" | tee /dev/stderr | wc -l)
echo "physics: $findings findings"
[ "$findings" = 0 ]

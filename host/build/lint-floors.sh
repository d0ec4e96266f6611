#!/bin/sh
# lint-floors.sh OBJ: calls and includes go down only. Floors of host/ and rooms of src/ stand in an order; an include or
# an undefined symbol of an object (in OBJ, build/obj) that names a file of a higher floor is an arrow that runs up. Within
# a floor of host/ the includes of files, .c and .h of one name taken together, form no circle; nor do the headers within a
# room of src/. Prints every arrow that is wrong.
set -u
obj=${1:-build/obj}
[ -d "$obj/host" ] || { echo "lint-floors: no objects in $obj" >&2; exit 2; }

# The order. Headers in host/api belong to the floor whose files define what they declare.
sources=$(find host src -name '*.[ch]' -o -name '*.cpp' | LC_ALL=C sort)
rules='
function room(f,   p)
{
    if (f ~ /^host\/api\//)
        return f ~ /\/(device|embedded_files|no_cl|ranks|limits|parallel_rows)\.h$/ ? "device" : f ~ /\/(domain|field|device_array|program)\.h$/ ? "grid" \
             : f ~ /\/(migrate|repartition)\.h$/ ? "parallel" : "launch"
    split(f, p, "/")
    return p[2]
}
function side(f) { return f ~ /^host\// ? "host" : f ~ /^src\// ? "src" : "" }
# Rooms that a room may use, itself aside; all that these may use follows.
function downs(r)
{
    return r == "parallel" ? "launch" : r == "launch" ? "comm" : r == "comm" ? "grid" : r == "grid" ? "device" \
         : r == "cli" ? "bench" : r == "bench" ? "run studies" : r == "run" ? "output" : r == "output" ? "plot sim" : r == "sim" ? "io case numerics" \
         : r == "plot" ? "io" : r == "solvers" ? "sim numerics" : r == "studies" ? "solvers" : ""
}
function allowed(from, to,   n, d, i)
{
    if (from == to)
        return 1
    n = split(downs(from), d, " ")
    for (i = 1; i <= n; i++)
        if (allowed(d[i], to))
            return 1
    return 0
}
# The registry of src/sim lists the tables of solvers and studies: data, which no call of sim names.
function wrong(from, to, what)
{
    if (side(from) == "" || side(to) == "")
        return 0
    if (side(from) == "host")
        return side(to) == "src" || !allowed(room(from), room(to))
    if (side(to) == "host")
        return 0
    return !allowed(room(from), room(to)) && !(from == "src/sim/registry.c" && what ~ /^bn_solver_/)
}'

# "from to" for every include of a file of the tree: beside the file, or from one of the folders that rooms are links to.
includes()
{
    {
        find host src include -name '*.[ch]' -o -name '*.cpp' | sed 's/^/F /'
        grep -H '^#include "' $sources | sed 's/:#include "\([^"]*\)".*/ \1/; s/^/I /'
    } | LC_ALL=C sort | awk '
        $1 == "F" { there[$2] = 1 }
        $1 == "I" {
            dir = $2
            sub(/[^\/]*$/, "", dir)
            n = split(dir " host/ src/ include/", d, " ")
            for (i = 1; i <= n; i++)
                if ((d[i] $3) in there) {
                    print $2, d[i] $3
                    break
                }
        }'
}

# "from to symbol" for every undefined symbol of an object that another object defines.
calls()
{
    for f in $sources; do
        base=$obj/${f%.*}
        for o in "$base.o" "${base}_single.o" "${base}_double.o"; do
            case $f in *.h) ;; *) [ ! -f "$o" ] || echo "$o" ;; esac
        done
    done | xargs nm -AP | sed "s|^$obj/||" | awk '
        {
            name = $1
            sub(/\.o:$/, "", name)
            sub(/_(single|double)$/, "", name)
        }
        $3 == "U" { used[++n] = name " " $2 }
        $3 ~ /^[TDBRVW]$/ { defined[$2] = name }
        END {
            for (i = 1; i <= n; i++) {
                split(used[i], u, " ")
                if (u[2] in defined && defined[u[2]] != u[1])
                    print u[1] ".c", defined[u[2]] ".c", u[2]
            }
        }'
}

list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
includes > "$list"
found=$(
    awk "$rules"'
        wrong($1, $2, "") { printf "%s includes %s: %s is above %s, or beside it\n", $1, $2, room($2), room($1) }' "$list"
    calls | awk "$rules"'
        wrong($1, $2, $3) { printf "%s calls %s of %s: %s is above %s, or beside it\n", $1, $3, $2, room($2), room($1) }'
    # Circles: nodes are files without their ending, edges the includes within a room; nodes that nothing in the rest
    # needs, or that need nothing of the rest, go one by one; what is left are circles and what lies between them.
    sed '/^src.*\.c /d; s/\.[a-z]* / /; s/\.[a-z]*$//' "$list" | awk "$rules"'
        $1 != $2 && $1 !~ /^host\/api\// && $2 !~ /^host\/api\// && side($1) == side($2) && room($1) == room($2) {
            if (!(($1, $2) in seen)) { seen[$1, $2] = 1; from[++n] = $1; to[n] = $2 }
        }
        END {
            do {
                changed = 0
                split("", needs); split("", needed)
                for (i in from) { needs[from[i]] = 1; needed[to[i]] = 1 }
                for (i in from)
                    if (!(from[i] in needed) || !(to[i] in needs)) { delete from[i]; delete to[i]; changed = 1 }
            } while (changed)
            for (i in from)
                printf "%s includes %s, which includes it in a circle\n", from[i], to[i]
        }' | LC_ALL=C sort
)
[ -n "$found" ] || exit 0
printf '%s\n' "$found" >&2
exit 1

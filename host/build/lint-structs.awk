# lint-structs.awk: structs of more than MOST members, each declared name counted, those of a struct within it as one.
#   awk -v most=30 -f lint-structs.awk FILE...      prints FILE:LINE: how many
FNR == 1 { depth = inside = comment = 0 }
{
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "", line)
    if (comment && !sub(/^.*\*\//, "", line))
        next
    comment = 0
    while (match(line, /\/\*/)) {
        end = index(substr(line, RSTART), "*/")
        if (!end) { comment = 1; line = substr(line, 1, RSTART - 1); break }
        line = substr(line, 1, RSTART - 1) " " substr(line, RSTART + end + 1)
    }
    if (!inside && line ~ /(^|[^a-z_])struct( [a-z_A-Z0-9]+)? *\{/) {
        inside = 1; depth = members = round = 0; at = FNR
        sub(/^.*struct[^{]*/, "", line)
    }
    for (i = 1; inside && i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "{") depth++
        if (c == "(") round++
        if (c == ")") round--
        if ((c == ";" || c == ",") && depth == 1 && !round) members++
        if (c == "}" && !--depth) {
            inside = 0
            if (members > most) printf "%s:%d: %d members\n", FILENAME, at, members
        }
    }
}

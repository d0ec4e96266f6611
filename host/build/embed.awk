# embed.awk: turns texts into a C file of string tables.
#   awk -f embed.awk table=NAME FILE... table=NAME FILE... > embedded.c
# Each table is an array of bn_embedded (host/api/embedded_files.h) and ends with a NULL name. A self-test case
# data/cases/flow/selftest.toml (or data/studies/...) is called selftest/flow.toml, another one selftest-heat.toml beside it
# selftest/flow/heat.toml; every other file keeps its path.

function c_text(line)
{
    gsub(/\\/, "&&", line) # the portable way to double it
    gsub(/"/, "\\\"", line)
    gsub(/\?/, "\\?", line) # two in a row would begin a trigraph
    gsub(/\t/, "\\t", line)
    return "\"" line "\\n\""
}

function name_of(path,    part)
{
    if (path !~ /\/selftest(-[^\/]*)?\.toml$/)
        return path
    split(path, part, "/")
    sub(/^selftest-?/, "", part[4])
    return "selftest/" part[3] (part[4] == ".toml" ? "" : "/") part[4]
}

function end_table()
{
    if (open)
        print "    { NULL, NULL },\n};"
    open = 0
}

BEGIN {
    print "/* Made by host/build/embed.awk from the files it names. */"
    print "#include \"device/embedded.h\"\n#include <stddef.h>"
    for (i = 1; i < ARGC; i++) {
        if (ARGV[i] ~ /^table=/) {
            end_table()
            printf "\nconst bn_embedded %s[] = {\n", substr(ARGV[i], 7)
            open = 1
            continue
        }
        printf "    { \"%s\",\n", name_of(ARGV[i])
        lines = 0
        while ((status = (getline line < ARGV[i])) > 0) {
            print "      " c_text(line)
            lines++
        }
        if (status < 0) {
            print "embed.awk: cannot read " ARGV[i] > "/dev/stderr"
            exit 1
        }
        close(ARGV[i])
        print (lines ? "    }," : "      \"\" },")
    }
    end_table()
}

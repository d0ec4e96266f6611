#!/bin/sh
# man.sh: the manual page, from what the program says of itself.
#   sh man.sh build/binnacle > binnacle.1
set -eu
program=$1
version=$("$program" --version | sed -n '1s/^binnacle //p')

# Text as it stands: hyphens and backslashes are not for troff, nor are dots and quotes at the beginning of a line.
plain()
{
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
}

section() # TITLE, then text
{
    printf '.SH %s\n.nf\n' "$1"
    plain
    echo .fi
}

printf '.TH BINNACLE 1 "" "binnacle %s" "User Commands"\n' "$version"
printf '.SH NAME\nbinnacle \\- physics solvers for any OpenCL device\n'
printf '.SH SYNOPSIS\n.B binnacle\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n'
"$program" --help | sed 1d | section DESCRIPTION
"$program" --help | sed -n 's/^  binnacle \([a-z]*\) .*/\1/p' | while read -r command; do
    "$program" "$command" --help | sed '/^Exit: /,$d' | section "binnacle $command" | sed 's/^\(\.SH \)\(.*\)/\1"\2"/'
done

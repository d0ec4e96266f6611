#!/bin/sh
# installed.sh: the library as its users have it: installed, found by pkg-config, the examples compiled against it and run; and
# what it exports is what its headers declare.
. tests/cli_lib.subr
b=$BINNACLE
build=${BUILD:-build}
prefix=$work/usr

# What `make install` makes beside the build.
mkdir "$work/build"
for file in "$build"/binnacle "$build"/binnacle-mpi.so "$build"/libbinnacle.*; do
    [ ! -e "$file" ] || ln -s "$(realpath "$file")" "$work/build/$(basename "$file")"
done
sh packaging/man.sh "$b" "$work/build/man"
for shell in bash zsh fish; do
    "$b" completion $shell >"$work/build/binnacle.$shell"
done

DESTDIR='' PREFIX=$prefix BUILD=$work/build VERSION=$(sed -n 's/^VERSION := //p' Makefile) SOVERSION=$(sed -n 's/^SOVERSION := //p' Makefile) \
    LIBS='' expect 0 'Installed' 'install' sh host/build/install.sh install
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
expect 0 '^-I.*-lbinnacle' 'pkg-config knows it' pkg-config --cflags --libs binnacle

nm -D --defined-only "$prefix/lib/libbinnacle.so" | awk '{ print $3 }' | LC_ALL=C sort >"$work/exported"
# Declarations stand at the beginning of a line; comments are taken out first.
sed -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$prefix"/include/binnacle/*.h |
    grep -oE '(^|[ *])bn_[a-z0-9_]+\(' | tr -d ' *(' | LC_ALL=C sort -u >"$work/declared"
ok 'it exports what its headers declare, and nothing else' diff "$work/declared" "$work/exported"
# Examples and the Python package are tested as well.
untested=$(while read -r name; do grep -rqw --include='*.[ch]' --include='*.py' --include='*.cpp' "$name" tests examples python || echo "$name"; done \
    <"$work/declared")
ok "each of them is tested: $untested" test -z "$untested"
ok '... which is something' test "$(wc -l <"$work/exported")" -gt 50

for example in examples/*.c; do
    name=$(basename "$example" .c)
    # shellcheck disable=SC2046 # words
    ok "$name compiles without warnings" ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$work/$name" "$example" \
        $(pkg-config --cflags --libs binnacle) -lm
    case=$(sed -n 's|^ \*   \./[a-z_]* \(data/[^ ]*\).*|\1|p' "$example" | tail -n 1)
    expect 0 . "... and runs on $case" "$work/$name" "$case"
done

# The same interface from C++.
cat >"$work/version.cpp" <<'END'
#include <binnacle/binnacle.h>
#include <binnacle/flood.h>
#include <cstring>
int main()
{
    bn_context *context = nullptr;
    const bool made = bn_context_create(nullptr, &context) == BN_OK && std::strlen(bn_version()) > 0;
    bn_context_destroy(&context);
    return made ? 0 : 1;
}
END
# shellcheck disable=SC2046 # words
ok 'a C++ program compiles' ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror -o "$work/version" "$work/version.cpp" \
    $(pkg-config --cflags --libs binnacle)
ok '... and runs' "$work/version"
finish

#!/bin/sh
# install.sh: puts program, libraries, headers and cases below DESTDIR/PREFIX and keeps a list of them there; takes away
# what the list names and nothing else.
#   DESTDIR= PREFIX=/usr/local BUILD=build VERSION=0.1.0 SOVERSION=0.1 LIBS=... sh install.sh install|uninstall
set -eu
root=$DESTDIR$PREFIX
list=share/binnacle/installed.txt

# put MODE FILE PLACE: copies a file and enters it into the list.
put()
{
    mkdir -p "$root/$(dirname "$3")"
    cp -f "$2" "$root/$3.new"
    chmod "$1" "$root/$3.new"
    mv -f "$root/$3.new" "$root/$3"
    echo "$3" >>"$root/$list"
}

# put_link TARGET PLACE
put_link()
{
    ln -sf "$1" "$root/$2"
    echo "$2" >>"$root/$list"
}

remove()
{
    [ -f "$root/$list" ] || return 0
    sort -ru "$root/$list" | while IFS= read -r place; do
        rm -f "$root/$place"
        folder=$(dirname "$place")
        # Folders of ours go when they are empty; bin, lib and the like belong to others.
        while case $folder in */binnacle | */binnacle/*) true ;; *) false ;; esac; do
            rmdir "$root/$folder" 2>/dev/null || break
            folder=$(dirname "$folder")
        done
    done
}

case $1 in
install)
    remove # an older version may have had other files
    mkdir -p "$root/share/binnacle"
    echo "$list" >"$root/$list"
    put 755 "$BUILD/binnacle" bin/binnacle
    put 644 "$BUILD/libbinnacle.a" lib/libbinnacle.a
    put 755 "$BUILD/libbinnacle.so.$VERSION" "lib/libbinnacle.so.$VERSION"
    put_link "libbinnacle.so.$VERSION" "lib/libbinnacle.so.$SOVERSION"
    put_link "libbinnacle.so.$SOVERSION" lib/libbinnacle.so
    [ ! -f "$BUILD/binnacle-mpi.so" ] || put 755 "$BUILD/binnacle-mpi.so" lib/binnacle/binnacle-mpi.so
    sed -e "s|@PREFIX@|$PREFIX|" -e "s|@VERSION@|$VERSION|" -e "s|@LIBS@|$LIBS|" host/build/binnacle.pc.in \
        >"$BUILD/binnacle.pc"
    put 644 "$BUILD/binnacle.pc" lib/pkgconfig/binnacle.pc
    for file in include/binnacle/*.h; do
        put 644 "$file" "$file"
    done
    find data/cases data/materials data/schemas -type f | LC_ALL=C sort | while IFS= read -r file; do
        put 644 "$file" "share/binnacle/${file#data/}"
    done
    for file in "$BUILD"/man/*.1; do
        put 644 "$file" "share/man/man1/$(basename "$file")"
    done
    put 644 "$BUILD/binnacle.bash" share/bash-completion/completions/binnacle
    put 644 "$BUILD/binnacle.zsh" share/zsh/site-functions/_binnacle
    put 644 "$BUILD/binnacle.fish" share/fish/vendor_completions.d/binnacle.fish
    echo "Installed $(wc -l <"$root/$list") files below $root"
    ;;
uninstall)
    if [ ! -f "$root/$list" ]; then
        echo "Binnacle is not installed below $root" >&2
        exit 1
    fi
    remove
    echo "Removed Binnacle from $root"
    ;;
esac

#!/bin/sh
# deps.sh: finds what Binnacle needs, installs what is missing where it can, and writes the compiler flags for make.
#   CC=... CXX=... DEPS=install|skip sh host/build/deps.sh build|run|test FILE
#
#   build   compilers, libraries, and some OpenCL device
#   run     also PoCL, the device that is always there
#   vendors also the compilers of `make vendors`
#   test    also Check, and the tools that tests and lint use
#   bundle  as build, and what packs a bundle
#
# FILE is rewritten only if it changes. This runs before there is any compiler, and costs a few milliseconds when all is
# there.
set -eu
level=$1 out=$2
CC=${CC:-cc} CXX=${CXX:-c++} DEPS=${DEPS:-install}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}
vendors=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
tried=$(dirname "$out")/deps-tried.txt # optional packages that could not be had, so that they are asked for only once

# Names for each distribution:  what  apt | dnf | pacman | brew
names='
cc             gcc libc6-dev       | gcc                | gcc                    | gcc
clang          clang               | clang              | clang                  | llvm
c++            g++                 | gcc-c++            | gcc                    | gcc
pkg-config     pkg-config          | pkgconf-pkg-config | pkgconf                | pkgconf
OpenCL         ocl-icd-opencl-dev  | ocl-icd-devel      | ocl-icd opencl-headers | opencl-icd-loader opencl-headers
libpng         libpng-dev          | libpng-devel       | libpng                 | libpng
cairo          libcairo2-dev       | cairo-devel        | cairo                  | cairo
udunits        libudunits2-dev     | udunits2-devel     | udunits                | udunits
jansson        libjansson-dev      | jansson-devel      | jansson                | jansson
zlib           zlib1g-dev          | zlib-devel         | zlib                   | zlib
libdeflate     libdeflate-dev      | libdeflate-devel   | libdeflate             | libdeflate
tomlplusplus   libtomlplusplus-dev | tomlplusplus-devel | tomlplusplus           | tomlplusplus
clFFT          libclfft-dev        | clFFT-devel        | clfft                  | clfft
kissfft-float  libkissfft-dev      | kiss-fft-devel     | kissfft                | kissfft
expat          libexpat1-dev       | expat-devel        | expat                  | expat
libtiff-4      libtiff-dev         | libtiff-devel      | libtiff                | libtiff
hdf5           libhdf5-dev         | hdf5-devel         | hdf5                   | hdf5
libcrypto      libssl-dev          | openssl-devel      | openssl                | openssl
geos           libgeos-dev         | geos-devel         | geos                   | geos
nlopt          libnlopt-dev        | NLopt-devel        | nlopt                  | nlopt
netcdf         libnetcdf-dev       | netcdf-devel       | netcdf                 | netcdf
check          check               | check-devel        | check                  | check
pocl           pocl-opencl-icd     | pocl               | pocl                   | pocl
rusticl        mesa-opencl-icd     | mesa-libOpenCL     | opencl-mesa            | mesa
oclgrind       oclgrind            | oclgrind           | oclgrind               | oclgrind
python         python3-cffi python3-numpy python3-pytest | python3-cffi python3-numpy python3-pytest | python-cffi python-numpy python-pytest | -
vtk            python3-vtk9 python3-numpy | python3-vtk python3-numpy | vtk python-numpy | vtk numpy
strace         strace              | strace             | strace                 | -
ocloc          intel-opencl-icd    | intel-ocloc        | intel-compute-runtime  | -
amd-libraries  rocm-device-libs clang-15 | rocm-device-libs | rocm-device-libs | -
patchelf       patchelf xz-utils   | patchelf xz        | patchelf xz            | patchelf xz
font           fonts-dejavu-core   | dejavu-sans-fonts  | ttf-dejavu             | font-dejavu
mpi            libopenmpi-dev openmpi-bin | openmpi-devel | openmpi          | open-mpi
'

# The packages that column $1 (2 apt, 3 dnf, 4 pacman, 5 brew) lists for the things named after it.
packages()
{
    column=$1
    shift
    for thing; do
        printf '%s\n' "$names" | awk -v thing="$thing" -v column="$column" '
            $1 == thing { sub(/^[^ ]+ +/, ""); n = split($0, part, /\|/); print part[column - 1] }'
    done | tr -s ' ' '\n' | grep -v '^-*$' | sort -u | tr '\n' ' ' | sed 's/ $//'
}

have()
{
    command -v "$1" >/dev/null 2>&1
}

# ------------------------------------------------------------------------------------------------ what is there
program='OpenCL libpng cairo udunits jansson zlib libdeflate tomlplusplus clFFT kissfft-float expat libtiff-4 hdf5 libcrypto geos nlopt'
libraries=$program
[ "$level" != test ] || libraries="$program check netcdf" # netCDF-C reads what the program writes

# Some systems ship these without a .pc file; then their usual header and library are tried.
plain_flags()
{
    case $1 in
    clFFT) plain_header=clFFT.h plain_libs=-lclFFT plain_cflags= ;;
    udunits) plain_header=udunits2.h plain_libs=-ludunits2 plain_cflags= ;;
    kissfft-float) plain_header=kissfft/kiss_fft.h plain_libs=-lkissfft-float plain_cflags=-Dkiss_fft_scalar=float ;;
    *) return 1 ;;
    esac
}

plain_library()
{
    plain_flags "$1" && have "${CC%% *}" || return 1
    printf '#include <%s>\nint main(void) { return 0; }\n' "$plain_header" |
        $CC -x c -DCL_TARGET_OPENCL_VERSION=120 -o /dev/null - $plain_libs >/dev/null 2>&1
}

# Sets `need` (without it nothing works) and `want` (some tests skip without it).
look()
{
    need='' want=''
    case $CC in *clang*) have "${CC%% *}" || need="$need clang" ;; *) have "${CC%% *}" || need="$need cc" ;; esac
    have "${CXX%% *}" || need="$need c++"
    if ! have "$PKG_CONFIG"; then
        need="$need pkg-config $libraries"
    elif ! $PKG_CONFIG --exists $libraries; then
        for library in $libraries; do
            $PKG_CONFIG --exists "$library" || plain_library "$library" || need="$need $library"
        done
    fi
    case $level in
    build | bundle) ls "$vendors"/*.icd >/dev/null 2>&1 || want="$want pocl" ;;
    *) ls "$vendors"/*pocl*.icd >/dev/null 2>&1 || want="$want pocl" ;;
    esac
    [ "$level" != bundle ] || ! have fc-match || fc-match -f '%{file}' 'DejaVu Sans' | grep -q DejaVuSans.ttf || need="$need font"
    [ "$level" != bundle ] || { have patchelf && have xz; } || need="$need patchelf"
    if [ "$level" = vendors ]; then
        have ocloc || want="$want ocloc"
        ls /usr/lib/*/amdgcn/bitcode/ocml.bc /usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/ocml.bc >/dev/null 2>&1 ||
            want="$want amd-libraries"
    fi
    [ "$level" = test ] || return 0
    ls "$vendors"/*rusticl*.icd >/dev/null 2>&1 || want="$want rusticl"
    have oclgrind || want="$want oclgrind"
    have strace || want="$want strace"
    { have mpicc && have mpirun; } || want="$want mpi"
    have clang || ls /usr/bin/clang-1[4-9] /usr/bin/clang-[2-9]? >/dev/null 2>&1 || want="$want clang"
    has_modules vtkmodules numpy || want="$want vtk"
    has_modules cffi numpy pytest || want="$want python"
}

# Whether one of the Pythons has all of these modules.
has_modules()
{
    for python in python3 /usr/bin/python3; do
        ! have "$python" || ! "$python" -c 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "$@" ||
            return 0
    done
    return 1
}

# ------------------------------------------------------------------------------------------------ what to do about it
apt()
{
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    fi
}

# explain THING...: the commands that install these things.
explain()
{
    cat >&2 <<EOF
  Debian, Ubuntu:  apt-get install $(packages 2 "$@")
  Fedora:          dnf install $(packages 3 "$@")
  Arch:            pacman -S $(packages 4 "$@")
  Homebrew:        brew install $(packages 5 "$@")
EOF
}

# Ends the build: $1 says why.
give_up()
{
    echo "$1 Missing:$need$want" >&2
    # shellcheck disable=SC2086 # one word a thing
    explain $need $want
    echo 'Install them and call make again, or go on without: make DEPS=skip' >&2
    exit 1
}

# Takes from `want` what could not be had before.
drop_tried()
{
    left=''
    for thing in $want; do
        grep -qx "$thing" "$tried" 2>/dev/null || left="$left $thing"
    done
    want=$left
}

install()
{
    drop_tried
    [ -n "$need$want" ] || return 0
    hindrance=''
    if ! have apt-get; then
        hindrance='This system has no apt-get; the packages have to be installed by hand.'
    elif [ "$(id -u)" != 0 ] && ! have sudo; then
        hindrance='Packages cannot be installed: neither root nor sudo.'
    fi
    if [ -n "$hindrance" ]; then
        [ -z "$need" ] || give_up "$hindrance"
        note_wanted
        return 0
    fi
    echo "Installing with apt-get: $(packages 2 $need $want)   (DEPS=skip leaves the system alone)"
    apt update -qq || echo "apt-get update failed; trying with the lists that are here" >&2
    # shellcheck disable=SC2046 # one word a package
    if ! apt install -y -qq --no-install-recommends $(packages 2 $need $want); then
        [ -z "$need" ] || apt install -y -qq --no-install-recommends $(packages 2 $need) || true
        for thing in $want; do
            apt install -y -qq --no-install-recommends $(packages 2 $thing) || true
        done
    fi
    look
    drop_tried
    [ -z "$need" ] || give_up 'The installation did not bring everything.'
    note_wanted
}

# Optional things that could not be had: said once, not asked for again.
note_wanted()
{
    [ -n "$want" ] || return 0
    # shellcheck disable=SC2086
    printf '%s\n' $want >>"$tried"
    echo "Not found, what needs it is skipped:$want" >&2
    # shellcheck disable=SC2086
    explain $want
}

# Intel's OpenCL for CPUs, which tests compare with the others, from Python's package index: no distribution has it. About 300 MB.
fetch_intel()
{
    folder=$(dirname "$out")/intel-opencl
    [ "$level" = test ] && [ "$(uname -m)" = x86_64 ] && [ ! -e "$folder/lib/libintelocl.so" ] || return 0
    [ -z "${BINNACLE_TEST_INTEL:-}" ] && ! grep -qx intel "$tried" 2>/dev/null || return 0
    have python3 && python3 -m pip --version >/dev/null 2>&1 || return 0
    echo "Fetching Intel's OpenCL for CPUs with pip into $folder, for tests (DEPS=skip: without it)"
    if ! python3 -m pip install -q --no-input --ignore-installed --prefix "$folder" intel-opencl-rt intel-cmplr-lib-rt >"$folder.log" 2>&1; then
        echo "That did not work ($folder.log); tests on it are skipped" >&2
        rm -rf "$folder"
        echo intel >>"$tried"
    fi
}

# ------------------------------------------------------------------------------------------------ flags for make
# flags cflags|libs LIBRARY...
flags()
{
    kind=$1
    shift
    if have "$PKG_CONFIG" && $PKG_CONFIG --exists "$@"; then
        $PKG_CONFIG "--$kind" "$@"
        return
    fi
    for library; do
        if have "$PKG_CONFIG" && $PKG_CONFIG --exists "$library"; then
            $PKG_CONFIG "--$kind" "$library"
        elif plain_flags "$library"; then
            [ "$kind" = libs ] && echo "$plain_libs" || echo "$plain_cflags"
        fi
    done | tr '\n' ' '
}

# versions LIBRARY...: "cairo 1.16.0, zlib 1.2.13", of all that tell theirs to pkg-config.
versions()
{
    for library; do
        version=$($PKG_CONFIG --modversion "$library" 2>/dev/null) && printf '%s %s, ' "$library" "$version"
    done | sed 's/, $//'
}

look
if [ -n "$need$want" ]; then
    if [ "$DEPS" = skip ]; then
        [ -z "$need" ] || echo "DEPS=skip: going on without$need" >&2
    else
        install
    fi
fi
[ "$DEPS" = skip ] || fetch_intel

cat >"$out.new" <<EOF
# Made by host/build/deps.sh
HOST_CFLAGS := $(flags cflags OpenCL clFFT kissfft-float)
CASE_CFLAGS := $(flags cflags tomlplusplus udunits)
FILE_CFLAGS := $(flags cflags libpng cairo jansson zlib libdeflate expat libtiff-4 hdf5 libcrypto geos nlopt)
MPICC := $(command -v mpicc || true)
DEP_VERSIONS := $(versions $program)
DEP_LIBS := $(flags libs $program)
EOF
[ "$level" != test ] || cat >>"$out.new" <<EOF
CHECK_CFLAGS := $(flags cflags check netcdf)
CHECK_LIBS := $(flags libs check netcdf)
EOF
if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi

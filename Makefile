# Builds Binnacle: `make help` lists what can be asked for. Sources are found by pattern: nothing has to be entered here
# for a new file.
#
# Three things happen before the first compile:
#   1. host/build/deps.sh looks for what is needed, installs it where it can, and writes flags to $(BUILD)/deps.mk;
#   2. make reads that file and starts over, so that one `make` is enough on an empty machine;
#   3. $(BUILD)/flags.txt changes when compiler or flags do, and everything depends on it.

ifeq ($(filter output-sync,$(.FEATURES)),)
$(error GNU make 4.0 or newer is needed; this is $(MAKE_VERSION))
endif

VERSION := 0.1.0
SOVERSION := 0.1

# ----------------------------------------------------------------------------------------------- what the user may set
PREFIX  ?= /usr/local
DESTDIR ?=
SAN     ?=
DEPS    ?= install
OPT     ?= -O2 -g
comma   := ,
BUILD   ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
ifeq ($(origin CXX),default)
# The C++ compiler that goes with the C compiler: cc c++, gcc-12 g++-12, clang-14 clang++-14.
CXX := $(foreach w,$(CC),$(if $(findstring clang,$w),$(subst clang,clang++,$w),$(if \
         $(findstring gcc,$w),$(subst gcc,g++,$w),$(patsubst cc,c++,$(patsubst %/cc,%/c++,$w)))))
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
ifneq ($(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),)
DRY_RUN := echo
endif
MAKEFLAGS += --no-builtin-rules --output-sync=target
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
endif
ifneq ($(V),1)
Q := @
say = @printf '  %-5s %s\n' $(1) $(2);
endif

# -------------------------------------------------------------------------------------------------------- dependencies
# The probe runs for every goal that compiles or runs something, never for `make -n`.
QUIET_GOALS := clean help format uninstall
GOALS := $(or $(MAKECMDGOALS),all)
LEVEL := $(if $(filter test test-long fuzz mutants lint% deps $(BUILD)/tests/% $(BUILD)/fuzz/%,$(GOALS)),test,$(if $(filter demo bench papers,$(GOALS)),run,$(if \
         $(filter bundle,$(GOALS)),bundle,$(if $(filter vendors,$(GOALS)),vendors,build))))
ifdef DRY_RUN
override DEPS := skip
endif

ifneq ($(filter-out $(QUIET_GOALS),$(GOALS)),)
include $(BUILD)/deps.mk
endif
$(BUILD)/deps.mk: FORCE
	@mkdir -p $(@D)
	+@CC='$(CC)' CXX='$(CXX)' DEPS='$(DEPS)' sh host/build/deps.sh $(LEVEL) $@

# --------------------------------------------------------------------------------------------------------------- flags
# Warnings of compilers newer than ours must not keep users from their program: errors only with WERROR=1, as .ci/run asks.
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wformat=2 -Wdouble-promotion \
            $(if $(filter-out 0,$(WERROR)),-Werror -Wno-error=deprecated-declarations)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
COMMON   := $(OPT) $(SANFLAGS) $(WARN) -ffp-contract=off -fPIC -fvisibility=hidden -pthread -MMD -MP
C_FLAGS   := -std=c11 $(COMMON) -Wstrict-prototypes -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 \
             $(CPPFLAGS) $(CFLAGS)
CXX_FLAGS := -std=c++17 $(COMMON) -fvisibility-inlines-hidden -DCL_TARGET_OPENCL_VERSION=120 $(CPPFLAGS) $(CXXFLAGS)
LD_FLAGS  := $(SANFLAGS) -pthread -Wl,--as-needed $(LDFLAGS)
LINK      := $(CXX) $(LD_FLAGS)
LIBS      := $(DEP_LIBS) $(LDLIBS) -lm

# Rebuild everything when any of this changes; the folder counts too, since the rooms are links into it.
STAMP := $(BUILD)/flags.txt
ROOMED := $(BUILD)/rooms/.made
define STAMP_TEXT
$(CURDIR) $(VERSION)
$(CC) $(C_FLAGS)
$(CXX) $(CXX_FLAGS)
$(LINK) $(LIBS)
$(HOST_CFLAGS) | $(CASE_CFLAGS) | $(FILE_CFLAGS) | $(DEP_VERSIONS)
endef
$(STAMP): FORCE
	$(file >$@.new,$(STAMP_TEXT))
	@$(CC) --version >> $@.new; $(CXX) --version >> $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# ------------------------------------------------------------------------------------------------------------- sources
# MPI is known to one file, which becomes a library of its own where mpicc is: the program loads it when mpirun started it.
MPI_C   := host/comm/comm_mpi.c
LIB_C   := $(sort $(filter-out $(MPI_C),$(wildcard host/*/*.c) $(wildcard $(foreach d,case io plot numerics sim output run studies,src/$d/*.c) src/solvers/*/*.c)))
LIB_CXX := $(sort $(wildcard host/*/*.cpp src/case/*.cpp))
REF_C   := $(filter %_reference.c,$(LIB_C))
CLI_C   := $(sort $(wildcard src/cli/*.c src/bench/*.c))
EMBED   := $(sort $(wildcard kernels/*.cl kernels/studies/*.cl kernels/lib/*.h))
CASES   := $(sort $(wildcard data/cases/*/* data/studies/*/selftest.toml data/studies/*/selftest-*.toml data/studies/*/*.csv data/materials/*.csv) \
           $(wildcard data/tuning/*.json data/published/seed-*.csv \
             data/published/xray-double-slit.csv $(foreach f,seed-times cavity-profiles cavity-vortices,data/published/flow-$f.csv)))

OBJ     := $(BUILD)/obj
LIB_O   := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(REF_C),$(LIB_C))) $(patsubst %.cpp,$(OBJ)/%.o,$(LIB_CXX)) \
           $(foreach p,single double,$(patsubst %.c,$(OBJ)/%_$p.o,$(REF_C))) $(OBJ)/embedded.o
CLI_O   := $(patsubst %.c,$(OBJ)/%.o,$(CLI_C))

BINNACLE := $(BUILD)/binnacle
STATIC   := $(BUILD)/libbinnacle.a
SHARED   := $(BUILD)/libbinnacle.so
MPI      := $(if $(MPICC),$(BUILD)/binnacle-mpi.so)

all: $(BINNACLE) $(STATIC) $(SHARED) $(MPI) ## program and libraries, in build/ (the default)

$(BINNACLE): $(CLI_O) $(STATIC)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

$(STATIC): $(LIB_O) $(BUILD)/objects.list
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(LIB_O)

$(SHARED): $(SHARED).$(VERSION)
	$(Q)ln -sf $(<F) $(SHARED).$(SOVERSION) && ln -sf $(<F) $@
$(SHARED).$(VERSION): $(LIB_O) $(BUILD)/objects.list host/build/exports.map
	$(call say,LINK,$@)$(LINK) -shared -Wl,-soname,$(notdir $(SHARED)).$(SOVERSION) \
	  -Wl,--version-script=host/build/exports.map -o $@ $(LIB_O) $(LIBS)

$(BUILD)/binnacle-mpi.so: $(MPI_C) host/device/comm.h include/binnacle/context.h $(STAMP) $(ROOMED)
	$(call say,MPI,$@)$(MPICC) $(filter-out -MMD -MP -Wpedantic,$(C_FLAGS)) -I$(BUILD)/rooms/host -Iinclude -shared -o $@ $< \
	  $(LDFLAGS)

# Lists that change when a file comes or goes: a removed one must not stay in an archive.
LIST_objects  = $(LIB_O) $(CLI_O) $(SUPPORT_O)
LIST_embedded = $(EMBED) $(CASES)
$(BUILD)/objects.list $(BUILD)/embedded.list: $(BUILD)/%.list: FORCE
	$(file >$@.new,$(LIST_$*))
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# --------------------------------------------------------------------------------------------------------------- rooms
# A room compiles with the include paths it may use and no others (docs/architecture.md): $(BUILD)/rooms/ROOM holds
# links to exactly those headers. An entry is LINK=TARGET. What stands in a file's own folder is found by itself.
ROOM_host     := $(foreach d,api device grid comm launch parallel,$d=host/$d)
ROOM_case     := case=src/case
ROOM_io       := io=src/io api/parallel_rows.h=host/api/parallel_rows.h
ROOM_plot     := io=src/io plot=src/plot
ROOM_numerics := api=host/api numerics=src/numerics
ROOM_sim      := api=host/api case=src/case io=src/io sim=src/sim
ROOM_output   := $(ROOM_sim) plot=src/plot output=src/output
ROOM_run      := $(ROOM_output) run=src/run
ROOM_solver   := api=host/api numerics=src/numerics $(foreach h,sim/solver.h sim/solver_table.h sim/announcements.h sim/inputs.h sim/results_write.h sim/reference.h case/schema.h io/drawing.h,$h=src/$h)
ROOM_studies  := $(ROOM_solver) solvers=src/solvers studies=src/studies
ROOM_bench    := $(ROOM_run) numerics=src/numerics studies=src/studies bench=src/bench
ROOM_cli      := $(ROOM_run) bench=src/bench cli=src/cli
ROOMS         := host case io plot numerics sim output run solver studies bench cli

link    = mkdir -p $(dir $(@D)/$1); ln -s '$(CURDIR)/$2' $(@D)/$1;
$(ROOMED): Makefile $(STAMP)
	$(Q)rm -rf $(@D)
	$(Q)set -e; $(foreach r,$(ROOMS),$(foreach l,$(ROOM_$r),\
	  $(call link,$r/$(firstword $(subst =, ,$l)),$(lastword $(subst =, ,$l)))))
	$(Q)touch $@

# The room of a source file, and the flags that go with it. Solvers and numerics get no library's flags.
room   = $(if $(filter host/%,$1),host,$(if $(filter src/solvers/%,$1),solver,$(word 2,$(subst /, ,$1))))
no_cl := -include host/api/no_cl.h
LIBFLAGS_host    = $(HOST_CFLAGS)
LIBFLAGS_case    = $(no_cl) $(CASE_CFLAGS)
LIBFLAGS_io      = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_sim     = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_plot    = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_output  = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_run     = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_bench   = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_cli     = $(no_cl) $(FILE_CFLAGS)
LIBFLAGS_numerics := $(no_cl)
LIBFLAGS_solver   := $(no_cl)
LIBFLAGS_studies  := $(no_cl)
room_flags = -Iinclude -I$(BUILD)/rooms/$(room) $(LIBFLAGS_$(room))

$(OBJ)/%.o: %.c $(STAMP) $(ROOMED)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(C_FLAGS) $(call room_flags,$<) $(DEFINES) -c -o $@ $<

$(OBJ)/%.o: %.cpp $(STAMP) $(ROOMED)
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) $(CXX_FLAGS) $(call room_flags,$<) -c -o $@ $<

# A reference is one text in two precisions, compared with the device in each.
$(OBJ)/%_reference_single.o: %_reference.c $(STAMP) $(ROOMED)
	@mkdir -p $(@D)
	$(call say,CC,'$< (single)')$(CC) $(C_FLAGS) $(call room_flags,$<) -DBN_REFERENCE_BYTES=4 -c -o $@ $<
$(OBJ)/%_reference_double.o: %_reference.c $(STAMP) $(ROOMED)
	@mkdir -p $(@D)
	$(call say,CC,'$< (double)')$(CC) $(C_FLAGS) $(call room_flags,$<) -DBN_REFERENCE_BYTES=8 -c -o $@ $<

$(OBJ)/src/cli/cli_version.o: DEFINES := -DBN_LIBRARIES='"$(DEP_VERSIONS)"'
$(OBJ)/src/studies/bpm_serial.o $(OBJ)/src/studies/cg_serial.o: DEFINES := -O3
$(OBJ)/host/device/context.o: DEFINES := -DBN_VERSION_STRING='"$(VERSION)"'

# Kernel texts and self-test cases inside the binary.
$(BUILD)/embedded.c: host/build/embed.awk $(BUILD)/embedded.list $(EMBED) $(CASES)
	$(call say,EMBED,$@)LC_ALL=C awk -f $< table=bn_embedded_kernels $(EMBED) table=bn_embedded_files $(CASES) > $@
$(OBJ)/embedded.o: $(BUILD)/embedded.c $(STAMP) $(ROOMED)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(C_FLAGS) -Wno-overlength-strings $(call room_flags,host/) -c -o $@ $<

# --------------------------------------------------------------------------------------------------------------- tests
# Every test_*.c is a program of its own; other .c files in tests/ and its folders are shared by all of them.
TEST_ALL  := $(sort $(wildcard $(foreach d,tests tests/unit tests/conformance tests/solvers/* tests/regression tests/fuzz,$d/*.c)))
TEST_C    := $(foreach f,$(TEST_ALL),$(if $(filter test_%,$(notdir $f)),$f))
TEST_BIN  := $(patsubst %.c,$(BUILD)/%,$(TEST_C))
SUPPORT   := $(BUILD)/tests/libsupport.a
SUPPORT_O := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(TEST_C),$(TEST_ALL)))
TEST_SH   := $(sort $(wildcard tests/cli/*.sh))
LONG_SH   := $(sort $(wildcard tests/long/*.sh))

TEST_FLAGS = -Iinclude -Ihost -Isrc -Itests -DBN_TEST_KERNELS='"tests/kernels"' $(HOST_CFLAGS) $(CASE_CFLAGS) $(FILE_CFLAGS) $(CHECK_CFLAGS)
# Tests compute little by themselves: what -O2 does beyond -O1 takes the compiler longer than it saves.
$(BUILD)/tests/%.o: tests/%.c $(STAMP)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(subst -O2,-O1,$(C_FLAGS)) $(TEST_FLAGS) -c -o $@ $<
$(SUPPORT): $(SUPPORT_O) $(BUILD)/objects.list
	$(Q)rm -f $@ && $(AR) rcs $@ $(SUPPORT_O)
# GNU's second linker takes a quarter of the time of the first, which was a minute for all test programs.
TEST_LD    = $(eval TEST_LD := $(if $(SAN),,$(shell echo 'int main(void) { return 0; }' | \
               $(CXX) -fuse-ld=gold -x c++ - -o /dev/null 2>/dev/null && echo -fuse-ld=gold)))$(TEST_LD)
$(TEST_BIN): %: %.o $(SUPPORT) $(STATIC)
	$(call say,LINK,$@)$(LINK) $(TEST_LD) -o $@ $^ $(CHECK_LIBS) $(LIBS)

# Output is collected per target, but shown at once from lines that begin with +; those would run under `make -n` too:
# DRY_RUN.
RUN_TESTS = env BUILD='$(BUILD)' BINNACLE='$(abspath $(BINNACLE))' SAN='$(SAN)' ONLY='$(ONLY)' \
            sh tests/run.sh $(TEST_SH) $(TEST_BIN)
test: all $(TEST_BIN) ## all tests, about 13 minutes on two cores; ONLY=flow takes those with `flow` in their name
	+@$(DRY_RUN) $(RUN_TESTS)
test-long: all $(TEST_BIN) ## the same with finer grids and more cases, and all mutants
	+@$(DRY_RUN) env BN_TEST_LONG=1 $(RUN_TESTS) $(LONG_SH)
# Parsers with sanitizers, and libFuzzer's look at their branches where clang has it; they stand in front of the library,
# whose own objects of these files the linker then leaves alone.
FUZZER   := $(if $(filter fuzz test-long $(BUILD)/fuzz/%,$(GOALS)),$(shell printf 'int LLVMFuzzerTestOneInput(void);int LLVMFuzzerTestOneInput(void){return 0;}' | \
              clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null && echo yes || echo no))
FUZZ_CC  := $(if $(filter yes,$(FUZZER)),clang,$(CC))
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all $(if $(filter yes,$(FUZZER)),-fsanitize=fuzzer-no-link)
FUZZ_C   := $(sort $(wildcard src/case/*.c src/io/*.c)) src/sim/tuning.c src/sim/checkpoint_read.c \
            src/sim/checkpoint_state.c host/device/binary_cache.c
FUZZ_O   := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(FUZZ_C) tests/fuzz/targets.c $(if $(filter no,$(FUZZER)),tests/fuzz/test_fuzz.c))
$(BUILD)/fuzz/tests/%.o: tests/%.c $(STAMP)
	@mkdir -p $(@D)
	$(call say,CC,'$< (fuzz)')$(FUZZ_CC) $(C_FLAGS) $(FUZZ_SAN) $(TEST_FLAGS) -c -o $@ $<
$(BUILD)/fuzz/%.o: %.c $(STAMP) $(ROOMED)
	@mkdir -p $(@D)
	$(call say,CC,'$< (fuzz)')$(FUZZ_CC) $(C_FLAGS) $(FUZZ_SAN) $(call room_flags,$<) -c -o $@ $<
$(BUILD)/fuzz/fuzz: $(FUZZ_O) $(SUPPORT) $(STATIC)
	$(call say,LINK,$@)$(FUZZ_CC) $(LD_FLAGS) $(FUZZ_SAN) $(if $(filter yes,$(FUZZER)),-fsanitize=fuzzer) -o $@ $^ \
	  $(CHECK_LIBS) $(LIBS) -lstdc++
fuzz: all $(BUILD)/fuzz/fuzz ## hostile inputs to every parser, with sanitizers: ONLY=png, SECONDS=60 for each
	+@$(DRY_RUN) env ONLY='$(ONLY)' SECONDS_EACH='$(SECONDS)' FUZZER='$(FUZZER)' sh tests/fuzz/fuzz.sh $(BUILD)/fuzz/fuzz
mutants: all $(TEST_BIN) ## mistakes that stand in kernel and reference alike: which tests see them; ONLY=flow, ONLY=flow/lid
	+@$(DRY_RUN) python3 tests/mutants/mutants.py --built $(if $(ONLY),--only $(ONLY))

lint: lint-kernels lint-tree lint-physics ## all of the next three
lint-kernels: all ## compiles the kernels without a device, in both precisions
	@BINNACLE='$(abspath $(BINNACLE))' sh host/build/lint-kernels.sh
lint-tree: all ## includes, names, style, static analysis
	@sh host/build/lint-tree.sh && sh host/build/lint-floors.sh $(OBJ)
lint-physics: all ## every key and choice of a case that changes results has a test
	@BINNACLE='$(abspath $(BINNACLE))' sh host/build/lint-physics.sh

vendors: all ## compiles all kernels for GPUs of AMD and Intel, without the hardware: registers, spills, local memory
	+@$(DRY_RUN) env BUILD='$(BUILD)' BINNACLE='$(abspath $(BINNACLE))' sh tests/vendors/run.sh

# ----------------------------------------------------------------------------------------------------------------- use
DEMO := flow/starter maxwell/starter xray/starter flood/starter bpm/starter flood/house bpm/splitter
demo: all ## a case of every solver, with pictures
	+@$(DRY_RUN) sh -ec 'for c in $(DEMO); do $(BINNACLE) run data/cases/$$c.toml --out out/demo/$$c --force; done'
	@echo 'Pictures:' && find $(addprefix out/demo/,$(DEMO)) -name '*.png' | LC_ALL=C sort | sed 's/^/  /'

gallery: all ## draws the pictures of README and documents anew, in docs/pictures
	+@$(DRY_RUN) sh packaging/gallery.sh $(BINNACLE)

bench: all ## how fast the solvers are here, and how far from the limit; DEVICE=gpu BENCH='flow --full' make bench
	+@$(DRY_RUN) $(BINNACLE) bench $(BENCH) $(if $(DEVICE),--device '$(DEVICE)')

PAPERS := bpm flow xray flood maxwell
papers: all ## tables and figures of the five papers, with ours beside them, in out/papers/NAME/report.html; DEVICE=gpu QUICK= in full
	+@$(DRY_RUN) sh -ec 'for p in $(PAPERS); do $(BINNACLE) bench --suite paper-$$p $(QUICK) $(if $(DEVICE),--device $(DEVICE)) --out out/papers/$$p; done'
QUICK ?= --quick

# What the program says of itself, as manual pages and for shells.
PAGES := $(BUILD)/man/binnacle.1 $(foreach s,bash zsh fish,$(BUILD)/binnacle.$s)
$(BUILD)/man/binnacle.1: packaging/man.sh $(BINNACLE)
	$(Q)sh $< $(BINNACLE) $(@D)
$(BUILD)/binnacle.bash $(BUILD)/binnacle.zsh $(BUILD)/binnacle.fish: $(BUILD)/binnacle.%: $(BINNACLE)
	$(Q)$< completion $* > $@

# MkDocs with a theme, and equations as MathML, in a virtual environment of their own (packaging/site/requirements.txt).
SITE_TOOLS := $(BUILD)/site-tools
$(SITE_TOOLS)/bin/mkdocs: packaging/site/requirements.txt
	@[ '$(DEPS)' != skip ] || { echo 'make site: DEPS=skip, and $@ is not there: python3 -m venv $(SITE_TOOLS) && $(SITE_TOOLS)/bin/pip install -r $<'; exit 1; }
	$(Q)python3 -m venv $(SITE_TOOLS) && $(SITE_TOOLS)/bin/pip install -q -r $< && touch $@
site: all $(SITE_TOOLS)/bin/mkdocs ## the documents as a site, in build/site: open index.html
	+@$(DRY_RUN) env BINNACLE='$(abspath $(BINNACLE))' NO_MKDOCS_2_WARNING=1 $(SITE_TOOLS)/bin/mkdocs build -q -f packaging/site/mkdocs.yml -d '$(abspath $(BUILD))/site' && echo '$(BUILD)/site/index.html'

INSTALL_ENV = DESTDIR='$(DESTDIR)' PREFIX='$(abspath $(PREFIX))' BUILD='$(BUILD)' VERSION='$(VERSION)' \
              SOVERSION='$(SOVERSION)' LIBS='$(LIBS)'
install: all $(PAGES) ## to PREFIX (/usr/local), below DESTDIR if given
	@$(INSTALL_ENV) sh host/build/install.sh install
uninstall: ## removes exactly what install put there
	@$(INSTALL_ENV) sh host/build/install.sh uninstall
bundle: all $(PAGES) ## binnacle-VERSION-x86_64.tar.xz in build/: a program to carry to machines without any of this
	@$(INSTALL_ENV) LINK='$(LINK)' OBJECTS='$(CLI_O) $(STATIC)' LIBRARY='$(LIB_O)' TREE='$(TREE)' sh packaging/bundle.sh
python: all ## the Python package in build/python (PYTHONPATH); `pip install ./python` installs it
	@CC='$(CC)' sh python/stage.sh $(BUILD) $(BUILD)/python
notebooks: $(SITE_TOOLS)/bin/mkdocs ## the notebooks of Python as .ipynb, in build/notebooks
	$(Q)mkdir -p $(BUILD)/notebooks; for n in python/notebooks/*.py; do $(SITE_TOOLS)/bin/jupytext -q --to ipynb -o $(BUILD)/notebooks/$$(basename $$n .py).ipynb $$n || exit; done
deb: all $(PAGES) ## a Debian package in build/
	@$(INSTALL_ENV) sh packaging/deb.sh

deps: ## everything that build, demo and tests need, installed
	@echo 'All that Binnacle needs is here.'

format: ## clang-format over all C files (kernels are laid out by hand)
	@clang-format -i $(shell git ls-files --cached --others --exclude-standard 'host/*.c' 'host/*.h' 'include/*.h' 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' '*.cpp')

clean: ## removes build/
	rm -rf build $(BUILD)

help: ## this list
	@echo 'make TARGET [NAME=VALUE...]' && echo
	@awk -F ' ## ' '/^[a-z-]+:.* ## / { split($$1, t, ":"); printf "  %-13s %s\n", t[1], $$2 }' Makefile
	@echo && echo '  CC=clang  SAN=address,undefined  OPT="-O0 -g"  DEPS=skip (install nothing)  WERROR=1  V=1 (show commands)  -jN'

FORCE:
.PHONY: all test test-long fuzz mutants vendors lint lint-kernels lint-tree lint-physics demo gallery bench papers site install uninstall bundle python notebooks deb deps format clean help FORCE

-include $(patsubst %.o,%.d,$(LIB_O) $(CLI_O) $(SUPPORT_O) $(FUZZ_O)) $(TEST_BIN:=.d)

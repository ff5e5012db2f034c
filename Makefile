# Shortcuts.  CMakePresets.json is the real thing; `make PRESET=dev test` takes another preset.
# SPDX-License-Identifier: MIT
#
#   make          the library, the command, the tests, and ./bench_random_mixed_hakmem
#   make test     all tests but the long ones
#   make check    the structure checks, the format, and clang-tidy over core and cli
#   make fmt      formats every C file
#   make bench    the default suite under hakmem and the peers that are installed: under ten minutes
#   make clean    removes what was built
#
# CFLAGS given on the command line are added after the preset's own: make CFLAGS="-O3 -flto".  They may
# bring warnings of their own, so warnings are then no errors.

PRESET ?= release
BUILD = out/$(PRESET)
BENCH = bench_random_mixed_hakmem
SOURCES = find core include cli abtest bench tests examples -name '*.[ch]' 2>/dev/null

# Ninja plans its own jobs, so -j of make means nothing to it; and CMake must not take CFLAGS from
# the environment for good.
quiet = env -u MAKEFLAGS -u MFLAGS -u CFLAGS

build:
	@$(quiet) cmake --preset $(PRESET) -DHAK_CFLAGS="$(CFLAGS)" $(if $(CFLAGS),-DHAK_WERROR=OFF) >/dev/null
	@$(quiet) cmake --build --preset $(PRESET)
	@if [ -e $(BUILD)/$(BENCH) ]; then cp -f $(BUILD)/$(BENCH) $(BENCH); fi

test: build
	@$(quiet) ctest --preset $(PRESET)

check: build
	@$(quiet) ctest --preset $(PRESET) -L '^lint$$'
	@clang-tidy --quiet -p $(BUILD) $$(find core cli -name '*.c')

fmt:
	@$(SOURCES) | xargs clang-format -i

bench: build
	@$(BUILD)/cli/hakmem bench

clean:
	@rm -rf out $(BENCH)

.PHONY: build test check fmt bench clean
.NOTPARALLEL:

#!/bin/sh
# Fails when shellcheck objects to a script.  Exit 77: shellcheck isn't here.
# SPDX-License-Identifier: MIT
set -eu
cd "${1:?usage: check_shell.sh PROJECT_DIR}"
command -v shellcheck >/dev/null || { echo "shellcheck isn't installed"; exit 77; }
scripts=$(find scripts cli abtest bench tests examples -name '*.sh' 2>/dev/null | sort)
# The words are paths without spaces.
# shellcheck disable=SC2086
shellcheck -x .ci/run $scripts
echo "shellcheck has nothing to say"

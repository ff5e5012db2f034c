# The machines that tests/unit/os_machine.h simulates: "name SETTING=value".
# SPDX-License-Identifier: MIT
set(HAK_TEST_MACHINES "pages_16k HAK_TEST_PAGE_BYTES=16384" "pages_64k HAK_TEST_PAGE_BYTES=65536"
  "below_39_bits HAK_TEST_TOP_BITS=39" "below_47_bits HAK_TEST_TOP_BITS=47")

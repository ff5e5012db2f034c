# The backends other than the default, each with the gates that route every band to it that it serves:
# "name GATE=value ...".
# SPDX-License-Identifier: MIT
set(HAK_BACKEND_VARIANTS
  "ultra HAKMEM_TINY_C7_ULTRA_ENABLED=on HAKMEM_TINY_C6_ULTRA_ENABLED=on"
  "v7 HAKMEM_SMALL_HEAP_V7_ENABLED=on HAKMEM_SMALL_HEAP_V7_CLASSES=0xff"
  "mid_v3 HAKMEM_MID_V3_ENABLED=on HAKMEM_MID_V3_CLASSES=0xff")

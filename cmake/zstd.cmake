# hak_zstd: the library that traces are compressed with; without it there is no such target.
# SPDX-License-Identifier: MIT
find_library(HAK_ZSTD zstd)
find_path(HAK_ZSTD_INCLUDE zstd.h)
if(HAK_ZSTD AND HAK_ZSTD_INCLUDE)
  add_library(hak_zstd INTERFACE)
  target_link_libraries(hak_zstd INTERFACE ${HAK_ZSTD})
  target_include_directories(hak_zstd SYSTEM INTERFACE ${HAK_ZSTD_INCLUDE})
else()
  message(WARNING "hakmem record and replay are left out: zstd is missing (Debian: libzstd-dev).")
endif()

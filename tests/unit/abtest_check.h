// cmocka compares floats in single precision, which is too coarse for statistics.
// SPDX-License-Identifier: MIT
#ifndef TESTS_UNIT_ABTEST_CHECK_H
#define TESTS_UNIT_ABTEST_CHECK_H

#include "unit_check.h"

#include <math.h>

#define assert_near(value, expected, distance) assert_true(fabs((value) - (expected)) <= (distance))

#endif

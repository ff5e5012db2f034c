// A program without a loader; its exit status is 5.
// SPDX-License-Identifier: MIT
int main(void)
{
    return 5;
}

// The line that says on what machine something was measured.
// SPDX-License-Identifier: MIT
#include "ab_report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// What follows `name` and its separator on the first line that begins with it.
static void find_line(const char *path, const char *name, const char *separators, char *value,
                      size_t value_bytes)
{
    char line[512];
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            const char *start = line + strlen(name);
            start += strspn(start, separators);
            (void)snprintf(value, value_bytes, "%.*s", (int)strcspn(start, "\"\n"), start);
            break;
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
}

void ab_machine_describe(char text[AB_MACHINE_BYTES])
{
    char processor[128] = "unknown processor";
    char distribution[128] = "Linux";
    struct utsname system = {.release = "?"};
    double load = 0;
    find_line("/proc/cpuinfo", "model name", "\t :", processor, sizeof processor);
    find_line("/etc/os-release", "PRETTY_NAME", "=\"", distribution, sizeof distribution);
    (void)uname(&system);
    (void)getloadavg(&load, 1);
    (void)snprintf(text, AB_MACHINE_BYTES, "%s, %ld cores, Linux %.64s, %s; load %.2f at the start",
                   processor, sysconf(_SC_NPROCESSORS_ONLN), system.release, distribution, load);
}

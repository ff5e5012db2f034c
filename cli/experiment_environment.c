// SPDX-License-Identifier: MIT
#include "experiment_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char padding_name[] = "AB_PADDING=";

static const char *const needed_names[] = {
    "PATH", "HOME", "USER",   "LOGNAME",  "SHELL", "TERM",           "TZ",
    "LANG", "PWD",  "TMPDIR", "LANGUAGE", "LC_*",  "LD_LIBRARY_PATH"};

// `name` ends at its '=' or NUL; a '*' stands for any rest.
static bool has_name(const char *variable, const char *name)
{
    size_t length = strcspn(name, "=*");
    if (strncmp(variable, name, length) != 0) {
        return false;
    }
    return name[length] == '*' || variable[length] == '=' || variable[length] == '\0';
}

static bool is_kept(const char *variable, char *const *names, size_t count)
{
    for (size_t i = 0; i < sizeof needed_names / sizeof needed_names[0]; i++) {
        if (has_name(variable, needed_names[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (has_name(variable, names[i])) {
            return true;
        }
    }
    return false;
}

void experiment_environment_clean(char *const *names, size_t count)
{
    size_t index = 0;
    while (environ[index] != NULL) {
        char name[256];
        size_t length = strcspn(environ[index], "=");
        bool is_odd = length == 0 || length >= sizeof name;  // what unsetenv can't take stays
        (void)snprintf(name, sizeof name, "%.*s", (int)length, environ[index]);
        if (is_odd || is_kept(environ[index], names, count) || unsetenv(name) != 0) {
            index++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(names[i], '=');
        char *name = equals != NULL ? strndup(names[i], (size_t)(equals - names[i])) : NULL;
        if (name != NULL) {
            (void)setenv(name, equals + 1, 1);
        }
        free(name);
    }
}

static size_t count_variables(char *const *environment)
{
    size_t count = 0;
    while (environment[count] != NULL) {
        count++;
    }
    return count;
}

char **experiment_environment_copy(void)
{
    size_t count = count_variables(environ);
    char **copy = calloc(count + 2, sizeof *copy);  // room for the padding
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(environ[i]);
        if (copy[i] == NULL) {
            experiment_environment_drop(copy);
            return NULL;
        }
    }
    return copy;
}

// On the stack: the texts, and the pointers to them.
static size_t stack_bytes(char *const *environment)
{
    size_t bytes = 0;
    for (; *environment != NULL; environment++) {
        bytes += strlen(*environment) + 1 + sizeof *environment;
    }
    return bytes;
}

bool experiment_environment_pad(char ***environments, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = stack_bytes(environments[i]);
        most = bytes > most ? bytes : most;
    }
    for (size_t i = 0; i < count; i++) {
        size_t missing = most - stack_bytes(environments[i]);
        char *padding = malloc(sizeof padding_name + missing);
        if (padding == NULL) {
            return false;
        }
        memcpy(padding, padding_name, sizeof padding_name - 1);
        memset(padding + sizeof padding_name - 1, 'x', missing);
        padding[sizeof padding_name - 1 + missing] = '\0';
        environments[i][count_variables(environments[i])] = padding;
    }
    return true;
}

bool experiment_environment_is_setting(const char *variable)
{
    return strncmp(variable, "HAKMEM_", strlen("HAKMEM_")) == 0 &&
           strncmp(variable, "HAKMEM_STATS=", strlen("HAKMEM_STATS=")) != 0;
}

void experiment_environment_describe(char *const *environment, char text[ENVIRONMENT_TEXT_BYTES])
{
    size_t length = 0;
    text[0] = '\0';
    for (; *environment != NULL; environment++) {
        if (experiment_environment_is_setting(*environment) && length < ENVIRONMENT_TEXT_BYTES) {
            length += (size_t)snprintf(text + length, ENVIRONMENT_TEXT_BYTES - length, "%s%s",
                                       length > 0 ? " " : "", *environment);
        }
    }
    if (length == 0) {
        (void)snprintf(text, ENVIRONMENT_TEXT_BYTES, "the defaults");
    }
}

void experiment_environment_drop(char **environment)
{
    for (char **variable = environment; variable != NULL && *variable != NULL; variable++) {
        free(*variable);
    }
    free(environment);
}

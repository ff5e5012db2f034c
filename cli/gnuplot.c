// SPDX-License-Identifier: MIT
#include "gnuplot.h"

#include "ab_output.h"
#include "experiment_run.h"
#include "program_file.h"
#include "talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool gnuplot_is_there(void)
{
    char path[PATH_MAX];
    if (!program_file_find("gnuplot", path)) {
        talk_say("gnuplot was not found, which --plot draws with. Install it (Debian: "
                 "gnuplot-nox), or leave --plot out.");
        return false;
    }
    return true;
}

// Inside double quotes gnuplot knows escapes and markup, inside single quotes only the quote itself.
void gnuplot_write_quoted(FILE *out, const char *text)
{
    (void)fputc('\'', out);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, out);
    }
    (void)fputc('\'', out);
}

static bool run(char *script_path)
{
    static char program[] = "gnuplot";
    char *words[] = {program, script_path, NULL};
    struct experiment_run run;
    const struct experiment_launch launch = {
        .words = words, .environment = environ, .core = RUN_CORE_ANY, .keeps_output = true};
    if (!experiment_run_start(&launch, &run)) {
        return false;
    }
    bool is_good = run.start_error == 0 && run.wait_status == 0;
    if (!is_good) {
        char line[256];
        experiment_run_last_line(&run, line, sizeof line);
        talk_say("gnuplot could not draw the plot: %s", line);
    }
    experiment_run_drop(&run);
    return is_good;
}

// The script lies in memory; gnuplot reads it through this process's descriptor.
static bool draw(const char *output, gnuplot_script *write_script, const void *context)
{
    char script_path[64];
    int file = memfd_create("script", MFD_CLOEXEC);
    FILE *script = file >= 0 ? fdopen(file, "w") : NULL;
    if (script == NULL) {
        talk_say("No file in memory could be made: %s.", strerror(errno));
        return false;
    }
    (void)snprintf(script_path, sizeof script_path, "/proc/%d/fd/%d", (int)getpid(), file);
    write_script(script, output, context);
    bool is_drawn = fflush(script) == 0 && run(script_path);
    (void)fclose(script);
    return is_drawn;
}

// gnuplot doesn't notice a full disk.
static bool is_whole(const char *path)
{
    static const char last_tag[] = "</svg>";
    char end[16] = "";
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return false;
    }
    if (fseeko(in, -(off_t)(sizeof end - 1), SEEK_END) == 0) {
        (void)!fread(end, 1, sizeof end - 1, in);
    }
    (void)fclose(in);
    return strstr(end, last_tag) != NULL;
}

bool gnuplot_draw(const char *path, gnuplot_script *write_script, const void *context)
{
    struct ab_output output;
    if (!ab_output_open(&output, path)) {
        return false;
    }
    bool is_good = draw(output.temporary, write_script, context);
    if (is_good && !is_whole(output.temporary)) {
        talk_say("%s cannot be written: the disk took only a part of it.", path);
        is_good = false;
    }
    if (!is_good) {
        ab_output_abandon(&output);
        return false;
    }
    return ab_output_commit(&output);
}

// Into a file in memory, which gnuplot opens by its path.
char *gnuplot_draw_text(gnuplot_script *write_script, const void *context)
{
    char path[64];
    char *text = NULL;
    int file = memfd_create("picture", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    if (file >= 0 && draw(path, write_script, context) && is_whole(path)) {
        off_t length = lseek(file, 0, SEEK_END);
        text = calloc(1, (size_t)length + 1);
        if (text == NULL || pread(file, text, (size_t)length, 0) != length) {
            talk_say("A picture could not be read back: %s.", strerror(errno));
            free(text);
            text = NULL;
        }
    }
    if (file >= 0) {
        (void)close(file);
    }
    return text;
}

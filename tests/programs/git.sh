#!/bin/bash
# git clones a local repository of 1200 commits, reads its log with patches, repacks and checks it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs git git

# A stream of commits for fast-import: each rewrites some of 300 files, some commits are tagged.
stream() {
    awk 'function mix() { seed = (seed * 1103515245 + 12345) % 2147483648; return int(seed / 65536) }
        function put(file,   line, text) {
            text = ""
            for (line = 0; line < 60 + file % 90; line++) {
                if (mix() % 25 == 0) version[file, line]++
                text = text sprintf("line %d of file %d, version %d\n", line, file, version[file, line])
            }
            printf "M 100644 inline folder%d/file%d.txt\ndata %d\n%s\n", file % 17, file, length(text), text
        }
        BEGIN {
            seed = 5
            for (commit = 1; commit <= 1200; commit++) {
                message = "Change " commit "\n\nIt touches a few files.\n"
                printf "commit refs/heads/main\nmark :%d\n", commit
                printf "author Author %d <author%d@example.org> %d +0000\n", commit % 9, commit % 9, 1600000000 + commit * 60
                printf "committer Committer <committer@example.org> %d +0000\n", 1600000000 + commit * 60
                printf "data %d\n%s", length(message), message
                if (commit > 1) printf "from :%d\n", commit - 1
                for (n = 0; n < (commit == 1 ? 300 : 6); n++) put(commit == 1 ? n : mix() % 300)
                if (commit % 200 == 0) printf "reset refs/heads/branch%d\nfrom :%d\n\n", commit, commit
            }
        }'
}

prepare() {
    export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$work/gitconfig" GIT_PAGER=cat
    printf '[gc]\n\tauto = 0\n[pack]\n\tthreads = 2\n[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n' >"$GIT_CONFIG_GLOBAL"
    git init --quiet --bare --initial-branch=main "$work/origin.git"
    stream | git -C "$work/origin.git" fast-import --quiet
}

# All output is compared but the sizes of packs, which depend on how two threads shared the work.
workload() {
    local git=("${under[@]}" git)
    "${git[@]}" clone --quiet --no-local "$work/origin.git" copy
    cd copy
    "${git[@]}" log --patch --stat -M --all | cksum
    "${git[@]}" log --format='%h %an %s' --graph origin/main origin/branch400 -- folder3 | tail -n 50
    "${git[@]}" blame folder1/file1.txt | cut -d' ' -f1 | sort | uniq -c
    "${git[@]}" checkout --quiet -b side origin/branch600
    echo "a change" >>folder2/file2.txt
    "${git[@]}" -c user.name=A -c user.email=a@example.org commit --quiet --all --message "On the side" --date @1700000000
    "${git[@]}" diff main...side
    "${git[@]}" grep -c 'version [3-9]' main -- 'folder[0-4]' | cksum
    "${git[@]}" repack -a -d -f --window=20 --quiet
    "${git[@]}" fsck --full --strict 2>&1
    "${git[@]}" rev-list --objects main --remotes | cksum
    "${git[@]}" count-objects --verbose | grep -v size
}

program_run git

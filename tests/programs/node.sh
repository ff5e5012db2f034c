#!/bin/bash
# node makes and drops a million objects, starts worker threads, compresses buffers and parses JSON.
# SPDX-License-Identifier: MIT
#
# Debian's node, by its path: another one may come first in PATH.  V8 keeps JavaScript objects in
# memory that it maps by itself; malloc gets the rest: buffers, handles, code, zlib, threads.
. "$(dirname "$0")/support.sh" || exit 2
program_needs /usr/bin/node nodejs

prepare() {
    cat >"$work/script.js" <<'SCRIPT'
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto');
const zlib = require('zlib');

let seed = 17;
const mix = () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >>> 8;

function makeObjects(count) {
    let objects = [];
    let sum = 0;
    for (let i = 0; i < count; i++) {
        objects.push({ id: i, name: 'object ' + i, values: [mix(), mix()], inner: { flag: i % 2 === 0 } });
        if (objects.length === 50000) {
            for (const one of objects) sum = (sum + one.values[0] + one.name.length) % 1000003;
            objects = [];
        }
    }
    return sum;
}

function useBuffers(count) {
    let kept = new Map();
    const hash = crypto.createHash('sha256');
    for (let i = 0; i < count; i++) {
        const key = mix() % 500;
        const buffer = Buffer.allocUnsafeSlow(mix() % 20000 + 1).fill(i & 255);
        kept.set(key, buffer);
        if (i % 50 === 0) hash.update(kept.get(key));
        if (i % 100 === 0) hash.update(zlib.inflateSync(zlib.deflateSync(Buffer.concat([...kept.values()].slice(0, 20)))));
    }
    return hash.digest('hex');
}

if (!isMainThread) {
    seed = workerData;
    parentPort.postMessage({ seed: workerData, objects: makeObjects(100000), buffers: useBuffers(2000) });
} else {
    console.log('objects', makeObjects(1000000));
    console.log('buffers', useBuffers(6000));
    const rows = Array.from({ length: 30000 }, (_, i) => ({ i, text: 'row ' + mix(), list: [i, i + 1] }));
    const text = JSON.stringify(rows);
    console.log('json', text.length, JSON.parse(text).reduce((sum, row) => sum + row.list[1], 0));
    const round = (left) => {
        if (left === 0) return Promise.resolve();
        const workers = [1, 2, 3, 4].map((n) => new Promise((resolve, reject) => {
            const worker = new Worker(__filename, { workerData: n * left });
            worker.on('message', resolve);
            worker.on('error', reject);
        }));
        return Promise.all(workers).then((answers) => {
            answers.forEach((answer) => console.log('worker', answer));
            return round(left - 1);
        });
    };
    round(2).then(() => {
        const child = require('child_process').spawnSync(process.execPath, ['-e', 'console.log(Buffer.alloc(1e6).length)']);
        console.log('child', child.status, child.stdout.toString().trim());
    });
}
SCRIPT
}

workload() {
    "${under[@]}" /usr/bin/node "$work/script.js"
}

program_run node

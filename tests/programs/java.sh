#!/bin/bash
# java runs the Eclipse compiler on a generated source, then the program that it made: threads, direct
# buffers, compression, garbage.
# SPDX-License-Identifier: MIT
#
# Java objects live in memory that the virtual machine maps by itself; malloc serves the machine: its
# just-in-time compilers, class data, zlib, direct buffers, the threads.
. "$(dirname "$0")/support.sh" || exit 2
program_needs java openjdk-17-jre-headless
compiler=/usr/share/java/eclipse-jdt-core.jar
if [ ! -e $compiler ]; then
    echo "programs.java: skipped, $compiler isn't installed (apt-get install ecj)"
    exit 77
fi

parts=40

part() {
    cat <<JAVA
final class Part$1 {
    private final java.util.Map<String, java.util.List<Integer>> table = new java.util.TreeMap<>();
    record Pair(String name, long value) { }
    long work(long seed) {
        for (int i = 0; i < $((1000 + $1 * 10)); i++) {
            seed = (seed * 1103515245L + 12345L) & 0x7fffffffL;
            table.computeIfAbsent("key " + (seed >> 16) % $((61 + $1)), key -> new java.util.ArrayList<>()).add(i);
        }
        return table.entrySet().stream()
            .map(entry -> new Pair(entry.getKey(), entry.getValue().stream().mapToLong(Integer::longValue).sum()))
            .sorted(java.util.Comparator.comparingLong(Pair::value).thenComparing(Pair::name))
            .mapToLong(pair -> switch ((int) (pair.value() % 3)) {
                case 0 -> pair.value();
                case 1 -> pair.name().length();
                default -> pair.hashCode() & 255;
            }).reduce(seed, (sum, value) -> (sum * 31 + value) % 1000000007L);
    }
}
JAVA
}

main_class() {
    local i
    cat <<'JAVA'
public class Main {
    static long buffers(int id) throws Exception {
        long sum = 0;
        java.util.List<java.nio.ByteBuffer> kept = new java.util.ArrayList<>();
        for (int i = 0; i < 300; i++) {
            java.nio.ByteBuffer buffer = java.nio.ByteBuffer.allocateDirect(1000 + i * 37 + id);
            buffer.putInt(0, i * id);
            kept.add(buffer);
        }
        for (java.nio.ByteBuffer buffer : kept) {
            sum += buffer.getInt(0);
        }
        for (int i = 0; i < 20; i++) {
            byte[] text = ("text " + id + " ").repeat(3000).getBytes();
            java.util.zip.Deflater deflater = new java.util.zip.Deflater();
            deflater.setInput(text);
            deflater.finish();
            byte[] small = new byte[text.length];
            int length = deflater.deflate(small);
            deflater.end();
            java.util.zip.Inflater inflater = new java.util.zip.Inflater();
            inflater.setInput(small, 0, length);
            sum += inflater.inflate(new byte[text.length]) + length;
            inflater.end();
        }
        return sum;
    }
    static long objects(int id) {
        java.util.ArrayDeque<String> window = new java.util.ArrayDeque<>();
        long length = 0;
        for (int i = 0; i < 300000; i++) {
            window.add("object " + id + "/" + i);
            if (window.size() > 1000) {
                length += window.remove().length();
            }
        }
        return length;
    }
    public static void main(String[] arguments) throws Exception {
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newFixedThreadPool(8);
        java.util.List<java.util.concurrent.Future<Long>> answers = new java.util.ArrayList<>();
        for (int i = 1; i <= 24; i++) {
            int id = i;
            answers.add(pool.submit(() -> buffers(id) + objects(id)));
        }
        for (java.util.concurrent.Future<Long> answer : answers) {
            System.out.println(answer.get());
        }
        pool.shutdown();
        for (int i = 0; i < 300; i++) {
            Thread thread = new Thread(() -> new java.util.Random(1).ints(100).sum());
            thread.start();
            thread.join();
        }
        long sum = 1;
JAVA
    for i in $(seq $parts); do
        echo "        sum = new Part$i().work(sum);"
    done
    cat <<'JAVA'
        System.out.println(sum);
    }
}
JAVA
}

prepare() {
    local i
    for i in $(seq $parts); do
        part "$i"
    done >"$work/Main.java"
    main_class >>"$work/Main.java"
}

workload() {
    "${under[@]}" java -Xmx256m -cp $compiler org.eclipse.jdt.internal.compiler.batch.Main -17 -proc:none -nowarn -d classes \
        "$work/Main.java"
    cat classes/*.class | cksum
    "${under[@]}" java -Xmx256m -cp classes Main
}

program_run java

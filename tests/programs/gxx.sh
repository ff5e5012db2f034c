#!/bin/bash
# g++ compiles a generated C++ file: containers, templates that call templates, regular expressions.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs g++ g++

prepare() {
    awk 'BEGIN {
        print "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <memory>"
        print "#include <numeric>\n#include <regex>\n#include <string>\n#include <unordered_map>\n#include <variant>\n#include <vector>"
        print "template <int N> struct chain { template <class F> static auto run(F f, long v) {"
        print "    return chain<N - 1>::run([f](long x) { return f(x * N % 1000003) + N; }, v); } };"
        print "template <> struct chain<0> { template <class F> static auto run(F f, long v) { return f(v); } };"
        for (i = 0; i < 3; i++) {
            printf "namespace part%d {\nstruct item { int key; std::string name; std::vector<double> values; };\n", i
            printf "using value = std::variant<int, std::string, item, std::shared_ptr<item>>;\n"
            print "long work(long seed)\n{\n    std::map<std::string, std::unordered_map<int, item>> table;"
            printf "    for (int n = 0; n < %d; n++) {\n        seed = (seed * 1103515245 + 12345) %% 2147483648L;\n", i + 20
            print "        auto &entry = table[\"k\" + std::to_string(seed % 13)][n];"
            print "        entry.key = int(seed % 977);\n        entry.name = std::to_string(seed);\n        entry.values.assign(std::size_t(n % 5 + 1), double(seed % 7));\n    }"
            print "    std::vector<value> all;\n    for (auto &[name, inner] : table) {\n        for (auto &[n, one] : inner) {"
            print "            all.emplace_back(one);\n            all.emplace_back(std::make_shared<item>(one));\n            all.emplace_back(name);\n        }\n    }"
            print "    long total = 0;\n    for (auto &one : all) {\n        total += std::visit([](auto &v) -> long {\n            using T = std::decay_t<decltype(v)>;"
            print "            if constexpr (std::is_same_v<T, item>) { return v.key; }\n            else if constexpr (std::is_same_v<T, std::string>) { return long(v.size()); }"
            print "            else if constexpr (std::is_same_v<T, int>) { return v; }\n            else { return std::accumulate(v->values.begin(), v->values.end(), 0L); }\n        }, one);\n    }"
            printf "    std::function<long(long)> tail = [total](long x) { return x ^ total; };\n    return chain<%d>::run(tail, seed);\n}\n}\n", i % 12 + 4
        }
        print "int main()\n{\n    long sum = 0;"
        for (i = 0; i < 3; i++) printf "    sum = (sum * 31 + part%d::work(%d)) %% 1000000007L;\n", i, i
        print "    std::cout << sum << std::regex_replace(std::string(\" done\"), std::regex(\"o(n)\"), \"$1\") << std::endl;\n}"
    }' >"$work/large.cc"
}

workload() {
    cp "$work/large.cc" .
    timed "${under[@]}" g++ -std=c++17 -O1 -g -Wall -Wextra -ffile-prefix-map="$side_dir"=. -c large.cc
    timed "${under[@]}" g++ -o large large.o
    wc -l <large.cc
    cksum large.o large
    ./large
}

program_run cc1plus g++ as ld collect2

#!/bin/bash
# lua runs a script of tables, strings, closures, coroutines and garbage collection in both modes.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs lua5.4 lua5.4

prepare() {
    cat >"$work/script.lua" <<'SCRIPT'
local seed = 3
local function mix()
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed >> 16
end

local function make_tree(depth)
    if depth == 0 then
        return {}
    end
    return { left = make_tree(depth - 1), right = make_tree(depth - 1), depth = depth }
end
local function count_tree(tree)
    return tree.left and 1 + count_tree(tree.left) + count_tree(tree.right) or 1
end

local function use_tables()
    for round = 1, 12 do
        print("tree", count_tree(make_tree(14)))
    end
    local words, seen = {}, {}
    for i = 1, 200000 do
        local word = "word" .. mix() % 9001
        words[i] = word
        seen[word] = (seen[word] or 0) + 1
    end
    local order = {}
    for word in pairs(seen) do
        order[#order + 1] = word
    end
    table.sort(order, function(a, b)
        return seen[a] > seen[b] or (seen[a] == seen[b] and a < b)
    end)
    print("often", table.concat(order, " ", 1, 8))
    local text = table.concat(words, ",")
    print("text", #text, select(2, text:gsub("word(%d)(%d*)", "%2-%1")), #text:rep(20))
    local grown = ""
    for i = 1, 4000 do
        grown = grown .. words[i]
    end
    print("grown", #grown)
end

local function use_coroutines()
    local sum = 0
    for i = 1, 20000 do
        local generate = coroutine.wrap(function()
            for n = 1, 3 do
                coroutine.yield(n * i)
            end
        end)
        sum = sum + generate() + generate() + generate()
    end
    print("coroutines", sum)
end

for _, mode in ipairs({ "incremental", "generational" }) do
    collectgarbage(mode)
    use_tables()
    use_coroutines()
    collectgarbage()
end
print("closed", pcall(error, { code = 1 }) == false)
SCRIPT
}

workload() {
    "${under[@]}" lua5.4 "$work/script.lua"
}

program_run lua5.4

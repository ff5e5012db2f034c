-- What a script does to text: takes it apart, counts, sorts, and puts lines together.
-- SPDX-License-Identifier: MIT
local counts, order = {}, {}
local function count(word, line)
    if not counts[word] then
        counts[word] = { word = word, lines = {} }
        order[#order + 1] = counts[word]
    end
    local lines = counts[word].lines
    lines[#lines + 1] = line:sub(1, 40)
end
for _, path in ipairs(arg) do
    for line in io.lines(path) do
        for word in line:lower():gmatch("[a-z']+") do
            count(word, line)
        end
    end
end
table.sort(order, function(a, b)
    return #a.lines > #b.lines or (#a.lines == #b.lines and a.word < b.word)
end)
for rank, entry in ipairs(order) do
    print(rank .. " " .. entry.word .. " " .. #entry.lines .. " " .. table.concat(entry.lines, " | "))
end

#!/bin/bash
# ruby runs a script of objects, strings, hashes, threads, fork and garbage collection.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs ruby ruby

prepare() {
    cat >"$work/script.rb" <<'SCRIPT'
require 'digest'
require 'json'
require 'set'

$seed = 23
def mix
  $seed = ($seed * 1103515245 + 12345) & 0x7fffffff
  $seed >> 16
end

Item = Struct.new(:id, :name, :tags)
10.times do |round|
  items = Array.new(60_000) { |i| Item.new(i, "item number #{i} of round #{round}", [mix % 7, mix % 11]) }
  groups = items.group_by { |item| item.tags.sum }
  puts "round #{round}: #{groups.size} groups, the largest has #{groups.values.map(&:size).max}"
end

words = Array.new(200_000) { "word#{mix % 7001}" }
puts words.tally.sort_by { |word, count| [-count, word] }.first(5).inspect
text = words.join(' ')
puts text.gsub(/word(\d)(\d*)/) { "#{$2}-#{$1}" }.length
puts Digest::SHA256.hexdigest(text.scan(/\d{4}/).to_set.sort.join)
rows = Array.new(20_000) { |i| { 'id' => i, 'text' => "row #{mix}", 'list' => [i] * 3 } }
puts JSON.parse(JSON.generate(rows)).sum { |row| row['list'].sum }
puts (1..600).reduce(:*).to_s.length

threads = Array.new(6) do |n|
  Thread.new { Array.new(40_000) { |i| "thread #{n} #{i}" * (i % 4) }.sum(&:length) }
end
puts threads.map(&:value).inspect

3.times do |n|
  reader, writer = IO.pipe
  pid = fork do
    reader.close
    writer.write(words.map { |word| word + n.to_s }.uniq.size)
    exit 0
  end
  writer.close
  puts "child #{n}: #{reader.read}"
  Process.wait(pid)
end
GC.start
GC.compact if GC.respond_to?(:compact)
puts "compacted, #{words.last}"
SCRIPT
}

workload() {
    "${under[@]}" ruby "$work/script.rb"
}

program_run ruby

#!/bin/bash
# perl runs a script of hashes, strings, regular expressions, sorting, closures, threads and fork.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs perl perl

prepare() {
    cat >"$work/script.pl" <<'SCRIPT'
use strict;
use warnings;
use threads;

my $seed = 11;
sub mix { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; return $seed >> 16; }

my %seen;
my @words = map { "word" . mix() % 20011 } 1 .. 200_000;
$seen{$_}++ for @words;
print scalar(keys %seen), " distinct words\n";
my @often = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
print "$_ $seen{$_}\n" for @often[0 .. 9];

my $text = join " ", @words;
my %tail;
$tail{$2} .= $1 while $text =~ /(\w+?)(\d{2})\b/g;
print "$_ ", length $tail{$_}, "\n" for sort keys %tail;
(my $swapped = $text) =~ s/word(\d)(\d+)/$2-$1/g;
print length $swapped, " ", substr($swapped, -40), "\n";

my @tree;
for my $depth (1 .. 60_000) {
    my $node = { id => $depth, below => [], name => "node $depth" };
    push @{ $tree[ mix() % @tree ]{below} }, $node if @tree;
    push @tree, $node;
}
my @open = ([ $tree[0], 0 ]);
my ($count, $deepest) = (0, 0);
while (my $next = pop @open) {
    my ($node, $depth) = @$next;
    $count++;
    $deepest = $depth if $depth > $deepest;
    push @open, map { [ $_, $depth + 1 ] } @{ $node->{below} };
}
print "$count nodes, the deepest at $deepest\n";
undef @tree;

my @adders = map { my $n = $_; sub { return $_[0] + $n } } 1 .. 50_000;
my $sum = 0;
$sum = $_->($sum) % 1_000_003 for @adders;
print "closures: $sum\n";

my @workers = map { my $id = $_; threads->create(sub {
    my %own = map { ("key $id $_" => "x" x ($_ % 100)) } 1 .. 20_000;
    my $length = 0;
    $length += length for values %own;
    return "$id:$length";
}) } 1 .. 4;
print join(" ", map { $_->join } @workers), "\n";

for my $child (1 .. 4) {
    my $pid = open(my $pipe, "-|") // die "fork: $!";
    if (!$pid) {
        my @copy = map { "$_/$child" } @words;
        print scalar(@copy), " ", $copy[-1], "\n";
        exit 0;
    }
    print <$pipe>;
    close $pipe;
}
SCRIPT
}

workload() {
    "${under[@]}" perl "$work/script.pl"
}

program_run perl

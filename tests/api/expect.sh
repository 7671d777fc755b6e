#!/bin/sh
# expect.sh PROGRAM TEXT - runs it; passes when it succeeds and its output holds the text.
out=$("$1") || { echo "$out"; exit 1; }
case $out in *"$2"*) ;; *) echo "no \"$2\" in: $out"; exit 1 ;; esac

#!/bin/sh
# Interesting (status 1) if the module contains a dlc.abs.
grep -q 'dlc.abs' "$1" && exit 1
exit 0

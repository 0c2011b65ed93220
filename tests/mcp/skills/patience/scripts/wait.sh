#!/bin/sh
# Waits for as many seconds as the first argument says.
echo waiting
sleep "$1"
echo waited

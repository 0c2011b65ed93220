#!/bin/sh
mkdir -p out && cp "$1" out/copy.txt

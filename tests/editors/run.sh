#!/usr/bin/env bash
# Tests the language server in Neovim: run.sh PROWESS, where PROWESS is the built program. The last line counts the checks.
set -euo pipefail
cd "$(dirname "$0")/../.."
prowess=$(realpath "$1")

dir=$(realpath "$(mktemp -d)")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/bin" "$dir/home" "$dir/skills/pdf/scripts" "$dir/skills/pdf-forms"
ln -s "$prowess" "$dir/bin/prowess"
cat >"$dir/skills/pdf/SKILL.md" <<'END'
---
name: pdf
description: Fill: forms. Use when asked
---
See [the guide](guide.md) first.
Then run scripts/missing.py.
END
echo "A guide" >"$dir/skills/pdf/guide.md"
cat >"$dir/skills/pdf-forms/SKILL.md" <<'END'
---
name: pdf-forms
description: Fills in forms. Use when asked for forms
---
Fill in the form.
END

# An empty home keeps the configuration of the user out of the test.
env HOME="$dir/home" XDG_CONFIG_HOME="$dir/home" XDG_DATA_HOME="$dir/home" XDG_STATE_HOME="$dir/home" PATH="$dir/bin:$PATH" \
    EDITORS_DIR="$dir" EDITORS_DOC="$PWD/docs/editors.md" \
    timeout 180 nvim --headless -u NONE -i NONE -n -c "luafile tests/editors/neovim.lua" -c "cquit 1"

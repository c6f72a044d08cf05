#!/usr/bin/env bash
# Builds a folder with the program that runs without Python (PyInstaller, CPU build of torch): out/bundle/worldpager/worldpager.
# Takes a few minutes, 3 GB while it works, 1 GB afterwards. Not part of the checks; `--try` starts it once and says how long that took.
#
#   packaging/bundle.sh [--try]
set -euo pipefail
# shellcheck source=packaging/environment.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/environment.sh"

work="$root/out/bundle"
venv="$work/venv"
mkdir -p -- "$work"
python="$(find_python)"
if [ ! -x "$venv/bin/python" ]; then
  say "making an environment of its own for the bundle"
  "$python" -m venv "$venv"
fi
install_cpu_torch
# A plain install: PyInstaller doesn't follow the finder of an editable one.
"$venv/bin/python" -m pip install -qq "${root}[gamepad]" "pyinstaller>=6.10,<7"
"$venv/bin/python" -m pip install -qq --no-deps --force-reinstall "$root"
rm -rf -- "$work/worldpager"
say "building; this takes a few minutes"
(cd -- "$root/packaging" && "$venv/bin/pyinstaller" --noconfirm --log-level WARN --distpath "$work" --workpath "$work/build" worldpager.spec)
rm -rf -- "$work/build"
say "built: $work/worldpager/worldpager, $(du -sh -- "$work/worldpager" | cut -f1)"

if [ "${1:-}" = --try ]; then
  begun=$(date +%s.%N)
  "$work/worldpager/worldpager" --version
  say "answers after $(echo "$(date +%s.%N) - $begun" | bc) s"
  begun=$(date +%s.%N)
  "$work/worldpager/worldpager" play --headless --chunks 12 --record "$work/tour.mp4"
  say "has played 12 chunks of tiny and filmed them after $(echo "$(date +%s.%N) - $begun" | bc) s"
fi

#!/usr/bin/env bash
# Plays. Makes what is missing first: the Python environment in .venv, the system's libraries.
#
#   packaging/play.sh [arguments of `worldpager play`]      a window; without a screen, a scripted tour into out/
#   packaging/play.sh doctor | models | ... [arguments]     any other command of the program
set -euo pipefail
# shellcheck source=packaging/environment.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/environment.sh"

has_screen() { [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; }

wants() {
  local wanted="$1" argument
  shift
  for argument in "$@"; do
    case "$argument" in "$wanted" | "$wanted"=*) return 0 ;; esac
  done
  return 1
}

case "${1:-}" in
  play) shift ;;
  -h | --help | --version | [a-z]*)
    need_environment "$play_extras"
    exec "$venv/bin/worldpager" "$@"
    ;;
esac

if wants --headless "$@" || has_screen; then
  wants --headless "$@" || need_system "$window_needs"
  need_environment "$play_extras"
  exec "$venv/bin/worldpager" play "$@"
fi

need_environment "$play_extras"
tour=(--headless)
written=()
wants --model "$@" || tour+=(--model tiny)
wants --input "$@" || tour+=(--input script:tour)
wants --record "$@" || { tour+=(--record "$root/out/tour.mp4") && written+=("$root/out/tour.mp4"); }
wants --report "$@" || { tour+=(--report "$root/out/tour.json") && written+=("$root/out/tour.json"); }
mkdir -p -- "$root/out"
say "there is no screen here, so a scripted tour is played without a window"
"$venv/bin/worldpager" play "${tour[@]}" "$@"
for file in ${written[@]+"${written[@]}"}; do say "written: $file"; done

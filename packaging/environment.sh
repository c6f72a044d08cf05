# shellcheck shell=bash disable=SC2034  # sourced: the variables are read by play.sh and test.sh
#
# What play.sh and test.sh share: the Python environment and the system's libraries. To be sourced, not run.
#
# Both live inside the checkout or come from the distribution; nothing else on the machine is touched.

root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
play_extras="gamepad"
test_extras="gamepad,test"
torch_cpu_index="https://download.pytorch.org/whl/cpu"
PATH="$PATH:/usr/sbin:/sbin" # ldconfig lies there

# What the window needs: shared library (or font, or program) and the Debian package that brings it.
window_needs="
libEGL.so.1               libegl1
libGL.so.1                libgl1
libglib-2.0.so.0          libglib2.0-0
libdbus-1.so.3            libdbus-1-3
libfontconfig.so.1        libfontconfig1
libxkbcommon.so.0         libxkbcommon0
libX11-xcb.so.1           libx11-xcb1
libxcb-cursor.so.0        libxcb-cursor0
libxcb-icccm.so.4         libxcb-icccm4
libxcb-keysyms.so.1       libxcb-keysyms1
libxcb-randr.so.0         libxcb-randr0
libxcb-shape.so.0         libxcb-shape0
libxcb-sync.so.1          libxcb-sync1
libxcb-xfixes.so.0        libxcb-xfixes0
libxcb-xkb.so.1           libxcb-xkb1
libxkbcommon-x11.so.0     libxkbcommon-x11-0
libwayland-cursor.so.0    libwayland-cursor0
libwayland-egl.so.1       libwayland-egl1
libportaudio.so.2         libportaudio2
font                      fonts-dejavu-core
"
test_needs="$window_needs
Xvfb                      xvfb
xauth                     xauth
xdotool                   xdotool
"

say() { printf 'worldpager: %s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# The first Python that is new enough. WORLDPAGER_PYTHON chooses another one.
find_python() {
  local candidate
  for candidate in ${WORLDPAGER_PYTHON:+"$WORLDPAGER_PYTHON"} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v -- "$candidate"
      return
    fi
  done
  fail "Python 3.11 or newer was not found. Install it (Debian 12 or Ubuntu 24.04: sudo apt-get install python3 python3-venv)," \
    "or set WORLDPAGER_PYTHON to the path of one."
}

# Runs a command as root: as we are, or through sudo where a password can be asked for or is not needed.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    sudo "$@"
  else
    return 77
  fi
}

# Installs Debian packages, once, with root's rights; ends with the exact command where that can't be had.
install_packages() {
  local command="apt-get install -y --no-install-recommends $*"
  if ! command -v apt-get >/dev/null; then
    say "these libraries seem to be missing (Debian's names): $*. Install them with your system's package tool if the window does not open."
    return
  fi
  say "installing what is missing: $*"
  local status=0
  as_root env DEBIAN_FRONTEND=noninteractive sh -c "$command -q >&2 || { apt-get update -q >&2 && $command -q >&2; }" || status=$?
  [ "$status" -ne 77 ] || fail "this needs root's rights once, which can't be asked for here. Run it yourself, then start again:
  sudo $command"
  [ "$status" -eq 0 ] || fail "that did not work. Run it yourself, then start again:
  sudo $command"
}

# Prints the packages of a list of needs that are not there yet.
missing_packages() {
  local libraries need package
  libraries="$(ldconfig -p 2>/dev/null || true)"
  while read -r need package; do
    case "$need" in
      '') continue ;;
      *.so.*) [ -z "$libraries" ] || [[ "$libraries" == *$'\t'"$need "* ]] || echo "$package" ;;
      font) [ -n "$(find -L /usr/share/fonts /usr/local/share/fonts -name '*.[to]tf' -print -quit 2>/dev/null)" ] || echo "$package" ;;
      *) command -v "$need" >/dev/null || echo "$package" ;;
    esac
  done <<<"$1"
}

# Makes sure that a list of needs is installed.
need_system() {
  local missing
  missing="$(missing_packages "$1")"
  # shellcheck disable=SC2086  # one word per package
  [ -z "$missing" ] || install_packages ${missing//$'\n'/ }
}

# Torch for a machine without an NVIDIA GPU: the CPU build, gigabytes smaller. Where none is to be had the plain requirement decides.
install_cpu_torch() {
  local torch
  "$venv/bin/python" -c 'import importlib.util, sys; sys.exit(not importlib.util.find_spec("torch"))' && return
  torch="$("$venv/bin/python" -c 'import sys, tomllib
wanted = tomllib.load(open(sys.argv[1], "rb"))["project"]["dependencies"]
print(next(line for line in wanted if line.startswith("torch")))' "$root/pyproject.toml")"
  "$venv/bin/python" -m pip install -qq --no-index --no-deps "$torch" 2>/dev/null && return # a folder of wheels that pip is set up with
  "$venv/bin/python" -m pip install -qq --no-deps --retries 0 --timeout 15 --index-url "$torch_cpu_index" "$torch" 2>/dev/null ||
    say "the CPU build of torch can't be had here; taking the ordinary one, which is large"
}

# Makes .venv, unless there is one of the same Python made in the same place.
make_venv() {
  local python="$1" made
  made="$venv $("$python" -c 'import sys; print(*sys.version_info[:2], sys.base_prefix)')"
  if [ "$(cat "$venv/made-by-worldpager" 2>/dev/null)" = "$made" ] && "$venv/bin/python" -c '' 2>/dev/null; then return; fi
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    install_packages "$(basename -- "$(readlink -f -- "$(command -v -- "$python")")")-venv"
  fi
  say "making the Python environment in $venv"
  rm -rf -- "$venv"
  "$python" -m venv "$venv" >&2 || fail "the environment in $venv could not be made with $python."
  printf '%s\n' "$made" >"$venv/made-by-worldpager"
}

# What an environment depends on: the checkout's place, the Python, and pyproject.toml.
environment_state() {
  local python="$1"
  echo "$root $("$python" -c 'import sys; print(*sys.version_info[:3], sys.base_prefix)') $(cksum <"$root/pyproject.toml")"
}

# Makes or renews the environment with the named extras. Costs nothing when a stamp says that it is current. An environment for tests
# is one for play, too.
need_environment() {
  local extras="$1" python stamp current
  python="$(find_python)"
  current="$(environment_state "$python")"
  for stamp in "$venv/$extras.stamp" "$venv/$test_extras.stamp"; do
    if [ -x "$venv/bin/worldpager" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$current" ]; then return; fi
  done
  make_venv "$python"
  say "installing the Python packages (half a minute and 2 GB the first time)"
  if [ "$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null; then install_cpu_torch; fi
  "$venv/bin/python" -m pip install -qq -e "${root}[$extras]" >&2 || fail "the Python packages could not be installed; what pip said is above."
  printf '%s\n' "$current" >"$venv/$extras.stamp"
}

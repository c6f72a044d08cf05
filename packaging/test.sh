#!/usr/bin/env bash
# Checks everything: lint, types, the direction of imports, tests. Makes what is missing first, as play.sh does.
#
#   packaging/test.sh [arguments of pytest]
set -euo pipefail
# shellcheck source=packaging/environment.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/environment.sh"

need_system "$test_needs"
need_environment "$test_extras"
cd -- "$root"
PATH="$venv/bin:$PATH"

# Type checkers follow folders, not the build's mapping of app, engine, kernels and assets to worldpager.*: a link shows it to them.
mkdir -p .typing
ln -sfn .. .typing/worldpager

step() {
  say "$1"
  shift
  "$@"
}

step "ruff" ruff check .
step "mypy" mypy -p worldpager.app -p worldpager.engine -p worldpager.kernels -p worldpager.assets
step "mypy, tests" mypy tests
step "import contracts" lint-imports
step "pytest" python -m pytest -q "$@"

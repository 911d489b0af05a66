#!/bin/bash
# The one list of the Debian 12 packages that Spillway is built, tested and
# measured with. run.sh, test.sh, CI and the Dockerfile all call this script.
#
#   docker/install-deps.sh           everything a developer or CI needs
#   docker/install-deps.sh build     only what compiling the proxy needs
#   docker/install-deps.sh runtime   only what the compiled proxy needs to run
#   docker/install-deps.sh peers     only the job queues that bench/jobs measures beside it; nothing
#                                    else needs them
#
# Does nothing when every package is already there, so it is cheap to call first.
set -euo pipefail

runtime=(
  ca-certificates libspdlog1.10 libfmt9 libprometheus-cpp-core1.0 libnettle8
  libhogweed6 libgmp10
  # deferred requests are kept in a SQLite file, or in PostgreSQL, and may be encrypted
  libsqlite3-0 libpq5 libssl3
)
build=(
  g++ cmake ninja-build ccache git
  libboost1.81-dev
  nlohmann-json3-dev libcli11-dev libspdlog-dev prometheus-cpp-dev nettle-dev
  libgmp-dev
  # the store of deferred requests
  libsqlite3-dev libpq-dev libssl-dev
)
develop=(
  # test framework, second compiler with its sanitizer runtime, a quick linker, formatting, linting
  doctest-dev libyaml-cpp-dev clang libclang-rt-14-dev lld clang-format clang-tidy
  # an issuer of JSON Web Tokens other than Spillway's own code
  libjwt-dev
  # micro-benchmarks; the plots of the benchmarks' report
  libbenchmark-dev python3-matplotlib
  # the real parts that tests and comparisons run against
  postgresql nginx-core haproxy wrk curl prometheus procps slowhttptest
  # the public suite of HTTP cache tests; npm below
  nodejs
  # a real browser before the waiting page, and letters for it
  chromium fonts-dejavu-core
)
peers=(
  rabbitmq-server librabbitmq-dev nats-server
)
# A nodejs from elsewhere may bring its own npm, which Debian's would contradict.
command -v npm > /dev/null || develop+=(npm)

case "${1:-develop}" in
  runtime) packages=("${runtime[@]}") ;;
  build)   packages=("${runtime[@]}" "${build[@]}") ;;
  develop) packages=("${runtime[@]}" "${build[@]}" "${develop[@]}") ;;
  peers)   packages=("${peers[@]}") ;;
  *) echo "usage: $0 [runtime|build|develop|peers]" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$state" == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

if ((EUID != 0)); then
  echo "$0: these packages are missing and installing them needs root: ${missing[*]}" >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# Debian starts the services it installs (nginx, haproxy, prometheus). Only the
# programs are wanted here, so a policy says no while the packages are installed.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -q
apt-get install -y -q --no-install-recommends "${missing[@]}"

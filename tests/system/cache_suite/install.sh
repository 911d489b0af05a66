#!/bin/bash
# Fetches the public suite of HTTP cache tests into a folder, once:
#
#   tests/system/cache_suite/install.sh FOLDER
#
# The package is compared with a digest. Exits with 77 (skipped) without npm or network.
set -euo pipefail

package=http-cache-tests@0.4.5
digest=0e3bb037d9d46572d35bec1abf52d1112099355c65f12b21c0ecb8cf5a71b966d6b79fdacbab0cf5043595e6c16833ba3f520c0682ba99d7fe3ee54ffd034bf0

folder=$1
if [[ -e $folder/package/package.json ]]; then exit 0; fi
mkdir -p "$folder"
cd "$folder"
if ! command -v npm > /dev/null; then
  echo "npm is missing: docker/install-deps.sh installs it"
  exit 77
fi
if ! archive=$(npm pack --silent "$package"); then
  echo "the package cannot be fetched"
  exit 77
fi
echo "$digest  $archive" | sha512sum --check --quiet
tar -xzf "$archive"

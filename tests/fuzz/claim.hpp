// The claims that a fuzz target checks.
#pragma once

#include <string>
#include <string_view>

namespace spillway::fuzz {

// A claim does not hold. Ends the process under libFuzzer, which keeps the input; ends the test
// case when the corpus is replayed.
[[noreturn]] void broken(const std::string& claim);

// `seen` says what was there instead.
inline void require(bool holds, std::string_view claim, std::string_view seen = {}) {
  if (holds) return;
  broken(std::string(claim) + (seen.empty() ? "" : ": ") + std::string(seen));
}

}  // namespace spillway::fuzz

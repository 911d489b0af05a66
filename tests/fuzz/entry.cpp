// libFuzzer's way into one target, SPILLWAY_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/claim.hpp"
#include "fuzz/targets.hpp"

namespace spillway::fuzz {

void broken(const std::string& claim) {
  std::fprintf(stderr, "broken claim: %s\n", claim.c_str());
  std::abort();
}

}  // namespace spillway::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spillway::fuzz::SPILLWAY_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}

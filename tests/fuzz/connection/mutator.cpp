// libFuzzer's mutations of scripts: steps, not bytes. And what the address sanitizer may keep,
// since each script makes a proxy anew: memory that is used again costs no page faults.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/connection/script.hpp"

namespace {

using spillway::fuzz::Script;

std::size_t write(const Script& script, std::uint8_t* data, std::size_t room) {
  std::string text = spillway::fuzz::text_of(script);
  if (text.size() > room) text.resize(text.rfind('\n', room - 1) + 1);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

Script read(const std::uint8_t* data, std::size_t size) {
  return spillway::fuzz::parse_script({reinterpret_cast<const char*>(data), size});
}

}  // namespace

extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=16:malloc_context_size=8";
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t room, unsigned seed) {
  spillway::Random random(seed);
  Script script = read(data, size);
  mutate(script, random);
  return write(script, data, room);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t size_a,
                                                 const std::uint8_t* b, std::size_t size_b,
                                                 std::uint8_t* out, std::size_t room,
                                                 unsigned seed) {
  spillway::Random random(seed);
  return write(crossed(read(a, size_a), read(b, size_b), random), out, room);
}

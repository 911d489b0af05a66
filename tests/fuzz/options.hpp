// How a target takes what is to vary besides the text: the first bytes of its input are options,
// the rest is the text as it is, so that a corpus can be read and written by hand.
#pragma once

#include <cstddef>
#include <string_view>

namespace spillway::fuzz {

class Options {
 public:
  explicit Options(std::string_view input) : rest_(input) {}

  // 0 when the input is used up.
  unsigned byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// One bit of an option byte.
constexpr bool bit(unsigned options, unsigned position) { return (options >> position & 1) != 0; }

}  // namespace spillway::fuzz

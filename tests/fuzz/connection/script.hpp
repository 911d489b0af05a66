// What both sides of a connection do, step by step. As a text it has one step a line: a word and
// `key=value`s, in any order; a key left out is its first value.
//
//   request client=0 method=POST body=chunked
//   send client=0 bytes=40
//   answer body=chunked pieces=7
//   pause for=1s
//   send client=0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace spillway::fuzz {

enum class Verb : std::uint8_t {
  request,  // written down for a client, to be sent
  // So many bytes of what was written down; 0: all; each above 200 stands for 2000. then=leaves: it
  // closes its connection behind them, so that the proxy learns both at once.
  send,
  half_close,  // no more from this client, once all that was let go is sent
  leave,       // it closes its connection
  reads,       // it stops reading, or reads again
  answer,      // how the next request that comes is answered
  stray,       // bytes without a request on an upstream connection
  hang_up,     // the server closes that connection
  refuse,      // so many connections more are refused
  pause,       // time passes
  drain,       // the proxy is told to end
};
inline constexpr std::size_t kVerbCount = 11;

inline constexpr std::size_t kClients = 3;
inline constexpr std::size_t kMostArguments = 8;
inline constexpr std::size_t kMostSteps = 48;

// One argument of a step: a number below `count`, or the place of a name.
struct Argument {
  std::string_view key;
  std::span<const std::string_view> names;  // empty: numbers
  unsigned count;
};

struct Step {
  Verb verb{};
  std::array<std::uint8_t, kMostArguments> values{};  // in the order of arguments_of()

  friend bool operator==(const Step&, const Step&) = default;
};
using Script = std::vector<Step>;

std::span<const Argument> arguments_of(Verb verb);

// Lines that are no steps are left out, and steps beyond kMostSteps.
Script parse_script(std::string_view text);
std::string text_of(const Script& script);

// Some steps more, less, elsewhere or otherwise.
void mutate(Script& script, Random& random);
// The beginning of one and the end of the other.
Script crossed(const Script& a, const Script& b, Random& random);

}  // namespace spillway::fuzz

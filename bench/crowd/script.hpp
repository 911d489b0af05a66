// What one visitor of the crowd will do, decided before it comes. Pure; the same number and seed
// give the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::crowd {

enum class Manner : std::uint8_t {
  polite,     // waits, comes when it is called, looks around, says that it leaves
  closing,    // as polite, but closes the tab without a word
  glancing,   // looks once and never comes back
  impatient,  // closes the tab in line
  elsewhere   // goes on asking, as a tab in the background, and does not come when it is called
};

struct Script {
  Manner manner = Manner::polite;
  Duration patience{};    // in line; of an impatient one
  std::size_t looks = 0;  // requests inside, after the first
  Duration pause{};       // before each of them
  bool buys = false;      // the last of them is an order
};

// The visitor waits until it is called, and then comes.
constexpr bool stays(Manner manner) {
  return manner == Manner::polite || manner == Manner::closing;
}

Script script_of(std::size_t number, std::uint64_t seed);

}  // namespace spillway::crowd

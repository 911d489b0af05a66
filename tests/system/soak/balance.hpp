// The proxy's own figures, read from its page of metrics: what they add up to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::soak {

// The sum of all samples of a family whose labels contain `label`, e.g. `side="client"`.
double sum(std::string_view page, std::string_view family, std::string_view label = {});
bool has(std::string_view page, std::string_view family);

// Requests by how they ended. Each that was accepted ends in exactly one way.
struct Balance {
  std::uint64_t accepted = 0;
  std::uint64_t answered = 0;  // by whomever, however
  std::uint64_t dropped = 0;
  std::uint64_t client_gone = 0;

  std::uint64_t finished() const { return answered + dropped + client_gone; }
};
Balance balance_of(std::string_view page);
std::string to_text(const Balance& balance);

// What must be 0 when nothing is running, by name, for as far as it is not; empty: nothing is.
std::string still_running(std::string_view page);

}  // namespace spillway::soak

// A client of the matrix: asks for one target in one of the ways that requests come, and says in a
// word what became of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/event.hpp"

namespace spillway::faults {

// The ways, by number: client n asks in way n % kWays.
inline constexpr std::size_t kWays = 8;
std::string method_of(std::size_t way);
bool is_idempotent(std::size_t way);

// What a client came to see: "200", "502", ...: a whole answer of this status, and with 200 the
// very body that belongs to the target; "aborted": broken off within an answer; "closed": before
// any; "refused": no connection; "hangs": nothing in time; else "WRONG: ...": another's answer, or
// one that is not whole and yet looks like it.
struct Outcome {
  std::string word;
  std::size_t requests = 0;  // that the proxy has to have counted
  std::string detail;        // of an answer that is not 200
};

struct Question {
  std::string target;
  std::string next;            // asked on the same connection if it goes on; empty: nothing
  std::size_t body = 200'000;  // bytes of a large one
  support::Milliseconds patience = support::kPatience;  // to connect, and for each answer
};

Outcome ask(std::uint16_t port, std::size_t way, const Question& question);

}  // namespace spillway::faults

// An open load: requests leave at their instants whether or not earlier ones were answered, as
// from a crowd whose members know nothing of one another.
//
// Idle connections are reused and new ones opened as needed. An answer that is not complete
// within `patience` does not come: its connection is closed, like a person's who gives up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/event.hpp"
#include "support/message.hpp"

namespace spillway::support {

struct LoadStream {
  std::string request;  // complete, as sent
  double per_second = 0;
};

struct LoadResult {
  std::uint64_t sent = 0;
  std::map<int, std::uint64_t> by_status;
  std::uint64_t unanswered = 0;   // closed or broken before an answer was complete
  std::uint64_t given_up = 0;     // not answered within the patience
  std::vector<Message> refusals;  // the first hundred answers that are not 200

  std::uint64_t answered(int status) const;
  double ok_share() const { return static_cast<double>(answered(200)) / static_cast<double>(sent); }
};

// Sends Poisson arrivals (the same each time) for `length` and returns when all have ended, in the
// order of the streams.
std::vector<LoadResult> run_open_load(std::uint16_t port, const std::vector<LoadStream>& streams,
                                      Milliseconds length, Milliseconds patience);

// Lets this process open as many descriptors as the system allows it.
void raise_descriptor_limit();

}  // namespace spillway::support

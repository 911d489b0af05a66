// What a cache may give in answer to a request to one of the shared targets: RFC 9111 as far as the
// messages of a script go. Where an edit made a field unclear, both are allowed.
#pragma once

#include <list>
#include <string_view>

#include "fuzz/connection/reading.hpp"
#include "fuzz/connection/world.hpp"

namespace spillway::fuzz {

// The cached route of a world.
bool has_shared_target(std::string_view head);

// Both go to the same shared target of the same authority.
bool are_alike(std::string_view a_head, std::string_view another_head);

// An answer as a client received it.
struct GivenAnswer {
  unsigned status = 0;
  std::string_view content;
  bool is_complete = false;
};

// Whether the server sent it in answer to another request for the same, and it may be kept and be
// given here: complete, to GET, neither private nor to a request with Authorization unless it is
// public, selected by the same fields.
bool may_be_stored(const GivenAnswer& given, const SentRequest& request,
                   const std::list<Arrival>& arrivals);

}  // namespace spillway::fuzz

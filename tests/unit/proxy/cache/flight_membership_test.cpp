#include "proxy/cache/flight_membership.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace spillway::proxy {
TEST_CASE("the fault of a leader is its followers' only as far as it says something about them") {
  using cache::Landing;
  using std::chrono::seconds;
  struct Case {
    const char* what;
    Fault fault;
    Landing landing;
  };
  const std::vector<Case> cases{
      // of this client alone: a follower leads
      {"its client left", client_gone(), Landing::leads},
      {"its deadline passed at the upstream", deadline_passed(), Landing::leads},
      // of the gate or a rule: each asks for itself
      {"a rule denied it", denied(Reason::queue_saturation, seconds(1)), Landing::refused},
      {"a rule dropped it", dropped(Reason::queue_saturation), Landing::refused},
      {"its budget was spent", denied(Reason::budget_exceeded, seconds(1)), Landing::refused},
      {"it waited in vain", no_slot(Reason::queue_timeout, seconds(1)), Landing::refused},
      {"its deadline passed in the queue", no_slot(Reason::deadline_expired, seconds(1)),
       Landing::refused},
      {"it was evicted", no_slot(Reason::evicted, seconds(1)), Landing::refused},
      {"only a stored response would do", not_stored(denied(Reason::error_burst, seconds(1))),
       Landing::refused},
      // of the upstream, or of this proxy: it would fail for all
      {"no server could be connected to", cannot_connect(false), Landing::failed},
      {"its circuits are open", circuit_open(seconds(1)), Landing::failed},
      {"the connection broke", upstream_reset(), Landing::failed},
      {"no response came in time", upstream_timeout(), Landing::failed},
      {"no more of it came", upstream_stalled(), Landing::failed},
      {"it was not valid", upstream_invalid(http::Error::head_too_large), Landing::failed},
      {"descriptors ran out", local_shortage(), Landing::failed},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    CHECK(landing_after(one.fault) == one.landing);
  }
}

}  // namespace spillway::proxy

// Tickets whose polls are refused without a look at the waiting room.
#include "proxy/waiting/poll_holds.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::proxy;

namespace {

constexpr waiting::Time kHeldAt{std::chrono::hours(490'000)};

waiting::TicketId id_of(std::uint64_t bits) {
  waiting::TicketId id;
  std::memcpy(id.bytes.data(), &bits, sizeof bits);
  return id;
}

}  // namespace

TEST_CASE("a ticket is held until then, and no longer") {
  PollHolds holds;
  CHECK_FALSE(holds.held(id_of(7), kHeldAt));
  holds.hold(id_of(7), kHeldAt + Milliseconds(5000));
  CHECK(holds.held(id_of(7), kHeldAt) == Milliseconds(5000));
  CHECK(holds.held(id_of(7), kHeldAt + Milliseconds(4999)) == Milliseconds(1));
  CHECK_FALSE(holds.held(id_of(7), kHeldAt + Milliseconds(5000)));
}

TEST_CASE("a ticket of the same place is not held for another, and takes its place") {
  PollHolds holds;
  const auto other = id_of(7 + (std::uint64_t{1} << 50));
  holds.hold(id_of(7), kHeldAt + Milliseconds(5000));
  CHECK_FALSE(holds.held(other, kHeldAt));
  holds.hold(other, kHeldAt + Milliseconds(1000));
  CHECK(holds.held(other, kHeldAt) == Milliseconds(1000));
  CHECK_FALSE(holds.held(id_of(7), kHeldAt));
}

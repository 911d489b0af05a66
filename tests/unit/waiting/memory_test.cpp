// What a place in a long line takes of memory.
#include <doctest/doctest.h>
#include <malloc.h>

#include "crowd.hpp"
#include "support/places.hpp"

namespace spillway::waiting {
namespace {

std::size_t allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;  // small blocks and mapped ones
}

}  // namespace

TEST_CASE("a waiting ticket takes at most 256 bytes, from 10^5 to 10^6 of them") {
  if (support::is_sanitized()) return;  // their allocators do not count
  Terms terms = terms_for(1, When::always);
  terms.max_tickets = 10'000'000;
  terms.max_wait = std::chrono::hours(100'000);
  WaitingRoom room(terms);
  std::uint64_t next = 0;
  const auto join_until = [&](std::uint64_t end) {
    for (; next < end; ++next) REQUIRE(room.join(id_of(next), kStart, kStart).view);
    return allocated();
  };
  const std::size_t few = join_until(100'000);
  const std::size_t many = join_until(1'000'000);
  const double bytes = static_cast<double>(many - few) / 900'000;
  MESSAGE("bytes a ticket: " << bytes);
  CHECK(bytes <= 256);
  CHECK(bytes > 100);  // they are counted at all
}

}  // namespace spillway::waiting

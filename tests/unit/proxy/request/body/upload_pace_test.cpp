#include "proxy/request/body/upload_pace.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace spillway::proxy {

TEST_CASE("an upload is streamed if its rest will be there in half a second") {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  constexpr std::uint64_t kMiB = 1024 * 1024;
  struct Case {
    std::uint64_t received;
    std::optional<std::uint64_t> rest;
    Duration taken;
    bool expected;
  };
  const Case cases[] = {
      {2 * kMiB, 98 * kMiB, milliseconds(2), true},     // from the same rack
      {2 * kMiB, 98 * kMiB, milliseconds(20), false},   // 100 MB/s: a second
      {60 * kMiB, 40 * kMiB, milliseconds(600), true},  // the same, later
      {2 * kMiB, 1, seconds(7000), false},              // 300 B/s, to its last byte
      {2 * kMiB, kMiB - 1, milliseconds(0), false},     // so little is read in any case
      {2 * kMiB, kMiB, milliseconds(0), true},
      {kMiB - 1, 1, milliseconds(0), false},  // too little to say
      {kMiB, 50 * kMiB, milliseconds(0), true},
      {2 * kMiB, std::nullopt, milliseconds(499), true},  // as much again
      {2 * kMiB, std::nullopt, milliseconds(501), false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.received);
    CAPTURE(to_seconds(c.taken));
    CHECK(will_soon_be_there(c.received, c.rest, c.taken) == c.expected);
  }
}

}  // namespace spillway::proxy

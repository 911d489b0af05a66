#include "proxy/request/client/silence.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace spillway::proxy {

using namespace std::chrono_literals;

TEST_CASE("at the connection limit nothing gives way before its time, and what is served never") {
  const TimePoint now = TimePoint{} + 1h;
  CHECK_FALSE(Silence{}.gives_way(now));
  CHECK_FALSE(Silence{Silence::At::nothing, now}.gives_way(now));
  CHECK_FALSE(Silence{Silence::At::body, now + 1ns}.gives_way(now));
  CHECK(Silence{Silence::At::body, now}.gives_way(now));
}

TEST_CASE("those whose clients lose least go first, of these the oldest") {
  using At = Silence::At;
  const TimePoint now = TimePoint{} + 1h;
  std::vector<Silence> all{{At::response, now - 9s}, {At::head, now - 1s}, {At::body, now - 5s},
                           {At::answered, now},      {At::head, now - 2s}, {At::body, now - 6s}};
  std::sort(all.begin(), all.end());
  const std::vector<Silence> order{{At::answered, now},  {At::head, now - 2s},
                                   {At::head, now - 1s}, {At::body, now - 6s},
                                   {At::body, now - 5s}, {At::response, now - 9s}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(all[i].at == order[i].at);
    CHECK(all[i].gives_way_from == order[i].gives_way_from);
  }
}

}  // namespace spillway::proxy

#include "http/message/closing.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string_view>
#include <vector>

namespace spillway::http {

TEST_CASE("a connection closes at once only when nothing unread could reset it") {
  constexpr std::size_t kSmall = 1000;
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  struct Case {
    std::string_view name;
    LastResponse response;
    Closing closing;
  };
  const std::vector<Case> cases{
      {"the upstream's, and all was read", {false, true}, {false, 0}},
      {"the upstream's, ahead of the body", {false, false}, {true, kAll}},
      // The client may be sending still what the proxy has not asked for.
      {"a refusal, and all was read", {true, true}, {true, kSmall}},
      {"a refusal of a large body", {true, false}, {true, kSmall}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Closing closing = closing_after(c.response, kSmall);
    CHECK(closing.lingers == c.closing.lingers);
    CHECK(closing.most_bytes == c.closing.most_bytes);
  }
}

TEST_CASE("what is read of a refused request is never more than a small body") {
  for (const std::size_t small : {std::size_t{0}, std::size_t{1}, std::size_t{65536}}) {
    for (const bool is_read : {false, true})
      CHECK(closing_after({.is_own = true, .is_input_read = is_read}, small).most_bytes == small);
    // The control: a response of the upstream is not bounded by it.
    CHECK(closing_after({}, small).most_bytes > small);
  }
}

}  // namespace spillway::http

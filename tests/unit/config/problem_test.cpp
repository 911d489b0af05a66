#include "config/problem.hpp"

#include <doctest/doctest.h>

namespace spillway::config {

TEST_CASE("paths quote keys that are not plain words") {
  CHECK(member("$", "listen") == "$.listen");
  CHECK(member("$.a", "b c") == R"($.a["b c"])");
  CHECK(member("$", "") == R"($[""])");
  CHECK(member("$", "\x1b[31m") == R"($["\u001b[31m"])");
  CHECK(element("$.routes", 2) == "$.routes[2]");
}

TEST_CASE("a found text is shown as printable ASCII and cut") {
  CHECK(shown("caf\xc3\xa9\n") == R"("caf\u00e9\n")");
  CHECK(shown("\xff\xfe") == R"("\ufffd\ufffd")");
  CHECK(shown(std::string(1000, 'x')).size() < 80);
}

TEST_CASE("the nearest name is offered only when it is near") {
  const std::vector<std::string> names{"listen", "limits", "log"};
  CHECK(nearest("listn", names) == "listen");
  CHECK(nearest("limit", names) == "limits");
  CHECK(nearest("xyzzy", names).empty());
  CHECK(nearest(std::string(100'000, 'l'), names).empty());
  CHECK(nearest("listen", {}).empty());
  CHECK(suggestion("lgo", names) == ": did you mean \"log\"?");
  CHECK(suggestion("xyzzy", names) == ": expected one of \"listen\", \"limits\", \"log\"");
}

}  // namespace spillway::config

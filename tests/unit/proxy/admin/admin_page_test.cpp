#include "proxy/admin/admin_page.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace spillway::proxy;

TEST_CASE("what clients wrote controls no terminal that shows an admin page") {
  // CSI and NEL of C1, the right-to-left override, an invisible filler, invalid UTF-8.
  const std::string line =
      json_line({{"target", "/a\xc2\x9b\xc2\x85\xe2\x80\xae\xe3\x85\xa4\xff\x1b[2J"}});
  CHECK(line == "{\"target\":\"/a\\u009b\\u0085\\u202e\\u3164\\ufffd\\u001b[2J\"}\n");
  CHECK(std::ranges::all_of(line, [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; }));
}

#include "traffic/path.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace spillway::traffic;

TEST_CASE("all spellings of a path that a backend may take for the same are one") {
  struct Case {
    std::string_view path;
    std::string_view decoded;
    std::string_view literal;
  };
  const Case cases[] = {
      // RFC 3986 sections 5.2.4 and 6.2.2
      {"/a/b", "/a/b", "/a/b"},
      {"/", "/", "/"},
      {"", "/", "/"},
      {"*", "/*", "/*"},
      {"?q=/x", "/", "/"},
      {"/a?b=/../c", "/a", "/a"},
      {"/a#/../b", "/a", "/a"},
      {"/a/", "/a", "/a"},
      {"//a///b//", "/a/b", "/a/b"},
      {"/a/./b/.", "/a/b", "/a/b"},
      {"/a/../b", "/b", "/b"},
      {"/a/b/..", "/a", "/a"},
      {"/../../a", "/a", "/a"},
      {"/a/../..", "/", "/"},
      {"/.a/..b/c..", "/.a/..b/c..", "/.a/..b/c.."},
      {"/.../a", "/.../a", "/.../a"},
      {"/%61%2d%7E", "/a-~", "/a-~"},
      {"/a%20b", "/a b", "/a b"},
      {"/%zz/%4", "/%zz/%4", "/%zz/%4"},
      {"/a%2fb", "/a/b", "/a%2Fb"},
      {"/a%2F..%2fb", "/b", "/a%2F..%2Fb"},
      {"/a%2F%2Fb", "/a/b", "/a%2F%2Fb"},
      {"/a%5cb", "/a/b", "/a%5Cb"},
      {"/a\\b", "/a/b", "/a\\b"},
      {"/a\\..\\b", "/b", "/a\\..\\b"},
      {"/a/%2e%2E/b", "/b", "/a/../b"},
      {"/a/.%2e/b", "/b", "/a/../b"},
      {"/a/%2e/b", "/a/b", "/a/./b"},
      {"/a/%2e%2e/../b", "/b", "/a/b"},
      {"/file%2Etxt", "/file.txt", "/file.txt"},
      {"/a%252fb", "/a%2fb", "/a%2fb"},
      // RFC 3986 section 3.3: parameters of a segment
      {"/a;p=1/b", "/a/b", "/a;p=1/b"},
      {"/a;p=1", "/a", "/a;p=1"},
      {"/a/..;p/b", "/b", "/a/..;p/b"},
      {"/a/..%3bp/b", "/b", "/a/..;p/b"},
      {"/a;p%2fb/c", "/a/b/c", "/a;p%2Fb/c"},
      {"/;p/a", "/a", "/;p/a"},
  };
  std::array<char, 256> scratch;
  for (const Case& one : cases) {
    CAPTURE(one.path);
    const NormalisedPath path = normalise(one.path, scratch);
    CHECK(path.decoded == one.decoded);
    CHECK(path.literal == one.literal);
    CHECK(path.ambiguous() == (one.decoded != one.literal));
  }
}

TEST_CASE("an ordinary path is a view of itself and a short scratch gives nothing") {
  const std::string plain = "/a/b?c";
  CHECK(normalise(plain, {}).literal.data() == plain.data());
  std::array<char, 11> scratch;
  CHECK(normalise("/a%2Fb", scratch).decoded.empty());
  std::array<char, 14> enough;
  CHECK(normalise("/a%2Fb", enough).decoded == "/a/b");
}

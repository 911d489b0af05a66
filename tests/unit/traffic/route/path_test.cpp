#include "traffic/route/path.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace spillway::traffic;

namespace {

std::string first_of(std::string_view path) {
  PathReadings readings(path);
  REQUIRE(readings.next());
  return std::string(readings.reading());
}

struct All {
  std::set<std::string> readings;
  bool is_ambiguous = false;
  bool too_many = false;
};

All all_of(std::string_view path) {
  All all;
  PathReadings readings(path);
  while (readings.next()) all.readings.emplace(readings.reading());
  all.is_ambiguous = readings.is_ambiguous();
  all.too_many = readings.too_many();
  return all;
}

}  // namespace

TEST_CASE("the first reading of a path is that of RFC 3986") {
  // Sections 5.2.4 and 6.2.2.
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/a/b", "/a/b"},
      {"/", "/"},
      {"", "/"},
      {"*", "/*"},
      {"?q=/x", "/"},
      {"/a?b=/../c", "/a"},
      {"/a#/../b", "/a"},
      {"/a/", "/a"},
      {"//a///b//", "/a/b"},
      {"/a/./b/.", "/a/b"},
      {"/a/../b", "/b"},
      {"/a//../b", "/b"},
      {"/a/b/..", "/a"},
      {"/../../a", "/a"},
      {"/a/../..", "/"},
      {"/.a/..b/c..", "/.a/..b/c.."},
      {"/.../a", "/.../a"},
      {"/%61%2d%7E", "/a-~"},
      {"/a%20b", "/a b"},
      {"/%zz/%4", "/%zz/%4"},
      {"/a%2fb", "/a%2Fb"},
      {"/a%2F..%2fb", "/a%2F..%2Fb"},
      {"/a%5cb", "/a%5Cb"},
      {"/a\\..\\b", "/a\\..\\b"},
      {"/a/%2e%2E/b", "/a/../b"},
      {"/file%2Etxt", "/file.txt"},
      {"/a%252fb", "/a%2fb"},
      {"/a;p=1/b", "/a;p=1/b"},
      {"/a/..;p/b", "/a/..;p/b"},
  };
  for (const auto& [path, expected] : cases) {
    CAPTURE(path);
    CHECK(first_of(path) == expected);
  }
}

TEST_CASE("a path is read in every way that a backend may read it") {
  struct Case {
    std::string_view path;
    std::set<std::string> among;  // besides others
    bool is_ambiguous = true;
  };
  const Case cases[] = {
      {"/a/../b", {"/b", "/a/../b"}},
      {"/a//../b", {"/b", "/a/b", "/a//../b"}},
      {"//a", {"/a", "//a"}},
      {"//h/a/b", {"/h/a/b", "//h/a/b", "/a/b"}},
      {"/a%2fb", {"/a%2Fb", "/a/b"}},
      {"/a/%2e%2e/b", {"/a/../b", "/b", "/a/%2e%2e/b"}},
      {"/a/..%2f../b", {"/a/..%2F../b", "/a/../../b", "/b"}},
      {"/x/../a%2f../b", {"/a/../b", "/b", "/x/../a%2F../b"}},
      {"/a\\b", {"/a\\b", "/a/b"}},
      {"/a%5c..%5Cb", {"/a%5C..%5Cb", "/a/../b", "/b"}},
      {"/a;p/b", {"/a;p/b", "/a/b"}},
      {"/a/..;p/b", {"/a/..;p/b", "/a/../b", "/b"}},
      {"/a/..%3bp/b", {"/a/..;p/b", "/a/..%3bp/b", "/b"}},
      {"/a/;p/../b", {"/a/b", "/b"}},
      {"/a%00/b", {std::string("/a\0/b", 5), "/a", "/a/b"}},
      {"/a/.%00./b", {"/a/.", "/a/../b", "/b"}},
      {"/a%3f/../b", {"/b", "/a?/../b", "/a"}},
      {"/a%23b", {"/a#b", "/a"}},
      {"/a/%252e%252e/b", {"/a/%2e%2e/b", "/a/../b", "/b"}},
      {"/a/%%32e%%32e/b", {"/b"}},
      {"/a/%25252e%25252e/b", {"/a/%252e%252e/b", "/a/%2e%2e/b", "/a/../b", "/b"}},
      {"///h/a", {"/h/a", "///h/a", "/a"}},
      {"/\\/h/a", {"/\\/h/a", "/h/a", "/a"}},
      {"/a/..;/b%2f../c", {"/a/..;/c", "/a/../c", "/c"}},
      {"/a/.%09./b", {std::string("/a/.\t./b"), "/a/../b", "/b"}},
      {"/a/%2%09e./b", {"/b"}},
      {"/a/..%20/b", {"/a/.. /b", "/b"}},
      {"/a;x/b;y", {"/a/b", "/a;x/b", "/a"}},
      {"/%61", {"/a", "/%61"}, false},
      {"/a./b", {"/a./b", "/a/b"}, false},
      {"/a/b.", {"/a/b.", "/a/b"}, false},
      {"/a%20/b", {"/a /b", "/a/b"}, false},
      {"/a%40b", {"/a@b", "/a%40b"}, false},
      {"/a%20b", {"/a b"}, false},
      {"/a\xa0", {"/a\xa0", "/a"}, false},
      {"/a\x85/b", {"/a\x85/b", "/a/b"}, false},
      {"/%20 a/b%0b", {"/  a/b\v", "/  a/b", "/a/b"}, false},
      // No part of a character: "à", and a space of Unicode.
      {"/a\xc3\xa0", {"/a\xc3\xa0"}, false},
      {"/a%c3%A0", {"/a\xc3\xa0"}, false},
      {"/a\xe2\x80\x85/b", {"/a\xe2\x80\x85/b"}, false},
      {"/a\xa0\xc3", {"/a\xa0\xc3"}, false},
      {"/voil\xc3\xa0\xa0", {"/voil\xc3\xa0\xa0", "/voil\xc3\xa0"}, false},
      {"/.well-known/x", {"/.well-known/x"}, false},
      {"/a/b/", {"/a/b"}, false},
      {"/a..b/...", {"/a..b/..."}, false},
      {"/a?x=../%2f//", {"/a"}, false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.path);
    const All all = all_of(one.path);
    for (const std::string& reading : one.among) {
      CAPTURE(reading);
      CHECK(all.readings.count(reading) == 1);
    }
    CHECK(all.is_ambiguous == one.is_ambiguous);
    CHECK_FALSE(all.too_many);
    if (!one.is_ambiguous) CHECK(all.readings == one.among);
  }
}

TEST_CASE("an ordinary path is a view of itself, and has one reading") {
  const std::string plain = "/a/b?c";
  PathReadings readings(plain);
  REQUIRE(readings.next());
  CHECK(readings.reading().data() == plain.data());
  CHECK_FALSE(readings.next());
  CHECK_FALSE(readings.is_ambiguous());
}

TEST_CASE("the work for one path is bounded, whatever it has") {
  // What is sent in earnest: a URL within a path.
  std::string url = "/proxy/https%3A%2F%2Fa.example%2Fimages%2F";
  while (url.size() < 1000) url += "an%20image%2F";
  CHECK_FALSE(all_of(url).too_many);
  std::string hostile = "//h";
  while (hostile.size() < 8000) hostile += "/..;%2f%5c\\%252e%00";
  PathReadings readings(hostile);
  std::size_t built = 0;
  while (readings.next()) built += hostile.size();
  CHECK(readings.too_many());
  CHECK(readings.is_ambiguous());
  CHECK(built <= PathReadings::kMostWork);
  CHECK(all_of("/" + std::string(9000, '/')).too_many);
}

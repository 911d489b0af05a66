#include "house/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

namespace spillway::house {
namespace {

// The arrows of the house, and all of them.
const House kSpillway{
    .arrows =
        {{"base", {}},
         {"config", {"base"}},
         {"http", {"base", "config"}},
         {"traffic", {"base", "config", "http"}},
         {"resilience", {"base", "config"}},
         {"overload", {"base", "config", "http", "resilience"}},
         {"dispatch", {"base", "config", "http"}},
         {"simulate", {"base", "config", "http", "traffic", "resilience", "overload", "dispatch"}},
         {"degrade", {"base", "config", "http", "traffic", "resilience", "overload", "dispatch"}},
         {"observe",
          {"base", "config", "http", "traffic", "resilience", "overload", "dispatch", "degrade"}},
         {"proxy",
          {"base", "config", "http", "traffic", "resilience", "overload", "dispatch", "degrade",
           "observe"}},
         {"main",
          {"base", "config", "http", "traffic", "resilience", "overload", "dispatch", "degrade",
           "observe", "proxy", "simulate"}}},
    .pure = {"base", "http", "traffic", "resilience", "overload", "dispatch"}};

const std::string kRoot = SPILLWAY_SOURCE_DIR;

std::string listed(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + '\n';
  return text;
}

// A small house in order, with a file more.
std::vector<std::string> violations_with(const SourceFile& more) {
  std::vector<SourceFile> files{
      {"README.md", ""},       {"main.cpp", "#include \"proxy/worker.hpp\"\n"},
      {"base/README.md", ""},  {"base/time.hpp", "#include <chrono>\n"},
      {"http/README.md", ""},  {"http/head.hpp", "#include \"base/time.hpp\"\n"},
      {"proxy/README.md", ""}, {"proxy/worker.hpp", "#include <thread>\n"}};
  std::erase_if(files, [&](const SourceFile& file) { return file.path == more.path; });
  files.push_back(more);
  return violations(kSpillway, files);
}

bool reported(const SourceFile& more, const std::string& what) {
  const auto found = violations_with(more);
  INFO(listed(found));
  return found.size() == 1 && found.front().find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("the sources keep the rules of the house") {
  const auto files = read_tree(kRoot + "/src");
  CHECK(files.size() > 50);
  CHECK(listed(violations(kSpillway, files)) == "");
}

TEST_CASE("tests and tools keep to the length of a file and to names that say something") {
  for (const char* folder : {"/tests", "/bench"}) {
    CHECK(listed(untidy_files(read_tree(kRoot + folder))) == "");
  }
}

TEST_CASE("each folder of tests and tools says what is in it or mirrors one that does") {
  std::set<std::string> folders;
  for (const auto& [folder, arrows] : kSpillway.arrows) folders.insert(folder);
  CHECK(listed(undescribed_folders(read_tree(kRoot + "/tests"), folders)) == "");
  CHECK(listed(undescribed_folders(read_tree(kRoot + "/bench"), {})) == "");
}

TEST_CASE("a made-up house in order has no violations") {
  CHECK(listed(violations_with({"README.md", ""})) == "");
}

TEST_CASE("a made-up violation of each rule is reported") {
  SUBCASE("arrows") {
    CHECK(reported({"http/head.hpp", "#include \"proxy/worker.hpp\"\n"}, "http -> proxy"));
    CHECK(reported({"base/ids.hpp", "  #  include <http/head.hpp>\n"}, "base -> http"));
    CHECK(listed(violations_with({"cellar/wine.hpp", ""})) ==
          "cellar has no README.md\nthe table has no arrows for cellar\n");
  }
  SUBCASE("circles") {
    CHECK(violations_with({"base/time.hpp", "#include \"http/head.hpp\"\n"}).back() ==
          "circle: base/time.hpp -> http/head.hpp -> base/time.hpp");
    CHECK(listed(circles({{"a", {"b"}}, {"b", {"c", "d"}}, {"c", {"a"}}, {"d", {}}})) ==
          "a -> b -> c -> a\n");
    CHECK(circles({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {}}}).empty());
  }
  SUBCASE("purity of includes") {
    for (const std::string impure :
         {"boost/asio.hpp", "boost/asio/io_context.hpp", "boost/beast/core/tcp_stream.hpp",
          "boost/beast.hpp", "boost/beast/http/read.hpp", "thread", "mutex", "condition_variable",
          "sys/socket.h", "netinet/in.h", "unistd.h", "fstream", "filesystem", "ctime", "random",
          "spdlog/spdlog.h"}) {
      CAPTURE(impure);
      CHECK(reported({"http/body.hpp", "#include <" + impure + ">\n"}, "includes <" + impure));
      CHECK(violations_with({"proxy/body.hpp", "#include <" + impure + ">\n"}).empty());
    }
    for (const std::string pure :
         {"atomic", "chrono", "boost/beast/http/verb.hpp", "boost/beast/core/string_type.hpp",
          "boost/intrusive/list.hpp"}) {
      CAPTURE(pure);
      CHECK(violations_with({"http/body.hpp", "#include <" + pure + ">\n"}).empty());
    }
  }
  SUBCASE("purity of time") {
    CHECK(reported({"http/body.cpp", "auto t = Clock::now();\n"}, "asks the clock"));
    CHECK(violations_with({"http/body.cpp", "int x;  // never calls Clock::now()\n"}).empty());
    CHECK(violations_with({"proxy/body.cpp", "auto t = Clock::now();\n"}).empty());
  }
  SUBCASE("length") {
    std::string lines;
    for (int n = 0; n < 400; ++n) lines += "\n";
    CHECK(violations_with({"http/body.cpp", lines}).empty());
    CHECK(reported({"http/body.cpp", lines + "\n"}, "has 401 lines"));
  }
  SUBCASE("names") {
    CHECK(reported({"http/string_utils.hpp", ""}, "does not say"));
    CHECK(reported({"http/helper.hpp", ""}, "does not say"));
    CHECK(violations_with({"http/commonplace.hpp", ""}).empty());
  }
  SUBCASE("a README.md in each folder") {
    CHECK(reported({"traffic/routes.hpp", ""}, "traffic has no README.md"));
  }
}

}  // namespace spillway::house

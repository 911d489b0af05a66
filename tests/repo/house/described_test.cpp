#include "repo/house/described.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/places.hpp"

namespace spillway::house {
namespace {

std::string listed(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + '\n';
  return text;
}

}  // namespace

TEST_CASE("each file of src/ says what it is, and its folder's README.md names it") {
  const auto files = read_tree(support::in_source() + "/src");
  CHECK(listed(unintroduced(files)) == "");
  CHECK(listed(unnamed(files)) == "");
}

TEST_CASE("a file that does not say what it is is found") {
  CHECK(listed(unintroduced(
            {{"http/body.hpp", "#pragma once\n"}, {"http/scan.hpp", "// Scans.\n"}})) ==
        "http/body.hpp does not begin with what it is\n");
  const std::vector<SourceFile> files{{"http/body.hpp", "// Bodies.\n"},
                                      {"http/body.cpp", "#include \"http/body.hpp\"\n"},
                                      {"http/body_end.cpp", "#include \"http/body.hpp\"\n"},
                                      {"http/body.json", "{}"}};
  CHECK(listed(unintroduced(files)) == "http/body_end.cpp does not begin with what it is\n");
}

TEST_CASE("a file that no README.md of its folders names is found") {
  const auto found = [](const std::string& path, const std::string& page) {
    return listed(unnamed({{path, "// A file.\n"}, {page, "| `net/pipe`, `body.hpp`: head |"}}));
  };
  CHECK(found("http/body.hpp", "http/README.md") == "");
  CHECK(found("http/body.cpp", "http/README.md") == "");
  CHECK(found("http/head.cpp", "http/README.md") == "http/head.cpp stands in no README.md\n");
  CHECK(found("http/body_end.cpp", "http/README.md") ==
        "http/body_end.cpp stands in no README.md\n");
  CHECK(found("proxy/net/pipe.hpp", "proxy/README.md") == "");
  CHECK(found("proxy/net/pipe.hpp", "http/README.md") ==
        "proxy/net/pipe.hpp stands in no README.md\n");
  CHECK(found("main.cpp", "README.md") == "");
  CHECK(found("http/body.json", "jobs/README.md") == "");
}

}  // namespace spillway::house

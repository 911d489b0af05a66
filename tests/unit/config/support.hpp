// What the tests of the configuration share: loading a text, and asking for its problems.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "config/file/load.hpp"
#include "support/places.hpp"

namespace spillway::config {

inline std::string read_source(const std::string& path) {
  std::ifstream file(support::in_source(path), std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

inline std::string listing(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems) out += problem.path + ": " + problem.message + "\n";
  return out;
}

inline Config load_good(std::string_view json) {
  auto result = load_text(json, "test.json");
  REQUIRE_MESSAGE(result.config.has_value(), listing(result.problems));
  CHECK(result.problems.empty());
  return *result.config;
}

// A file with one upstream, "app", and these further members.
inline std::string with(std::string_view members) {
  return R"({"upstreams":[{"name":"app","servers":["127.0.0.1:3000"]}])" +
         std::string(members.empty() ? "" : ",") + std::string(members) + "}";
}

// Exactly one problem, there, whose message contains the fragment.
inline void check_problem(const std::string& json, std::string_view path,
                          std::string_view fragment) {
  CAPTURE(json);
  const auto result = load_text(json, "test.json");
  CAPTURE(listing(result.problems));
  CHECK_FALSE(result.config.has_value());
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].path == path);
  CHECK(result.problems[0].message.find(fragment) != std::string::npos);
}

}  // namespace spillway::config

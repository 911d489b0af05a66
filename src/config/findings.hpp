// The problems that a check of several fields together finds.
//
// Knows the file, so as to tell what was written from what was filled in, and the problems of
// single fields, so as to say nothing more about a field that is wrong by itself.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "config/problem.hpp"

namespace spillway::config {

class Findings {
 public:
  // `problems` are those of single fields.
  Findings(const nlohmann::json& root, Problems& problems) : root_(root), problems_(problems) {}

  // Whether the file itself says something but null at this path. A path with keys that are not
  // plain words is never given.
  bool is_given(std::string_view path) const;

  // No finding where one of the two paths is a problem already.
  void report(const std::string& path, std::string message, const std::string& depends_on = {});

  // Adds the findings to the problems. Once, at the end: one finding does not hide another.
  void settle();

 private:
  const nlohmann::json& root_;
  Problems& problems_;
  Problems found_;
};

// The path of a route as the file divides them: `count` includes the default route, the last one.
std::string route_path(std::size_t at, std::size_t count);

}  // namespace spillway::config

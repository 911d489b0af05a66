// Problems found by checks of several fields together.
//
// Distinguishes written values from defaults, and adds nothing about a field that already has a
// problem of its own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "config/problem.hpp"

namespace spillway::config {

class Findings {
 public:
  // `problems` are the problems of single fields.
  Findings(const nlohmann::json& root, Problems& problems) : root_(root), problems_(problems) {}

  // Whether the file has a value other than null at this path. A path with keys that are not plain
  // words never counts as given.
  bool is_given(std::string_view path) const;

  // Adds nothing if one of the two paths already has a problem.
  void report(const std::string& path, std::string message, const std::string& depends_on = {});

  // The same for a value that contradicts the value `other` at `other_path`: "found 3, allowed:
  // RELATION PATH (2)".
  void report_order(const std::string& path, const std::string& value, std::string_view relation,
                    const std::string& other_path, const std::string& other);

  // Reports the first value if it is above the second.
  void check_order(const std::string& lower_path, std::int64_t lower, const std::string& upper_path,
                   std::int64_t upper);
  void check_order(const std::string& lower_path, Milliseconds lower, const std::string& upper_path,
                   Milliseconds upper) {
    check_order(lower_path, lower.count(), upper_path, upper.count());
  }

  // Adds the findings to the problems. Call once, at the end: findings do not hide each other.
  void settle();

 private:
  const nlohmann::json& root_;
  Problems& problems_;
  Problems found_;
};

// The path of a route in the file; `count` includes the default route, which comes last.
std::string route_path(std::size_t at, std::size_t count);

}  // namespace spillway::config

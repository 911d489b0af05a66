// What several proxies held of the same cases, as a table for people: the cases of wire
// conformance and of caching are told in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::support {

enum class Level { must, should, may, ours };
std::string_view name_of(Level level);

// Of one case, what the table says of it.
struct HeldRow {
  std::string sentence;
  std::string section;
  Level level;
  std::string reason;  // why Spillway does otherwise on purpose; empty where it must hold
};

// Of one proxy.
struct HeldColumn {
  std::string name;
  std::vector<std::string> wrong;  // case by case what went wrong; empty where it held
};

struct Count {
  std::size_t passed = 0;
  std::size_t of = 0;
};
Count count(const std::vector<std::string>& wrong);

// In Markdown: case by case, the totals by section and by level, then what went wrong where and
// what is done otherwise on purpose.
std::string held_table(const std::vector<HeldRow>& rows, const std::vector<HeldColumn>& columns);

}  // namespace spillway::support

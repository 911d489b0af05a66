// All cases played at several subjects, and the table of what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/caching/case.hpp"
#include "system/caching/origin.hpp"

namespace spillway::caching {

struct Subject {
  std::string name;
  std::uint16_t port = 0;
  // The first segment of the path at which it keeps to a case's Staleness; the same for both in a
  // subject that caches nothing or everything.
  std::string as_said;
  std::string by_leave;
};

// What went wrong, case by case; empty where everything held.
using Column = std::vector<std::string>;

// How long a response that is fresh for a second has to lie until it is stale for everybody,
// clocks of whole seconds included.
inline constexpr support::Milliseconds kUntilStale{2100};

// Plays every case at every subject. Whatever has to get stale does so at the same time: there is
// one pause for all cases (two if a case has two steps that are for later).
std::vector<Column> play(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                         Origin& origin, support::Milliseconds pause = kUntilStale);

// What came of it, as a table (support/held_table.hpp).
std::string printed(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                    const std::vector<Column>& columns);

}  // namespace spillway::caching

// All cases played at several proxies, and the table of their verdicts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "system/wire/case.hpp"
#include "system/wire/proxies.hpp"

namespace spillway::wire {

// The verdicts on one proxy, case by case.
struct Column {
  std::string proxy;
  std::vector<Verdict> verdicts;
};
std::size_t held(const std::vector<Verdict>& verdicts);

// How long a response that is fresh for a second has to lie until it is stale for each proxy,
// clocks of whole seconds included.
inline constexpr support::Milliseconds kUntilStale{2100};

// Plays every case at every proxy, the lanes of all proxies at the same time. `pause`: before
// steps that are for later; there is one for all cases of a lane.
std::vector<Column> play_all(const std::vector<Case>& cases,
                             const std::vector<ProxyUnderTest>& proxies,
                             support::Milliseconds pause = kUntilStale);

// In Markdown: case by case, the totals by section and by level, then what went wrong where and
// what is done otherwise on purpose.
std::string table(const std::vector<Case>& cases, const std::vector<Column>& columns);

}  // namespace spillway::wire

// What the crowd's visit showed, and whether that is what a waiting room promises. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/crowd/order.hpp"
#include "bench/crowd/record.hpp"
#include "sale.hpp"

namespace spillway::crowd {

struct Heads {
  std::size_t waiting = 0;
  std::size_t inside = 0;
  std::size_t gone = 0;
  std::size_t refused = 0;
  std::size_t failed = 0;
};

Heads heads_of(std::span<const Record> records);

struct Findings {
  std::span<const Record> records;
  std::uint32_t active_sessions = 0;
  std::optional<std::uint64_t> most_sessions{};  // as the proxy said, now and then; nullopt: never
  std::optional<demo::SaleReport> of_site{};     // at the end
};

// The promises that were not kept, a sentence each; empty: all were.
std::vector<std::string> complaints(const Findings& findings);

// Some lines of text: who came, waited and went, and each promise beside what was found.
std::string summary(const Findings& findings);

}  // namespace spillway::crowd

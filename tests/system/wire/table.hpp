// All cases played at several subjects, and the table of what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/wire/backend.hpp"
#include "system/wire/case.hpp"

namespace spillway::conformance {

// A proxy with a backend of its own: one case at a time is played here.
struct Lane {
  std::uint16_t port = 0;
  std::uint16_t trusting_port = 0;  // where the client's word about forwarding is believed
  Backend* backend = nullptr;
};

struct Subject {
  std::string name;
  std::vector<Lane> lanes;
  support::Milliseconds patience;  // for what is due
};

// What went wrong, case by case; empty where everything held.
using Column = std::vector<std::string>;

// Plays every case at every subject: the lanes of all subjects at the same time.
std::vector<Column> play_all(const std::vector<Case>& cases, const std::vector<Subject>& subjects);

// What came of it, as a table (support/held_table.hpp).
std::string printed(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                    const std::vector<Column>& columns);

}  // namespace spillway::conformance

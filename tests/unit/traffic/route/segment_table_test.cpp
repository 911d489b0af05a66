#include "traffic/route/segment_table.hpp"

#include <doctest/doctest.h>

#include <string>

using spillway::traffic::SegmentTable;

TEST_CASE("every inserted segment is found under its own node only") {
  SegmentTable table;
  CHECK(table.find(0, "a") == SegmentTable::kAbsent);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    table.insert(i % 7, std::string(i % 20, 'x') + std::to_string(i), i);
  }
  table.insert(3, "", 9999);
  CHECK(table.size() == 5001);
  CHECK(table.find(3, "") == 9999);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::string segment = std::string(i % 20, 'x') + std::to_string(i);
    CHECK(table.find(i % 7, segment) == i);
    CHECK(table.find(i % 7 + 1, segment) == SegmentTable::kAbsent);
    CHECK(table.find(i % 7, segment + "y") == SegmentTable::kAbsent);
  }
}

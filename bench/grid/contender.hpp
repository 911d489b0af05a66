// The contenders: configurations of Spillway. Some of them model other proxies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/grid/cell.hpp"
#include "config/config.hpp"

namespace spillway::grid {

struct Contender {
  std::string name;
  std::string sentence;
  // Of a full run; of a quick one too; likewise in steady cells from 2 x on; where clients give up
  // after 150 ms.
  enum class Part : std::uint8_t { full, quick, steady, told };
  Part part = Part::full;
};
const std::vector<Contender>& contenders();
const Contender& contender(std::string_view name);  // one of them

// Its configuration for a cell. `p95`: of the service time alone, in seconds. Throws
// std::runtime_error if it is not valid.
config::Config configuration(const Contender& contender, const Cell& cell, double p95);

}  // namespace spillway::grid

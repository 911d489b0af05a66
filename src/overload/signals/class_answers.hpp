// How an upstream's answers ended, by the class of their requests. The counts only grow, and wrap.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.hpp"

namespace spillway::overload {

struct ClassAnswers {
  struct One {
    std::uint32_t succeeded = 0, failed = 0;

    std::uint64_t all() const { return std::uint64_t{succeeded} + failed; }
    double error_rate() const { return all() > 0 ? double(failed) / double(all()) : 0; }
  };
  std::array<One, kMaxClasses> by{};

  // The growth since `before`.
  ClassAnswers since(const ClassAnswers& before) const {
    ClassAnswers growth;
    for (std::size_t i = 0; i < by.size(); ++i) {
      growth.by[i] = {by[i].succeeded - before.by[i].succeeded, by[i].failed - before.by[i].failed};
    }
    return growth;
  }

  ClassAnswers& operator+=(const ClassAnswers& more) {
    for (std::size_t i = 0; i < by.size(); ++i) {
      by[i].succeeded += more.by[i].succeeded;
      by[i].failed += more.by[i].failed;
    }
    return *this;
  }
};

}  // namespace spillway::overload

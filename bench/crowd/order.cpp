#include "bench/crowd/order.hpp"

namespace spillway::crowd {
namespace {

// Times are told in whole milliseconds.
constexpr Milliseconds kRounding{2};

bool is_before(const Span& one, const Span& other) { return one.to + kRounding < other.from; }

// `second` was called while `first`, which came before it, was in line.
bool stood_by(const Record& first, const Record& second) {
  return is_before(*first.arrived, *second.arrived) && is_before(*first.joined, *second.called) &&
         (!first.called || is_before(*first.called, *second.called) ||
          is_before(*second.called, *first.called));
}

}  // namespace

Order order_of(std::span<const Record> records) {
  Order order;
  for (const Record& first : records) {
    if (!stays(first.manner) || first.was_late || !first.arrived || !first.joined) continue;
    if (first.fate == Fate::failed) continue;
    for (const Record& second : records) {
      if (!second.arrived || !second.called || !stood_by(first, second)) continue;
      ++order.compared;
      if (!first.called || is_before(*second.called, *first.called)) ++order.overtakes;
    }
  }
  return order;
}

Span called_at(const Span& asked, Milliseconds claim, Milliseconds remaining) {
  const Milliseconds ago = claim - remaining;
  return {asked.from - ago, asked.to - ago};
}

}  // namespace spillway::crowd

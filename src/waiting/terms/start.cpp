#include "waiting/terms/start.hpp"

#include <algorithm>

namespace spillway::waiting {

namespace {

constexpr int kLotBytes = 5;
// An order has 20 bits below the milliseconds: lots fill this many milliseconds before the start.
constexpr std::uint64_t kLotMilliseconds = 1U << 20;

}  // namespace

std::uint64_t lot_of(const HmacKey& key, const TicketId& id) {
  const Sha256 hash = hmac_sha256(key, to_text(id));
  std::uint64_t lot = 0;
  for (int n = 0; n < kLotBytes; ++n) lot = lot << 8 | hash[static_cast<std::size_t>(n)];
  return lot;
}

Milliseconds spread_of(const TicketId& id, Milliseconds most) {
  std::uint64_t part = 0;  // of 2^32
  for (std::size_t n = 0; n < 4; ++n) part = part << 8 | id.bytes[n];
  const auto seconds = static_cast<std::uint64_t>(most.count()) / 1000;
  return std::chrono::seconds(static_cast<std::int64_t>(seconds * part >> 32));
}

Time Start::joined_at(Time arrived, Time now) const {
  const Time joined = std::min(arrived, now);
  return draw && is_over(now) ? std::max(joined, at) : joined;
}

Order Start::order_of(Time arrived, const TicketId& id) const {
  if (!draw || arrived >= at) return waiting::order_of(arrived, id);
  const auto start = static_cast<std::uint64_t>(at.time_since_epoch().count());
  return ((start - kLotMilliseconds) << 20) + lot_of(*draw, id);
}

}  // namespace spillway::waiting

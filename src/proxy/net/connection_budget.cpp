#include "proxy/net/connection_budget.hpp"

namespace spillway::proxy {

// An automatic limit goes up and down within a second: the connections should not follow it each
// time.
void ConnectionBudget::follow(std::uint32_t needed, TimePoint now) {
  const std::uint32_t most = needed_.load(std::memory_order_relaxed);
  if (needed < most && now - needed_since_ < kMemory) return;
  needed_since_ = now;
  if (needed != most) needed_.store(needed, std::memory_order_relaxed);
}

}  // namespace spillway::proxy

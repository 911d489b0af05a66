#include "proxy/jobs/withdrawals.hpp"

namespace spillway::proxy {

void Withdrawals::open(const jobs::JobId& id) {
  const std::lock_guard lock(mutex_);
  open_.emplace(id, std::nullopt);
}

bool Withdrawals::ask(const jobs::JobId& id, jobs::Cause cause) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return false;
  if (!found->second) {
    found->second = cause;
    ++withdrawn_;
  }
  return true;
}

bool Withdrawals::wait(StoreCall& call) {
  const auto* const cancel = std::get_if<store::Cancel>(&call.command);
  if (cancel == nullptr || cancel->was != jobs::JobState::leased) return false;
  if (!ask(cancel->id, cancel->cause)) return false;
  waiting_.emplace(cancel->id, &call);
  return true;
}

std::vector<StoreCall*> Withdrawals::settled(const store::Settle& settle) {
  std::vector<StoreCall*> answered;
  const auto [first, last] = waiting_.equal_range(settle.id);
  for (auto one = first; one != last; ++one) {
    one->second->as<store::Cancel>().is_done =
        !settle.is_lost && settle.progress.state == jobs::JobState::cancelled;
    answered.push_back(one->second);
  }
  waiting_.erase(first, last);
  return answered;
}

std::vector<StoreCall*> Withdrawals::give_up() {
  std::vector<StoreCall*> all;
  for (const auto& [id, call] : waiting_) all.push_back(call);
  waiting_.clear();
  return all;
}

std::optional<jobs::Cause> Withdrawals::close(const jobs::JobId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return std::nullopt;
  const std::optional<jobs::Cause> by = found->second;
  if (by) --withdrawn_;
  open_.erase(found);
  return by;
}

bool Withdrawals::has(const jobs::JobId& id) const {
  if (withdrawn_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  return found != open_.end() && found->second.has_value();
}

}  // namespace spillway::proxy

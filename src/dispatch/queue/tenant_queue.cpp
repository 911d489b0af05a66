#include "dispatch/queue/tenant_queue.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace spillway::dispatch {
namespace {

constexpr double kRecentWeight = 1.0 / 64;  // weight of one request in a mean
constexpr double kGreatestUnit = 1e100;

// Half octaves above 2^-10 ms, within 0 to 63.
std::uint32_t size_of(double milliseconds) {
  if (!(milliseconds > 0x1p-10)) return 0;
  return static_cast<std::uint32_t>(std::min(std::ilogb(milliseconds * milliseconds) + 20, 63));
}

}  // namespace

TenantQueue::TenantQueue(std::size_t most_waiters)
    : tenants_(std::clamp(std::bit_ceil(2 * most_waiters), kFewestFlows, kMostFlows)),
      flows_(tenants_.size()),
      set_shift_(64 - std::countr_zero(tenants_.size() / kWays)) {}

void TenantQueue::push(Waiter& waiter) {
  const std::size_t i = flow_for(waiter.tenant);
  Flow& flow = flows_[i];
  waiter.flow = static_cast<std::uint16_t>(i);
  if (mean_cost_ == 0) mean_cost_ = waiter.cost;
  if (flow.waiting == 0) {
    if (tenants_[i] != waiter.tenant) {
      tenants_[i] = waiter.tenant;
      flow.credit = flow.turns = 0;
      flow.lap = laps_;
      flow.pause = pauses_;
    }
    flow.weight = waiter.tenant_weight;
    const bool is_settled = flow.pause != pauses_;
    const double paid = (laps_ - flow.lap) * quantum(flow);
    flow.credit = is_settled ? 0 : std::min(0.0, flow.credit + paid);
    join_ring(flow);
  }
  flow.waiters.push_back(waiter);
  arrivals_.push_back(waiter);
  flow.queued += waiter.cost;
  ++flow.waiting;
  ++waiting_;
  file_by_size(flow);
}

void TenantQueue::join_ring(Flow& flow) {
  active_weight_ += flow.weight;
  if (++active_ == 1) {
    flow.credit = quantum(flow);
    ring_.push_back(flow);
  } else if (!newest_first_) {
    ring_.push_back(flow);
  } else {
    ring_.front()->credit -= quantum(*ring_.front());  // to be visited later instead
    ring_.push_front(flow);
    visit_next();
  }
}

void TenantQueue::remove(Waiter& waiter) {
  Flow& flow = flows_[waiter.flow];
  waiter.Hook<InTenantQueue>::unlink();
  waiter.Hook<InClassQueue>::unlink();
  --waiting_;
  flow.queued -= waiter.cost;
  if (--flow.waiting > 0) {
    if (size_of(flow.queued / flow.weight) != flow.size) file_by_size(flow);
    return;
  }
  unfile(flow);
  flow.queued = 0;  // so that rounding errors do not add up
  flow.lap = laps_;
  flow.pause = pauses_;
  const bool is_visited = ring_.front() == &flow;
  flow.Hook<InRing>::unlink();
  active_weight_ -= flow.weight;
  if (--active_ == 0) {
    active_weight_ = 0;
    ++pauses_;  // no competition: all debts are settled
    laps_ = 0;
  } else if (is_visited) {
    visit_next();
  }
}

void TenantQueue::served(const Waiter& waiter) {
  mean_cost_ += (waiter.cost - mean_cost_) * kRecentWeight;
  Flow& flow = flows_[waiter.flow];
  count_turn(flow);
  flow.credit -= waiter.cost;
  if (ring_.front() != &flow || flow.credit > 0) return;
  ring_.pop_front();
  ring_.push_back(flow);
  visit_next();
}

Waiter* TenantQueue::next() const {
  if (active_ == 0) return nullptr;
  const auto& waiters = ring_.front()->waiters;
  return newest_first_ ? waiters.back() : waiters.front();
}

Waiter* TenantQueue::last_of_fattest() const {
  if (active_ == 0) return nullptr;
  const auto& waiters = fattest().waiters;
  return newest_first_ ? waiters.front() : waiters.back();
}

Waiter* TenantQueue::fatter_than(const Waiter& newcomer) const {
  if (active_ == 0) return nullptr;
  const Flow& own = flows_[flow_for(newcomer.tenant)];
  const Flow& most = fattest();
  if (&most == &own) return nullptr;
  const double queued = own.queued + newcomer.cost;
  const bool is_fatter = most.queued * newcomer.tenant_weight > queued * most.weight;
  return is_fatter ? last_of_fattest() : nullptr;
}

double TenantQueue::turns_before(const Waiter& newcomer) const {
  if (active_ == 0) return 0;
  const std::size_t i = flow_for(newcomer.tenant);
  const Flow& flow = flows_[i];
  const double own = flow.waiting;
  if (own == waiting_) return own;
  // As many as wait now, or more if its tenant had few recent turns: then others overtake it ...
  const double part = tenants_[i] == newcomer.tenant ? flow.turns * in_parts_ : 0;
  const double overtaken = part > 0 ? std::max<double>(waiting_, (own + 1) / part - 1) : waiting_;
  // ... but not more than if all current waiters stay: in each lap they have one turn per unit of
  // weight.
  const double others = active_weight_ - (own > 0 ? flow.weight : 0);
  const double laps = 1 + flow.queued / (mean_cost_ * newcomer.tenant_weight);
  return std::max(own, std::min(own + laps * others, overtaken));
}

// The tenant's own flow, else one without waiters, else one to share.
std::size_t TenantQueue::flow_for(TenantId tenant) const {
  const std::uint64_t hash = static_cast<std::uint64_t>(tenant) * 0x9e3779b97f4a7c15u;
  const std::size_t first = (hash >> set_shift_) * kWays;
  std::size_t idle = flows_.size();
  for (std::size_t i = first; i < first + kWays; ++i) {
    if (tenants_[i] == tenant) return i;
    if (idle == flows_.size() && flows_[i].waiting == 0) idle = i;
  }
  return idle < flows_.size() ? idle : first + hash / 8 % kWays;
}

const TenantQueue::Flow& TenantQueue::fattest() const {
  const auto& greatest = sizes_[static_cast<std::size_t>(63 - std::countl_zero(present_sizes_))];
  return newest_first_ ? *greatest.front() : *greatest.back();
}

// Files it at the end of its size class: the flow whose waiter came last.
void TenantQueue::file_by_size(Flow& flow) {
  if (flow.Hook<BySize>::linked()) unfile(flow);
  flow.size = size_of(flow.queued / flow.weight);
  sizes_[flow.size].push_back(flow);
  present_sizes_ |= std::uint64_t{1} << flow.size;
}

void TenantQueue::unfile(Flow& flow) {
  flow.Hook<BySize>::unlink();
  if (sizes_[flow.size].empty()) present_sizes_ &= ~(std::uint64_t{1} << flow.size);
}

// Visits flows, starting with the first of the ring, until one has credit.
void TenantQueue::visit_next() {
  for (std::uint32_t visits = 0;; ++visits) {
    if (visits == active_) jump_laps();
    Flow& flow = *ring_.front();
    flow.credit += quantum(flow);
    laps_ += 1.0 / active_;
    if (flow.credit > 0) return;
    ring_.pop_front();
    ring_.push_back(flow);
  }
}

// All flows are in debt: performs at once all laps but one until the first of them has credit.
void TenantQueue::jump_laps() {
  double laps = std::numeric_limits<double>::infinity();
  const auto for_each = [this](auto&& act) {
    for (std::uint32_t i = 0; i < active_; ++i) {
      Flow& flow = *ring_.pop_front();
      act(flow);
      ring_.push_back(flow);
    }
  };
  for_each(
      [&](const Flow& flow) { laps = std::min(laps, std::floor(-flow.credit / quantum(flow))); });
  if (laps < 1) return;
  for_each([&](Flow& flow) { flow.credit += laps * quantum(flow); });
  laps_ += laps;
}

void TenantQueue::count_turn(Flow& flow) {
  unit_ *= 1 / (1 - kRecentWeight);
  in_parts_ *= 1 - kRecentWeight;
  flow.turns += kRecentWeight * unit_;
  if (unit_ < kGreatestUnit) return;
  for (Flow& one : flows_) one.turns *= in_parts_;
  unit_ = in_parts_ = 1;
}

}  // namespace spillway::dispatch

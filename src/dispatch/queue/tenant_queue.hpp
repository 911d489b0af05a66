// The queue of one class: it chooses the next waiter such that tenants share the class's turns by
// weight, in cost and not in number.
//
// Deficit round robin (Shreedhar, Varghese, "Efficient fair queueing using deficit round robin",
// SIGCOMM 1995) with an overdraft. Tenants with waiters are visited in turn, a tenant with its
// first waiter last: so tenants with one waiter each are served in order of arrival. A visit adds a
// quantum, the tenant's weight times the mean cost of a request, to its credit. Its waiters are
// served while the credit is positive, and each one's cost is subtracted, so that the credit may
// become a debt: a visit serves one request on average, and no cost has to be known before the
// waiter's turn. A tenant without waiters earns nothing beyond zero, but pays off its debt as if it
// were visited: sending one expensive request at a time is no advantage.
//
// Within a tenant: first in, first out; or the newest first: then a tenant with its first waiter
// goes ahead of those that have some. With a single tenant, or one waiter per tenant, this is the
// order of the whole class.
//
// Bounded: a fixed number of flows, eight per hash value (as in a set-associative cache). A tenant
// keeps its flow while it has waiters; if all eight are taken, it shares one (stochastic fairness
// queueing: McKenney, INFOCOM 1990). All operations are O(1), except that picking the next tenant
// is O(1) on average (one visit) and O(flows) at worst. Nothing allocates after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "dispatch/queue/class_queue.hpp"
#include "dispatch/queue/waiter.hpp"

namespace spillway::dispatch {

class TenantQueue {
 public:
  static constexpr std::size_t kFewestFlows = 64, kMostFlows = 1024;

  // Twice as many flows as waiters, rounded up to a power of two and clamped to those bounds, so
  // that tenants hardly ever share one.
  explicit TenantQueue(std::size_t most_waiters = 0);

  // Adds it by its tenant, tenant_weight and cost; it must be in no queue.
  void push(Waiter& waiter);
  // Removes it from any position; it must be in this queue.
  void remove(Waiter& waiter);
  // `waiter` has left the queue because it got a slot, which its tenant pays for.
  void served(const Waiter& waiter);

  bool empty() const { return waiting_ == 0; }
  std::uint32_t waiting() const { return waiting_; }
  // nullptr when empty.
  Waiter* next() const;
  Waiter* oldest() const { return arrivals_.front(); }
  Waiter* youngest() const { return arrivals_.back(); }
  // The waiter whose wait represents the class: the next one or, with the newest first, the oldest
  // one. But not an oldest one that waits without limit: its class would always go first.
  Waiter* foremost() const {
    return newest_first_ && oldest()->expires_at != kNever ? oldest() : next();
  }

  // The waiter to evict: the one served last among those of the tenant with the most queued cost
  // per weight (to within a factor of 1.5; among equals the tenant whose waiter came last or, with
  // the newest first, first).
  Waiter* last_of_fattest() const;
  // The same on behalf of a newcomer; nullptr if the newcomer's own tenant would have as much.
  Waiter* fatter_than(const Waiter& newcomer) const;

  // How many turns of this class come before a newcomer's, including turns of waiters that arrive
  // meanwhile. At least as many as its own tenant has waiters.
  double turns_before(const Waiter& newcomer) const;

  // Serves the newest instead of the oldest first.
  void set_newest_first(bool newest_first) { newest_first_ = newest_first; }

 private:
  struct InRing;
  struct BySize;
  struct Flow : Hook<InRing>, Hook<BySize> {
    IntrusiveList<Waiter, InTenantQueue> waiters;  // in order of arrival
    double weight = 1;
    double credit = 0;  // milliseconds
    double queued = 0;  // milliseconds
    double turns = 0;   // recent ones, in units
    double lap = 0;     // when it last had a waiter
    std::uint32_t waiting = 0;
    std::uint64_t pause = 0;  // the same
    std::uint32_t size = 0;   // queued cost per weight, in half octaves
  };
  static constexpr std::size_t kWays = 8;

  std::size_t flow_for(TenantId tenant) const;
  double quantum(const Flow& flow) const { return mean_cost_ * flow.weight; }
  const Flow& fattest() const;
  void join_ring(Flow& flow);
  void file_by_size(Flow& flow);
  void unfile(Flow& flow);
  void visit_next();
  void jump_laps();
  void count_turn(Flow& flow);

  std::vector<TenantId> tenants_;  // the owner of each flow
  std::vector<Flow> flows_;
  IntrusiveList<Waiter, InClassQueue> arrivals_;  // all waiters
  IntrusiveList<Flow, InRing> ring_;              // flows with waiters; the first is being visited
  std::array<IntrusiveList<Flow, BySize>, 64> sizes_;
  std::uint64_t present_sizes_ = 0;  // bit by size
  std::uint32_t active_ = 0;         // flows in the ring
  int set_shift_;                    // from a hash to its set of flows
  double laps_ = 0;                  // since the last pause
  std::uint64_t pauses_ = 0;         // times without any waiter, so far
  double mean_cost_ = 0;             // of recent requests; 0: none yet
  double active_weight_ = 0;
  double unit_ = 1;  // of Flow::turns; it grows instead of the others decaying
  double in_parts_ = 1;
  std::uint32_t waiting_ = 0;
  bool newest_first_ = false;
};

}  // namespace spillway::dispatch

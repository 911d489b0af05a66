// The transfer that is required of a client while its request holds a slot for which others wait:
// more, and sooner, the scarcer slots are. Pure.
//
// A fixed grace is an invitation: clients that reconnect whenever they are cut off hold each slot
// for a grace, and a request that may not wait as long gets none. So if all slots are in such hands
// a client gets no more time than half of the others' longest wait.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::resilience {

// The slots of an upstream at a moment.
struct SlotLoad {
  std::uint32_t slots = 0;            // the limit, or at a standstill at_work()
  std::uint32_t awaiting_client = 0;  // of these, with requests that wait for their clients
  std::uint32_t waiting = 0;  // requests for a slot; at a standstill also requests that are late
  // No request that the slot in question would serve is of its class or a higher one.
  bool only_lower_wait = false;
  // No request of its class or a higher one waits for a slot, but at a standstill some requests
  // that have slots are late.
  bool only_late_wait = false;
  // The late ones are of its own class: they claim only the slots of clients that pause.
  bool only_for_pauses = false;
  // The number of slots that the upstream can serve at once, as far as known.
  std::uint32_t serves = kAllSlots;
  // How long the first request of its class or a higher one has been waiting.
  Duration waited{};

  static constexpr std::uint32_t kAllSlots = ~std::uint32_t{0};
};

struct SlotTerms {
  // For a MinRate (min_rate.hpp):
  std::uint64_t rate = 0;  // bytes per second; 0: no minimum
  Duration max_credit{};   // and thus the longest time for a client that transfers nothing
  // How long it may pause beyond what it has earned (slot_pause.hpp).
  Duration max_pause = kAnyPause;

  static constexpr Duration kAnyPause = Duration::max();
  friend bool operator==(const SlotTerms&, const SlotTerms&) = default;
};

// The time before the rate counts, if slots are not scarce by then.
inline constexpr Duration kSlotGrace = std::chrono::seconds(1);
// The most credit that a fast client saves up while slots are not scarce.
inline constexpr Duration kSlotCredit = std::chrono::seconds(2);
// The lower bound of the maximum credit, however short others may wait. A client begins with half
// of it: a round trip of about 90 ms in slow start.
inline constexpr Duration kLeastSlotCredit = std::chrono::milliseconds(200);
// The factor by which the required rate is raised when slots are as scarce as possible.
inline constexpr double kSteepestSlotRate = 16;

// Slots may be idle because of clients' pauses for this fraction (1 / n) of the time for which a
// waiting request may wait.
inline constexpr int kPausePart = 8;
inline constexpr Duration kMostPauses = std::chrono::milliseconds(250);
// Shorter pauses do not count: window updates are delayed by less than this.
inline constexpr Duration kLeastPause = std::chrono::milliseconds(10);

// How long an upstream at a standstill must send no response head before a late request may claim a
// slot of its own class. One slot is claimed in that time, and only if several clients are slow, so
// that a pause of the upstream itself costs few of them their slots.
inline constexpr Duration kSilence = std::chrono::seconds(1);
inline constexpr Duration kLongestSilence = std::chrono::seconds(5);
constexpr std::uint32_t least_for_own_class(std::uint32_t limit) {
  return std::max(3u, limit / 16);
}

// While at most this share of slots waits for clients, slots are not scarce.
inline constexpr double kPlentifulShare = 0.25;
inline constexpr double kScarcestShare = 0.75;

// An estimate of how many requests an upstream serves at once: the slots in use, without those of
// late requests. At least an eighth of the limit, so that a few slow clients are not blamed for a
// pause of the upstream in which all other requests are late.
constexpr std::uint32_t at_work(std::uint32_t limit, std::uint32_t running, std::uint32_t late) {
  return std::max({running - std::min(late, running), limit / 8, 1u});
}

// Whether an upstream is at a standstill: most of the requests that do not wait for their clients
// are late. If only a few are, they may belong to a route on which some requests always take long.
constexpr bool is_at_standstill(std::uint32_t running, std::uint32_t awaiting_client,
                                std::uint32_t late) {
  return late > (running - std::min(awaiting_client, running)) / 2;
}

constexpr double share_awaiting_client(const SlotLoad& load) {
  return load.slots == 0 ? 0 : std::min(double(load.awaiting_client) / load.slots, 1.0);
}

// Lower classes claim a slot of a higher one only if slow clients hold many slots: so their load,
// however high, costs no client of a higher class its slot while few are slow. The same holds for
// late requests that have slots: the upstream may be late for another reason.
constexpr bool may_ask(const SlotLoad& load) {
  const bool has_claim = !load.only_lower_wait && !load.only_late_wait;
  return has_claim || share_awaiting_client(load) > kPlentifulShare;
}

// From 0 (plenty) to 1: the share of slots that wait for clients, which is what taking them back
// can gain, x (1 + waiting / slots), mapped linearly from [1/4, 3/4] to [0, 1]. 0 if no request of
// the slot's class or a higher one waits.
constexpr double scarcity(const SlotLoad& load) {
  if (load.waiting == 0 || load.slots == 0 || load.only_lower_wait || load.only_for_pauses)
    return 0;
  const double share = share_awaiting_client(load) * (1 + double(load.waiting) / load.slots);
  return std::clamp((share - kPlentifulShare) / (kScarcestShare - kPlentifulShare), 0.0, 1.0);
}

// The time for pauses is granted once to all clients that hold slots while a request waits, and not
// to each of them: the later a client's turn, the less is left. So any number of clients that pause
// one after the other delay requests for hardly longer than one of them could.
constexpr Duration max_pause(Duration longest_wait, const SlotLoad& load) {
  if (load.waiting == 0 || load.only_lower_wait) return SlotTerms::kAnyPause;
  SlotLoad served = load;
  served.slots = std::min(load.slots, load.serves);
  served.only_for_pauses = false;
  const double scarce = scarcity(served);
  if (scarce == 0) return SlotTerms::kAnyPause;
  const Duration budget = std::min(longest_wait / kPausePart, kMostPauses);
  const Duration left = kLeastPause + std::max(budget - load.waited, Duration{0});
  return kSlotCredit - from_seconds(to_seconds(kSlotCredit - left) * scarce);
}

// `rate`: the rate required while slots are not scarce. `longest_wait`: how long a request of the
// highest class may wait for a slot.
constexpr SlotTerms slot_terms(std::uint64_t rate, Duration longest_wait, const SlotLoad& load) {
  const double scarce = scarcity(load);
  const Duration least = std::clamp(longest_wait / 2, kLeastSlotCredit, kSlotGrace);
  const double times = 1 + (kSteepestSlotRate - 1) * scarce;
  return {.rate = static_cast<std::uint64_t>(static_cast<double>(rate) * times),
          .max_credit = kSlotCredit - from_seconds(to_seconds(kSlotCredit - least) * scarce),
          .max_pause = max_pause(longest_wait, load)};
}

}  // namespace spillway::resilience

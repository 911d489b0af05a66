// What a client must move while its request holds a slot for which others wait: more, and sooner,
// the scarcer slots are. Pure.
//
// A fixed grace is an invitation: clients that reconnect whenever they are cut off hold each slot
// for a grace, and a request that may not wait as long gets none. So with all slots in such hands a
// client gets no more time than half of what the others may wait.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::resilience {

// The slots of an upstream at a moment.
struct SlotLoad {
  std::uint32_t slots = 0;            // the limit, or at a standstill at_work()
  std::uint32_t awaiting_client = 0;  // of them, whose requests wait for their clients
  std::uint32_t waiting = 0;  // requests for a slot, at a standstill those of late ones, too
  // None of those that the slot in question would serve is of its class or of a higher one.
  bool only_lower_wait = false;
  // No request of its class or of a higher one waits for a slot, but at a standstill some that have
  // one are late.
  bool only_late_wait = false;
  // The late ones are of its own class: they ask only for the slots of clients that pause.
  bool only_for_pauses = false;
  // Of the slots, as many as the upstream can serve at once, as far as is known.
  std::uint32_t serves = kAllSlots;
  // How long the one has waited that came first, of those of its class or of a higher one.
  Duration waited{};

  static constexpr std::uint32_t kAllSlots = ~std::uint32_t{0};
};

struct SlotTerms {
  // Of a MinRate (min_rate.hpp):
  std::uint64_t rate = 0;  // bytes per second; 0: no minimum
  Duration max_credit{};   // and so the longest time for a client that moves nothing
  // How long it may pause without having earned that (slot_pause.hpp).
  Duration max_pause = kAnyPause;

  static constexpr Duration kAnyPause = Duration::max();
  friend bool operator==(const SlotTerms&, const SlotTerms&) = default;
};

// The time before the rate counts, if slots are not scarce by then.
inline constexpr Duration kSlotGrace = std::chrono::seconds(1);
// The most credit that a quick client saves up while they are not.
inline constexpr Duration kSlotCredit = std::chrono::seconds(2);
// The most credit is never less, however short others may wait. A client begins with half of it: a
// round trip of about 90 ms in slow start.
inline constexpr Duration kLeastSlotCredit = std::chrono::milliseconds(200);
// How many times the rate is asked for when slots are as scarce as can be.
inline constexpr double kSteepestSlotRate = 16;

// How long slots may be idle for the pauses of clients while a request waits that may wait for so
// many times as long.
inline constexpr int kPausePart = 8;
inline constexpr Duration kMostPauses = std::chrono::milliseconds(250);
// A pause that is longer than that is one: window updates come with less delay.
inline constexpr Duration kLeastPause = std::chrono::milliseconds(10);

// How long an upstream at a standstill has to send no response head before a late request may ask
// for a slot of its own class. One slot is asked for in that time, and only where several clients
// are slow, so that a pause of the upstream itself costs few of them their slots.
inline constexpr Duration kSilence = std::chrono::seconds(1);
inline constexpr Duration kLongestSilence = std::chrono::seconds(5);
constexpr std::uint32_t least_for_own_class(std::uint32_t limit) {
  return std::max(3u, limit / 16);
}

// Up to this share of slots that wait for clients slots are not scarce.
inline constexpr double kPlentifulShare = 0.25;
inline constexpr double kScarcestShare = 0.75;

// An estimate of how many requests an upstream serves at once: the slots in use, without those of
// requests that are late. At least an eighth of the limit, so that few slow clients are not blamed
// for a pause of the upstream in which all other requests are late.
constexpr std::uint32_t at_work(std::uint32_t limit, std::uint32_t running, std::uint32_t late) {
  return std::max({running - std::min(late, running), limit / 8, 1u});
}

// Whether an upstream is at a standstill: of the requests that do not wait for their clients most
// are late. Where few are, they may be of a route some of whose requests always take long.
constexpr bool is_at_standstill(std::uint32_t running, std::uint32_t awaiting_client,
                                std::uint32_t late) {
  return late > (running - std::min(awaiting_client, running)) / 2;
}

constexpr double share_awaiting_client(const SlotLoad& load) {
  return load.slots == 0 ? 0 : std::min(double(load.awaiting_client) / load.slots, 1.0);
}

// Lower classes ask for a slot of a higher one only where slow clients hold many: so their load,
// however high, costs no client of a higher class its slot while few are slow. Likewise, where the
// upstream is late, requests that have slots: it may be late for another reason.
constexpr bool may_ask(const SlotLoad& load) {
  const bool has_claim = !load.only_lower_wait && !load.only_late_wait;
  return has_claim || share_awaiting_client(load) > kPlentifulShare;
}

// From 0 (plenty) to 1. It is the share of slots that wait for clients, which is what taking them
// back can win, more by what waits for each: nothing up to a quarter, all from three quarters on.
// 0 if no request of the slot's class or of a higher one waits.
constexpr double scarcity(const SlotLoad& load) {
  if (load.waiting == 0 || load.slots == 0 || load.only_lower_wait || load.only_for_pauses)
    return 0;
  const double share = share_awaiting_client(load) * (1 + double(load.waiting) / load.slots);
  return std::clamp((share - kPlentifulShare) / (kScarcestShare - kPlentifulShare), 0.0, 1.0);
}

// Time for pauses is given once to all that hold slots while a request waits, and not to each of
// them anew: the later its turn comes the less is left. So clients that pause one after the other,
// as many as there are, keep nothing waiting for much longer than one of them could.
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

// `rate`: what is asked for while slots are not scarce. `longest_wait`: how long a request of the
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

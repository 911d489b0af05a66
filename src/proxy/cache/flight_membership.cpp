#include "proxy/cache/flight_membership.hpp"

namespace spillway::proxy {

namespace {

// If a response turns out to vary, followers that need another variant join another flight. After
// this many flights a request asks the upstream itself.
constexpr int kMostFlights = 3;

void deliver_all(cache::Follower* first) {
  while (first != nullptr) {
    cache::Follower* const next = first->next;  // the follower may be gone once delivered
    auto& letter = static_cast<SharedResponse&>(*first);
    letter.mailbox->deliver(letter);
    first = next;
  }
}

}  // namespace

cache::Landing landing_after(const Fault& fault) {
  if (fault.outcome == Outcome::client_gone) return cache::Landing::leads;
  if (fault.outcome != Outcome::error) return cache::Landing::refused;
  return fault.reason == Reason::deadline_expired ? cache::Landing::leads : cache::Landing::failed;
}

FlightMembership::FlightMembership(Services& services, const RequestContext& request,
                                   CacheLookup& lookup, Parking& parking)
    : request_(request), lookup_(lookup), parking_(parking) {
  follower_.mailbox = &services.mailbox;
  follower_.parking = &parking;
}

FlightMembership::~FlightMembership() {
  land(cache::Landing::failed);
  // Still waiting only if the worker has ended: otherwise a request waits for its delivery.
  if (is_waiting_) flights().leave(follower_);
}

Task<FlightMembership::Joined> FlightMembership::join() {
  for (int flight = 0; flight < kMostFlights && lookup_.shares_response(); ++flight) {
    hash_ = lookup_.key().hash();
    follower_.delivered = false;
    if (flights().join(hash_, follower_) == cache::SingleFlight::Role::leader) {
      leads_ = true;
      if (!lookup_.try_take_shared()) co_return Joined{};
      land(cache::Landing::stored);  // the former leader has landed in the meantime
      co_return Joined{.is_stored = true};
    }
    lookup_.follow();
    const std::optional<Fault> fault = co_await wait_for_landing();
    if (fault) co_return Joined{.fault = fault};
    const cache::Landing landing = follower_.landing;
    if (landing == cache::Landing::leads) leads_ = true;
    if (landing == cache::Landing::failed && lookup_.may_serve_on_error())
      co_return Joined{.fault = upstream_failed()};
    has_spent_wait_ = landing == cache::Landing::refused || landing == cache::Landing::failed;
    if (landing != cache::Landing::stored) co_return Joined{};
    const std::uint64_t before = lookup_.key().hash();
    if (lookup_.try_take_shared()) co_return Joined{.is_stored = true};
    if (lookup_.key().hash() == before) co_return Joined{};  // not usable for this request
  }
  co_return Joined{};
}

// A fault if the client left meanwhile, or the deadline passed.
Task<std::optional<Fault>> FlightMembership::wait_for_landing() {
  const TimePoint due =
      request_.is_shadow() ? kNever : request_.classification.response_deadline(Duration{0}).at;
  std::optional<Fault> fault;
  is_waiting_ = true;
  while (!follower_.delivered) {
    const Until until = fault ? Until{} : Until{.deadline = due, .client_gone = true};
    const Wake wake = co_await parking_.park(until);
    if (wake == Wake::ready || fault) continue;
    fault = wake == Wake::timeout ? deadline_passed() : client_gone();
    if (flights().leave(follower_) == Withdrawal::withdrawn) break;
  }
  is_waiting_ = false;
  if (fault && follower_.delivered && follower_.landing == cache::Landing::leads) leads_ = true;
  co_return fault;
}

bool FlightMembership::try_lead() {
  hash_ = lookup_.key().hash();
  leads_ = flights().try_lead(hash_);
  return leads_;
}

void FlightMembership::land(cache::Landing how) {
  if (!leads_) return;
  leads_ = false;
  deliver_all(flights().land(hash_, how));
}

void FlightMembership::end(const Fault& fault) {
  if (!leads_) return;
  const cache::Landing landing = landing_after(fault);
  if (landing != cache::Landing::leads) return land(landing);
  leads_ = false;
  deliver_all(flights().hand_over(hash_));
}

}  // namespace spillway::proxy

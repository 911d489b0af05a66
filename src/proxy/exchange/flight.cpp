// One request per key asks the upstream, however many want the same answer: the first leads, the
// others wait for what it brings, without a slot or a place in the queue.
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {

// An answer that turns out to vary sends those who waited for another variant on to flights of
// their own; more often than this nobody waits.
constexpr int kMostFlights = 3;

void deliver_all(cache::Follower* first) {
  while (first != nullptr) {
    cache::Follower* const next = first->next;  // the follower may be gone once delivered
    auto& letter = static_cast<SharedAnswer&>(*first);
    letter.home->deliver(letter);
    first = next;
  }
}

}  // namespace

// Leads, or waits for who leads. After it the answer is in the store, or this request has to ask
// the upstream itself, or it has failed.
Task<> Exchange::share_answer() {
  for (int flight = 0; flight < kMostFlights && shares_answer_; ++flight) {
    flight_ = key_.hash();
    follower_.delivered = false;
    if (cache_->flights().join(flight_, follower_) == cache::Flights::Role::leader) {
      leads_ = true;
      look_up();  // who led before may have landed since
      if (may_give_shared()) {
        land(cache::Landing::stored);
        answer_from_store();
      }
      co_return;
    }
    has_followed_ = true;
    const bool is_there = co_await await_landing();
    if (!is_there) co_return;
    if (follower_.landing == cache::Landing::leads) leads_ = true;
    if (follower_.landing == cache::Landing::failed && may_stand_in()) fail(upstream_failed());
    patience_spent_ =
        follower_.landing == cache::Landing::refused || follower_.landing == cache::Landing::failed;
    if (follower_.landing != cache::Landing::stored) co_return;
    const std::uint64_t before = key_.hash();
    look_up();
    if (may_give_shared()) {
      answer_from_store();
      co_return;
    }
    if (key_.hash() == before) co_return;  // stored, but not for reuse without asking
  }
}

// False, and the request has failed, when the client left meanwhile or the deadline passed.
Task<bool> Exchange::await_landing() {
  watches_client_ = true;
  const TimePoint answer_by = is_shadow() ? kNever : subject_.answer_by(Duration{0});
  bool leaves = false;
  while (!follower_.delivered) {
    const Wake wake = co_await parking_.park(leaves ? kNever : answer_by);
    if (wake == Wake::ready || leaves) continue;
    leaves = true;
    fail(wake == Wake::timeout ? deadline_passed() : client_gone());
    // If it is too late to leave, the letter is on its way and must be waited for.
    if (cache_->flights().leave(follower_)) break;
  }
  watches_client_ = false;
  if (leaves && follower_.delivered && follower_.landing == cache::Landing::leads) leads_ = true;
  co_return !leaves;
}

// Whether what is stored will do for one that wanted to ask the upstream for it.
bool Exchange::may_give_shared() const {
  return stale_will_do_ ? may_give_stale() : is_fresh_enough();
}

// The answer that others wait for has come, stored or not.
void Exchange::land(cache::Landing how) {
  if (!leads_) return;
  leads_ = false;
  deliver_all(cache_->flights().land(flight_, how));
}

// At the end of a request that still leads. If only its client left, or had no more time, the one
// who waited longest takes over. What the gate refused would be refused to each of them after
// another wait: they ask for themselves, all at once and with what is left of their patience.
void Exchange::leave_flight() {
  const bool ran_out_of_time =
      failed() && fault_.outcome == Outcome::error && fault_.reason == Reason::deadline_expired;
  if (!failed() || (fault_.outcome == Outcome::error && !ran_out_of_time))
    return land(cache::Landing::failed);
  if (fault_.outcome != Outcome::client_gone && !ran_out_of_time)
    return land(cache::Landing::refused);
  leads_ = false;
  deliver_all(cache_->flights().hand_over(flight_));
}

}  // namespace spillway::proxy

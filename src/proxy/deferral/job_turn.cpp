// When a job begins: what its route's `rate` lets begin, and a slot.
#include <chrono>
#include <optional>

#include "jobs/poison_guard.hpp"
#include "proxy/deferral/job_run.hpp"
#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

namespace {

constexpr Duration kLongestWait = std::chrono::seconds(2);  // if others wait for what it has

// It is counted as held, so that jobs of other routes are pulled beside it.
class Held {
 public:
  Held(JobsByRank& held, std::uint8_t rank) : held_(held), rank_(rank) { held_.begin(rank_); }
  ~Held() { held_.end(rank_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  JobsByRank& held_;
  const std::uint8_t rank_;
};

}  // namespace

// The token of the rate is taken with the slot: one that was taken before the wait for a slot would
// let jobs begin all at once as soon as there are slots. nullopt: it has both. Without a token now
// it goes back, and is pulled again when there may be one.
Task<std::optional<JobRun::End>> JobRun::take_turn() {
  const bool may_begin = co_await wait_for_rate();
  if (!may_begin) co_return is_expired() ? expire() : give_back();
  request_.arrived = services_.now();
  const std::optional<jobs::NoSlot> no_slot = co_await take_slot();
  if (no_slot) co_return is_expired() ? expire() : without_slot(*no_slot);
  const bool is_late = is_expired() || is_lease_ending(Clock::now());
  if (!is_late && (!defer().rate || begin_rate().try_take(Clock::now()))) co_return std::nullopt;
  admission_.return_slot(services_.now());
  co_return is_expired() ? expire() : give_back();
}

void JobRun::return_turn() {
  admission_.return_slot(services_.now());
  if (defer().rate) begin_rate().give_back();
}

jobs::BeginRate& JobRun::begin_rate() const { return services_.jobs->begin_rate(job_.lane.route); }

// Until the rate may let it begin. False: that takes too long, or it is to wait no longer.
Task<bool> JobRun::wait_for_rate() {
  if (!defer().rate) co_return true;
  const TimePoint until = Clock::now() + kLongestWait;
  std::optional<Held> held;
  while (abort_ == Abort::none && !is_expired()) {
    const TimePoint now = Clock::now();
    const TimePoint next = begin_rate().next(now);
    if (next <= now) co_return true;
    if (next > until) co_return false;
    if (!held) held.emplace(request_.upstream().held_jobs, jobs::rank_of(defer()));
    co_await parking_.park({.deadline = next});
  }
  co_return false;
}

// A slot that no live request wants. With a class the job first competes for one as live requests
// of that class do. In shadow mode those get none, but are forwarded at once; a backlog that did
// the same would not end at the number of slots.
//
// A job that has to be alone keeps others of its kind waiting, also at other upstreams: so it goes
// back to the store soon. It goes before all other jobs: those wait longer, and would otherwise get
// each slot before it.
Task<std::optional<jobs::NoSlot>> JobRun::take_slot() {
  const bool competes = defer().traffic_class && !request_.is_shadow();
  if (competes) {
    const bool has_won = co_await compete_for_slot();
    if (has_won) co_return std::nullopt;
    if (!may_wait_for_spare_slot()) co_return jobs::NoSlot::refused;
  }
  TimePoint until = kNever;
  const bool is_alone = jobs::is_alone(job_.progress.recoveries);
  if (is_alone || services_.jobs->lease().is_shared()) until = services_.now() + kLongestWait;
  if (competes) until = services_.now() + jobs::kSpareWait;
  const Admission::SpareSlot slot = co_await admission_.wait_for_spare_slot(until, is_alone);
  if (slot == Admission::SpareSlot::granted) co_return std::nullopt;
  co_return jobs::NoSlot::waited;
}

Task<bool> JobRun::compete_for_slot() {
  using Kind = overload::Verdict::Kind;
  admission_.decide();
  const Kind verdict = admission_.verdict().kind;
  if (verdict == Kind::deny || verdict == Kind::drop) {
    admission_.give_back_token();
    co_return false;
  }
  std::optional<Fault> refused = admission_.enter_gate(services_.now(), Duration{0}, Duration{0});
  if (!refused && admission_.is_queued()) {
    const std::optional<Fault> late = co_await admission_.wait_in_queue();
    refused = late;
  }
  co_return !refused && admission_.has_slot() && abort_ == Abort::none;
}

// Not what a budget refuses: that holds for jobs of the class, too.
bool JobRun::may_wait_for_spare_slot() const {
  using Kind = overload::Verdict::Kind;
  const Kind verdict = admission_.verdict().kind;
  return abort_ == Abort::none && !is_expired() && verdict != Kind::deny && verdict != Kind::drop &&
         jobs::has_spare_slots(request_.upstream().overload_status.read().state);
}

}  // namespace spillway::proxy

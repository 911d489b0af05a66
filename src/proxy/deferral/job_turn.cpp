// When a job begins: the token of its route's `rate`, and a slot.
#include <chrono>
#include <optional>

#include "jobs/poison_guard.hpp"
#include "proxy/deferral/job_run.hpp"
#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

namespace {

constexpr Duration kLongestWait = std::chrono::seconds(2);  // if others wait for what it holds

// Counts the job as held, so that jobs of other routes are pulled meanwhile.
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

// The token of the rate is taken together with the slot: if tokens were taken before the wait for a
// slot, many jobs would begin at the same moment once there are slots. nullopt: it has both. If
// there is no token now, the job goes back and is pulled again when there may be one.
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

// Waits until the rate may let it begin. False: that would take too long, or it must not wait.
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

// Takes a slot that no live request wants. With a class the job first competes for one like live
// requests of that class. In shadow mode those get no slot but are forwarded at once; if a backlog
// of jobs did the same, the number of slots would not limit it.
//
// A job that has to be alone keeps other jobs of its kind waiting, also at other upstreams, so it
// soon goes back to the store. It goes ahead of all other jobs: those wait longer, and would
// otherwise get each slot before it.
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

// Not if a budget refused it: budgets also apply to jobs of the class.
bool JobRun::may_wait_for_spare_slot() const {
  using Kind = overload::Verdict::Kind;
  const Kind verdict = admission_.verdict().kind;
  return abort_ == Abort::none && !is_expired() && verdict != Kind::deny && verdict != Kind::drop &&
         jobs::has_spare_slots(request_.upstream().overload_status.read().state);
}

}  // namespace spillway::proxy

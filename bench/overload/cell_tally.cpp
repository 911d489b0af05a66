#include "bench/overload/cell_tally.hpp"

#include "bench/load/percentile.hpp"

namespace spillway::bench {
namespace {

void count(Counts& counts, const load::Attempt& attempt, const load::Ending& ending,
           Duration took) {
  switch (ending.fate) {
    case load::Fate::ok:
      ++counts.succeeded;
      if (!ending.degraded.empty()) ++counts.degraded;
      counts.latencies.push_back(attempt.due + took - attempt.arrival.at);
      return;
    case load::Fate::failed:
      ++(ending.cause == load::kTimeout ? counts.gave_up : counts.failed);
      return;
    case load::Fate::deferred:
    case load::Fate::denied: break;
  }
  counts.refusals.push_back(took);
  switch (refusal_of(ending.cause, took)) {
    case Refusal::on_arrival:
      ++counts.denied;
      counts.denials.push_back(took);
      break;
    case Refusal::evicted: ++counts.evicted; break;
    case Refusal::timed_out: ++counts.timed_out; break;
  }
}

void append(std::vector<Duration>& to, const std::vector<Duration>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Refusal refusal_of(std::string_view reason, Duration took) {
  if (reason == "EVICTED") return Refusal::evicted;
  if (reason == "QUEUE_TIMEOUT" || reason == "DEADLINE_EXPIRED") return Refusal::timed_out;
  return reason == load::kNoReason && took > kAtOnce ? Refusal::timed_out : Refusal::on_arrival;
}

void Counts::add(const Counts& other) {
  sent += other.sent;
  attempts += other.attempts;
  succeeded += other.succeeded;
  degraded += other.degraded;
  answered += other.answered;
  denied += other.denied;
  evicted += other.evicted;
  timed_out += other.timed_out;
  gave_up += other.gave_up;
  failed += other.failed;
  append(latencies, other.latencies);
  append(denials, other.denials);
  append(refusals, other.refusals);
}

void CellTally::sent(const load::Attempt& attempt, Duration late) {
  late_.push_back(late);
  ++tenth(attempt).attempts;
  if (!counts_in(attempt.arrival, phases_)) return;
  const auto count_sent = [&](Counts& counts) {
    ++counts.attempts;
    if (attempt.number == 1) ++counts.sent;
  };
  count_sent(kinds_[attempt.arrival.kind]);
  if (attempt.arrival.tenant != 0) count_sent(tenants_[attempt.arrival.tenant]);
}

void CellTally::ended(const load::Attempt& attempt, const load::Ending& ending, Duration took,
                      bool /*again*/) {
  if (ending.fate == load::Fate::ok) {
    ++tenth(attempt).succeeded;
    const Duration at = attempt.due + took;
    if (at >= from_ && at < until_) count_answer(attempt.arrival);
  }
  if (!counts_in(attempt.arrival, phases_)) return;
  count(kinds_[attempt.arrival.kind], attempt, ending, took);
  if (attempt.arrival.tenant != 0) count(tenants_[attempt.arrival.tenant], attempt, ending, took);
  if (ending.fate != load::Fate::ok) ++causes_[ending.cause];
}

void CellTally::count_answer(const load::Arrival& arrival) {
  ++kinds_[arrival.kind].answered;
  if (arrival.tenant != 0) ++tenants_[arrival.tenant].answered;
}

Tenth& CellTally::tenth(const load::Attempt& attempt) {
  const auto number = static_cast<std::size_t>(attempt.due / kTenth);
  if (tenths_.size() <= number) tenths_.resize(number + 1);
  return tenths_[number];
}

Duration CellTally::late_p99() const { return load::percentile(late_, 0.99); }

}  // namespace spillway::bench

// Commands of the memory store that read jobs, and the operator's commands.
#include <algorithm>
#include <iterator>

#include "jobs/life.hpp"
#include "store/contract/filter.hpp"
#include "store/memory_jobs.hpp"

namespace spillway::store {

using jobs::WallTime;

namespace {

// Numbers begin at 1.
std::uint64_t seq_of(const std::optional<Cursor>& after) {
  return after ? static_cast<std::uint64_t>(after->number) : 0;
}

Cursor cursor_of(std::uint64_t seq) { return {.number = static_cast<std::int64_t>(seq)}; }

}  // namespace

jobs::JobView MemoryJobs::view(const One& one) const {
  const jobs::NewJob& job = one.job;
  jobs::JobView view;
  view.id = job.id;
  view.lane = job.lane;
  view.tenant_name = job.tenant_name;
  view.method = job.method;
  view.target = job.target;
  view.accepted = job.accepted;
  view.expires = job.expires;
  view.progress = one.progress;
  view.body_bytes = job.body.size();
  if (one.answer) view.status = one.answer->status;
  return view;
}

std::uint64_t MemoryJobs::position(Seq seq, const One& one) const {
  if (!waits(one.progress.state)) return 0;
  const auto lane = claimable_.find(one.job.lane);
  if (lane == claimable_.end()) return 1;
  const std::pair<WallTime, Seq> place(one.progress.due, seq);
  std::uint64_t before = 0;
  for (const auto& other : lane->second) {
    if (other >= place) return before + 1;
    if (++before == kLastPosition) return 0;
  }
  return before + 1;
}

void MemoryJobs::execute(Find& command, WallTime) {
  command.job.reset();
  const One* const one = find(command.id);
  if (one == nullptr) return;
  command.job = view(*one);
  command.job->position = position(ids_.at(command.id), *one);
}

void MemoryJobs::execute(ReadAnswer& command, WallTime) {
  command.state.reset();
  command.answer.reset();
  const One* const one = find(command.id);
  if (one == nullptr) return;
  command.state = one->progress.state;
  command.answer = one->answer;
}

void MemoryJobs::execute(Inspect& command, WallTime now) {
  Find found{command.id, std::nullopt};
  execute(found, now);
  command.job = found.job;
  command.head.clear();
  command.body.clear();
  command.attempts.clear();
  const One* const one = find(command.id);
  if (one == nullptr) return;
  command.head = one->job.head;
  command.body = one->job.body.substr(0, command.body_limit);
  command.attempts = one->attempts;
}

void MemoryJobs::execute(List& command, WallTime) {
  command.jobs.clear();
  command.next.reset();
  if (command.limit == 0) return;
  auto at = jobs_.begin();
  if (command.after) {
    const auto last = ids_.find(*command.after);
    if (last == ids_.end()) return;  // it was forgotten between two pages
    at = jobs_.upper_bound(last->second);
  }
  for (std::size_t looked = 0; at != jobs_.end(); ++at, ++looked) {
    jobs::JobView job = view(at->second);
    const bool is_included = includes(command.filter, job);
    const bool is_full = is_included && command.jobs.size() == command.limit;
    if (is_full || looked == kMostLookedAt) {
      command.next = std::prev(at)->second.job.id;
      return;
    }
    if (is_included) command.jobs.push_back(std::move(job));
  }
}

void MemoryJobs::execute(Replay& command, WallTime now) {
  command.jobs.clear();
  command.next.reset();
  WallTime due = now + command.delay;
  std::size_t looked = 0;
  Seq last = seq_of(command.after);
  for (auto at = letters_.upper_bound(last); at != letters_.end(); ++looked) {
    if (command.jobs.size() == command.limit) return;
    if (looked == kMostLookedAt) {
      command.next = cursor_of(last);
      return;
    }
    last = *at++;  // a replayed job is no longer among the letters
    One& one = jobs_.at(last);
    const auto after = jobs::replayed(one.progress, due);
    if (!after || !includes(command.filter, view(one))) continue;
    due += command.spacing;
    command.jobs.push_back(one.job.id);
    if (command.is_dry_run) continue;
    change(last, one, *after);
    drop_answer(one);
    expiring_.erase({one.job.expires, last});
    one.job.expires = now + command.ttl;
    expiring_.emplace(one.job.expires, last);
  }
}

void MemoryJobs::execute(Purge& command, WallTime) {
  command.next.reset();
  std::vector<Seq> seqs;
  std::size_t looked = 0;
  std::uint64_t bytes = 0;
  Seq last = seq_of(command.after);
  for (auto at = jobs_.upper_bound(last); at != jobs_.end(); ++at, ++looked) {
    if (seqs.size() == command.limit) break;
    if (looked == kMostLookedAt || bytes >= kStepBytes) {
      command.next = cursor_of(last);
      break;
    }
    last = at->first;
    const One& one = at->second;
    if (!has_ended(one.progress.state) || !includes(command.filter, view(one))) continue;
    if (!command.is_dry_run) bytes += one.content_bytes();
    seqs.push_back(last);
  }
  command.count = seqs.size();
  if (command.is_dry_run) return;
  for (const Seq seq : seqs) remove(seq);
}

void MemoryJobs::execute(Totals& command, WallTime now) {
  command.routes.clear();
  for (const auto& [name, states] : routes_) {
    Totals::Route& route = command.routes.emplace_back();
    route.route = name;
    route.by_state = states;
    for (const auto& [lane, jobs] : claimable_) {
      const WallTime due = jobs.begin()->first;
      if (lane.route != name || due > now) continue;
      const WallTime oldest = route.oldest_claimable;
      route.oldest_claimable = oldest == jobs::kNoTime ? due : std::min(oldest, due);
    }
  }
  command.oldest_letter =
      letters_.empty() ? jobs::kNoTime : jobs_.at(*letters_.begin()).job.accepted;
  command.bytes = bytes_;
}

}  // namespace spillway::store

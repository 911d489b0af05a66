// A store of each implementation, asked by the sentences of the contract.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/contract/job_store.hpp"
#include "unit/store/contract.hpp"

namespace spillway::store {

using namespace std::chrono_literals;

// Job n: of route "orders" and tenant 1, accepted now, expires in an hour, kept for an hour.
jobs::JobId job_id(std::uint64_t n);

// One transaction; fails the test case if the store fails.
void execute(JobStore& store, std::vector<Command>& batch, jobs::WallTime now);
template <class Verb>
Verb ask(JobStore& store, Verb verb, jobs::WallTime now) {
  std::vector<Command> batch{std::move(verb)};
  execute(store, batch, now);
  return std::get<Verb>(std::move(batch.front()));
}

class UnderTest {
 public:
  explicit UnderTest(Contract& contract);

  void execute(std::vector<Command>& batch) { store::execute(*store_, batch, now()); }
  template <class Verb>
  Verb ask(Verb verb) {
    return store::ask(*store_, std::move(verb), now());
  }

  jobs::WallTime now() const { return contract_.now(); }
  void pass(std::chrono::milliseconds time) { contract_.pass(time); }
  bool is_shared() const { return contract_.is_shared(); }
  // The store is closed and opened again; false: the implementation keeps nothing.
  bool reopen();
  JobStore& store() { return *store_; }

  Epoch join(std::chrono::milliseconds lease = 10min);
  // Those that are registered end without leaving: the lease of all, which is the same, is over, or
  // the next process has come.
  void end_proxies(std::chrono::milliseconds lease);
  jobs::NewJob job(std::uint64_t n) const;
  Enqueue enqueue(const jobs::NewJob& job, std::uint64_t max_pending = 1000);
  // Of the lane of job(n).
  std::vector<jobs::JobId> claim(Epoch epoch, std::size_t limit = 10);
  std::vector<jobs::JobId> claim(Epoch epoch, const jobs::Lane& lane, std::size_t limit);
  // false: the lease was lost.
  bool settle(Epoch epoch, std::uint64_t n, const jobs::Progress& progress);
  bool succeed(Epoch epoch, std::uint64_t n);
  bool die(Epoch epoch, std::uint64_t n);
  bool retry(Epoch epoch, std::uint64_t n, std::chrono::milliseconds after);
  Sweep sweep(std::size_t limit = 1000);
  std::optional<jobs::JobView> find(std::uint64_t n);
  // By name; empty: there is no such job.
  std::string state(std::uint64_t n);
  std::uint64_t count(jobs::JobState state);  // of all routes

 private:
  Contract& contract_;
  std::unique_ptr<JobStore> store_;
};

// Calls `sentence` with a new store of each implementation; what fails names it.
void each_store(const std::function<void(UnderTest&)>& sentence);

// Of the jobs that a command answers with, in its order.
template <class Answer>
std::vector<jobs::JobId> ids_of(const Answer& answer) {
  std::vector<jobs::JobId> ids;
  for (const auto& job : answer.jobs) ids.push_back(job.id);
  return ids;
}

}  // namespace spillway::store

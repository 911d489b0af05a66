#include "unit/store/under_test.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace spillway::store {

using jobs::Cause;
using jobs::JobId;
using jobs::JobState;
using jobs::Progress;

JobId job_id(std::uint64_t n) {
  JobId id;
  for (std::size_t at = 0; at < 8; ++at) id.bytes[15 - at] = static_cast<std::uint8_t>(n >> 8 * at);
  return id;
}

UnderTest::UnderTest(Contract& contract) : contract_(contract), store_(contract.make()) {
  if (!store_) throw std::runtime_error("no store");
}

void execute(JobStore& store, std::vector<Command>& batch, jobs::WallTime now) {
  std::vector<Command*> commands;
  for (Command& command : batch) {
    if (auto* const totals = std::get_if<Totals>(&command)) totals->patience = 10s;
    commands.push_back(&command);
  }
  const std::optional<Failure> failure = store.execute(commands, now);
  if (failure) FAIL(failure->text);
}

bool UnderTest::reopen() {
  store_.reset();
  store_ = contract_.reopen();
  return store_ != nullptr;
}

Epoch UnderTest::join(std::chrono::milliseconds lease) { return ask(Join{"proxy", lease}).epoch; }

void UnderTest::end_proxies(std::chrono::milliseconds lease) {
  if (is_shared())
    pass(lease);
  else
    join(lease);
}

jobs::NewJob UnderTest::job(std::uint64_t n) const {
  jobs::NewJob job;
  job.id = job_id(n);
  job.lane = {3, "orders", TenantId{1}};
  job.tenant_name = "acme";
  job.accepted = now();
  job.expires = now() + 1h;
  job.kept = 1h;
  job.head = "POST /orders HTTP/1.1\r\nhost: a\r\n\r\n";
  job.body = "order " + std::to_string(n);
  job.method = "POST";
  job.target = "/orders";
  return job;
}

Enqueue UnderTest::enqueue(const jobs::NewJob& job, std::uint64_t max_pending) {
  Enqueue enqueue;
  enqueue.job = job;
  enqueue.max_pending = max_pending;
  return ask(std::move(enqueue));
}

std::vector<JobId> UnderTest::claim(Epoch epoch, const jobs::Lane& lane, std::size_t limit) {
  std::vector<JobId> ids;
  for (const jobs::LeasedJob& job : ask(Claim{epoch, lane, limit}).jobs) ids.push_back(job.id);
  return ids;
}

std::vector<JobId> UnderTest::claim(Epoch epoch, std::size_t limit) {
  return claim(epoch, job(0).lane, limit);
}

bool UnderTest::settle(Epoch epoch, std::uint64_t n, const Progress& progress) {
  return !ask(Settle{epoch, job_id(n), progress}).is_lost;
}

bool UnderTest::succeed(Epoch epoch, std::uint64_t n) {
  return settle(epoch, n, {JobState::succeeded, now(), 1, 0, Cause::answered, now()});
}

bool UnderTest::die(Epoch epoch, std::uint64_t n) {
  return settle(epoch, n, {JobState::dead, now(), 1, 0, Cause::rejected, now()});
}

bool UnderTest::retry(Epoch epoch, std::uint64_t n, std::chrono::milliseconds after) {
  return settle(epoch, n, {JobState::retrying, now() + after, 1, 0, Cause::failed});
}

Sweep UnderTest::sweep(std::size_t limit) { return ask(Sweep{limit}); }

std::optional<jobs::JobView> UnderTest::find(std::uint64_t n) { return ask(Find{job_id(n)}).job; }

std::string UnderTest::state(std::uint64_t n) {
  const std::optional<jobs::JobView> found = find(n);
  return found ? std::string(name(found->progress.state)) : "";
}

std::uint64_t UnderTest::count(JobState state) {
  std::uint64_t count = 0;
  for (const Totals::Route& route : ask(Totals{}).routes) count += route.by_state[index(state)];
  return count;
}

void each_store(const std::function<void(UnderTest&)>& sentence) {
  for (const Implementation& implementation : implementations()) {
    INFO("store: " << implementation.name);
    const std::unique_ptr<Contract> contract = implementation.contract();
    if (!contract->is_available()) {
      MESSAGE("skipped: " << implementation.name);
      continue;
    }
    UnderTest store(*contract);
    sentence(store);
  }
}

}  // namespace spillway::store

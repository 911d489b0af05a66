// A process that ends at any moment loses nothing that it has acknowledged, and does nothing twice.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "store/sqlite/sqlite_recent_keys.hpp"
#include "support/rounds.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using jobs::JobState;

const jobs::WallTime kNow{std::chrono::milliseconds(1'800'000'000'000)};
constexpr std::uint64_t kOfARound = 1'000'000;  // ids

// What a process has acknowledged: job n was accepted, or has ended.
struct Acknowledged {
  std::uint64_t n = 0;
  bool has_ended = false;
};

std::uint64_t number_of(const jobs::JobId& id) {
  std::uint64_t n = 0;
  for (std::size_t at = 8; at < 16; ++at) n = n << 8 | id.bytes[at];
  return n;
}

JobState end_of(std::uint64_t n) { return n % 2 ? JobState::dead : JobState::succeeded; }

Command new_job(std::uint64_t n) {
  Enqueue enqueue;
  enqueue.job.id = job_id(n);
  enqueue.job.lane = {1, "orders", TenantId{1}};
  enqueue.job.body = "body";
  enqueue.job.accepted = kNow;
  enqueue.job.expires = kNow + 1000h;
  enqueue.job.kept = 1000h;
  enqueue.job.idempotency = jobs::IdempotencyKey{};
  for (std::size_t at = 0; at < 16; ++at) {
    enqueue.job.idempotency->scope[at] = enqueue.job.id.bytes[15 - at];
  }
  enqueue.max_pending = 1ULL << 40;
  return enqueue;
}

bool execute(JobStore& store, std::vector<Command>& batch) {
  std::vector<Command*> commands;
  for (Command& command : batch) commands.push_back(&command);
  return !store.execute(commands, kNow);
}

// Enqueues, claims and settles until it is killed.
[[noreturn]] void run(const std::filesystem::path& directory, std::uint64_t first, int pipe) {
  const Opened opened = open_store("sqlite:jobs.db", directory);
  if (!opened.store) ::_exit(1);
  // What is killed two hundred times is not poison here.
  std::vector<Command> batch{Join{"proxy", 1h}, Sweep{1000, 1000}};
  if (!execute(*opened.store, batch)) ::_exit(2);
  const Epoch epoch = std::get<Join>(batch[0]).epoch;
  std::vector<Command> ends;
  for (std::uint64_t n = first;; n += 3) {
    batch.clear();
    for (std::uint64_t more = 0; more < 3; ++more) batch.push_back(new_job(n + more));
    batch.emplace_back(Claim{epoch, {1, "orders", TenantId{1}}, 2});
    for (const Command& end : ends) batch.push_back(end);
    if (!execute(*opened.store, batch)) ::_exit(3);
    std::vector<Acknowledged> done;
    for (std::uint64_t more = 0; more < 3; ++more) done.push_back({n + more, false});
    for (std::size_t at = 4; at < batch.size(); ++at) {
      const Settle& settle = std::get<Settle>(batch[at]);
      if (!settle.is_lost) done.push_back({number_of(settle.id), true});
    }
    ends.clear();
    for (const jobs::LeasedJob& job : std::get<Claim>(batch[3]).jobs) {
      jobs::Progress progress = job.progress;
      progress.state = end_of(number_of(job.id));
      progress.ended = kNow;
      ends.emplace_back(Settle{epoch, job.id, progress});
    }
    const auto bytes = done.size() * sizeof(Acknowledged);
    if (::write(pipe, done.data(), bytes) != static_cast<ssize_t>(bytes)) ::_exit(4);
    if (n > first + kOfARound - 10) ::_exit(5);
  }
}

// Runs it until it has acknowledged so much, with none also during its start, and for a moment of
// chance more; kills it, and gives all that it has acknowledged.
std::vector<Acknowledged> run_and_kill(const std::filesystem::path& directory, std::uint64_t first,
                                       std::size_t acknowledgements, std::uint64_t spins) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    run(directory, first, ends[1]);
  }
  ::close(ends[1]);
  std::vector<Acknowledged> all;
  Acknowledged one;
  while (all.size() < acknowledgements && ::read(ends[0], &one, sizeof one) == sizeof one) {
    all.push_back(one);
  }
  Random random(spins);
  for (std::uint64_t n = 0; n < spins; ++n) {
    if (random.next() == 0) break;
  }
  ::kill(child, SIGKILL);
  while (::read(ends[0], &one, sizeof one) == sizeof one) all.push_back(one);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  return all;
}

// Empty, or what is wrong with the store.
std::string wrong_with(JobStore& store, const std::map<std::uint64_t, bool>& acknowledged) {
  std::map<std::uint64_t, JobState> there;
  std::array<std::uint64_t, jobs::kJobStateCount> by_state{};
  List list;
  list.limit = 5000;
  do {
    list.after = list.next;
    std::vector<Command> batch{list};
    if (!execute(store, batch)) return "it cannot be listed";
    list = std::get<List>(batch[0]);
    for (const jobs::JobView& job : list.jobs) {
      ++by_state[index(job.progress.state)];
      if (!there.emplace(number_of(job.id), job.progress.state).second)
        return "a job is there twice";
    }
  } while (list.next);
  for (const auto& [n, has_ended] : acknowledged) {
    const auto found = there.find(n);
    if (found == there.end()) return "job " + std::to_string(n) + " is lost";
    if (has_ended && found->second != end_of(n))
      return "an end of " + std::to_string(n) + " is lost";
    if (jobs::has_ended(found->second) && found->second != end_of(n)) return "it has another end";
  }
  std::vector<Command> batch{Totals{}};
  if (!execute(store, batch)) return "it cannot be counted";
  const auto& routes = std::get<Totals>(batch[0]).routes;
  if (!routes.empty() && routes[0].by_state != by_state) return "its counters are wrong";
  return "";
}

std::string wrong_keys(JobStore& store, const std::map<std::uint64_t, bool>& acknowledged) {
  std::vector<Command> batch;
  for (const auto& [n, has_ended] : acknowledged) {
    batch.push_back(new_job(n));
    std::get<Enqueue>(batch.back()).job.id = job_id(n + (1ULL << 60));
  }
  if (!execute(store, batch)) return "it takes no job";
  for (const Command& command : batch) {
    const auto& enqueue = std::get<Enqueue>(command);
    if (enqueue.result != Enqueue::Result::duplicate) return "a key is lost";
    if (number_of(enqueue.id) + (1ULL << 60) != number_of(enqueue.job.id)) return "a wrong job";
  }
  return "";
}

}  // namespace

TEST_CASE("processes are killed at random moments: what they acknowledged is there, once") {
  const support::TemporaryDirectory directory;
  Random random(19);
  std::map<std::uint64_t, bool> acknowledged;
  std::size_t productive = 0;
  {  // so many keys that they go on into the table of their window, some with each transaction
    const Opened opened = open_store("sqlite:jobs.db", directory.path());
    REQUIRE(opened.store);
    std::vector<Command> batch;
    for (std::uint64_t n = kOfARound / 2; batch.size() < SqliteRecentKeys::kMost + 1000; ++n) {
      batch.push_back(new_job(n));
      acknowledged[n] = false;
    }
    REQUIRE(execute(*opened.store, batch));
  }
  const auto rounds = static_cast<std::size_t>(support::rounds_of(200));
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto all = run_and_kill(directory.path(), (round + 1) * kOfARound, random.next() % 100,
                                  random.next() % 2'000'000);
    for (const Acknowledged& one : all) acknowledged[one.n] = acknowledged[one.n] || one.has_ended;
    if (!all.empty()) ++productive;
    if (round % 20 != 19) continue;
    const Opened opened = open_store("sqlite:jobs.db", directory.path());
    REQUIRE_MESSAGE(opened.store, opened.failure.text);
    REQUIRE(wrong_with(*opened.store, acknowledged) == "");
  }
  MESSAGE(productive << " rounds with " << acknowledged.size() << " acknowledged jobs");
  CHECK(productive > rounds / 4);
  const Opened opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  CHECK(wrong_keys(*opened.store, acknowledged) == "");

  // The check would notice: a job that is not there, an end that is not.
  auto other = acknowledged;
  other[7] = false;
  CHECK(wrong_with(*opened.store, other) == "job 7 is lost");
  std::vector<Command> batch{new_job(7)};
  REQUIRE(execute(*opened.store, batch));
  other[7] = true;
  CHECK(wrong_with(*opened.store, other) == "an end of 7 is lost");
}

}  // namespace spillway::store

// What clients are told about when a job will have ended, where several proxies do the jobs.
#include <doctest/doctest.h>

#include <csignal>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/fleet/fleet.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr double kRate = 3;  // a proxy's share: a slow machine puts in more in the same time
constexpr int kJobs = 300;
constexpr std::chrono::milliseconds kLease{3000};
constexpr std::size_t kAll = std::size_t{1} << 40;

json settings(const std::string& url) {
  json all = fleet_settings(url, kLease, 8);
  all["routes"][0]["defer"]["rate"] = 2 * kRate;
  return all;
}

// The rate that a client can tell from what it is told of a job, in shares; 0: none.
double told_rate(const Member& member, const std::string& location) {
  const json job = json::parse(RawClient(member.proxy.port()).ask(get(location)).body);
  const double wait = job.value("retry_after_ms", 0.0);
  return wait > 0 ? 1000 * job.value("position", 0.0) / wait / kRate : 0;
}

bool comes_to_tell(const Member& member, const std::string& location, double least, double most) {
  double rate = 0;
  for (const Deadline deadline; !deadline.passed();) {
    rate = told_rate(member, location);
    if (rate > least && rate < most) return true;
  }
  MESSAGE("told at last: ", rate);
  return false;
}

}  // namespace

TEST_CASE("clients are told when all proxies on a queue together will have done a job") {
  Postgres postgres;
  const std::string url = postgres.create_database();
  Member first("first", kAll, settings(url)), second("second", kAll, settings(url));
  std::string last;
  for (int n = 0; n < kJobs; ++n) last = first.order();
  REQUIRE(last != "");
  CHECK(comes_to_tell(first, last, 1.6, 2.2));
  CHECK(comes_to_tell(second, last, 1.6, 2.2));
  const auto begun = [&] { return first.metric("spillway_jobs_started_total"); };
  CHECK_MESSAGE(begun() > 0, "the control: not all of them are the other one's");
  // Its share goes to the one that is left.
  second.proxy.process().signal(SIGTERM);
  CHECK(second.proxy.process().wait(kPatience) == 0);
  CHECK(comes_to_tell(first, last, 1.6, 2.2));
  std::string state = "status 429";  // to a client that asks as often as this one
  for (const Deadline deadline; state == "status 429" && !deadline.passed();)
    state = first.state_of(last);
  CHECK_MESSAGE(state == "queued", "it was told of a job that waits");
}

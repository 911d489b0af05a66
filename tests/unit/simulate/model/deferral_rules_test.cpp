// Which simulated requests are deferred, as in the proxy.
#include "simulate/model/deferral_rules.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

Scenario with_defer(const std::string& defer, const std::string& clients = "",
                    const std::string& more = "") {
  return scenario_of(
      R"("clients":[{"route":"exports","rate":1)" + clients + "}]",
      R"(,"routes":[{"name":"exports","match":{"path":"/x"},"class":"P2")" + defer + "}]" + more);
}

bool takes(const Scenario& scenario, Reason reason) {
  return is_deferred_for(scenario, Request{}, reason);
}

}  // namespace

TEST_CASE("what is refused for want of room or of a server is deferred") {
  const Scenario scenario = with_defer(R"(,"defer":{})");
  CHECK(has_deferral(scenario));
  for (const Reason reason :
       {Reason::inflight_saturation, Reason::queue_wait_risk, Reason::queue_full,
        Reason::queue_timeout, Reason::evicted, Reason::deadline_expired, Reason::tail_latency,
        Reason::circuit_open, Reason::upstream_unavailable}) {
    CAPTURE(std::string(name(reason)));
    CHECK(takes(scenario, reason));
    CHECK_FALSE(takes(without_deferral(scenario), reason));
  }
  CHECK_FALSE(takes(scenario, Reason::none));
  CHECK_FALSE(is_deferred_first(scenario, Request{}));
}

TEST_CASE("what a budget or a tenant's share refuses is deferred only where told to") {
  const Scenario plain = with_defer(R"(,"defer":{})");
  const Scenario told = with_defer(R"(,"defer":{"include_limits":true})");
  for (const Reason reason : {Reason::budget_exceeded, Reason::tenant_share}) {
    CHECK_FALSE(takes(plain, reason));
    CHECK(takes(told, reason));
  }
}

TEST_CASE("a request is not deferred when the deadline is over that its client set") {
  const Scenario scenario = with_defer(R"(,"defer":{})");
  Request request;
  CHECK(is_deferred_for(scenario, request, Reason::deadline_expired));
  request.by_clients_deadline = true;
  CHECK_FALSE(is_deferred_for(scenario, request, Reason::deadline_expired));
  CHECK(is_deferred_for(scenario, request, Reason::queue_full));
}

TEST_CASE("requests that state no preference are deferred always, under overload or never") {
  const Scenario always = with_defer(R"(,"defer":{"when":"always"})");
  CHECK(is_deferred_first(always, Request{}));
  CHECK(takes(always, Reason::queue_full));
  const Scenario prefer = with_defer(R"(,"defer":{"when":"prefer"})");
  CHECK_FALSE(is_deferred_first(prefer, Request{}));
  CHECK_FALSE(takes(prefer, Reason::queue_full));
}

TEST_CASE("a job is not deferred again") {
  const Scenario scenario = with_defer(R"(,"defer":{"when":"always"})");
  Request job;
  job.as_job.emplace();
  CHECK_FALSE(is_deferred_first(scenario, job));
  CHECK_FALSE(is_deferred_for(scenario, job, Reason::queue_full));
}

TEST_CASE("nothing is deferred in shadow mode") {
  const Scenario scenario =
      with_defer(R"(,"defer":{"when":"always"})", "", R"(,"overload":{"mode":"shadow"})");
  CHECK_FALSE(has_deferral(scenario));
  CHECK_FALSE(is_deferred_first(scenario, Request{}));
  CHECK_FALSE(takes(scenario, Reason::queue_full));
}

}  // namespace spillway::simulate

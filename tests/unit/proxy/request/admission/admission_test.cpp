// Verdict and slot of one request, without a connection.
#include "proxy/request/admission/admission.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using Degraded = Admission::Degraded;
using VerdictKind = overload::Verdict::Kind;

const json kAllowing = {{"strategy", "allow"}};
const json kDenying = {{"strategy", "deny"}, {"probability", 1}};
const json kDenyingHalf = {{"strategy", "deny"}, {"probability", 0.5}};
const json kGivingStale = {{"strategy", "degrade"}, {"mode", "stale_ok"}};
const json kGivingStored = {{"strategy", "degrade"}, {"mode", "cache_only"}};

const std::string kPlainGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string kLateGet = "GET /a HTTP/1.1\r\nHost: h\r\nX-Request-Deadline: 0ms\r\n\r\n";

void enter_state(Process& process, State state, Reason reason = Reason::error_burst) {
  const config::Config& config = process.generation->config();
  process.generation->publish(
      UpstreamId{}, std::make_shared<overload::AdmissionPlan>(
                        overload::build_plan(config, config.upstreams[0], state, reason)));
}

struct AdmittedRequest {
  explicit AdmittedRequest(Process& process, const std::string& head = kPlainGet)
      : lone(process, head), admission(process.services, lone.context, parking) {}

  LoneRequest lone;
  Parking parking;
  Admission admission;
};

}  // namespace

TEST_CASE("a verdict is made again unless the state was NORMAL both times") {
  struct Case {
    State before, after;
    VerdictKind first, second;
    bool is_again;
  };
  const std::vector<Case> cases{
      {State::normal, State::normal, VerdictKind::allow, VerdictKind::allow, false},
      {State::normal, State::overloaded, VerdictKind::allow, VerdictKind::deny, true},
      {State::overloaded, State::normal, VerdictKind::deny, VerdictKind::allow, true},
      {State::overloaded, State::overloaded, VerdictKind::deny, VerdictKind::deny, true},
  };
  for (const Case& one : cases) {
    CAPTURE(int(one.before));
    CAPTURE(int(one.after));
    Process process(kDenying);
    enter_state(process, one.before);
    AdmittedRequest request(process);
    request.admission.decide();
    CHECK(request.admission.verdict().kind == one.first);
    enter_state(process, one.after);
    CHECK(request.admission.decide_again() == one.is_again);
    CHECK(request.admission.verdict().kind == one.second);
  }
}

TEST_CASE("the same share to be refused refuses the same requests again") {
  Process process(kDenyingHalf);
  process.overload();
  int denied = 0;
  for (int i = 0; i < 200; ++i) {
    AdmittedRequest request(process);
    request.admission.decide();
    const VerdictKind first = request.admission.verdict().kind;
    REQUIRE(request.admission.decide_again());
    CHECK(request.admission.verdict().kind == first);
    denied += first == VerdictKind::deny ? 1 : 0;
  }
  CHECK(denied > 50);
  CHECK(denied < 150);
}

TEST_CASE("a request that is judged again is no longer degraded") {
  Process process(kGivingStale);
  process.overload();
  for (const Degraded degraded : {Degraded::no, Degraded::answer, Degraded::work}) {
    AdmittedRequest request(process);
    request.admission.decide();
    request.admission.set_degraded(degraded);
    CHECK(request.admission.is_degraded() == (degraded != Degraded::no));
    CHECK(request.admission.announces_degrade() == (degraded == Degraded::work));
    request.admission.decide_again();
    CHECK_FALSE(request.admission.is_degraded());
  }
}

TEST_CASE("what takes the place of a refusal is degraded by its reason") {
  Process process(kGivingStale);
  AdmittedRequest request(process);
  request.admission.decide();
  request.admission.set_degraded(Degraded::work);
  request.admission.degrade_for(Reason::queue_full, config::DegradeMode::cache_only);
  CHECK(request.admission.is_degraded());
  CHECK_FALSE(request.admission.announces_degrade());
  CHECK(request.admission.verdict().mode == config::DegradeMode::cache_only);
  CHECK(request.admission.verdict().reason == Reason::queue_full);
  CHECK(request.admission.record().reason == Reason::queue_full);
}

TEST_CASE("a miss is refused as the rule says, and says what it was refused for") {
  struct Case {
    const char* what;
    json rule;
    Reason overload;
    bool is_refused, only_stored;
  };
  json deny = kGivingStale;
  deny["miss"] = "deny";
  const std::vector<Case> cases{
      {"forwarded", kGivingStale, Reason::error_burst, false, false},
      {"denied", deny, Reason::error_burst, true, false},
      {"denied only without a slot", deny, Reason::queue_saturation, false, false},
      {"the upstream is never asked", kGivingStored, Reason::queue_saturation, true, true},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    Process process(one.rule);
    enter_state(process, State::overloaded, one.overload);
    AdmittedRequest request(process);
    request.admission.decide();
    REQUIRE(request.admission.verdict().kind == VerdictKind::degrade);
    const std::optional<Fault> fault = request.admission.on_miss();
    CHECK(fault.has_value() == one.is_refused);
    if (fault) CHECK(fault->only_stored == one.only_stored);
    if (fault) CHECK(fault->reason == one.overload);
  }
}

TEST_CASE("at the gate a request gets a slot, waits, or is refused") {
  struct Case {
    const char* what;
    std::string head;
    bool is_slot_free;
    Reason refusal;  // none: it has a slot, or waits for one
  };
  const std::vector<Case> cases{
      {"a free slot", kPlainGet, true, Reason::none},
      {"none", kPlainGet, false, Reason::none},
      {"its deadline has passed", kLateGet, true, Reason::deadline_expired},
      {"its deadline has passed, and there is none", kLateGet, false, Reason::deadline_expired},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    Process process(kAllowing);
    if (!one.is_slot_free) process.take_the_only_slot();
    AdmittedRequest request(process, one.head);
    request.lone.context.classification.client = traffic::client_deadline(
        traffic::deadline_fields(request.lone.head.fields), request.lone.context.arrived, {});
    request.admission.decide();
    const std::optional<Fault> fault =
        request.admission.enter_gate(request.lone.context.arrived, {}, {});
    CHECK(fault.has_value() == (one.refusal != Reason::none));
    if (fault) CHECK(fault->reason == one.refusal);
    CHECK(request.admission.has_slot() == (!fault && one.is_slot_free));
    CHECK(request.admission.is_queued() == (!fault && !one.is_slot_free));
    if (request.admission.has_slot()) request.admission.release_slot(Clock::now());
  }
}

}  // namespace spillway::proxy

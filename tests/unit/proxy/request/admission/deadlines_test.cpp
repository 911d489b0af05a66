// Until when a request waits at its upstream, and what the upstream is told of that.
#include "proxy/request/admission/deadlines.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kNoTime = Duration::max();

const auto kAsUsual = [](json&) {};
const auto kServesLate = [](json& all) {
  all["upstreams"][0]["dispatch"]["late"] = "process_with_tag";
};
const auto kShadow = [](json& all) { all["overload"]["mode"] = "shadow"; };
const auto kRouteDeadline = [](json& all) { all["routes"][0]["deadline_ms"] = 5000; };
const auto kRouteServesLate = [](json& all) {
  kRouteDeadline(all);
  kServesLate(all);
};

config::Config config_with(const std::function<void(json&)>& change) {
  json all = settings({{"strategy", "allow"}});
  all["upstreams"][0]["total_timeout_ms"] = 60'000;
  change(all);
  return support::checked(all);
}

// A request that has its slot: `waited` after it arrived, of which `uncounted` is not held against
// it.
struct Started {
  Started(const std::function<void(json&)>& change, std::string_view fields,
          RequestContext::Kind kind = RequestContext::Kind::live, Duration waited = {},
          Duration uncounted = {})
      : process(config_with(change)),
        lone(process, "GET /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n", false, kind),
        admission(process.services, lone.context, parking) {
    CHECK_FALSE(admission.enter_gate(lone.context.arrived + waited, uncounted, Duration{0}));
    deadlines.start(lone.context, admission);
  }

  // Since its arrival.
  Duration head_due() const { return since_arrival(deadlines.head_due()); }
  Duration response_due() const { return since_arrival(deadlines.response_due()); }
  Duration since_arrival(TimePoint due) const {
    return due == kNever ? kNoTime : due - lone.context.arrived;
  }

  Process process;
  LoneRequest lone;
  Parking parking;
  Admission admission;
  Deadlines deadlines;
};

}  // namespace

TEST_CASE("the head is due by the request's deadline, the response by the upstream's timeout") {
  struct Case {
    std::string_view what;
    std::function<void(json&)> change;
    std::string fields;
    Duration head_due, response_due;
    RequestContext::Kind kind = RequestContext::Kind::live;
  };
  const std::string client = "X-Request-Deadline: 2s\r\n";
  const std::vector<Case> cases{
      {"none", kAsUsual, "", seconds(60), seconds(60)},
      {"no timeout either", [](json& all) { all["upstreams"][0]["total_timeout_ms"] = nullptr; },
       "", kNoTime, kNoTime},
      {"the client's", kAsUsual, client, seconds(2), seconds(60)},
      {"the client's, in two fields", kAsUsual, client + "grpc-timeout: 1S\r\n", seconds(1),
       seconds(60)},
      {"the route's", kRouteDeadline, "", seconds(5), seconds(60)},
      {"the route's and an earlier one of the client", kRouteDeadline, client, seconds(2),
       seconds(60)},
      {"the route's and a later one of the client", kRouteDeadline, "grpc-timeout: 9S\r\n",
       seconds(5), seconds(60)},
      {"a later one than the timeout", kAsUsual, "grpc-timeout: 90S\r\n", seconds(60), seconds(60)},
      {"late requests are served", kRouteServesLate, client, seconds(60), seconds(60)},
      {"shadow mode ends nothing", kShadow, client, seconds(60), seconds(60)},
      {"no client waits for a refresh", kAsUsual, client, seconds(60), seconds(60),
       RequestContext::Kind::refresh},
      {"nor for a job", kRouteDeadline, client, seconds(60), seconds(60),
       RequestContext::Kind::job},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Started request(c.change, c.fields, c.kind);
    CHECK(request.head_due() == c.head_due);
    CHECK(request.response_due() == c.response_due);
  }
}

TEST_CASE("the upstream's timeout begins with the slot, a deadline does not") {
  const std::string client = "X-Request-Deadline: 2s\r\n";
  const Started waited(kAsUsual, client, RequestContext::Kind::live, milliseconds(500));
  CHECK(waited.head_due() == seconds(2));
  CHECK(waited.response_due() == milliseconds(60'500));
}

TEST_CASE("time that is not the request's own puts off the route's deadline, not the client's") {
  const Started routes(kRouteDeadline, "", RequestContext::Kind::live, seconds(4), seconds(3));
  CHECK(routes.head_due() == seconds(8));
  const Started clients(kRouteDeadline, "X-Request-Deadline: 6s\r\n", RequestContext::Kind::live,
                        seconds(4), seconds(3));
  CHECK(clients.head_due() == seconds(6));
}

TEST_CASE("the attempt of a job ends with its own time, if that is first") {
  Started job(kAsUsual, "", RequestContext::Kind::job);
  const TimePoint arrived = job.lone.context.arrived;
  for (const seconds due : {seconds(10), seconds(100)}) {
    job.lone.context.due = arrived + due;
    job.deadlines.start(job.lone.context, job.admission);
    CHECK(job.response_due() == std::min(due, seconds(60)));
    CHECK(job.head_due() == job.response_due());
  }
}

TEST_CASE("a response that came late has more time for its body, never less") {
  Started request(kAsUsual, "");
  const TimePoint arrived = request.lone.context.arrived;
  request.deadlines.put_off(arrived + seconds(70));
  CHECK(request.response_due() == seconds(70));
  request.deadlines.put_off(arrived + seconds(65));
  CHECK(request.response_due() == seconds(70));
}

TEST_CASE("a wait for a head ends by the deadline, the client's body or the server") {
  struct Case {
    std::string_view what, fields;
    Duration now;
    bool is_receiving;
    Reason reason;
    unsigned status;
    bool is_servers;
  };
  const std::string_view client = "X-Request-Deadline: 2s\r\n";
  const milliseconds before(1999), at(2000);
  const std::vector<Case> cases{
      {"the server is late", client, before, false, Reason::upstream_timeout, 504, true},
      {"the deadline passes at that moment", client, at, false, Reason::deadline_expired, 504,
       false},
      {"the client is late", client, before, true, Reason::request_timeout, 408, false},
      {"the client is late, and its deadline has passed", client, at, true,
       Reason::deadline_expired, 504, false},
      {"the server is late, without a deadline", "", std::chrono::hours(1), false,
       Reason::upstream_timeout, 504, true},
      {"the client is, without a deadline", "", std::chrono::hours(1), true,
       Reason::request_timeout, 408, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Started request(kAsUsual, c.fields);
    const Fault fault =
        request.deadlines.fault_at(request.lone.context.arrived + c.now, c.is_receiving);
    CHECK(fault.reason == c.reason);
    CHECK(fault.status == c.status);
    CHECK(fault.failure.has_value() == c.is_servers);
  }
}

TEST_CASE("the upstream is told of the time that is left, in the fields that the client used") {
  using Left = Deadlines::Left;
  struct Case {
    std::string_view what;
    std::function<void(json&)> change;
    std::string fields;
    Duration now;
    Left left;
    std::string deadline, grpc;
    RequestContext::Kind kind = RequestContext::Kind::live;
  };
  const std::string in_2s = "X-Request-Deadline: 2s\r\n";
  const std::string grpc = "grpc-timeout: 3S\r\n";
  const std::vector<Case> cases{
      {"no deadline", kAsUsual, "", seconds(1), Left::enough, "", ""},
      {"a timeout", kAsUsual, in_2s, milliseconds(500), Left::enough, "1500ms", ""},
      {"the last microsecond", kAsUsual, in_2s, std::chrono::microseconds(1'999'999), Left::enough,
       "1ms", ""},
      {"none is left", kAsUsual, in_2s, seconds(2), Left::none, "", ""},
      {"none is left, and late requests are served", kServesLate, in_2s, seconds(2), Left::enough,
       "", ""},
      {"a timeout of gRPC", kAsUsual, grpc, seconds(1), Left::enough, "", "2000000u"},
      {"both, and the earlier one counts", kAsUsual, in_2s + grpc, seconds(1), Left::enough,
       "1000ms", "1000000u"},
      {"the route's alone", kRouteDeadline, "", seconds(1), Left::enough, "4000ms", ""},
      {"the route's, told to a client of gRPC", kRouteDeadline, "grpc-timeout: 9S\r\n", seconds(1),
       Left::enough, "", "4000000u"},
      {"a refresh has none", kAsUsual, in_2s, seconds(9), Left::enough, "", "",
       RequestContext::Kind::refresh},
      {"nor has a job", kRouteDeadline, in_2s, seconds(9), Left::enough, "", "",
       RequestContext::Kind::job},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Started request(c.change, c.fields, c.kind);
    http::ForwardedRequest with;
    DeadlineTexts texts;
    CHECK(request.deadlines.write_left(request.lone.context, request.admission,
                                       request.lone.context.arrived + c.now, with,
                                       texts) == c.left);
    CHECK(with.request_deadline == c.deadline);
    CHECK(with.grpc_timeout == c.grpc);
  }
}

TEST_CASE("a deadline that came as Unix time goes on as Unix time, of the deadline that counts") {
  using std::chrono::system_clock;
  const auto in = [](seconds time) {
    const auto at = system_clock::now() + time;
    return std::chrono::floor<milliseconds>(at.time_since_epoch()).count();
  };
  const auto told = [](const std::function<void(json&)>& change, std::int64_t sent) {
    const Started request(change, "X-Request-Deadline: " + std::to_string(sent) + "\r\n");
    http::ForwardedRequest with;
    DeadlineTexts texts;
    CHECK(request.deadlines.write_left(request.lone.context, request.admission,
                                       request.lone.context.arrived + seconds(1), with,
                                       texts) == Deadlines::Left::enough);
    return std::stoll(std::string(with.request_deadline));
  };
  const std::int64_t sent = in(seconds(100));
  CHECK(std::abs(told(kAsUsual, sent) - sent) <= 1);
  // The route's comes first: then that is told, by the wall clock.
  const std::int64_t routes = told(kRouteDeadline, sent);
  CHECK(routes < sent);
  CHECK(routes <= in(seconds(5)));
  CHECK(routes > in(seconds(-60)));
}

}  // namespace spillway::proxy

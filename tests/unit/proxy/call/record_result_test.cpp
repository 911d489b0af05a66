#include "proxy/call/record_result.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/proxy/request/lone_process.hpp"
#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {

using Kind = RequestContext::Kind;

TEST_CASE("all jobs are one client's, whether they have begun or not") {
  Process process;
  const auto source_of = [&process](Kind kind, TimePoint due) {
    LoneRequest request(process, "GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n", false, kind);
    request.context.classification.tenant = {config::TenantKey::client_address, TenantId{7},
                                             "10.0.0.7"};
    request.context.due = due;
    return failure_source(request.context);
  };
  const resilience::FailureSource live = source_of(Kind::live, kNever);
  CHECK(live.client == 7);
  for (const TimePoint due : {kNever, Clock::now()}) {
    CHECK(source_of(Kind::job, due).client == 0);
    CHECK(source_of(Kind::job, due).path == live.path);
  }
  CHECK(source_of(Kind::refresh, kNever).client == live.client);
}

TEST_CASE("a server that is silent fails a live request's client, and jobs by itself") {
  Process process;
  const std::string head = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
  CHECK(silence_source(LoneRequest(process, head, false, Kind::live).context));
  CHECK_FALSE(silence_source(LoneRequest(process, head, false, Kind::job).context));
  CHECK_FALSE(silence_source(LoneRequest(process, head, true, Kind::live).context));
}

TEST_CASE("only a refresh and a job are in the background") {
  Process process;
  const std::string head = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
  CHECK_FALSE(LoneRequest(process, head, false, Kind::live).context.is_in_background());
  CHECK(LoneRequest(process, head, false, Kind::refresh).context.is_in_background());
  CHECK(LoneRequest(process, head, false, Kind::job).context.is_in_background());
}

}  // namespace spillway::proxy

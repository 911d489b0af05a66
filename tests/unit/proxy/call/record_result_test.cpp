#include "proxy/call/record_result.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

TEST_CASE("errors of clients that are tenants by their address are also those of their network") {
  using Source = overload::SourceKind;
  const auto sources = [](const overload::SourceCounts& counts, Source kind) {
    std::vector<std::string> names;
    for (std::size_t bucket = 0; bucket < overload::SourceCounts::kBuckets; ++bucket) {
      if (counts.failed(static_cast<std::size_t>(kind), bucket) > 0)
        names.emplace_back(counts.name_in(static_cast<std::size_t>(kind), bucket).view());
    }
    return names;
  };
  for (const bool has_key : {false, true}) {
    CAPTURE(has_key);
    Process process;
    const overload::SourceCounts* counts = nullptr;
    for (std::uint64_t n = 1; n <= 40; ++n) {
      const std::string address = "2001:db8:0:" + std::to_string(n) + "::1";
      LoneRequest request(process,
                          "GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: " + address + "\r\n\r\n",
                          true, Kind::live);
      if (has_key) {
        request.context.classification.tenant = {config::TenantKey::api_key, TenantId{n}, address};
      } else {
        const auto network = traffic::client_network(*parse_ip_address(address));
        request.context.classification.tenant = {TenantId{n}, network};
      }
      record_result(request.context, true);
      counts = &request.context.signals().sources();
    }
    REQUIRE(counts != nullptr);
    CHECK(sources(*counts, Source::client).size() > 10);
    const auto tenants = sources(*counts, Source::tenant);
    CHECK((tenants.size() == 1) == !has_key);
    if (!has_key) CHECK(tenants.front() == "2001:db8::/48");
  }
}

TEST_CASE("only a refresh and a job are in the background") {
  Process process;
  const std::string head = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
  CHECK_FALSE(LoneRequest(process, head, false, Kind::live).context.is_in_background());
  CHECK(LoneRequest(process, head, false, Kind::refresh).context.is_in_background());
  CHECK(LoneRequest(process, head, false, Kind::job).context.is_in_background());
}

}  // namespace spillway::proxy

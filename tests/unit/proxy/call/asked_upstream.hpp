// A request at an upstream that the test plays, of a client that it plays, too; with all the parts
// that an exchange has for that, and no exchange.
#pragma once

#include <doctest/doctest.h>
#include <sys/ioctl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/framing.hpp"
#include "proxy/cache/cache_fill.hpp"
#include "proxy/call/upstream_call.hpp"
#include "unit/proxy/call/stepped_server.hpp"
#include "unit/proxy/request/lone_request.hpp"
#include "unit/proxy/request/scripted_session.hpp"

namespace spillway::proxy {

// The settings of a lone process with these servers; `change`: whatever else is different.
inline config::Config settings_with(const std::vector<std::string>& servers,
                                    const std::function<void(nlohmann::json&)>& change = {}) {
  nlohmann::json all = settings({{"strategy", "allow"}});
  all["upstreams"][0]["servers"] = servers;
  all["limits"]["body_bytes"] = 1 << 24;
  if (change) change(all);
  return support::checked(all);
}

// Runs the loop until then. False: it took too long.
template <class Condition>
bool runs_until(Process& process, const Condition& condition) {
  const support::Deadline deadline;
  for (;;) {
    if (condition()) return true;
    if (deadline.passed()) return false;
    process.loop.poll();
  }
}

struct AskedUpstream {
  using Kind = RequestContext::Kind;

  AskedUpstream(Process& its_process, std::string head, Kind kind = Kind::live,
                std::size_t room = kAnyNumber)
      : process(its_process),
        session(std::move(head), room),
        request(kind, *its_process.generation, session.request(), session.client(),
                its_process.services.now()),
        admission(its_process.services, request, parking),
        lookup(its_process.services, request, key),
        flight(its_process.services, request, lookup, parking),
        fill(its_process.services, request, lookup, flight),
        body(its_process.services, request, session, parking),
        call(its_process.services, request, parking, admission, lookup,
             kind == Kind::live ? &session : nullptr, kind == Kind::live ? &body : nullptr) {
    session.exchange = &parking;
    REQUIRE(http::request_framing(session.request()) == http::Error::none);
    request.classification = classification_of(request);
    request.is_classified = true;
  }
  AskedUpstream(const AskedUpstream&) = delete;
  // A request that is suspended when the test has failed.
  ~AskedUpstream() {
    if (parking.parked()) parking.wake(Wake::client_gone);
  }

  // Reads the body as an exchange does, gets a slot, and asks as far as it goes without being told
  // of anything.
  void ask() {
    process.loop.begin_event();
    run();
    REQUIRE(admission.has_slot());
  }
  bool ends() {
    return runs_until(process, [&] { return is_over; });
  }
  // The connection of this request, or the next one.
  SteppedConnection connects_to(SteppedServer& server) {
    SteppedConnection got;
    runs_until(process, [&] {
      got = server.accept();
      return static_cast<bool>(got);
    });
    REQUIRE(got);
    return got;
  }
  // Once the whole head of the request is there, and `more` bytes.
  std::string is_read_by(SteppedConnection& server, std::size_t more = 0) {
    std::string all;
    REQUIRE(runs_until(process, [&] {
      all += server.read();
      const std::size_t end = all.find("\r\n\r\n");
      return end != all.npos && all.size() >= end + 4 + more;
    }));
    return all;
  }
  // Until it has read all that the server has sent, and waits for more.
  void takes_all() {
    REQUIRE(runs_until(process, [&] { return is_over || unread() == 0; }));
  }
  // What the server has sent and the proxy has not read.
  int unread() {
    int bytes = 0;
    ::ioctl(call.connection().descriptor(), FIONREAD, &bytes);
    return bytes;
  }
  // The sweep finds that it is over.
  void is_late_at(TimePoint now) {
    REQUIRE(parking.parked());
    process.loop.begin_event(now);
    parking.wake(Wake::timeout);
  }
  // After its fault.
  void waits_for_late_answer() {
    [](AskedUpstream& its) -> Detached {
      const bool is_answered = co_await its.call.answers_late();
      its.late_answer = is_answered;
    }(*this);
  }
  std::uint64_t failures(observe::ServerFailure kind, std::size_t server = 0) {
    observe::UpstreamSnapshot snapshot;
    request.upstream().servers.read_snapshot(snapshot);
    return snapshot.servers[server].failures[index(kind)];
  }
  std::uint64_t failures() {
    observe::UpstreamSnapshot snapshot;
    request.upstream().servers.read_snapshot(snapshot);
    std::uint64_t all = 0;
    for (const auto& server : snapshot.servers)
      for (const auto count : server.failures) all += count;
    return all;
  }
  Reason reason() const { return fault ? fault->reason : Reason::none; }

  Process& process;
  ScriptedSession session;
  Parking parking;
  RequestContext request;
  Admission admission;
  cache::CacheKey key;
  CacheLookup lookup;
  FlightMembership flight;
  CacheFill fill;
  RequestBody body;
  UpstreamCall call;
  bool is_over = false;
  std::optional<Fault> fault;
  std::optional<bool> late_answer;

 private:
  Detached run() {
    if (request.kind == Kind::live && body.has_any()) {
      const std::optional<Fault> unread_body = co_await body.read_ahead();
      CHECK_FALSE(unread_body);
    }
    CHECK_FALSE(admission.enter_gate(process.services.now(), Duration{0}, Duration{0}));
    const std::optional<Fault> failure = co_await call.ask();
    fault = failure;
    is_over = true;
  }
};

}  // namespace spillway::proxy

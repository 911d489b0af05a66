// A response that no client waits for: what is left at its upstream of one that ends within it.
#include "proxy/call/background_response.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

// An attempt of a job whose response has come as far as "he", of five bytes or so many.
struct ReadInBackground {
  explicit ReadInBackground(std::size_t bytes = 5) : it(process, get(), RequestContext::Kind::job) {
    it.call.send_written({.head = head, .body = {}});
    it.ask();
    connection = it.connects_to(server);
    it.is_read_by(connection);
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\nh");
    REQUIRE(it.ends());
    REQUIRE_FALSE(it.fault);
    [](ReadInBackground& its) -> Detached {
      const BackgroundRead end =
          co_await read_in_background(its.it.parking, its.it.request, its.it.call, its.keep);
      its.read = end;
    }(*this);
    connection.send("e");
    REQUIRE(runs_until(process, [&] { return content == "he"; }));
    REQUIRE(it.parking.parked());
  }

  // The body has stalled; waits for the rest of it.
  void stalls() {
    it.is_late_at(it.parking.deadline());
    REQUIRE(read);
    REQUIRE(read->status == BackgroundRead::Status::failed);
    [](ReadInBackground& its) -> Detached {
      const bool is_whole = co_await read_late_rest(its.process.services, its.it.parking,
                                                    its.it.request, its.it.call, its.keep);
      its.late_rest = is_whole;
    }(*this);
  }

  std::string head = get();
  std::string content;
  OnContent keep = [this](std::string_view piece) {
    content += piece;
    return Wanted::more;
  };
  SteppedServer server;
  SteppedConnection connection;
  Process process{settings_with({server.address()})};
  AskedUpstream it;
  std::optional<BackgroundRead> read;
  std::optional<bool> late_rest;
};

}  // namespace

TEST_CASE("a job that ends within its response keeps its slot for the rest of it, to the byte") {
  enum class Ends { from_outside, stalled };
  for (const Ends how : {Ends::from_outside, Ends::stalled}) {
    CAPTURE(static_cast<int>(how));
    ReadInBackground job;
    how == Ends::from_outside ? job.it.parking.wake(Wake::client_gone)
                              : job.it.is_late_at(job.it.parking.deadline());
    REQUIRE(job.read);
    CHECK(job.read->status == BackgroundRead::Status::failed);
    job.it.call.abandon();
    CHECK_FALSE(job.process.has_free_slot());
    job.connection.send("ll");
    for (int n = 0; n < 20; ++n) job.process.loop.poll();
    CHECK_FALSE(job.process.has_free_slot());
    job.connection.send("o");  // the connection stays open behind it
    CHECK(runs_until(job.process, [&] { return job.process.owner.swept.empty(); }));
    CHECK(job.process.has_free_slot());
  }
}

TEST_CASE("a response that comes without a pause lets others have their turn") {
  constexpr std::size_t kBytes = 1000;
  ReadInBackground job(kBytes);
  std::optional<std::size_t> at_their_turn;
  job.keep = [&](std::string_view piece) {
    if (job.content.size() == 2) job.process.loop.post([&] { at_their_turn = job.content.size(); });
    job.content += piece;
    if (job.content.size() < kBytes) job.connection.send("x");
    return Wanted::more;
  };
  job.connection.send("x");
  REQUIRE(runs_until(job.process, [&] { return job.read.has_value(); }));
  CHECK(job.read->status == BackgroundRead::Status::done);
  CHECK(job.content.size() == kBytes);
  REQUIRE(at_their_turn);
  CHECK(*at_their_turn <= 2 + kRoundsInARow);
}

TEST_CASE("the rest of a stalled response is waited for as long as the request keeps its slot") {
  enum class Ends { rest, nothing, closed, from_outside };
  struct Case {
    Ends how;
    bool is_whole, is_at_work;
  };
  const std::vector<Case> cases{{Ends::rest, true, false},
                                {Ends::nothing, false, false},
                                {Ends::closed, false, false},
                                {Ends::from_outside, false, true}};
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.how));
    ReadInBackground job;
    const TimePoint stalled = job.it.parking.deadline();
    job.stalls();
    REQUIRE_FALSE(job.late_rest);
    const TimePoint until = job.it.parking.deadline();
    CHECK(until == stalled + std::chrono::seconds(10));
    CHECK(job.it.admission.has_slot());
    CHECK_FALSE(job.it.call.waits_in_vain());
    job.connection.send("l");
    REQUIRE(runs_until(job.process, [&] { return job.content == "hel"; }));
    CHECK(job.it.parking.deadline() == until);  // no byte puts it off
    switch (c.how) {
      case Ends::rest: job.connection.send("lo"); break;
      case Ends::nothing: job.it.is_late_at(until); break;
      case Ends::closed: job.connection.close(); break;
      case Ends::from_outside: job.it.parking.wake(Wake::client_gone); break;
    }
    REQUIRE(runs_until(job.process, [&] { return job.late_rest.has_value(); }));
    CHECK(*job.late_rest == c.is_whole);
    CHECK(job.content == (c.is_whole ? "hello" : "hel"));
    CHECK(job.it.failures(observe::ServerFailure::body_timeout) == 1);  // it stands
    CHECK(job.it.failures() == 1);
    c.is_whole ? job.it.call.finish() : job.it.call.abandon();
    CHECK(job.process.has_free_slot() == !c.is_at_work);
  }
}

TEST_CASE("a response that has not stalled has no late rest") {
  ReadInBackground job;
  job.it.parking.wake(Wake::client_gone);
  REQUIRE(job.read);
  CHECK_FALSE(job.it.call.begin_late_wait());
}

}  // namespace spillway::proxy

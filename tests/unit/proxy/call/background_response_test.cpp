// A response that no client waits for: what is left at its upstream of one that ends within it.
#include "proxy/call/background_response.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

// An attempt of a job whose response has come as far as "he", of five bytes.
struct ReadInBackground {
  ReadInBackground() : it(process, get(), RequestContext::Kind::job) {
    it.call.send_written({.head = head, .body = {}});
    it.ask();
    connection = it.connects_to(server);
    it.is_read_by(connection);
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh");
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

}  // namespace spillway::proxy

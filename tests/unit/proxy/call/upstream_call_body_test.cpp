// A request whose body comes while its response is awaited: whichever of the two ends first.
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

using std::chrono::seconds;

constexpr std::size_t kFirst = kSmallBody, kRest = 1000;
const std::string kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// What is sent on as it comes: the first of it is at the server, the rest is still to come.
struct Uploading {
  explicit Uploading(std::size_t room = kAnyNumber, std::string_view fields = {})
      : process(settings_with(
            {server.address()},
            [](nlohmann::json& all) { all["routes"][0]["request_buffering"] = "off"; })),
        it(process,
           post(fields.empty() ? "Content-Length: " + std::to_string(kFirst + kRest) + "\r\n"
                               : std::string(fields)),
           RequestContext::Kind::live, room) {
    it.session.receive(fields.empty() ? std::string(kFirst, 'x')
                                      : "10000\r\n" + std::string(kFirst, 'x'));
    it.ask();
    connection = it.connects_to(server);
    it.is_read_by(connection, kFirst);
    REQUIRE(runs_until(process, [&] { return it.body.is_pumping(); }));
  }
  void comes(std::size_t bytes) { it.session.receive(std::string(bytes, 'y')); }

  SteppedServer server;
  SteppedConnection connection;
  Process process;
  AskedUpstream it;
};

}  // namespace

TEST_CASE("the response is due once the last of the body has been sent") {
  Uploading upload;
  AskedUpstream& it = upload.it;
  const Duration timeout = it.request.upstream_config().response_timeout;
  CHECK(it.parking.deadline() == it.call.deadlines().head_due());
  CHECK_FALSE(it.call.head_awaited_since());
  upload.comes(kRest - 1);
  CHECK(it.parking.deadline() == it.call.deadlines().head_due());
  CHECK(it.body.is_receiving());
  const TimePoint before = Clock::now();
  upload.process.loop.begin_event();
  upload.comes(1);
  CHECK(it.body.is_sent());
  CHECK(it.parking.deadline() >= before + timeout);
  CHECK(it.parking.deadline() <= Clock::now() + timeout);
  CHECK(it.call.head_awaited_since() == it.body.sent_at());
  upload.connection.send(kAnswer);
  REQUIRE(it.ends());
  CHECK_FALSE(it.fault);
}

TEST_CASE("a response that comes before the body is sent answers, and its connection is closed") {
  enum class Then { goes_on, stops_reading };
  for (const Then then : {Then::goes_on, Then::stops_reading}) {
    CAPTURE(static_cast<int>(then));
    Uploading upload;
    AskedUpstream& it = upload.it;
    upload.connection.send(kAnswer);
    REQUIRE(it.ends());
    REQUIRE_FALSE(it.fault);
    CHECK(it.body.is_pumping());
    if (then == Then::stops_reading) {
      upload.connection.close();
      upload.process.loop.poll();
      upload.comes(kRest);
      CHECK_FALSE(it.body.fault());
    }
    it.call.finish();
    CHECK_FALSE(it.body.is_pumping());
    CHECK(upload.process.has_free_slot());
    CHECK(it.failures() == 0);
    if (then == Then::goes_on)
      CHECK(runs_until(upload.process,
                       [&] { return upload.connection.end() != SteppedConnection::End::none; }));
  }
}

TEST_CASE("a request whose body is on its way ends by what comes first, and is not sent again") {
  struct Case {
    std::string_view what;
    std::function<void(Uploading&)> event;
    Reason reason;
    unsigned status;
    std::uint64_t failures;
    std::string fields = {};
  };
  const std::vector<Case> cases{
      {"its client leaves", [](Uploading& upload) { upload.it.session.leave(); },
       Reason::client_gone, 0, 0},
      {"its client is too slow",
       [](Uploading& upload) {
         const TimePoint late = Clock::now() + std::chrono::hours(1);
         upload.process.loop.begin_event(late);
         upload.it.body.wake_if_late(late);
       },
       Reason::request_timeout, 408, 0},
      {"its client sends no chunk",
       [](Uploading& upload) { upload.it.session.receive("\r\nno chunk\r\n"); },
       Reason::bad_request, 400, 0, "Transfer-Encoding: chunked\r\n"},
      {"its slot is taken back", [](Uploading& upload) { upload.it.body.take_slot_back(); },
       Reason::slow_client, 408, 0},
      {"its deadline passes",
       [](Uploading& upload) { upload.it.is_late_at(upload.it.parking.deadline()); },
       Reason::request_timeout, 408, 0},
      {"its server closes", [](Uploading& upload) { upload.connection.half_close(); },
       Reason::upstream_unavailable, 502, 1},
      {"its server resets", [](Uploading& upload) { upload.connection.reset(); },
       Reason::upstream_unavailable, 502, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Uploading upload(kAnyNumber, c.fields);
    c.event(upload);
    REQUIRE(upload.it.ends());
    CHECK(upload.it.reason() == c.reason);
    CHECK(upload.it.fault->status == c.status);
    CHECK(upload.it.failures() == c.failures);
    CHECK_FALSE(upload.server.accept());
    upload.it.call.drop();
    CHECK_FALSE(upload.it.body.is_pumping());
    CHECK(upload.process.has_free_slot());
  }
}

TEST_CASE("a body that ends while its client takes an interim response ends nothing") {
  for (const std::size_t bytes : {kRest, kRest - 1}) {  // all of it, or not yet
    CAPTURE(bytes);
    Uploading upload(0);
    AskedUpstream& it = upload.it;
    upload.connection.send("HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n");
    it.takes_all();
    CHECK(it.session.interims.empty());  // the client does not take it
    upload.comes(bytes);
    CHECK_FALSE(it.is_over);
    it.session.take_more(1);
    CHECK(it.session.interims == std::vector<unsigned>{103});
    if (bytes < kRest) upload.comes(kRest - bytes);
    upload.connection.send(kAnswer);
    REQUIRE(it.ends());
    CHECK_FALSE(it.fault);
  }
}

}  // namespace spillway::proxy

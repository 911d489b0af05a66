#include "proxy/server/supervisor.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "support/notify_socket.hpp"

namespace spillway::proxy {
namespace {

using support::NotifySocket;

struct Told {
  NotifySocket socket;
  boost::asio::io_context io;
};

}  // namespace

TEST_CASE("each message is one datagram of lines to either kind of socket") {
  for (const auto kind : {NotifySocket::Kind::path, NotifySocket::Kind::abstract}) {
    NotifySocket socket(kind);
    boost::asio::io_context io;
    Supervisor manager(io, {.notify_socket = socket.name()});
    manager.ready("serving");
    CHECK(socket.next() == "READY=1\nSTATUS=serving\n");
    manager.reloading(TimePoint{} + Milliseconds{1'234});
    CHECK(socket.next() ==
          "RELOADING=1\nMONOTONIC_USEC=1234000\nSTATUS=reading the configuration\n");
    manager.stopping("draining");
    CHECK(socket.next() == "STOPPING=1\nSTATUS=draining\n");
  }
}

TEST_CASE("a status is one line of bounded length whatever it quotes") {
  Told told;
  Supervisor manager(told.io, {.notify_socket = told.socket.name()});
  manager.status("a\nREADY=1\r\x7f\tb");
  CHECK(told.socket.next() == "STATUS=a READY=1   b\n");
  manager.ready("x\nSTOPPING=1");
  CHECK(told.socket.next() == "READY=1\nSTATUS=x STOPPING=1\n");
  manager.status(std::string(100'000, 'a'));
  CHECK(told.socket.next().value_or("").size() == 1032);
}

TEST_CASE("the time of a reload is that of the monotonic clock") {
  Told told;
  Supervisor manager(told.io, {.notify_socket = told.socket.name()});
  timespec before{}, after{};
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  manager.reloading(Clock::now());
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  const std::string text = told.socket.next().value_or("");
  const std::string key = "MONOTONIC_USEC=";
  REQUIRE(text.find(key) != std::string::npos);
  const long long said = std::stoll(text.substr(text.find(key) + key.size()));
  CHECK(said >= before.tv_sec * 1'000'000LL + before.tv_nsec / 1000);
  CHECK(said <= after.tv_sec * 1'000'000LL + after.tv_nsec / 1000);
}

TEST_CASE("a missing socket and no socket at all are no fault") {
  const std::string too_long = "/" + std::string(200, 'a');
  for (const std::string& name :
       {std::string(), std::string("/"), std::string("@"), std::string("relative"),
        std::string("/nowhere/notify"), std::string("vsock:2:1"), too_long}) {
    CAPTURE(name);
    boost::asio::io_context io;
    const Heartbeat heartbeat;
    Supervisor manager(io, {.notify_socket = name, .watchdog_usec = "2000"});
    manager.ready("serving");
    manager.feed_watchdog({&heartbeat});
    manager.stopping("draining");
  }
}

TEST_CASE("a service manager that does not read delays the caller only briefly") {
  Told told;
  Supervisor manager(told.io, {.notify_socket = told.socket.name()});
  const TimePoint begin = Clock::now();
  // More than its queue takes (net.unix.max_dgram_qlen) would block for ever.
  while (Clock::now() - begin < Milliseconds{500}) manager.ready("serving");
  CHECK(Clock::now() - begin < Milliseconds{5'000});
}

TEST_CASE("the watchdog is fed for this process alone and only when there is one") {
  const std::string own = std::to_string(::getpid());
  const std::string other = std::to_string(::getppid());
  struct {
    std::string usec, pid;
    bool fed;
  } const cases[] = {{"20000", "", true},   {"20000", own, true}, {"20000", other, false},
                     {"20000", "x", false}, {"", "", false},      {"0", "", false},
                     {"-5", "", false},     {"2s", "", false}};
  for (const auto& each : cases) {
    CAPTURE(each.usec);
    CAPTURE(each.pid);
    Told told;
    Supervisor manager(told.io, {.notify_socket = told.socket.name(),
                                 .watchdog_usec = each.usec,
                                 .watchdog_pid = each.pid});
    Heartbeat heartbeat;
    manager.feed_watchdog({&heartbeat});
    heartbeat.beat();
    told.io.run_one_for(Milliseconds{each.fed ? 5'000 : 50});
    CHECK(told.socket.next(Milliseconds{0}) ==
          (each.fed ? std::optional<std::string>("WATCHDOG=1\n") : std::nullopt));
  }
}

TEST_CASE("a loop that stands still is not fed for") {
  Told told;
  Supervisor manager(told.io, {.notify_socket = told.socket.name(), .watchdog_usec = "20000"});
  Heartbeat turning, standing;
  manager.feed_watchdog({&turning, &standing});
  for (int n = 0; n < 5; ++n) {
    turning.beat();
    told.io.run_one_for(Milliseconds{5'000});
  }
  CHECK_FALSE(told.socket.next(Milliseconds{0}));
  standing.beat();
  turning.beat();
  told.io.run_one_for(Milliseconds{5'000});
  CHECK(told.socket.next(Milliseconds{0}) == "WATCHDOG=1\n");
}

}  // namespace spillway::proxy

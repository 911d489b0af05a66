#include <array>
#include <chrono>
#include <string>

#include "bench/hostile/behaviour.hpp"

namespace spillway::hostile {
namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

constexpr std::string_view kExport = "GET /export HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr int kPipelined = 50;
constexpr std::size_t kAnswer = 4096;  // more than one has

class Pipeliner final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    std::string many;
    for (int n = 0; n < kPipelined; ++n) many += kExport;
    for (bool open = true; open;) open = co_await connection.send(many);
  }
};

class Churn final : public Behaviour {
  awaitable<void> use(Connection&, Random&) const override { co_return; }
};

class Abort final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(kExport);
    if (open) co_await connection.pause(20ms);
  }
};

class HalfClosed final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(kExport);
    if (!open) co_return;
    connection.half_close();
    co_await connection.await_end();
  }
};

class EventsLeaver final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(kEventsRequest);
    if (open) co_await connection.pause(20ms);
  }
};

// Requests on a kept connection, each when the answer to the last has come. The answers are small:
// what arrives at once is taken for one.
awaitable<bool> ask(Connection& connection, std::string_view request) {
  const bool open = co_await connection.send(request);
  if (!open) co_return false;
  const std::size_t got = co_await connection.receive(kAnswer);
  co_return got > 0;
}

class TinyDeadline final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    for (bool open = true; open;) {
      open = co_await ask(connection,
                          "GET /export HTTP/1.1\r\nHost: shop.example\r\n"
                          "X-Request-Deadline: 15ms\r\n\r\n");
    }
  }
};

class CacheBuster final : public Behaviour {
  awaitable<void> use(Connection& connection, Random& random) const override {
    for (bool open = true; open;) {
      const std::string request = "GET /search?q=" + std::to_string(random.next()) +
                                  " HTTP/1.1\r\nHost: shop.example\r\n\r\n";
      open = co_await ask(connection, request);
    }
  }
};

// P0's route for a proxy that compares prefixes of what came, P2's for a backend that resolves the
// dots, decodes, or leaves parameters out.
class PathClimber final : public Behaviour {
  awaitable<void> use(Connection& connection, Random& random) const override {
    static constexpr std::array<std::string_view, 4> kSpellings{
        "/checkout/../export", "/checkout/%2e%2e/export", "/checkout/..%2fexport",
        "/checkout/..;/export"};
    for (bool open = true; open;) {
      const std::string_view path = kSpellings[random.next() % kSpellings.size()];
      const std::string request = "POST " + std::string(path) +
                                  " HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 0\r\n\r\n";
      open = co_await ask(connection, request);
    }
  }
};

class ErrorMaker final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    for (bool open = true; open;) {
      open = co_await ask(connection, "GET /export/broken HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    }
  }
};

}  // namespace

std::unique_ptr<Behaviour> make_pipeliner() { return std::make_unique<Pipeliner>(); }
std::unique_ptr<Behaviour> make_churn() { return std::make_unique<Churn>(); }
std::unique_ptr<Behaviour> make_abort() { return std::make_unique<Abort>(); }
std::unique_ptr<Behaviour> make_half_closed() { return std::make_unique<HalfClosed>(); }
std::unique_ptr<Behaviour> make_events_leaver() { return std::make_unique<EventsLeaver>(); }
std::unique_ptr<Behaviour> make_tiny_deadline() { return std::make_unique<TinyDeadline>(); }
std::unique_ptr<Behaviour> make_cache_buster() { return std::make_unique<CacheBuster>(); }
std::unique_ptr<Behaviour> make_path_climber() { return std::make_unique<PathClimber>(); }
std::unique_ptr<Behaviour> make_error_maker() { return std::make_unique<ErrorMaker>(); }

}  // namespace spillway::hostile

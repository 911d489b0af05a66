#include <chrono>
#include <string>
#include <utility>

#include "bench/hostile/backend.hpp"
#include "bench/hostile/behaviour.hpp"

namespace spillway::hostile {
namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

constexpr std::size_t kOverBuffer = 66000;  // 64 KiB and a little
constexpr std::size_t kPerSecond = 300;     // bytes; a proxy may ask for 240

// A piece each second until the proxy has had enough.
awaitable<void> drip(Connection& connection, std::string_view piece) {
  for (bool open = true; open;) {
    open = co_await connection.pause(1s);
    if (open) open = co_await connection.send(piece);
  }
}

class Silent final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    co_await connection.await_end();
  }
};

class SlowHead final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send("POST /checkout HTTP/1.1\r\nHost: shop.example\r\n");
    if (open) co_await drip(connection, "X-More: 1\r\n");
  }
};

class SlowBody final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(
        "POST /checkout HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1000\r\n\r\n");
    if (open) co_await drip(connection, "x");
  }
};

class ExpectSilence final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(
        "POST /checkout HTTP/1.1\r\nHost: shop.example\r\nExpect: 100-continue\r\n"
        "Content-Length: 1\r\n\r\n");
    if (open) co_await connection.await_end();
  }
};

class SlowUpload final : public Behaviour {
 public:
  explicit SlowUpload(std::string lines = {}) : lines_(std::move(lines)) {}

 private:
  awaitable<void> use(Connection& connection, Random&) const override {
    const std::string begin = "POST /export HTTP/1.1\r\nHost: shop.example\r\n" + lines_ +
                              "Content-Length: 1000000\r\n\r\n" + std::string(kOverBuffer, 'x');
    const bool open = co_await connection.send(begin);
    const std::string piece(kPerSecond, 'x');
    if (open) co_await drip(connection, piece);
  }

  std::string lines_;  // of its heads, besides
};

// How much of a response a reader takes at a time, and how often.
struct Pace {
  std::size_t bytes = kPerSecond;
  Milliseconds each = 1s;
};
// 20 kB a second: more than the 16 KiB that Spillway asks of a client for a slot that is not
// scarce.
constexpr Pace kPaysForASlot{2000, 100ms};

class SlowReader final : public Behaviour {
 public:
  explicit SlowReader(std::string request, Pace pace = {})
      : request_(std::move(request)), pace_(pace) {}

 private:
  awaitable<void> use(Connection& connection, Random&) const override {
    bool open = co_await connection.send(request_);
    while (open) {
      open = co_await connection.pause(pace_.each);
      if (!open) continue;
      const std::size_t got = co_await connection.receive(pace_.bytes);
      open = got > 0;
    }
  }

  std::string request_;
  Pace pace_;
};

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: shop.example\r\n\r\n";
}

class TunnelHoarder final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(
        "GET /export/tunnel HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    if (open) co_await connection.await_end();
  }
};

class EventsHoarder final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const bool open = co_await connection.send(kEventsRequest);
    if (open) co_await connection.await_end();
  }
};

// Never idle for as long as a proxy may ask for.
class KeepAliveHoarder final : public Behaviour {
  awaitable<void> use(Connection& connection, Random&) const override {
    const std::string request = get("/export");
    for (bool open = true; open;) {
      open = co_await connection.send(request);
      if (open) open = co_await connection.read_for(500ms);
    }
  }
};

}  // namespace

std::string p0_reader_request() {
  return "POST " + std::string(kHugeP0Path) +
         " HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 0\r\n\r\n";
}

std::unique_ptr<Behaviour> make_silent() { return std::make_unique<Silent>(); }
std::unique_ptr<Behaviour> make_slow_head() { return std::make_unique<SlowHead>(); }
std::unique_ptr<Behaviour> make_slow_body() { return std::make_unique<SlowBody>(); }
std::unique_ptr<Behaviour> make_expect_silence() { return std::make_unique<ExpectSilence>(); }
std::unique_ptr<Behaviour> make_slow_upload() { return std::make_unique<SlowUpload>(); }
std::unique_ptr<Behaviour> make_grpc_upload() {
  return std::make_unique<SlowUpload>("Content-Type: application/grpc\r\nTE: trailers\r\n");
}
std::unique_ptr<Behaviour> make_slow_reader() {
  return std::make_unique<SlowReader>(get(kLargePath));
}
std::unique_ptr<Behaviour> make_huge_reader() {
  return std::make_unique<SlowReader>(get(kHugePath));
}
std::unique_ptr<Behaviour> make_p0_reader() {
  return std::make_unique<SlowReader>(p0_reader_request());
}
std::unique_ptr<Behaviour> make_paying_reader() {
  return std::make_unique<SlowReader>(get(kHugePath), kPaysForASlot);
}
std::unique_ptr<Behaviour> make_tunnel_hoarder() { return std::make_unique<TunnelHoarder>(); }
std::unique_ptr<Behaviour> make_events_hoarder() { return std::make_unique<EventsHoarder>(); }
std::unique_ptr<Behaviour> make_keep_alive_hoarder() {
  return std::make_unique<KeepAliveHoarder>();
}

}  // namespace spillway::hostile

#include "support/counting_backend.hpp"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace spillway::support {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\ndone\n";
}  // namespace

struct CountingBackend::Parts {
  struct Session {
    explicit Session(tcp::socket connected)
        : socket(std::move(connected)), turn(socket.get_executor()) {}
    tcp::socket socket;
    asio::steady_timer turn;
    bool in_progress = false;
  };

  explicit Parts(Capacity capacity) : free_slots(capacity.slots), service(capacity.service) {}

  // Counts anew, leaving out those whose peer has closed.
  void count() {
    std::vector<pollfd> polled;
    for (Session& session : sessions) {
      polled.push_back({session.socket.native_handle(), POLLRDHUP, 0});
    }
    ::poll(polled.data(), polled.size(), 0);
    std::size_t connections = 0, in_progress = 0, i = 0;
    for (const Session& session : sessions) {
      if (polled[i++].revents != 0) continue;
      ++connections;
      in_progress += session.in_progress;
    }
    const std::lock_guard lock(mutex);
    seen.most_connections = std::max(seen.most_connections, connections);
    seen.most_in_progress = std::max(seen.most_in_progress, in_progress);
  }

  asio::awaitable<void> accept_all() {
    for (;;) {
      auto [error, socket] = co_await acceptor.async_accept(kNoThrow);
      if (error == asio::error::operation_aborted) co_return;
      if (error) continue;
      socket.set_option(tcp::no_delay(true));
      sessions.emplace_back(std::move(socket));
      {
        const std::lock_guard lock(mutex);
        ++seen.accepted;
        ++seen.connections;
      }
      count();
      asio::co_spawn(io, serve(std::prev(sessions.end())), asio::detached);
    }
  }

  asio::awaitable<void> work(Session& session) {
    session.turn.expires_at(asio::steady_timer::time_point::max());
    if (free_slots > 0) {
      --free_slots;
    } else {
      line.push_back(&session.turn);
      co_await session.turn.async_wait(kNoThrow);
    }
    if (const auto time = service.load(); time.count() > 0) {
      session.turn.expires_after(time);
      co_await session.turn.async_wait(kNoThrow);
    }
    if (line.empty()) {
      ++free_slots;
    } else {
      line.front()->cancel();
      line.pop_front();
    }
  }

  asio::awaitable<void> serve(std::list<Session>::iterator session) {
    std::string input;
    for (;;) {
      const auto [read_error, size] = co_await asio::async_read_until(
          session->socket, asio::dynamic_buffer(input), "\r\n\r\n", kNoThrow);
      if (read_error) break;
      input.erase(0, size);
      session->in_progress = true;
      {
        const std::lock_guard lock(mutex);
        ++seen.requests;
      }
      count();
      co_await work(*session);
      session->in_progress = false;
      const auto [write_error, written] =
          co_await asio::async_write(session->socket, asio::buffer(kAnswer), kNoThrow);
      if (write_error) break;
    }
    sessions.erase(session);
    const std::lock_guard lock(mutex);
    --seen.connections;
  }

  // Used on its thread only.
  asio::io_context io{1};
  tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
  std::list<Session> sessions;
  std::size_t free_slots;
  std::deque<asio::steady_timer*> line;

  std::atomic<Milliseconds> service;
  mutable std::mutex mutex;
  Seen seen;
  std::thread thread;
};

CountingBackend::CountingBackend(Capacity capacity) : parts_(std::make_unique<Parts>(capacity)) {
  Parts& parts = *parts_;
  asio::co_spawn(parts.io, parts.accept_all(), asio::detached);
  parts.thread = std::thread([&parts] { parts.io.run(); });
}

CountingBackend::~CountingBackend() {
  parts_->io.stop();
  parts_->thread.join();
}

std::uint16_t CountingBackend::port() const { return parts_->acceptor.local_endpoint().port(); }

void CountingBackend::set_service(Milliseconds service) { parts_->service = service; }

CountingBackend::Seen CountingBackend::seen() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->seen;
}

}  // namespace spillway::support

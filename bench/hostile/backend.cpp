#include "bench/hostile/backend.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "bench/overload/pinning.hpp"

namespace spillway::hostile {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kLargestBody = 16 << 20;
constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr std::string_view kSmall = "{\"served_by\":\"backend\"}\n";
constexpr std::string_view kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

constexpr std::string_view kEvents =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kEvent = "3\r\n:\n\n\r\n";
constexpr std::chrono::seconds kEventEvery{1};

std::string head(std::string_view status, std::size_t length) {
  return "HTTP/1.1 " + std::string(status) +
         "\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: " +
         std::to_string(length) + "\r\n\r\n";
}

const std::string& large_body() {
  static const std::string body(kLargeBytes, 'x');
  return body;
}

template <class Socket>
bool gone(Socket& socket) {
  char byte = 0;
  const auto peeked = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked == 0 || (peeked < 0 && errno != EAGAIN);
}

}  // namespace

// A connection and the request on it.
struct Backend::Visit {
  explicit Visit(Socket s) : socket(std::move(s)), turn(socket.get_executor()) {}
  Socket socket;
  asio::steady_timer turn;  // expires with a worker's attention, then when the work is done
  boost::beast::flat_buffer input;
};

Backend::Backend(const BackendOptions& options)
    : acceptor_(io_.get_executor(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      service_(options.service, options.sigma, options.seed),
      workers_(options.workers) {}

void Backend::start(int core) {
  asio::co_spawn(io_, accept_all(*this), asio::detached);
  thread_ = std::thread([this, core] {
    bench::pin_to(core);
    io_.run();
  });
}

void Backend::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

asio::awaitable<void> Backend::accept_all(Backend& backend) {
  for (;;) {
    auto [error, socket] = co_await backend.acceptor_.async_accept(kNoThrow);
    if (error) {
      // Out of descriptors: the kernel keeps the callers in its backlog meanwhile.
      asio::steady_timer pause(backend.io_, std::chrono::milliseconds(10));
      co_await pause.async_wait(kNoThrow);
      continue;
    }
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(backend.io_, serve(backend, std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> Backend::serve(Backend& backend, Socket socket) {
  Visit visit(std::move(socket));
  for (bool open = true; open;) open = co_await serve_one(backend, visit);
}

// False: the connection has ended.
asio::awaitable<bool> Backend::serve_one(Backend& backend, Visit& visit) {
  http::request_parser<http::string_body> request;
  request.body_limit(kLargestBody);
  const auto [no_head, head_size] =
      co_await http::async_read_header(visit.socket, visit.input, request, kNoThrow);
  if (no_head) co_return false;

  visit.turn.expires_at(kNever);
  const bool free = backend.workers_.take(&visit.turn);
  backend.counters_.most = std::max(backend.counters_.most, backend.workers_.inside());
  if (!free) co_await visit.turn.async_wait(kNoThrow);

  if (!request.get()[http::field::expect].empty()) {
    co_await asio::async_write(visit.socket, asio::buffer(kGoOn.data(), kGoOn.size()), kNoThrow);
  }
  const auto [no_body, body_size] =
      co_await http::async_read(visit.socket, visit.input, request, kNoThrow);
  bool open = !no_body;
  if (open) open = co_await work(backend, visit);
  const auto target = request.get().target();
  const std::string_view path(target.data(), target.size());
  if (open) open = co_await answer(visit, path);
  backend.leave();
  if (open && path == kTunnelPath) co_await tunnel(visit);
  if (open && path == kEventsPath) co_await send_events(visit);
  co_return open&& request.get().keep_alive() && path != kTunnelPath&& path != kEventsPath;
}

// False: the connection has ended.
asio::awaitable<bool> Backend::answer(Visit& visit, std::string_view path) {
  std::string whole(kSwitch);
  std::size_t pieces = 0;
  if (path == kLargePath || path == kHugePath || path == kHugeP0Path) {
    pieces = path == kLargePath ? 1 : kHugePieces;
    whole = head("200 OK", pieces * kLargeBytes);
  } else if (path == kEventsPath) {
    whole = kEvents;
  } else if (path != kTunnelPath) {
    const bool is_broken = path == kBrokenPath;
    whole = head(is_broken ? "500 Internal Server Error" : "200 OK", kSmall.size());
    whole += kSmall;
  }
  const auto [error, size] =
      co_await asio::async_write(visit.socket, asio::buffer(whole), kNoThrow);
  bool open = !error;
  for (; open && pieces > 0; --pieces) {
    const auto [unsent, sent] =
        co_await asio::async_write(visit.socket, asio::buffer(large_body()), kNoThrow);
    open = !unsent;
  }
  co_return open;
}

// Until the other side ends it.
asio::awaitable<void> Backend::tunnel(Visit& visit) {
  std::array<char, 256> ignored;
  for (bool open = true; open;) {
    const auto [error, size] =
        co_await visit.socket.async_read_some(asio::buffer(ignored), kNoThrow);
    open = !error;
  }
}

asio::awaitable<void> Backend::send_events(Visit& visit) {
  for (bool open = true; open;) {
    visit.turn.expires_after(kEventEvery);
    co_await visit.turn.async_wait(kNoThrow);
    const auto [error, size] =
        co_await asio::async_write(visit.socket, asio::buffer(kEvent), kNoThrow);
    open = !error;
  }
}

// False: the client has left meanwhile.
asio::awaitable<bool> Backend::work(Backend& backend, Visit& visit) {
  const TimePoint until = Clock::now() + backend.service_.draw();
  visit.turn.expires_at(until);
  co_await visit.turn.async_wait(kNoThrow);
  backend.counters_.late.push_back(Clock::now() - until);
  ++backend.counters_.finished;
  const bool left = gone(visit.socket);
  if (left) ++backend.counters_.wasted;
  co_return !left;
}

void Backend::leave() {
  workers_.give_back();
  while (auto next = workers_.next()) (*next)->cancel();
}

}  // namespace spillway::hostile

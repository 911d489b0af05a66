#include "proxy/admin/admin.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "proxy/admin/admin_answer.hpp"
#include "proxy/admin/port_use.hpp"

namespace spillway::proxy {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr int kMaxConnections = 64;
constexpr int kMaxReloads = 4;  // at a time: other pages need connections too
constexpr std::uint32_t kMaxHead = 8192;
constexpr std::uint64_t kMaxBody = 65536;
constexpr std::size_t kReadAhead = 4096;  // body bytes read with the head
constexpr std::chrono::seconds kTimeout{5};
constexpr std::chrono::seconds kLinger{1};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

std::string printed(const std::string& address, std::uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

// Empty if the peer is gone.
std::string address_of(const boost::beast::tcp_stream& stream) {
  boost::system::error_code error;
  const tcp::endpoint peer = stream.socket().remote_endpoint(error);
  return error ? std::string() : peer.address().to_string();
}

// The response to a request that could not be parsed. False: the peer left or stalled, send
// nothing.
bool refusal_of(boost::system::error_code error, AdminResponse& response) {
  if (error.category() != make_error_code(http::error::bad_method).category() ||
      error == http::error::end_of_stream || error == http::error::partial_message) {
    return false;
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    response = admin_refusal(http::status::request_header_fields_too_large,
                             "the request head is too large");
  } else if (error == http::error::body_limit) {
    response = admin_refusal(http::status::payload_too_large, "the request body is too large");
  } else {
    response = admin_refusal(http::status::bad_request, "this is not an HTTP/1.1 request");
  }
  return true;
}

}  // namespace

// Plain Beast: off the data path, a timer per connection (tcp_stream) is cheap enough.
struct AdminServer::Server {
  Server(const config::Admin& admin, AdminSource pages)
      : config(admin), source(std::move(pages)), jobs(io, source.jobs), rooms(source.rooms) {}

  tcp::endpoint endpoint() const;
  boost::system::error_code try_to_bind();
  asio::awaitable<void> accept();
  bool make_room();
  asio::awaitable<bool> send(boost::beast::tcp_stream& stream, AdminResponse& response);
  asio::awaitable<void> serve(boost::beast::tcp_stream stream);
  asio::awaitable<AdminResponse> answer(const AdminRequest& request, const std::string& peer);
  asio::awaitable<AdminResponse> page(const AdminRequest& request, const std::string& peer);
  asio::awaitable<ReloadResult> reload();
  asio::awaitable<void> close(boost::beast::tcp_stream& stream);

  config::Admin config;
  AdminSource source;
  int reloads = 0;  // for which requests wait
  // Connections that wait for their peer, in each list the longest wait first.
  struct Waiting {
    boost::beast::tcp_stream* stream;
    bool is_closed = false;
  };
  using WaitingList = std::list<Waiting>;
  WaitingList silent;  // for a request, or for the connection to end
  WaitingList taking;  // for the client to take a response
  // They outlive io, whose destructor ends the coroutines that use them.
  int connections = 0;
  AdminJobs jobs;
  AdminRooms rooms;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::atomic<std::uint16_t> port{0};
  std::thread thread;
};

tcp::endpoint AdminServer::Server::endpoint() const {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(config.address, error);
  if (error) {
    throw std::runtime_error("cannot listen for the admin on \"" + config.address +
                             "\": not an IP address");
  }
  return {address, config.port};
}

boost::system::error_code AdminServer::Server::try_to_bind() {
  const tcp::endpoint wanted = endpoint();
  boost::system::error_code error;
  const auto failed = [&] { return error.failed(); };
  acceptor.open(wanted.protocol(), error);
  if (!failed()) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!failed()) acceptor.bind(wanted, error);
  if (!failed()) acceptor.listen(kMaxConnections, error);
  if (!failed()) port = acceptor.local_endpoint(error).port();
  if (failed()) acceptor.close();
  return error;
}

asio::awaitable<void> AdminServer::Server::accept() {
  while (true) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      // Probably out of descriptors. The connection stays in the backlog: pause, do not spin.
      asio::steady_timer pause(io, kAcceptPause);
      co_await pause.async_wait(kAwait);
      continue;
    }
    // Otherwise the socket's destructor closes it.
    if (connections >= kMaxConnections && !make_room()) continue;
    asio::co_spawn(io, serve(boost::beast::tcp_stream(std::move(socket))), asio::detached);
  }
}

// Closes the connection that has been silent longest, or else the one that has been taking a
// response longest. Neither needs a token, so without this a few clients could lock out /readyz.
// False: the responses of all connections are still being made.
bool AdminServer::Server::make_room() {
  for (WaitingList* const list : {&silent, &taking}) {
    for (Waiting& one : *list) {
      if (std::exchange(one.is_closed, true)) continue;
      one.stream->close();
      return true;
    }
  }
  return false;
}

asio::awaitable<bool> AdminServer::Server::send(boost::beast::tcp_stream& stream,
                                                AdminResponse& response) {
  stream.expires_after(kTimeout);
  const auto place = taking.insert(taking.end(), Waiting{&stream});
  const auto [error, size] = co_await http::async_write(stream, response, kAwait);
  const bool is_closed = place->is_closed;
  taking.erase(place);
  co_return !error && !is_closed;
}

asio::awaitable<void> AdminServer::Server::serve(boost::beast::tcp_stream stream) {
  struct Counted {
    explicit Counted(int& count) : count_(++count) {}
    ~Counted() { --count_; }
    int& count_;
  } counted(connections);

  const std::string peer = address_of(stream);
  boost::beast::flat_buffer buffer(kMaxHead + kReadAhead);
  while (true) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kMaxHead);
    parser.body_limit(kMaxBody);
    stream.expires_after(kTimeout);
    const auto place = silent.insert(silent.end(), Waiting{&stream});
    const auto [read_error, read_size] = co_await http::async_read(stream, buffer, parser, kAwait);
    const bool is_closed = place->is_closed;
    silent.erase(place);
    if (is_closed) co_return;
    AdminResponse response;
    if (!read_error) {
      AdminResponse answered = co_await answer(parser.get(), peer);
      response = std::move(answered);
    } else if (!refusal_of(read_error, response)) {
      co_return;
    }
    const bool sent = co_await send(stream, response);
    if (!sent) co_return;
    if (!response.keep_alive()) {
      co_await close(stream);
      co_return;
    }
  }
}

// 500 if a page throws.
asio::awaitable<AdminResponse> AdminServer::Server::answer(const AdminRequest& request,
                                                           const std::string& peer) {
  AdminResponse response;
  try {
    AdminResponse made = co_await page(request, peer);
    response = std::move(made);
  } catch (const std::exception&) {
    response = admin_problem(http::status::internal_server_error, "this page could not be made");
  }
  co_return finished(request, std::move(response));
}

asio::awaitable<AdminResponse> AdminServer::Server::page(const AdminRequest& request,
                                                         const std::string& peer) {
  const AdminPart part = part_for(request, config.token);
  if (part == AdminPart::reload && reloads < kMaxReloads) {
    const ReloadResult result = co_await reload();
    co_return reload_page(result);
  }
  if (part == AdminPart::jobs) {
    AdminResponse made = co_await jobs.answer(request, peer);
    co_return made;
  }
  if (part == AdminPart::rooms) co_return rooms.answer(request, peer);
  AdminResponse made = co_await admin_answer(request, config.token, source);
  co_return made;
}

// The timer serves as an event: it never expires, but is cancelled when the reload ends.
asio::awaitable<ReloadResult> AdminServer::Server::reload() {
  struct Attempt {
    explicit Attempt(asio::io_context& io) : over(io, asio::steady_timer::time_point::max()) {}
    asio::steady_timer over;
    ReloadResult result;
  };
  const auto attempt = std::make_shared<Attempt>(io);
  ++reloads;
  source.reload([this, attempt](const ReloadResult& result) {
    asio::post(io, [attempt, result] {
      attempt->result = result;
      attempt->over.cancel();
    });
  });
  co_await attempt->over.async_wait(kAwait);
  --reloads;
  co_return attempt->result;
}

// Lingering close: closing with unread input would send a reset, which could destroy the response
// before the client reads it (RFC 9112 section 9.6).
asio::awaitable<void> AdminServer::Server::close(boost::beast::tcp_stream& stream) {
  boost::system::error_code error;
  stream.socket().shutdown(tcp::socket::shutdown_send, error);
  stream.expires_after(kLinger);
  std::array<char, 4096> unread;
  const auto place = silent.insert(silent.end(), Waiting{&stream});
  while (!error) {
    std::tie(error, std::ignore) = co_await stream.async_read_some(asio::buffer(unread), kAwait);
  }
  silent.erase(place);
}

AdminServer::AdminServer(const config::Admin& config, AdminSource source)
    : server_(std::make_unique<Server>(config, std::move(source))) {}

AdminServer::~AdminServer() { stop(); }

void AdminServer::start() {
  if (!start_unless_drained())
    throw std::runtime_error("another process that drains has the admin port");
}

bool AdminServer::start_unless_drained() {
  boost::system::error_code error = server_->try_to_bind();
  PortUse use = PortUse::another;
  if (error == asio::error::address_in_use) use = port_use(server_->endpoint());
  if (use == PortUse::draining_process) return false;
  if (use == PortUse::nothing) error = server_->try_to_bind();  // that process has just ended
  if (error) {
    const config::Admin& config = server_->config;
    throw std::runtime_error("cannot listen for the admin on " +
                             printed(config.address, config.port) + ": " + error.message());
  }
  asio::co_spawn(server_->io, server_->accept(), asio::detached);
  server_->thread = std::thread([server = server_.get()] {
    ::pthread_setname_np(::pthread_self(), "admin");
    server->io.run();
  });
  return true;
}

std::uint16_t AdminServer::port() const { return server_ ? server_->port.load() : 0; }

void AdminServer::stop() {
  if (!server_) return;
  server_->io.stop();
  if (server_->thread.joinable()) server_->thread.join();
  server_->jobs.close();
  server_.reset();
}

}  // namespace spillway::proxy

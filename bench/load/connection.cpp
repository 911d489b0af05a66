#include "bench/load/connection.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

namespace spillway::load {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
}  // namespace

std::string_view value(const Response& response, std::string_view name) {
  const auto found = response.find(name);
  if (found == response.end()) return {};
  return {found->value().data(), found->value().size()};
}

bool Connection::is_reusable() {
  if (!socket_.is_open()) return false;
  char byte = 0;
  const auto peeked = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked < 0 && errno == EAGAIN;
}

void Connection::reset() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void Connection::bind(boost::system::error_code& error) {
  socket_.open(tcp::v4(), error);
  const int on = 1;  // the port is chosen when it is known where to: many share one
  if (!error)
    setsockopt(socket_.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (!error) socket_.bind({from_, 0}, error);
}

asio::awaitable<boost::system::error_code> Connection::open(Connection& connection,
                                                            tcp::endpoint target) {
  connection.input_.clear();
  boost::system::error_code error;
  if (!connection.from_.is_unspecified()) connection.bind(error);
  if (error) co_return error;
  const auto [connect_error] = co_await connection.socket_.async_connect(target, kNoThrow);
  boost::system::error_code ignored;
  connection.socket_.set_option(tcp::no_delay(true), ignored);
  co_return connect_error;
}

asio::awaitable<Reply> Connection::ask(Connection& c, tcp::endpoint target, std::string request) {
  boost::system::error_code ignored;
  if (!c.socket_.is_open()) {
    const boost::system::error_code error = co_await open(c, target);
    if (error) {
      c.socket_.close(ignored);
      co_return Reply{"connect: " + error.message(), {}};
    }
  }
  const auto [write_error, written] =
      co_await asio::async_write(c.socket_, asio::buffer(request), kNoThrow);
  boost::system::error_code error = write_error;
  http::response_parser<http::string_body> parser;
  if (!error) {
    const auto [read_error, bytes] =
        co_await http::async_read(c.socket_, c.input_, parser, kNoThrow);
    error = read_error;
  }
  if (error) {
    c.socket_.close(ignored);
    co_return Reply{"broken: " + error.message(), {}};
  }
  if (!parser.get().keep_alive()) c.socket_.close(ignored);
  co_return Reply{{}, parser.release()};
}

}  // namespace spillway::load

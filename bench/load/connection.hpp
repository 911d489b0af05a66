// A client's connection, kept from one request to the next, as a browser keeps it.
#pragma once

#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

namespace spillway::load {

using Response = boost::beast::http::response<boost::beast::http::string_body>;

struct Reply {
  std::string failure;  // "connect: …" or "broken: …"; empty: there is a response
  Response response;
};

// A field's text, empty when there is none of that name.
std::string_view value(const Response& response, std::string_view name);

// Lives on one thread: the one that runs `io`.
class Connection {
 public:
  // `from`: the address that it comes from; unspecified: any.
  explicit Connection(boost::asio::io_context& io, boost::asio::ip::address_v4 from = {})
      : socket_(io), from_(from) {}

  // Opens it if it is closed, sends a request and awaits the response. Afterwards it is open only
  // if it can carry another request.
  static boost::asio::awaitable<Reply> ask(Connection& connection,
                                           boost::asio::ip::tcp::endpoint target,
                                           std::string request);

  bool is_open() const { return socket_.is_open(); }
  // Open, nothing to read and not at its end: what a browser asks before it uses it again.
  bool is_reusable();
  // Closes the connection and aborts its request, by a reset: thousands of connections in TIME_WAIT
  // would use up the ports.
  void reset();

 private:
  static boost::asio::awaitable<boost::system::error_code> open(
      Connection& connection, boost::asio::ip::tcp::endpoint target);
  void bind(boost::system::error_code& error);

  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      socket_;
  boost::asio::ip::address_v4 from_;
  boost::beast::flat_buffer input_;
};

}  // namespace spillway::load

// The event stream of a visitor in line, as its page follows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "bench/load/endpoint.hpp"

namespace spillway::waiting_bench {

// Lives on one thread: the one that runs `io`.
class EventStream {
 public:
  explicit EventStream(boost::asio::io_context& io) : socket_(io) {}

  // `cookie`: "name=value" of a ticket. False: it was not answered 200.
  static boost::asio::awaitable<bool> open(EventStream& stream, load::Endpoint proxy,
                                           std::string cookie);
  // The data of the next event of that name; nullopt: the stream has ended.
  static boost::asio::awaitable<std::optional<std::string>> next(EventStream& stream,
                                                                 std::string_view event);
  void close();

 private:
  static boost::asio::awaitable<bool> read(EventStream& stream);
  std::optional<std::string> take(std::string_view event);

  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      socket_;
  std::string input_;
};

}  // namespace spillway::waiting_bench

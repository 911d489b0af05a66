#include "proxy/admin/port_use.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <string>

namespace spillway::proxy {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using asio::ip::tcp;

namespace {
constexpr std::chrono::milliseconds kPatience{500};
}

PortUse port_use(const tcp::endpoint& port) {
  asio::io_context io{1};
  boost::beast::tcp_stream stream(io);
  stream.expires_after(kPatience);
  beast_http::request<beast_http::empty_body> request(beast_http::verb::get, "/readyz", 11);
  request.set(beast_http::field::host, "localhost");
  request.set(beast_http::field::connection, "close");
  beast_http::response<beast_http::string_body> response;
  boost::beast::flat_buffer buffer(64 * 1024);
  boost::system::error_code failure;
  bool is_connected = false;
  stream.async_connect(port, [&](boost::system::error_code error) {
    failure = error;
    if (error) return;
    is_connected = true;
    beast_http::async_write(stream, request, [&](boost::system::error_code unsent, std::size_t) {
      if (unsent) return;
      beast_http::async_read(stream, buffer, response,
                             [](boost::system::error_code, std::size_t) {});
    });
  });
  io.run();
  if (!is_connected)
    return failure == asio::error::connection_refused ? PortUse::nothing : PortUse::another;
  const bool drains = response.result() == beast_http::status::service_unavailable &&
                      response.body().find("draining") != std::string::npos;
  return drains ? PortUse::draining_process : PortUse::another;
}

}  // namespace spillway::proxy

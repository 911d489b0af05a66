#include "cli/admin/admin_client.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdint>
#include <utility>

#include "http/field/ascii.hpp"
#include "http/message/target.hpp"

namespace spillway {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;

namespace {

constexpr std::chrono::seconds kAdminTimeout{30};
constexpr std::uint64_t kMaxReply = std::uint64_t{64} << 20;
constexpr auto kAwaitReply = asio::as_tuple(asio::use_awaitable);

using AdminMessage = beast_http::request<beast_http::string_body>;

std::string failure(const AdminUrl& url, const boost::system::error_code& error) {
  return "cannot ask the admin listener at " + url.authority + ": " + error.message() +
         "; --admin URL names another one";
}

asio::awaitable<void> exchange(const AdminUrl& url, const AdminMessage& message,
                               AdminReply& reply) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto [resolve_error, found] =
      co_await resolver.async_resolve(url.host, url.port, kAwaitReply);
  if (resolve_error) {
    reply.problem = failure(url, resolve_error);
    co_return;
  }
  boost::beast::tcp_stream stream(executor);
  stream.expires_after(kAdminTimeout);
  const auto [connect_error, peer] = co_await stream.async_connect(found, kAwaitReply);
  if (connect_error) {
    reply.problem = failure(url, connect_error);
    co_return;
  }
  const auto [write_error, written] =
      co_await beast_http::async_write(stream, message, kAwaitReply);
  if (write_error) {
    reply.problem = failure(url, write_error);
    co_return;
  }
  boost::beast::flat_buffer buffer;
  beast_http::response_parser<beast_http::string_body> parser;
  parser.body_limit(kMaxReply);
  const auto [read_error, size] =
      co_await beast_http::async_read(stream, buffer, parser, kAwaitReply);
  if (read_error) {
    reply.problem = failure(url, read_error);
    co_return;
  }
  reply.status = parser.get().result_int();
  reply.body = std::move(parser.get().body());
}

AdminReply ask(const AdminUrl& url, const std::string& token, AdminMessage message) {
  message.set(beast_http::field::host, url.authority);
  message.set(beast_http::field::connection, "close");
  if (!token.empty()) message.set(beast_http::field::authorization, "Bearer " + token);
  message.prepare_payload();
  AdminReply reply;
  asio::io_context io{1};
  asio::co_spawn(io, exchange(url, message, reply), asio::detached);
  io.run();
  return reply;
}

}  // namespace

std::optional<AdminUrl> parse_admin_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (!http::istarts_with(text, kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  if (!http::valid_authority(text)) return std::nullopt;
  const std::string_view host = http::without_port(text);
  AdminUrl url{std::string(host), "80", std::string(text)};
  if (host.size() + 1 < text.size()) url.port = text.substr(host.size() + 1);
  if (host.starts_with('[')) url.host = host.substr(1, host.size() - 2);
  return url;
}

AdminClient::AdminClient(AdminUrl url, std::string token)
    : url_(std::move(url)), token_(std::move(token)) {}

AdminReply AdminClient::get(const std::string& target) const {
  return ask(url_, token_, AdminMessage(beast_http::verb::get, target, 11));
}

AdminReply AdminClient::post(const std::string& target, const std::string& json) const {
  AdminMessage message(beast_http::verb::post, target, 11);
  message.set(beast_http::field::content_type, "application/json");
  message.body() = json;
  return ask(url_, token_, std::move(message));
}

AdminReply AdminClient::remove(const std::string& target) const {
  return ask(url_, token_, AdminMessage(beast_http::verb::delete_, target, 11));
}

}  // namespace spillway

#include "proxy/upstream/health_probe.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "http/message/framing.hpp"
#include "http/message/head.hpp"
#include "http/message/scan.hpp"

namespace spillway::proxy {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using observe::HealthCheckReason;
using observe::HealthCheckReport;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// Connects to the address that `probed` names, or to the next one that does not refuse. A shortage
// is the result only if no address gave another one.
asio::awaitable<void> connect(tcp::socket& socket, const Endpoint& server, Probed& probed) {
  const std::size_t first = probed.address;
  probed.report = {.reason = HealthCheckReason::skipped, .detail = {}};
  for (std::size_t n = 0; n < server.addresses.size() && !probed.is_connected; ++n) {
    probed.address = (first + n) % server.addresses.size();
    const tcp::endpoint& address = server.addresses[probed.address];
    boost::system::error_code error;
    socket.close(error);
    socket.open(address.protocol(), error);
    if (!error) std::tie(error) = co_await socket.async_connect(address, kAwait);
    if (error == asio::error::operation_aborted) co_return;  // too late: this address was silent
    probed.is_connected = !error;
    if (!error || local_shortage_of(error.value())) continue;
    probed.report.reason = HealthCheckReason::refused;
    probed.report.detail = to_text(address) + ": " + std::string(describe(error.value()));
  }
}

// A probe, without its deadline.
asio::awaitable<HealthCheckReport> exchange(const config::HealthCheck& check,
                                            const Endpoint& server, Probed& probed) {
  const HealthCheckReport closed{.reason = HealthCheckReason::closed, .detail = {}};
  tcp::socket socket(co_await asio::this_coro::executor);
  co_await connect(socket, server, probed);
  if (!probed.is_connected) co_return probed.report;

  boost::system::error_code error;
  const std::string request = probe_request(check, server);
  if (request.empty()) co_return HealthCheckReport{};
  std::tie(error, std::ignore) = co_await asio::async_write(socket, asio::buffer(request), kAwait);
  if (error) co_return closed;

  std::array<char, kMaxProbeBytes> bytes;
  for (std::size_t size = 0;;) {
    const auto [read_error, received] =
        co_await socket.async_read_some(asio::buffer(bytes) + size, kAwait);
    if (read_error) co_return closed;
    size += received;
    if (auto report = judge_probe_response({bytes.data(), size}, check)) co_return *report;
  }
}

}  // namespace

std::string probe_request(const config::HealthCheck& check, const Endpoint& server) {
  if (check.path.empty()) return {};
  return "GET " + check.path +
         " HTTP/1.1\r\nHost: " + (check.host.empty() ? server.name : check.host) +
         "\r\nUser-Agent: spillway-health/" SPILLWAY_VERSION "\r\nConnection: close\r\n\r\n";
}

std::optional<HealthCheckReport> judge_probe_response(std::string_view received,
                                                      const config::HealthCheck& check) {
  const auto invalid = [](http::Error error) {
    return HealthCheckReport{.reason = HealthCheckReason::invalid,
                             .detail = std::string(std::string_view(http::describe(error)))};
  };
  const bool is_full = received.size() >= kMaxProbeBytes;
  for (;;) {
    http::HeadScanner scanner(http::HeadScanner::Kind::response, {.head_bytes = kMaxProbeBytes});
    const http::Scan scan = scanner.scan(received);
    if (scan.state == http::Scan::State::need_more && !is_full) return std::nullopt;
    if (scan.state == http::Scan::State::need_more) return invalid(http::Error::head_too_large);
    if (scan.state != http::Scan::State::complete) return invalid(scan.error);
    http::ResponseHead head;
    http::Error error = http::parse_response(received.substr(0, scan.end), head);
    if (error == http::Error::none) error = http::response_framing(head, http::Verb::get);
    if (error != http::Error::none) return invalid(error);
    // 101 is an error: a probe requests no upgrade.
    const bool is_well = head.status >= check.min_status && head.status <= check.max_status;
    if (head.status >= 200 && is_well) return HealthCheckReport{};
    if (head.status >= 200 || head.status == 101) {
      return HealthCheckReport{.reason = HealthCheckReason::status,
                               .detail = std::to_string(head.status)};
    }
    received.remove_prefix(scan.end);
  }
}

asio::awaitable<Probed> probe_health(const config::HealthCheck& check, const Endpoint& server,
                                     std::size_t address) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer deadline(co_await asio::this_coro::executor, check.timeout);
  Probed probed{.address = address};
  const auto first = co_await (exchange(check, server, probed) || deadline.async_wait(kAwait));
  probed.report = first.index() == 0
                      ? std::get<0>(first)
                      : HealthCheckReport{.reason = HealthCheckReason::timeout, .detail = {}};
  co_return probed;
}

}  // namespace spillway::proxy

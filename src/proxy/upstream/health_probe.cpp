#include "proxy/upstream/health_probe.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "http/framing.hpp"
#include "http/head.hpp"
#include "http/scan.hpp"

namespace spillway::proxy {

namespace {

std::string request_for(const config::HealthCheck& check, const Endpoint& server) {
  if (check.path.empty()) return {};
  return "GET " + check.path +
         " HTTP/1.1\r\nHost: " + (check.host.empty() ? server.name : check.host) +
         "\r\nUser-Agent: spillway-health/" SPILLWAY_VERSION "\r\nConnection: close\r\n\r\n";
}

bool would_block(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

HealthProbe::HealthProbe(const config::HealthCheck& check, const Endpoint& server)
    : check_(check), server_(server), request_(request_for(check, server)) {}

HealthProbe::HealthProbe(HealthProbe&& other) noexcept
    : check_(other.check_),
      server_(other.server_),
      request_(std::move(other.request_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      phase_(other.phase_),
      deadline_(other.deadline_),
      sent_(other.sent_),
      received_(std::move(other.received_)) {}

std::optional<HealthProbe::Result> HealthProbe::begin(TimePoint now) {
  const ConnectAttempt attempt = begin_connect(server_);
  if (attempt.descriptor < 0)
    return is_local_shortage(attempt.error) ? Result::skipped : Result::failure;
  descriptor_ = attempt.descriptor;
  deadline_ = now + check_.timeout;
  phase_ = attempt.connected ? Phase::asking : Phase::connecting;
  sent_ = 0;
  received_.clear();
  return attempt.connected ? go_on() : std::nullopt;
}

std::optional<HealthProbe::Result> HealthProbe::on_ready() {
  if (phase_ == Phase::connecting) {
    const int error = connect_error(descriptor_);
    if (error != 0) return end_with(is_local_shortage(error) ? Result::skipped : Result::failure);
    phase_ = Phase::asking;
  }
  return go_on();
}

HealthProbe::Result HealthProbe::give_up() { return end_with(Result::timeout); }

short HealthProbe::events() const { return phase_ == Phase::reading ? POLLIN : POLLOUT; }

std::optional<HealthProbe::Result> HealthProbe::go_on() {
  if (request_.empty()) return end_with(Result::success);
  return phase_ == Phase::asking ? ask() : read();
}

std::optional<HealthProbe::Result> HealthProbe::ask() {
  while (sent_ < request_.size()) {
    const ssize_t sent =
        ::send(descriptor_, request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (would_block(errno)) return std::nullopt;
      return end_with(Result::failure);
    }
    sent_ += static_cast<std::size_t>(sent);
  }
  phase_ = Phase::reading;
  return read();
}

std::optional<HealthProbe::Result> HealthProbe::read() {
  std::array<char, kMostRead> bytes;
  const ssize_t received = ::recv(descriptor_, bytes.data(), bytes.size() - received_.size(), 0);
  if (received < 0 && would_block(errno)) return std::nullopt;
  if (received <= 0) return end_with(Result::failure);
  received_.append(bytes.data(), static_cast<std::size_t>(received));
  return judge();
}

std::optional<HealthProbe::Result> HealthProbe::judge() {
  for (;;) {
    http::HeadScanner scanner(http::HeadScanner::Kind::response, {.head_bytes = kMostRead});
    const http::Scan scan = scanner.scan(received_);
    if (scan.state == http::Scan::State::need_more && received_.size() < kMostRead)
      return std::nullopt;
    if (scan.state != http::Scan::State::complete) return end_with(Result::failure);
    http::ResponseHead head;
    http::Error error = http::parse_response(std::string_view(received_).substr(0, scan.end), head);
    if (error == http::Error::none) error = http::response_framing(head, http::Verb::get);
    // Nothing was asked to switch protocols.
    if (error != http::Error::none || head.status == 101) return end_with(Result::failure);
    if (head.status < 200) {
      received_.erase(0, scan.end);
      continue;
    }
    const bool is_well = head.status >= check_.min_status && head.status <= check_.max_status;
    return end_with(is_well ? Result::success : Result::failure);
  }
}

HealthProbe::Result HealthProbe::end_with(Result result) {
  end();
  return result;
}

void HealthProbe::end() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace spillway::proxy

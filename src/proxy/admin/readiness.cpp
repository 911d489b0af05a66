#include "proxy/admin/readiness.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

namespace spillway::proxy {

namespace {

// A server that may be back.
struct Candidate {
  Upstream* upstream;
  const Endpoint* endpoint;
};

std::vector<Candidate> candidates_of(Generation& generation) {
  std::vector<Candidate> all;
  for (Upstream& upstream : generation.upstreams) {
    if (upstream.reachable.load()) continue;
    const resilience::ServerSet up = upstream.servers.up();
    for (std::size_t server = 0; server < upstream.endpoints.size(); ++server) {
      if (up.contains(server)) all.push_back({&upstream, &upstream.endpoints[server]});
    }
  }
  return all;
}

// Connections to several servers at once, each in a place of its upstream's budget.
class Attempts {
 public:
  Attempts() = default;
  ~Attempts() {
    for (std::size_t i = 0; i < polled_.size(); ++i) end(i);
  }
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  void begin(const Candidate& candidate) {
    if (!candidate.upstream->connections.try_open()) return;
    const ConnectAttempt attempt = begin_connect(*candidate.endpoint);
    if (attempt.descriptor < 0) return candidate.upstream->connections.closed();
    polled_.push_back({attempt.descriptor, POLLOUT, 0});
    upstreams_.push_back(candidate.upstream);
  }

  // The upstream of the first one that succeeds; null when none does by then.
  Upstream* first_success(TimePoint until) {
    for (std::size_t left = polled_.size(); left > 0;) {
      const auto wait = std::chrono::ceil<Milliseconds>(until - Clock::now());
      if (wait.count() <= 0) return nullptr;
      const int ready = ::poll(polled_.data(), polled_.size(), static_cast<int>(wait.count()));
      if (ready < 0 && errno != EINTR) return nullptr;
      for (std::size_t i = 0; ready > 0 && i < polled_.size(); ++i) {
        if (polled_[i].fd < 0 || polled_[i].revents == 0) continue;
        if (connect_error(polled_[i].fd) == 0) return upstreams_[i];
        end(i);
        --left;
      }
    }
    return nullptr;
  }

 private:
  void end(std::size_t i) {
    if (polled_[i].fd < 0) return;
    ::close(polled_[i].fd);
    polled_[i].fd = -1;  // poll(2) passes it by
    upstreams_[i]->connections.closed();
  }

  std::vector<pollfd> polled_;
  std::vector<Upstream*> upstreams_;
};

}  // namespace

std::string_view Readiness::why_not(Generation& generation) {
  constexpr std::string_view kNone = "no live upstream";
  for (Upstream& upstream : generation.upstreams) {
    if (upstream.is_live()) return {};
  }
  const TimePoint now = Clock::now();
  if (generation.number == asked_of_ && now < ask_again_) return kNone;
  asked_of_ = generation.number;
  ask_again_ = now + kPause;

  const std::vector<Candidate> candidates = candidates_of(generation);
  Attempts attempts;
  for (std::size_t n = 0; n < std::min(candidates.size(), kMostAsked); ++n)
    attempts.begin(candidates[next_++ % candidates.size()]);
  Upstream* const back = attempts.first_success(now + kPatience);
  if (back == nullptr) return kNone;
  back->reachable.store(true);
  return {};
}

}  // namespace spillway::proxy

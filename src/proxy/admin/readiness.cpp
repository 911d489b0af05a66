#include "proxy/admin/readiness.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <utility>
#include <vector>

namespace spillway::proxy {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

struct Candidate {
  Upstream* upstream;
  tcp::endpoint address;
};

std::vector<Candidate> candidates_of(Generation& generation) {
  std::vector<Candidate> all;
  for (Upstream& upstream : generation.upstreams) {
    if (upstream.reachable.load()) continue;
    const resilience::ServerSet up = upstream.servers.up();
    for (std::size_t server = 0; server < upstream.endpoints.size(); ++server) {
      if (!up.contains(server)) continue;
      for (const tcp::endpoint& address : upstream.endpoints[server].addresses)
        all.push_back({&upstream, address});
    }
  }
  return all;
}

bool any_live(Generation& generation) {
  return std::ranges::any_of(generation.upstreams,
                             [](Upstream& upstream) { return upstream.is_live(); });
}

// One connection attempt, counted in its upstream's budget until it is closed.
struct Attempt {
  Attempt(const asio::any_io_executor& executor, Upstream& to) : upstream(to), socket(executor) {}
  ~Attempt() { upstream.connections.closed(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  Upstream& upstream;
  tcp::socket socket;
};

}  // namespace

// Parallel connection attempts. The round ends at the first success, when all have failed, or at
// the deadline: `over` is cancelled or expires.
struct Readiness::Round : std::enable_shared_from_this<Round> {
  Round(const asio::any_io_executor& executor, std::shared_ptr<Generation> to_probe)
      : over(executor, kProbeTimeout), generation(std::move(to_probe)) {}

  void connect(const Candidate& candidate) {
    if (!candidate.upstream->connections.try_open()) return;
    Attempt& attempt = attempts.emplace_back(over.get_executor(), *candidate.upstream);
    ++pending;
    attempt.socket.async_connect(candidate.address,
                                 [round = shared_from_this(), &upstream = *candidate.upstream](
                                     const boost::system::error_code& error) {
                                   if (!error) upstream.reachable.store(true);
                                   if (--round->pending == 0 || !error) round->over.cancel();
                                 });
  }

  asio::steady_timer over;
  std::size_t pending = 0;
  std::shared_ptr<Generation> generation;
  std::deque<Attempt> attempts;
};

asio::awaitable<std::string_view> Readiness::not_ready_reason(
    std::shared_ptr<Generation> generation) {
  constexpr std::string_view kNoUpstream = "no live upstream";
  if (any_live(*generation)) co_return std::string_view{};
  std::shared_ptr<Round> round = round_.lock();
  const bool joins = round != nullptr;
  if (!joins) {
    const TimePoint now = Clock::now();
    if (generation->number == probed_ && now < next_round_) co_return kNoUpstream;
    probed_ = generation->number;
    next_round_ = now + kProbePause;
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    round = std::make_shared<Round>(executor, generation);
    round_ = round;
    const std::vector<Candidate> candidates = candidates_of(*generation);
    for (std::size_t n = 0; n < std::min(candidates.size(), kMaxProbes); ++n)
      round->connect(candidates[next_server_++ % candidates.size()]);
  }
  if (round->pending > 0) co_await round->over.async_wait(kAwait);
  if (!joins) round->attempts.clear();  // closes them: handlers hold the round, not the sockets
  co_return any_live(*generation) ? std::string_view{} : kNoUpstream;
}

}  // namespace spillway::proxy

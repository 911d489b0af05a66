#include "proxy/worker/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "http/problem.hpp"
#include "http/rewrite.hpp"
#include "http/scan.hpp"

namespace spillway::proxy {

namespace {

// A connection on its way to its worker, which may end before it arrives.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.release()) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

}  // namespace

Worker::Worker(std::size_t number, const Shared& shared, std::shared_ptr<Generation> generation,
               std::uint64_t seed)
    : random(seed),
      small_blocks(kSmallBlock),
      // A head of the largest size, rewritten with all that is added to it.
      large_blocks(std::max<std::size_t>(
          kLargeBlock,
          generation->config.limits.header_bytes + http::kRewriteRoom + 2 * http::kMaxRequestLine)),
      mailbox(loop_),
      number_(number),
      shared_(shared),
      gauges_(generation->metrics[number]->gauges),
      sweep_(*this) {
  Plans plans;
  for (Upstream& upstream : generation->upstreams) plans.push_back(upstream.controller.plan());
  local_ = new LocalGeneration(std::move(generation), {number_, loop_, random, shared_.log}, plans);
  generations.push_back(*local_);
  static_assert(kSmallBlock >= http::kProblemRoom, "an answer of our own always fits");
  spare_exchanges_.reserve(kSpareExchanges);
}

Worker::~Worker() = default;

void Worker::run() {
  refresh_date();
  sweep_.start();
  loop_.run();
}

void Worker::stop() { loop_.stop(); }

void Worker::refresh_date() {
  const std::time_t now = std::time(nullptr);
  wall_time_ = std::chrono::sys_seconds(std::chrono::seconds(now));
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[30];  // with the terminator
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  std::memcpy(date_.data(), text, date_.size());
}

void Worker::abandon() {
  loop_.discard();
  exchanges.clear_and_dispose([](Exchange* exchange) {
    exchange->abandon();
    delete exchange;
  });
  tunnels.clear_and_dispose([](Tunnel* tunnel) {
    tunnel->abandon();
    delete tunnel;
  });
  while (!idle_clients.empty()) {
    auto& client = static_cast<ClientConnection&>(idle_clients.front());
    client.IdleHook::unlink();
    client.close();
  }
  for (LocalGeneration& local : generations) local.close_idle();
}

void Worker::begin_drain() {
  loop_.post([this] {
    draining_ = true;
    drain_began_ = Clock::now();
  });
}

void Worker::replace(std::shared_ptr<Generation> generation, Plans plans,
                     std::function<void()> done) {
  loop_.post([this, generation = std::move(generation), plans = std::move(plans),
              done = std::move(done)]() mutable {
    const LocalGenerationPtr former = std::exchange(
        local_,
        new LocalGeneration(std::move(generation), {number_, loop_, random, shared_.log}, plans));
    generations.push_back(*local_);
    former->retire();
    done();
  });
}

void Worker::end_requests_of(const Generation& generation) {
  loop_.post([this, &generation] {  // which may be gone by then: only compared
    std::vector<Exchange*> ended;
    for (Exchange& exchange : exchanges) {
      if (exchange.keeps_to(generation)) ended.push_back(&exchange);
    }
    for (Exchange* exchange : ended) exchange->end_early();  // ends or changes that one only
  });
}

void Worker::publish(const std::shared_ptr<Generation>& generation, UpstreamId upstream,
                     std::shared_ptr<const overload::AdmissionPlan> plan) {
  loop_.post([this, generation, upstream, plan = std::move(plan)]() mutable {
    if (LocalGeneration* local = find(*generation)) local->publish(upstream, std::move(plan));
  });
}

LocalGeneration* Worker::find(const Generation& generation) {
  for (LocalGeneration& local : generations) {
    if (&local.generation() == &generation) return &local;
  }
  return nullptr;
}

void Worker::adopt(int descriptor, const ClientFacts& facts, traffic::AddressCount::Place place) {
  // Counted from now on, so that the acceptor sees a burst of connections spread out.
  connections_.fetch_add(1, std::memory_order_relaxed);
  loop_.dispatch(
      [this, owned = Descriptor(descriptor), facts, its_place = std::move(place)]() mutable {
        const ClientPtr client(
            new ClientConnection(*this, owned.release(), facts, std::move(its_place)));
        if (client->open()) client->become_idle(Clock::now());
      });
}

void Worker::connection_opened() { gauges_->client_connections.add(); }

void Worker::connection_closed() {
  gauges_->client_connections.subtract();
  connections_.fetch_sub(1);
  shared_.room.freed();
}

// Given back by end_exchange().
Exchange& Worker::take_exchange() {
  std::unique_ptr<Exchange> exchange;
  if (spare_exchanges_.empty()) {
    exchange = std::make_unique<Exchange>(*this);
  } else {
    exchange = std::move(spare_exchanges_.back());
    spare_exchanges_.pop_back();
  }
  exchanges.push_back(*exchange);
  return *exchange.release();
}

void Worker::begin_exchange(ClientPtr client) { take_exchange().serve(std::move(client)); }

void Worker::begin_refresh(const Exchange& served) {
  if (draining_ || served.local().circuits(served.upstream_id()).time_until_allowed().count() != 0)
    return;
  Exchange& exchange = take_exchange();
  if (!exchange.refresh(served)) end_exchange(exchange);
}

void Worker::end_exchange(Exchange& exchange) {
  exchanges.erase(exchanges.iterator_to(exchange));
  std::unique_ptr<Exchange> owned(&exchange);
  if (spare_exchanges_.size() < kSpareExchanges) spare_exchanges_.push_back(std::move(owned));
}

void Worker::begin_tunnel(std::unique_ptr<Tunnel> tunnel, ClientPtr client) {
  tunnels.push_back(*tunnel);
  tunnel.release()->start(std::move(client));
}

void Worker::end_tunnel(Tunnel& tunnel) {
  tunnels.erase(tunnels.iterator_to(tunnel));
  const std::unique_ptr<Tunnel> owned(&tunnel);
}

}  // namespace spillway::proxy

#include "proxy/worker/worker.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "http/message/scan.hpp"
#include "http/outgoing/problem.hpp"
#include "http/outgoing/rewrite.hpp"

namespace spillway::proxy {

namespace {

constexpr std::size_t kWorthGivingBack = 1024 * 1024;
constexpr Duration kGivesBackEvery = std::chrono::seconds(10);
constexpr std::size_t kSmallBlock = 16 * 1024;
constexpr std::size_t kLargeBlock = 64 * 1024;
static_assert(kSmallBlock >= http::kProblemRoom, "a response of our own always fits");

// Room for the largest head and everything that rewriting adds to it.
std::size_t large_block(const config::Config& config) {
  return std::max<std::size_t>(kLargeBlock, config.limits.header_bytes + http::kRewriteRoom);
}

// A descriptor on its way to its worker; closed if the worker ends before it arrives.
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

// Destroys an object that the worker has started and that has ended.
template <class T>
void dispose(SweptLists::List<T>& list, T& object) {
  list.erase_and_dispose(list.iterator_to(object), std::default_delete<T>());
}

template <class T>
void abandon_all(SweptLists::List<T>& list) {
  list.clear_and_dispose([](T* object) {
    object->abandon();
    delete object;
  });
}

}  // namespace

Worker::Worker(std::size_t number, const Shared& shared, std::shared_ptr<Generation> generation,
               std::uint64_t seed)
    : number_(number),
      shared_(shared),
      gauges_(generation->metrics[number]->gauges),
      services_{.owner = *this,
                .loop = loop_,
                .log = shared.log,
                .gauges = *gauges_,
                .tunnel_permits = shared.tunnel_permits,
                .temp_space = shared.temp_space,
                .jobs = shared.jobs,
                .random = Random(seed),
                .small_blocks = BlockPool(kSmallBlock),
                .large_blocks = BlockPool(large_block(generation->config)),
                .memory_of_clients = traffic::ClientShares(shared.temp_space.of_clients().key())},
      head_limits_{.head_bytes = generation->config.limits.header_bytes},
      sweep_(services_, swept_) {
  Plans plans;
  for (Upstream& upstream : generation->upstreams) plans.push_back(upstream.controller.plan());
  const LocalGeneration::Home home{number_, loop_, services_.random, shared_.log};
  newest_ = new LocalGeneration(std::move(generation), home, plans);
  swept_.generations.push_back(*newest_);
  spare_sessions_.reserve(kSpareSessions);
}

// Posted functions refer to members that are destroyed before the loop.
Worker::~Worker() { loop_.discard(); }

void Worker::run() {
  services_.wall_clock.refresh();
  sweep_.start();
  loop_.run();
}

void Worker::stop() { loop_.stop(); }

Worker::CutOff Worker::abandon() {
  loop_.discard();
  CutOff cut_off{.tunnels = swept_.visitor_streams.size() + swept_.tunnels.size()};
  for (Http1Session& session : swept_.sessions) {
    switch (session.cut_off()) {
      case Http1Session::CutOff::request: ++cut_off.requests; break;
      case Http1Session::CutOff::event_stream: ++cut_off.tunnels; break;
      case Http1Session::CutOff::nothing: break;
    }
  }
  abandon_all(swept_.sessions);
  abandon_all(swept_.refreshes);
  abandon_all(swept_.jobs);
  abandon_all(swept_.abandoned);
  abandon_all(swept_.visitor_streams);
  abandon_all(swept_.tunnels);
  while (!swept_.idle_clients.empty()) {
    auto& client = static_cast<ClientConnection&>(swept_.idle_clients.front());
    client.IdleHook::unlink();
    client.close();
  }
  for (LocalGeneration& local : swept_.generations) local.close_idle();
  return cut_off;
}

void Worker::begin_drain() {
  loop_.post([this] {
    services_.draining = true;
    sweep_.begin_drain(Clock::now());
    sweep_.give_back_jobs(false);  // running ones may end by themselves
  });
}

void Worker::replace(std::shared_ptr<Generation> generation, Plans plans,
                     std::function<void()> done) {
  loop_.post([this, generation = std::move(generation), plans = std::move(plans),
              done = std::move(done)]() mutable {
    const LocalGeneration::Home home{number_, loop_, services_.random, shared_.log};
    const LocalGenerationPtr former =
        std::exchange(newest_, new LocalGeneration(std::move(generation), home, plans));
    newest_->continue_from(*former);
    swept_.generations.push_back(*newest_);
    former->retire();
    done();
  });
}

void Worker::end_requests_of(const Generation& generation) {
  // The generation may be destroyed by then: only its address is compared.
  loop_.post([this, &generation] { sweep_.end_requests_of(generation); });
}

void Worker::publish(const std::shared_ptr<Generation>& generation, UpstreamId upstream,
                     std::shared_ptr<const overload::AdmissionPlan> plan) {
  loop_.post([this, generation, upstream, plan = std::move(plan)]() mutable {
    if (LocalGeneration* local = find(*generation)) local->publish(upstream, std::move(plan));
  });
}

LocalGeneration* Worker::find(const Generation& generation) {
  for (LocalGeneration& local : swept_.generations) {
    if (&local.generation() == &generation) return &local;
  }
  return nullptr;
}

void Worker::adopt(int descriptor, const ClientInfo& client, traffic::AddressCount::Permit permit) {
  // Counted here, not on arrival, so that the listener spreads a burst over the workers.
  connections_.fetch_add(1, std::memory_order_relaxed);
  loop_.dispatch(
      [this, owned = Descriptor(descriptor), client, its_permit = std::move(permit)]() mutable {
        const ClientPtr connection(
            new ClientConnection(services_, owned.release(), client, std::move(its_permit)));
        if (connection->open()) connection->become_idle(Clock::now());
      });
}

void Worker::connection_opened() { gauges_->client_connections.add(); }

void Worker::connection_idle(ClientConnection& client) { swept_.idle_clients.push_back(client); }

void Worker::connection_active(ClientConnection& client) { take_session().serve(&client); }

void Worker::connection_closed(bool gave_way) {
  gauges_->client_connections.subtract();
  connections_.fetch_sub(1);
  shared_.accept_resume.connection_closed(gave_way);
}

bool Worker::give_way(ClientConnection& client) {
  if (client.gives_way_since() != kNever) return true;
  if (!shared_.accept_resume.promise_place()) return false;
  client.gives_way_since(loop_.now());
  return true;
}

void Worker::give_way_no_more(ClientConnection& client) {
  client.gives_way_since(kNever);
  shared_.accept_resume.withdraw_promise();
}

// keep() returns it.
Http1Session& Worker::take_session() {
  std::unique_ptr<Http1Session> session;
  if (spare_sessions_.empty()) {
    session = std::make_unique<Http1Session>(services_, head_limits_);
  } else {
    session = std::move(spare_sessions_.back());
    spare_sessions_.pop_back();
    least_spare_sessions_.took(spare_sessions_.size());
  }
  swept_.sessions.push_back(*session);
  return *session.release();
}

void Worker::begin(Owned& object) {
  switch (object.kind()) {
    case OwnedKind::session: break;
    case OwnedKind::refresh:
      return swept_.refreshes.push_back(static_cast<BackgroundRefresh&>(object));
    case OwnedKind::job: return swept_.jobs.push_back(static_cast<JobRun&>(object));
    case OwnedKind::abandoned_call:
      return swept_.abandoned.push_back(static_cast<AbandonedCall&>(object));
    case OwnedKind::visitor_stream:
      return swept_.visitor_streams.push_back(static_cast<VisitorStream&>(object));
    case OwnedKind::tunnel: return swept_.tunnels.push_back(static_cast<Tunnel&>(object));
  }
}

void Worker::end(Owned& object) {
  switch (object.kind()) {
    case OwnedKind::session: return keep(static_cast<Http1Session&>(object));
    case OwnedKind::refresh:
      return dispose(swept_.refreshes, static_cast<BackgroundRefresh&>(object));
    case OwnedKind::job: return dispose(swept_.jobs, static_cast<JobRun&>(object));
    case OwnedKind::abandoned_call:
      return dispose(swept_.abandoned, static_cast<AbandonedCall&>(object));
    case OwnedKind::visitor_stream:
      return dispose(swept_.visitor_streams, static_cast<VisitorStream&>(object));
    case OwnedKind::tunnel: return dispose(swept_.tunnels, static_cast<Tunnel&>(object));
  }
}

// Keeps it for another connection, unless there are enough.
void Worker::keep(Http1Session& session) {
  swept_.sessions.erase(swept_.sessions.iterator_to(session));
  std::unique_ptr<Http1Session> owned(&session);
  if (spare_sessions_.size() < kSpareSessions) spare_sessions_.push_back(std::move(owned));
}

void Worker::give_back_memory() {
  const std::size_t surplus = least_spare_sessions_.surplus(spare_sessions_.size());
  spare_sessions_.resize(spare_sessions_.size() - surplus);
  freed_ += surplus * sizeof(Http1Session) + FramePool::trim() + services_.small_blocks.trim() +
            services_.large_blocks.trim();
  // The allocator would keep the memory for this process. Done rarely: it scans the whole heap.
  const TimePoint now = Clock::now();
  if (freed_ < kWorthGivingBack || now < gives_back_from_) return;
  ::malloc_trim(0);
  freed_ = 0;
  gives_back_from_ = now + kGivesBackEvery;
}

void Worker::run_job(jobs::LeasedJob job, store::Epoch epoch) {
  loop_.post([this, job = std::move(job), epoch]() mutable {
    const auto& routes = newest_->config().routes;
    std::optional<RouteId> route;
    for (std::size_t i = 0; i < routes.size() && !route; ++i)
      if (routes[i].name == job.lane.route) route = RouteId(static_cast<std::uint32_t>(i));
    auto run = std::make_unique<JobRun>(services_, std::move(job), epoch, route);
    begin(*run);
    run.release()->run();
  });
}

void Worker::abort_jobs() {
  loop_.post([this] { sweep_.abort_jobs(); });
}

void Worker::give_back_jobs(std::function<void()> done) {
  loop_.post([this, done = std::move(done)] {
    services_.draining = true;
    sweep_.give_back_jobs(true);
    done();
  });
}

void Worker::close_idle_elsewhere(const Generation& generation, UpstreamId upstream,
                                  Parking& asker) {
  close_idle_at(1, generation, upstream, asker);
}

// Asks the other workers, one after the other; the last hop is the worker itself again.
void Worker::close_idle_at(std::size_t hop, const Generation& generation, UpstreamId upstream,
                           Parking& asker) {
  auto& workers = shared_.workers;
  Worker& next = *workers[(number_ + hop) % workers.size()];
  next.loop_.post([this, &next, hop, &generation, upstream, &asker] {
    LocalGeneration* const local = next.find(generation);
    if (&next == this) {
      asker.wake(Wake::ready);
    } else if (local != nullptr && local->pool(upstream).close_one()) {
      loop_.post([&asker] { asker.wake(Wake::ready); });
    } else {
      close_idle_at(hop + 1, generation, upstream, asker);
    }
  });
}

}  // namespace spillway::proxy

#include "fuzz/connection/world.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "config/file/load.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/connection/socket_end.hpp"
#include "fuzz/connection/stand_in.hpp"

namespace spillway::fuzz {
namespace {

// Failures are part of the scripts: they are not to be taken for overload. Two slots, so that
// there are waits.
constexpr std::string_view kSettings = R"({
  "workers": 1,
  "log": {"level": "error"},
  "limits": {"header_timeout_ms": 1000, "idle_timeout_ms": 2000, "drain_timeout_ms": 1000,
             "body_bytes": 90000, "buffer_bytes": 200000, "tunnel_idle_timeout_ms": 3000},
  "default_route": {"class": "P0"},
  "routes": [{"name": "shared", "class": "P0", "match": {"path": "/shared/**"},
              "cache": {"serve": "fresh", "ttl_ms": 1000, "stale_ms": 5000, "max_bytes": 262144}}],
  "dispatch": {"concurrency": 2},
  "upstreams": [{"name": "app", "servers": ["127.0.0.1:9"], "response_timeout_ms": 1500,
                 "connect_timeout_ms": 500, "retries": {"attempts": 2},
                 "ejection": {"consecutive_failures": 0},
                 "circuit_breaker": {"consecutive_failures": 1000, "failure_rate": 0}}],
  "overload": {"enter": {"error_rate": null, "event_loop_lag_ms": null},
               "exit": {"error_rate": null, "event_loop_lag_ms": null}}
})";

const config::Config& settings() {
  static const config::Config loaded = [] {
    config::LoadResult result = config::load_text(kSettings, "fuzz");
    if (!result.config)
      throw std::logic_error(result.problems[0].path + ": " + result.problems[0].message);
    return *std::move(result.config);
  }();
  return loaded;
}

const proxy::Endpoints& endpoints() {
  static const proxy::Endpoints resolved = proxy::resolve_servers(settings()).endpoints;
  return resolved;
}

// Its thread lives as long as the process.
observe::Log& log() {
  static auto* const the_log = new observe::Log(settings().log);
  return *the_log;
}

constexpr int kMostRounds = 20'000;
// In the end, for 400 ms each: a pipeline of kMostSteps requests that all time out takes 80 s.
constexpr int kMostWaits = 250;

}  // namespace

World::World() {
  [[maybe_unused]] static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  process_ = {1, {2, 3}, {std::make_shared<observe::WorkerGauges>()}};
  generation_ = std::make_shared<proxy::Generation>(settings(), endpoints(), process_);
  workers_.push_back(std::make_unique<proxy::Worker>(
      0, proxy::Worker::Shared{workers_, log(), tunnel_permits_, temp_space_, accept_resume_},
      generation_, 4));
  set_on_connect([this](int its_end) {
    if (refusals_ > 0 && refusals_-- > 0) return false;
    connections_.emplace_back().descriptor = its_end;
    return true;
  });
  set_on_reset([this](int descriptor) {
    for (Client& client : clients_) client.was_reset |= client.proxys == descriptor;
  });
  // run() starts the sweep, and returns at once.
  workers_.front()->stop();
  workers_.front()->run();
}

World::~World() {
  for (Client& client : clients_) {
    if (client.descriptor >= 0) ::close(client.descriptor);
  }
  for (Connection& connection : connections_) close(connection);
  workers_.front()->abandon();
  set_on_connect({});
  set_on_reset({});
}

void World::play(const Script& script) {
  for (const Step& each : script) {
    step(each);
    settle();
  }
}

void World::step(const Step& step) {
  const auto& values = step.values;
  switch (step.verb) {
    case Verb::request: return write_request(step);
    case Verb::send: {
      Client& client = connected(values[0]);
      const std::size_t most = client.written.size();
      const std::size_t bytes = values[1] <= 200 ? values[1] : (values[1] - 200u) * 2000;
      client.allowed = values[1] == 0 ? most : std::min(most, client.allowed + bytes);
      if (values[2] == 0 || client.descriptor < 0) return;
      move_client(client);
      return leave(client);
    }
    case Verb::half_close: clients_[values[0]].half_closes = true; return;
    case Verb::leave: return leave(clients_[values[0]]);
    case Verb::reads: clients_[values[0]].reads = values[1] == 0; return;
    case Verb::answer: plans_.emplace_back(step); return;
    case Verb::stray:
      if (Connection* const connection = chosen(values[0]); connection != nullptr)
        send_stray(*connection, stray_text(values[1]));
      return;
    case Verb::hang_up:
      if (Connection* const connection = chosen(values[0]); connection != nullptr)
        close(*connection);
      return;
    case Verb::refuse: refusals_ = values[0]; return;
    case Verb::pause: return pass(pause_of(values[0]));
    case Verb::drain: is_draining_ = true; return workers_.front()->begin_drain();
  }
}

void World::leave(Client& client) {
  if (client.descriptor < 0) return;
  ::close(std::exchange(client.descriptor, -1));
  client.has_left = true;
}

// A connection that is open, without a request: what comes there was not asked for.
Connection* World::chosen(unsigned number) {
  for (Connection& connection : connections_) {
    const bool is_idle = connection.unanswered.empty() && connection.descriptor >= 0;
    if (is_idle && !connection.has_half_closed && number-- == 0) return &connection;
  }
  return nullptr;
}

// Behind the last answer: where that has not come to its end, it goes on with it.
void World::send_stray(Connection& connection, const std::string& text) {
  const std::size_t taken = send(connection.descriptor, text);
  if (connection.answered == nullptr) return;
  connection.answered->answer.append(text, 0, taken);
  connection.answered->answer_sent += taken;
}

void World::write_request(const Step& step) {
  clients_[step.values[0]].written += request_text(step, next_id_++);
}

Client& World::connected(std::size_t number) {
  Client& client = clients_[number];
  if (client.proxys >= 0) return client;
  const Pair pair = new_pair();
  client.proxys = pair.proxys;
  client.descriptor = pair.other;
  workers_.front()->adopt(pair.proxys, {}, {});
  return client;
}

void World::pass(Duration time) {
  const Duration step = std::max<Duration>(Milliseconds{10}, time / 10);
  for (Duration passed{0}; passed < time; passed += step) {
    advance_clock(std::min(step, time));
    settle();
  }
}

// Until nothing moves any more.
void World::settle() {
  bool any = true;
  for (int round = 0; any; ++round) {
    require(round < kMostRounds, "it comes to rest");
    workers_.front()->loop().poll();
    any = false;
    for (Client& client : clients_) any = move_client(client) || any;
    for (Connection& connection : connections_) any = move_server(connection) || any;
  }
}

bool World::move_client(Client& client) {
  if (client.descriptor < 0) return false;
  bool any = false;
  if (client.sent < client.allowed) {
    const std::string_view due =
        std::string_view(client.written).substr(client.sent, client.allowed - client.sent);
    const std::size_t taken = send(client.descriptor, due);
    client.sent += taken;
    any = taken > 0;
  } else if (client.half_closes && !std::exchange(client.has_half_closed, true)) {
    ::shutdown(client.descriptor, SHUT_WR);
    any = true;
  }
  if (!client.reads || client.has_ended) return any;
  switch (receive(client.descriptor, client.received)) {
    case Got::nothing: return any;
    case Got::something: return true;
    case Got::end: client.has_ended = true; return true;
  }
  return any;
}

void World::end() {
  for (Client& client : clients_) client.reads = true;
  for (int i = 0; i < kMostWaits && !is_over(); ++i) {
    advance_clock(Milliseconds{400});
    settle();
  }
  check_nothing_left();
}

bool World::is_over() const {
  const observe::WorkerGauges& gauges = *process_.workers.front();
  return gauges.client_connections.value() == 0 && gauges.upstream_connections.value() == 0 &&
         std::all_of(clients_.begin(), clients_.end(),
                     [](const Client& each) {
                       return each.proxys < 0 || each.has_ended || each.has_left;
                     }) &&
         std::all_of(connections_.begin(), connections_.end(),
                     [](const Connection& each) { return each.descriptor < 0; });
}

void World::check_nothing_left() {
  for (const Client& client : clients_) {
    require(client.proxys < 0 || client.has_ended || client.has_left,
            "a client's connection is closed in the end");
  }
  for (const Connection& connection : connections_) {
    require(connection.descriptor < 0, "an upstream connection is closed in the end");
  }
  const observe::WorkerGauges& gauges = *process_.workers.front();
  require(gauges.client_connections.value() == 0, "no client is counted in the end");
  require(gauges.upstream_connections.value() == 0, "no upstream connection is counted");
  require(gauges.abandoned_calls.value() == 0, "no abandoned request is left");
  require(gauges.buffered_bytes.value() == 0, "nothing is buffered");
  require(workers_.front()->connections() == 0, "the worker has no connections");
  proxy::Upstream& upstream = generation_->upstreams.front();
  observe::UpstreamSnapshot snapshot;
  snapshot.classes.resize(settings().classes.size());
  upstream.gate.read_snapshot(snapshot, simulated_now());
  require(snapshot.inflight == 0, "no slot is held");
  require(upstream.connections.open() == 0 && upstream.connections.idle() == 0,
          "the connection budget is whole");
  require(upstream.servers.in_flight[0] == 0, "nothing is in flight");
  const observe::WorkerMetrics& metrics = *generation_->metrics.front();
  std::uint64_t finished = 0;
  for (std::size_t c = 0; c < settings().classes.size(); ++c) {
    for (std::size_t outcome = 0; outcome < kOutcomeCount; ++outcome)
      finished += metrics.finished_at(UpstreamId{0}, ClassId(static_cast<std::uint8_t>(c)),
                                      static_cast<Outcome>(outcome));
  }
  require(metrics.accepted() == finished, "each request has ended in one way");
}

}  // namespace spillway::fuzz

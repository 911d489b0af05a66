#include "fuzz/connection/world.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "config/load.hpp"
#include "fuzz/chunk_reference.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/connection/reading.hpp"
#include "fuzz/connection/stand_in.hpp"
#include "fuzz/plain_head.hpp"

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

enum class Got { something, nothing, end };

Got receive(int descriptor, std::string& into) {
  char block[16 * 1024];
  const ssize_t got = ::recv(descriptor, block, sizeof block, 0);
  if (got > 0) into.append(block, static_cast<std::size_t>(got));
  if (got > 0) return Got::something;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Got::nothing : Got::end;
}

// Bytes taken; nothing more can be sent over a connection that is broken.
std::size_t send(int descriptor, std::string_view bytes) {
  const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

constexpr int kMostRounds = 20'000;
constexpr std::size_t kMostPieces = 300;

}  // namespace

World::World() {
  [[maybe_unused]] static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  process_ = {1, {2, 3}, {std::make_shared<observe::WorkerGauges>()}};
  generation_ = std::make_shared<proxy::Generation>(settings(), endpoints(), process_);
  workers_.push_back(std::make_unique<proxy::Worker>(
      0, proxy::Worker::Shared{workers_, log(), tunnel_permits_, accept_resume_}, generation_, 4));
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
      return;
    }
    case Verb::half_close: clients_[values[0]].half_closes = true; return;
    case Verb::leave: {
      Client& client = clients_[values[0]];
      if (client.descriptor < 0) return;
      ::close(std::exchange(client.descriptor, -1));
      client.has_left = true;
      return;
    }
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

bool World::move_server(Connection& connection) {
  if (connection.descriptor < 0) return false;
  bool any = false;
  if (!connection.proxy_ended) {
    const Got got = receive(connection.descriptor, connection.received);
    connection.proxy_ended = got == Got::end;
    if (got == Got::something) read_requests(connection);
    any = got != Got::nothing;
    if (got == Got::end) close(connection);
  }
  return answer(connection) || any;
}

void World::read_requests(Connection& connection) {
  while (connection.reading != nullptr ? go_on_reading(connection) : begin_arrival(connection)) {
  }
}

// A head has come.
bool World::begin_arrival(Connection& connection) {
  const std::string_view rest = std::string_view(connection.received).substr(connection.read);
  const std::size_t end = rest.find("\r\n\r\n");
  if (end == rest.npos) return false;
  if (!connection.unanswered.empty()) cut_short(connection);
  Arrival& arrival = arrivals_.emplace_back();
  arrival.connection = static_cast<std::size_t>(
      std::distance(connections_.begin(),
                    std::find_if(connections_.begin(), connections_.end(),
                                 [&](const Connection& each) { return &each == &connection; })));
  arrival.head = rest.substr(0, end + 4);
  arrival.framing = plain_framing(plain_head(arrival.head));
  connection.read += arrival.head.size();
  connection.reading = &arrival;
  AnswerPlan plan;
  if (!plans_.empty()) {
    plan = plans_.front();
    plans_.pop_front();
  }
  const std::vector<unsigned> ids = marks_in(arrival.head, 'q');
  arrival.answer = plan.text(ids.empty() ? 0 : ids.front(), arrival.head.starts_with("HEAD "));
  connection.unanswered.push_back(&arrival);
  connection.plans.push_back(plan);
  connection.due.push_back(plan.when == When::head ? simulated_now() : kNever);
  return true;
}

// A request has come. What is left of the answer before it is not part of that, or it came too
// soon.
void World::cut_short(Connection& connection) {
  Arrival& former = *connection.unanswered.front();
  former.answer.resize(former.answer_sent);
  connection.answered = &former;
  const SentAnswer sent = read_answer(std::string_view(former.answer).substr(0, former.answer_sent),
                                      former.head.starts_with("HEAD "), false);
  require(former.is_complete && sent.is_complete,
          "a request comes once the one before it was answered", connection.received);
  connection.unanswered.pop_front();
  connection.plans.pop_front();
  connection.due.pop_front();
}

// False: the request goes on.
bool World::go_on_reading(Connection& connection) {
  Arrival& arrival = *connection.reading;
  const std::string_view rest = std::string_view(connection.received).substr(connection.read);
  if (arrival.framing.kind == http::Framing::Kind::chunked) {
    const Decoded decoded = decode_chunked(rest, UINT64_MAX, true);
    require(decoded.verdict != Decoded::Verdict::refused, "what is sent on is in chunks", rest);
    arrival.content = decoded.content;
    arrival.is_complete = decoded.verdict == Decoded::Verdict::complete;
    if (arrival.is_complete) connection.read += decoded.consumed;
  } else {
    arrival.content = rest.substr(0, arrival.framing.length);
    arrival.is_complete = arrival.content.size() == arrival.framing.length;
    if (arrival.is_complete) connection.read += arrival.content.size();
  }
  if (!arrival.is_complete) return false;
  connection.reading = nullptr;
  if (!connection.due.empty() && connection.due.front() == kNever) {
    const When when = connection.plans.front().when;
    const Milliseconds delay{when == When::soon ? 30 : when == When::late ? 1200 : 0};
    connection.due.front() = simulated_now() + delay;
  }
  return true;
}

// Sends the next piece of the answer that is due.
bool World::answer(Connection& connection) {
  if (connection.unanswered.empty() || connection.descriptor < 0 || connection.has_half_closed ||
      connection.due.front() > simulated_now())
    return false;
  Arrival& arrival = *connection.unanswered.front();
  const AnswerPlan& plan = connection.plans.front();
  const std::size_t whole = arrival.answer.size();
  const std::size_t end = plan.ending == Ending::cut       ? whole * 2 / 3
                          : plan.ending == Ending::nothing ? 0
                                                           : whole;
  if (arrival.answer_sent < end) {
    const std::string_view rest = std::string_view(arrival.answer)
                                      .substr(arrival.answer_sent, end - arrival.answer_sent)
                                      .substr(0, std::max(plan.piece, whole / kMostPieces));
    const std::size_t taken = send(connection.descriptor, rest);
    arrival.answer_sent += taken;
    if (arrival.answer_sent < end) return taken > 0;
  }
  end_answer(connection);
  return true;
}

void World::end_answer(Connection& connection) {
  const AnswerPlan plan = connection.plans.front();
  Arrival& arrival = *connection.unanswered.front();
  std::string more;
  if (plan.ending == Ending::extra) more = stray_text(0);
  if (plan.ending == Ending::garbage) more = "garbage\r\n";
  arrival.answer.resize(arrival.answer_sent);
  arrival.answer.append(more, 0, send(connection.descriptor, more));
  arrival.answer_sent = arrival.answer.size();
  connection.answered = &arrival;
  connection.unanswered.pop_front();
  connection.plans.pop_front();
  connection.due.pop_front();
  // Only by its end does a client know that of an answer without a length.
  const bool is_until_close = arrival.answer.find("Content-Length") == std::string::npos &&
                              arrival.answer.find("chunked") == std::string::npos;
  if (plan.ending == Ending::half_close) {
    ::shutdown(connection.descriptor, SHUT_WR);
    connection.has_half_closed = arrival.has_server_closed = true;
  }
  if (plan.ending == Ending::close || plan.ending == Ending::cut ||
      plan.ending == Ending::nothing || is_until_close) {
    arrival.has_server_closed = true;
    close(connection);
  }
}

void World::close(Connection& connection) {
  if (connection.descriptor < 0) return;
  ::close(std::exchange(connection.descriptor, -1));
  for (Arrival* const arrival : connection.unanswered) arrival->has_server_closed = true;
}

void World::end() {
  for (Client& client : clients_) client.reads = true;
  for (int i = 0; i < 40 && !is_over(); ++i) {
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
  require(gauges.lingering_calls.value() == 0, "no abandoned request is left");
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

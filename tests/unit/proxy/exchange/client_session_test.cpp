// Requests served through a client session that is not HTTP/1's, has no socket, and takes its bytes
// in turns of its own, as a stream of HTTP/2 would.
#include "proxy/exchange/client_session.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/body.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/exchange/tunnel.hpp"
#include "proxy/generation/generation.hpp"
#include "support/proxy_under_test.hpp"
#include "unit/cache/rules/asking.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr std::size_t kAnyNumber = std::string_view::npos;

class ScriptedSession final : public ClientSession {
 public:
  // The body comes with receive(); `room`: so many bytes the client takes until take_more().
  ScriptedSession(std::string its_head, std::size_t room)
      : head_bytes_(std::move(its_head)), room_(room) {
    REQUIRE(http::parse_request(head_bytes_, head_) == http::Error::none);
  }

  // The client sends a piece of the body, takes bytes, leaves.
  void receive(std::string piece) {
    received_.push_back(std::move(piece));
    tell(readable_);
  }
  void leave() {
    is_gone_ = true;
    tell(readable_);
    tell(writable_);
  }
  void take_more(std::size_t bytes) {
    room_ += bytes;
    tell(writable_);
  }

  std::string problem{};   // the reason of the proxy's own response
  std::string sent{};      // of its body
  std::string degraded{};  // what is said of a response that is not whole
  bool is_next_known = true;
  bool is_closed = false;
  int client_turns = 0;

  http::RequestHead& request() override { return head_; }
  const ClientInfo& client() const override { return client_; }
  std::string_view head_text() const override { return head_bytes_; }

  BodyPiece start_body(std::uint64_t limit, std::string_view& at_hand) override {
    reader_.emplace(head_.framing, limit, http::BodyReader::Of::request);
    if (received_.empty()) return {};
    first_piece_ = received_.front();
    received_.pop_front();
    at_hand = first_piece_;
    return check(first_piece_);
  }
  BodyPiece receive_body(std::span<char> into) override {
    if (is_gone_) return {.status = BodyPiece::Status::client_gone};
    if (received_.empty()) return {.status = BodyPiece::Status::would_block};
    const std::string piece = received_.front();
    received_.pop_front();
    REQUIRE(piece.size() <= into.size());
    std::copy(piece.begin(), piece.end(), into.begin());
    return check(piece);
  }
  bool is_body_complete() const override { return reader_->done(); }
  Source& readable() override { return readable_; }

  bool start_relayed(const http::ResponseHead& head, http::ForwardedResponse with) override {
    return start(head.status, with);
  }
  bool start_cached(const http::StoredHead& head, bool not_modified,
                    http::ForwardedResponse with) override {
    return start(not_modified ? 304 : head.status, with);
  }
  bool start_fallback(const http::PreparedHead& head, http::ForwardedResponse with) override {
    return start(head.status, with);
  }
  void start_problem(http::Problem its_problem, bool next_is_known) override {
    start(its_problem.status, {});
    problem = name(its_problem.reason);
    is_next_known = next_is_known;
  }
  bool dechunks(const http::Framing&) const override { return true; }  // HTTP/2 has no chunks

  IoResult send(std::string_view body) override {
    if (is_gone_) return {IoResult::Status::failed};
    if (room_ == 0) return {IoResult::Status::would_block};
    has_pending_head_ = false;
    has_started_ = true;
    const std::size_t bytes = std::min(room_, body.size());
    if (room_ != kAnyNumber) room_ -= bytes;
    sent += body.substr(0, bytes);
    return {IoResult::Status::done, bytes};
  }
  IoResult send_from(Pipe&) override { return {IoResult::Status::failed}; }
  Source& writable() override { return writable_; }
  bool has_pending_head() const override { return has_pending_head_; }
  bool has_started() const override { return has_started_; }
  unsigned status() const override { return status_; }
  std::uint64_t body_bytes_sent() const override { return sent.size(); }
  void begin_client_turn() override { ++client_turns; }
  void end_client_turn() override {}

  Task<bool> send_interim(const http::ResponseHead&) override { co_return true; }
  Task<Switched> send_switching(const http::ResponseHead&, std::string_view,
                                std::string_view) override {
    co_return Switched::client_gone;
  }
  void hand_over(std::unique_ptr<Tunnel>) override {}

  void close_after_response() override {}
  void close_now() override { is_closed = true; }
  void abort() override { is_closed = true; }
  bool is_open() const override { return !is_closed; }

 private:
  static void tell(Source& source) {
    if (source.parked != nullptr) source.parked->on_ready(source);
  }
  BodyPiece check(std::string_view piece) {
    for (std::size_t at = 0; at < piece.size();) {
      const http::BodyReader::Step step = reader_->read(piece.substr(at));
      if (step.error != http::Error::none)
        return {.status = BodyPiece::Status::invalid, .error = step.error};
      at += step.consumed;
    }
    return {.bytes = piece.size()};
  }
  bool start(unsigned status, const http::ForwardedResponse& with) {
    REQUIRE(status_ == 0);  // one response to a request
    status_ = status;
    degraded = with.degraded;
    has_pending_head_ = true;
    return true;
  }

  std::string head_bytes_;
  http::RequestHead head_;
  ClientInfo client_;
  std::deque<std::string> received_;
  std::string first_piece_;
  std::optional<http::BodyReader> reader_;
  Source readable_;
  Source writable_;
  std::size_t room_;
  unsigned status_ = 0;
  bool has_pending_head_ = false;
  bool has_started_ = false;
  bool is_gone_ = false;
};

// A worker that has exchanges only.
class LoneOwner final : public Owner {
 public:
  LocalGeneration& newest_generation() override {
    FAIL("not asked for");
    std::abort();
  }
  void connection_opened() override {}
  void connection_idle(ClientConnection&) override {}
  void connection_active(ClientConnection&) override {}
  void connection_closed() override {}
  void end_session(Http1Session&) override {}
  void begin_tunnel(std::unique_ptr<Tunnel>, ClientConnection&) override {}
  void end_tunnel(Tunnel&) override {}
  void begin_refresh(const RefreshRequest&) override { ++refreshes; }
  void end_refresh(RefreshJob&) override {}
  void close_idle_elsewhere(const Generation&, UpstreamId, Parking&) override {}

  int refreshes = 0;
};

// One slot, and a route with this rule while overloaded, something prepared and a cache.
json settings(const json& rule) {
  json route = {{"name", "app"},
                {"match", {{"path", "/**"}}},
                {"class", "P1"},
                {"rules", {{"P1", rule}}},
                {"cache", {{"max_bytes", 1 << 20}, {"serve", "fresh"}}},
                {"fallback", {{"status", 203}, {"json", {{"body", "{\"items\":[]}"}}}}}};
  return {{"upstreams",
           {{{"name", "app"}, {"servers", {"127.0.0.1:1"}}, {"dispatch", {{"concurrency", 1}}}}}},
          {"limits", {{"body_bytes", 1000}}},
          {"routes", json::array({route})}};
}

// What exchanges need of a process, without any connection.
struct Process {
  explicit Process(const json& rule = {{"strategy", "allow"}})
      : Process(support::checked(settings(rule))) {}
  explicit Process(config::Config config)
      : log(config.log, std::make_shared<spdlog::sinks::null_sink_mt>()) {
    ReadConfiguration read = look_up_servers(std::move(config));
    REQUIRE(read.config);
    const Lineage lineage{.workers = {gauges}};
    auto shared =
        std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), lineage);
    plans.push_back(shared->upstreams[0].controller.plan());
    const LocalGeneration::Home home{0, loop, services.random, log};
    generation = new LocalGeneration(std::move(shared), home, plans);
    services.wall_clock.refresh();
  }

  void overload() {
    const config::Config& config = generation->config();
    generation->publish(UpstreamId{},
                        std::make_shared<overload::AdmissionPlan>(overload::build_plan(
                            config, config.upstreams[0], State::overloaded, Reason::error_burst)));
  }
  Gate& gate() { return generation->upstream(UpstreamId{}).gate; }
  void take_the_only_slot() {
    REQUIRE(gate().enter(slot_holder, {}, Clock::now()).kind == dispatch::Offer::Kind::granted);
  }

  std::shared_ptr<observe::WorkerGauges> gauges = std::make_shared<observe::WorkerGauges>();
  EventLoop loop;
  observe::Log log;
  LoneOwner owner;
  TunnelPermits permits;
  Services services{.owner = owner,
                    .loop = loop,
                    .log = log,
                    .gauges = *gauges,
                    .tunnel_permits = permits,
                    .random = Random(1),
                    .small_blocks = BlockPool(4096),
                    .large_blocks = BlockPool(128 * 1024)};
  Plans plans;
  LocalGenerationPtr generation;
  Ticket slot_holder;
};

// One request, served as far as it goes without being told of anything.
struct Request {
  Request(Process& process, std::string head, std::vector<std::string> body = {},
          std::size_t room = kAnyNumber)
      : session(std::move(head), room) {
    for (std::string& piece : body) session.receive(std::move(piece));
    exchange.emplace(process.services, *process.generation, session, parking, key);
    serve();
  }

  ScriptedSession session;
  Parking parking;
  cache::CacheKey key;
  std::optional<Exchange> exchange;
  bool is_over = false;

 private:
  Detached serve() {
    co_await exchange->serve(std::nullopt);
    is_over = true;
  }
};

std::string get(std::string_view fields = {}) {
  return "GET /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}
std::string post(std::string_view fields) {
  return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

}  // namespace

TEST_CASE("a request that is not well formed is answered without its upstream") {
  struct Case {
    std::string_view name;
    std::string head;
    unsigned status;
    std::string problem;
    bool is_next_known;
  };
  const std::vector<Case> cases{
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST", false},
      {"a tunnel", "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405, "BAD_REQUEST", false},
      {"a length and chunks", post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400,
       "BAD_REQUEST", false},
      {"a body above the limit", post("Content-Length: 1001\r\n"), 413, "BAD_REQUEST", false},
      {"no further than here", "OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n", 200, "",
       true},
  };
  Process process;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Request request(process, c.head);
    CHECK(request.is_over);
    CHECK(request.session.status() == c.status);
    CHECK(request.session.problem == c.problem);
    CHECK(request.session.is_next_known == c.is_next_known);
    CHECK(request.session.is_open());
  }
}

TEST_CASE("a refused request is answered without its upstream") {
  struct Case {
    std::string_view name;
    json rule;
    std::string head;
    unsigned status;  // 0: closed without an answer
    std::string problem;
  };
  const json deny = {{"strategy", "deny"}, {"probability", 1}};
  const json drop = {{"strategy", "drop"}, {"probability", 1}};
  const json budget = {{"strategy", "allow"}, {"budget", {{"rate", 0}, {"burst", 1}}}};
  const std::vector<Case> cases{
      {"denied", deny, get(), 503, "ERROR_BURST"},
      {"denied with a body on its way", deny, post("Content-Length: 10\r\n"), 503, "ERROR_BURST"},
      {"dropped", drop, get(), 0, ""},
      {"too late",
       {{"strategy", "allow"}},
       get("X-Request-Deadline: 0ms\r\n"),
       503,
       "DEADLINE_EXPIRED"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Process process(c.rule);
    process.overload();
    const Request request(process, c.head);
    CHECK(request.is_over);
    CHECK(request.session.status() == c.status);
    CHECK(request.session.problem == c.problem);
    CHECK(request.session.is_closed == (c.status == 0));
    CHECK(request.session.is_next_known);
  }
}

TEST_CASE("a route's fallback is sent as fast as the client takes it") {
  const json skip = {{"strategy", "degrade"}, {"mode", "skip_downstream"}};
  for (const std::size_t room : {kAnyNumber, std::size_t{1000}, std::size_t{5}, std::size_t{0}}) {
    CAPTURE(room);
    Process process(skip);
    process.overload();
    Request request(process, get(), {}, room);
    int turns = 0;
    for (; !request.is_over; ++turns) {
      REQUIRE(turns < 100);
      CHECK(request.session.client_turns == turns + 1);
      request.session.take_more(1);
    }
    CHECK((turns == 0) == (room > 12));
    CHECK(request.session.status() == 203);
    CHECK(request.session.sent == "{\"items\":[]}");
    CHECK(request.session.degraded == "skip_downstream");
  }
}

TEST_CASE("what is stored answers without its upstream") {
  struct Case {
    std::string_view name;
    seconds age;  // of what is stored, which is fresh for 60 s
    std::string fields;
    unsigned status;
    std::string sent;
    int refreshes = 0;
  };
  const std::vector<Case> cases{
      {"fresh", seconds(10), "", 200, "stored"},
      {"only if stored", seconds(10), "Cache-Control: only-if-cached\r\n", 200, "stored"},
      {"known to the client", seconds(10), "If-None-Match: \"1\"\r\n", 304, ""},
      {"stale and soon fresh again", seconds(70), "", 200, "stored", 1},
      {"too old", seconds(1000), "Cache-Control: only-if-cached\r\n", 504, ""},
      {"not fresh enough", seconds(10), "Cache-Control: only-if-cached, max-age=5\r\n", 504, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (const std::size_t room : {kAnyNumber, std::size_t{4}}) {
      Process process;
      cache::Request asked("/a");
      asked.authority = "h";
      cache::Response stored("stored", {{"Cache-Control", "max-age=60, stale-while-revalidate=60"},
                                        {"ETag", "\"1\""}});
      REQUIRE(
          cache::store(*process.generation->cache(RouteId{}), asked, stored, Clock::now() - c.age));
      Request request(process, get(c.fields), {}, room);
      if (room < c.sent.size()) {
        CHECK_FALSE(request.is_over);
        CHECK(request.session.sent == c.sent.substr(0, room));
        request.session.take_more(100);
      }
      CHECK(request.is_over);
      CHECK(request.session.status() == c.status);
      CHECK(request.session.sent == c.sent);
      CHECK(request.session.problem == (c.status == 504 ? "NOT_STORED" : ""));
      CHECK(process.owner.refreshes == c.refreshes);
    }
  }
}

TEST_CASE("a client that leaves while it is sent something ends its request") {
  const json skip = {{"strategy", "degrade"}, {"mode", "skip_downstream"}};
  Process process(skip);
  process.overload();
  Request request(process, get(), {}, 5);
  CHECK_FALSE(request.is_over);
  request.session.leave();
  CHECK(request.is_over);
  CHECK(request.session.is_closed);
}

TEST_CASE("a small body is read in pieces before the request asks for a slot") {
  struct Case {
    std::string_view name;
    std::string fields;
    std::vector<std::string> first, later;
    unsigned status;
    std::string problem;
  };
  // The deadline has passed: the gate refuses at once, and shows that the request came to it.
  const std::string late = "X-Request-Deadline: 0ms\r\n";
  const std::string counted = late + "Content-Length: 5\r\n";
  const std::string chunked = late + "Transfer-Encoding: chunked\r\n";
  const std::vector<Case> cases{
      {"at hand", counted, {"hello"}, {}, 503, "DEADLINE_EXPIRED"},
      {"in two pieces", counted, {"he"}, {"llo"}, 503, "DEADLINE_EXPIRED"},
      {"later", counted, {}, {"h", "e", "llo"}, 503, "DEADLINE_EXPIRED"},
      {"chunked", chunked, {"3\r\nab"}, {"c\r\n0\r", "\n\r\n"}, 503, "DEADLINE_EXPIRED"},
      {"a bad chunk at hand", chunked, {"x\r\n"}, {}, 400, "BAD_REQUEST"},
      {"a bad chunk later", chunked, {"3\r\nabc\r\n"}, {"x\r\n"}, 400, "BAD_REQUEST"},
      {"too large", chunked, {}, {"fff\r\n"}, 413, "BAD_REQUEST"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Process process;
    Request request(process, post(c.fields), c.first);
    for (const std::string& piece : c.later) {
      CHECK_FALSE(request.is_over);
      CHECK(request.parking.parked());
      CHECK(request.parking.deadline() < kNever);
      request.session.receive(piece);
    }
    CHECK(request.is_over);
    CHECK(request.session.status() == c.status);
    CHECK(request.session.problem == c.problem);
  }
}

TEST_CASE("a body that does not come in time and a client that leaves before end the request") {
  Process process;
  Request slow(process, post("Content-Length: 5\r\n"), {"he"});
  REQUIRE_FALSE(slow.is_over);
  slow.parking.wake(Wake::timeout);
  CHECK(slow.is_over);
  CHECK(slow.session.status() == 408);
  CHECK(slow.session.problem == "REQUEST_TIMEOUT");
  CHECK_FALSE(slow.session.is_next_known);

  Request gone(process, post("Content-Length: 5\r\n"), {"he"});
  REQUIRE_FALSE(gone.is_over);
  gone.session.leave();
  CHECK(gone.is_over);
  CHECK(gone.session.status() == 0);
  CHECK(gone.session.is_closed);
}

TEST_CASE("a request in the queue ends with its wait or with its client") {
  Process process;
  process.take_the_only_slot();
  Request gone(process, get());
  REQUIRE_FALSE(gone.is_over);
  CHECK(gone.parking.watches_client());
  gone.parking.wake(Wake::client_gone);
  CHECK(gone.is_over);
  CHECK(gone.session.status() == 0);
  CHECK(gone.session.is_closed);

  Request waits(process, get("X-Request-Deadline: 60000ms\r\n"));
  REQUIRE_FALSE(waits.is_over);
  process.loop.poll();
  CHECK_FALSE(waits.is_over);
  process.gate().expire(Clock::now() + std::chrono::hours(1));
  process.loop.poll();  // its worker is told
  CHECK(waits.is_over);
  CHECK(waits.session.status() == 503);
  CHECK(waits.session.is_open());
}

}  // namespace spillway::proxy

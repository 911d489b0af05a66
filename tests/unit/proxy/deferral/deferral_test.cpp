// Which requests are deferred, and what becomes of one that is written down, with a store in
// memory.
#include "proxy/deferral/deferral.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/jobs/job_queue.hpp"
#include "store/memory_store.hpp"
#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostBody = 2000;

config::Config deferring(const json& defer) {
  return settings_with({"127.0.0.1:1"}, [&](json& all) {
    json& route = all["routes"][0];
    route.erase("cache");
    route.erase("fallback");
    route["defer"] = {{"when", "overloaded"}, {"max_body_bytes", kMostBody}};
    route["defer"].update(defer);
  });
}

// One proxy with an open store, from which nothing is pulled.
struct StoringProcess {
  explicit StoringProcess(const json& defer = json::object())
      : process(deferring(defer)),
        queue(
            [] {
              return store::Opened{store::open_memory(), {}};
            },
            {[](jobs::LeasedJob, store::Epoch) {}, [] {}}, [](const store::Failure&) {}, "test") {
    ReadConfiguration read =
        resolve_servers(support::checked(support::configuration({"127.0.0.1:1"})));
    const ProcessContext other{.workers = {std::make_shared<observe::WorkerGauges>()}};
    REQUIRE_FALSE(queue.start(job_routes(
        std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), other))));
    process.services.jobs = &queue;
  }

  Process process;
  JobQueue queue;
};

struct DeferredOne {
  DeferredOne(StoringProcess& on, std::string head, const std::vector<std::string>& body = {})
      : asked(on.process, std::move(head)),
        deferral(on.process.services, asked.request, asked.session, asked.parking, asked.body,
                 asked.call, asked.admission.key()) {
    for (const std::string& piece : body) asked.session.receive(piece);
  }

  Answer is_written_down(const std::optional<Fault>& refused) {
    std::optional<Answer> answer;
    [](DeferredOne& its, std::optional<Fault> fault, std::optional<Answer>& told) -> Detached {
      const Answer got = co_await its.deferral.write_down(std::move(fault));
      told = got;
    }(*this, refused, answer);
    REQUIRE(runs_until(asked.process, [&] { return answer.has_value(); }));
    return *answer;
  }
  // As a fault: that of the answer. None: it is deferred.
  Reason refusal(const std::optional<Fault>& refused) {
    const Answer answer = is_written_down(refused);
    const Fault* const fault = fault_in(answer);
    CHECK(is<DeferredRequest>(answer) == (fault == nullptr));
    return fault != nullptr ? fault->reason : Reason::none;
  }
  Deferral::Turn turn() {
    std::optional<Deferral::Turn> turn;
    [](DeferredOne& its, std::optional<Deferral::Turn>& told) -> Detached {
      const Deferral::Turn got = co_await its.deferral.turn();
      told = got;
    }(*this, turn);
    REQUIRE(runs_until(asked.process, [&] { return turn.has_value(); }));
    return *turn;
  }

  AskedUpstream asked;
  Deferral deferral;
};

Fault refused_for_want_of_room() { return denied(Reason::queue_full, std::chrono::seconds(1)); }

std::string keyed(std::string_view key, std::string_view more = "Content-Length: 0\r\n") {
  return post("Idempotency-Key: " + std::string(key) + "\r\n" + std::string(more));
}

}  // namespace

TEST_CASE("a request is deferred in place of a refusal that is no fault of its own") {
  struct Case {
    std::string_view what;
    std::string head;
    Fault fault;
    bool takes;
    json defer = json::object();
  };
  const std::string empty = "Content-Length: 0\r\n";
  const std::string prefers = "Prefer: respond-async\r\n";
  const Fault full = refused_for_want_of_room();
  const std::vector<Case> cases{
      {"refused for want of room", post(empty), full, true},
      {"it waited in vain", post(empty), no_slot(Reason::queue_timeout, {}), true},
      {"all circuits are open", post(empty), circuit_open({}), true},
      {"its client has left", post(empty), client_gone(), false},
      {"it is invalid", post(empty), bad_request(http::Error::bad_field), false},
      {"a client that reads", get(), full, false},
      {"one that prefers to come again", get(prefers), full, true},
      {"one that asks what it may do", "OPTIONS /a HTTP/1.1\r\nHost: h\r\n\r\n", full, false},
      {"a body that is too long", post("Content-Length: 2001\r\n"), full, false},
      {"one that is just not", post("Content-Length: 2000\r\n"), full, true},
      {"one that may be", post("Transfer-Encoding: chunked\r\n"), full, true},
      {"only if its client asks for it", post(empty), full, false, {{"when", "prefer"}}},
      {"and it does", post(empty + prefers), full, true, {{"when", "prefer"}}},
      {"its tenant has used up what it may take", post(empty), denied(Reason::budget_exceeded, {}),
       false},
      {"and the route says so",
       post(empty),
       denied(Reason::budget_exceeded, {}),
       true,
       {{"include_limits", true}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    StoringProcess on(c.defer);
    DeferredOne request(on, c.head);
    CHECK(request.deferral.replaces(c.fault) == c.takes);
    on.process.services.jobs = nullptr;
    CHECK_FALSE(request.deferral.replaces(c.fault));
    CHECK_FALSE(request.deferral.is_configured());
  }
}

TEST_CASE("a request that was sent, or whose response has begun, is not deferred") {
  SteppedServer server;
  StoringProcess on;
  DeferredOne request(on, post("Content-Length: 0\r\n"));
  REQUIRE(request.deferral.replaces(refused_for_want_of_room()));
  request.asked.session.start_problem({.status = 503}, true);
  CHECK(request.deferral.replaces(refused_for_want_of_room()));
  const bool is_sent = request.asked.session.send({}).status == IoResult::Status::done;
  REQUIRE(is_sent);
  CHECK_FALSE(request.deferral.replaces(refused_for_want_of_room()));
}

TEST_CASE("a request is written down whole, or its refusal or a fault of its own answers") {
  struct Case {
    std::string_view what;
    std::string fields;
    std::vector<std::string> body;
    bool is_refused;  // else it comes first
    Reason reason;
    unsigned status = 503;
    json defer = json::object();
  };
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::string long_chunk = "7d1\r\n" + std::string(2001, 'x') + "\r\n0\r\n\r\n";
  const json needs_key = {{"require_idempotency_key", true}};
  const std::vector<Case> cases{
      {"without a body", "Content-Length: 0\r\n", {}, true, Reason::none},
      {"in one piece", "Content-Length: 5\r\n", {"hello"}, true, Reason::none},
      {"in pieces", chunked, {"3\r\nhel", "\r\n2\r\nlo\r", "\n0\r\n\r\n"}, true, Reason::none},
      {"too long, which its chunks do not announce: its refusal stands",
       chunked,
       {long_chunk},
       true,
       Reason::queue_full},
      {"the same of one that is not refused",
       chunked,
       {long_chunk},
       false,
       Reason::bad_request,
       413},
      {"no chunk", chunked, {"x\r\n"}, true, Reason::bad_request, 400},
      {"a key that cannot be read",
       "Content-Length: 0\r\nIdempotency-Key: \"\r\n",
       {},
       true,
       Reason::bad_request,
       400},
      {"no key where one is required",
       "Content-Length: 0\r\n",
       {},
       true,
       Reason::bad_request,
       400,
       needs_key},
      {"a key where one is",
       "Content-Length: 0\r\nIdempotency-Key: \"1\"\r\n",
       {},
       true,
       Reason::none,
       0,
       needs_key},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    StoringProcess on(c.defer);
    DeferredOne request(on, post(c.fields), c.body);
    const Answer answer = request.is_written_down(
        c.is_refused ? std::optional(refused_for_want_of_room()) : std::nullopt);
    const Fault* const fault = fault_in(answer);
    CHECK((fault == nullptr) == (c.reason == Reason::none));
    if (fault != nullptr) CHECK(fault->reason == c.reason);
    if (fault != nullptr) CHECK(fault->status == c.status);
    CHECK(on.queue.counts().accepted.load() == (c.reason == Reason::none ? 1 : 0));
    CHECK_FALSE(request.asked.admission.key().is_held());
  }
}

TEST_CASE("requests with one key become one job, unless they are different ones") {
  StoringProcess on;
  DeferredOne first(on, keyed("\"1\""));
  REQUIRE(first.refusal(refused_for_want_of_room()) == Reason::none);
  SUBCASE("the same again") {
    DeferredOne again(on, keyed("\"1\""));
    CHECK(again.turn() == Deferral::Turn::later);  // although there is room for it
    CHECK(again.refusal(std::nullopt) == Reason::none);
    CHECK(again.deferral.job().id == first.deferral.job().id);
    CHECK(on.queue.counts().duplicates.load() == 1);
    CHECK(on.queue.counts().accepted.load() == 1);
  }
  SUBCASE("another one with its key") {
    DeferredOne other(on, keyed("\"1\"", "Content-Length: 1\r\n"), {"x"});
    CHECK(other.turn() == Deferral::Turn::later);
    CHECK(other.refusal(std::nullopt) == Reason::idempotency_mismatch);
  }
  SUBCASE("another key") {
    DeferredOne other(on, keyed("\"2\""));
    CHECK(other.turn() == Deferral::Turn::now);
    CHECK(other.asked.admission.key().is_held());
  }
}

TEST_CASE("while a request is answered live its key is its own") {
  StoringProcess on;
  {
    DeferredOne live(on, keyed("\"1\""));
    REQUIRE(live.turn() == Deferral::Turn::now);
    DeferredOne same(on, keyed("\"1\""));
    CHECK(same.turn() == Deferral::Turn::of_another);
    CHECK_FALSE(same.asked.admission.key().is_held());
    CHECK(same.refusal(refused_for_want_of_room()) == Reason::idempotency_conflict);
    CHECK(on.queue.counts().accepted.load() == 0);
  }
  DeferredOne later(on, keyed("\"1\""));
  CHECK(later.turn() == Deferral::Turn::now);
}

TEST_CASE("what is deferred at any rate does not ask whose turn it is") {
  StoringProcess on(json{{"when", "always"}});
  DeferredOne request(on, keyed("\"1\""));
  CHECK(request.deferral.comes_first());
  CHECK(request.turn() == Deferral::Turn::later);
  CHECK_FALSE(request.asked.admission.key().is_held());
}

TEST_CASE("a request does not overtake a job of its order") {
  StoringProcess on(json{{"order_by", "X-Cart"}});
  DeferredOne first(on, post("X-Cart: 1\r\nContent-Length: 0\r\n"));
  CHECK(first.turn() == Deferral::Turn::now);
  REQUIRE(first.refusal(refused_for_want_of_room()) == Reason::none);
  DeferredOne behind(on, post("X-Cart: 1\r\nContent-Length: 0\r\n"));
  CHECK(behind.turn() == Deferral::Turn::later);
  DeferredOne beside(on, post("X-Cart: 2\r\nContent-Length: 0\r\n"));
  CHECK(beside.turn() == Deferral::Turn::now);
  DeferredOne without(on, post("Content-Length: 0\r\n"));
  CHECK(without.turn() == Deferral::Turn::now);
}

TEST_CASE(
    "where the route's part of the store is full its refusal is the store's, duplicates not") {
  StoringProcess on(json{{"max_pending", 1}});
  DeferredOne first(on, keyed("\"1\""));
  REQUIRE(first.refusal(refused_for_want_of_room()) == Reason::none);
  DeferredOne second(on, keyed("\"2\""));
  CHECK(second.refusal(refused_for_want_of_room()) == Reason::store_full);
  CHECK(second.asked.admission.key().is_held());  // the store does not know it
  DeferredOne again(on, keyed("\"1\""));
  CHECK(again.refusal(refused_for_want_of_room()) == Reason::none);
}

TEST_CASE("a store that has ended takes nothing, and lets pass what there is room for") {
  StoringProcess on(json{{"order_by", "X-Cart"}});
  on.queue.stop();
  DeferredOne request(on, keyed("\"1\"", "X-Cart: 1\r\nContent-Length: 0\r\n"));
  CHECK(request.turn() == Deferral::Turn::now);
  CHECK(request.refusal(refused_for_want_of_room()) == Reason::store_unavailable);
}

TEST_CASE("a client that prefers to wait is told what was applied, however long it would") {
  struct Case {
    std::string fields, to_202, to_answer;
  };
  const std::vector<Case> cases{
      {"", "", "wait=0"},
      {"Prefer: respond-async\r\n", "respond-async", "wait=0"},
      {"Prefer: wait=2\r\n", "wait=2", "wait=2"},
      {"Prefer: respond-async, wait=100\r\n", "respond-async, wait=60", "wait=60"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.fields);
    StoringProcess on;
    DeferredOne request(on, post(c.fields + "Content-Length: 0\r\n"));
    REQUIRE(request.refusal(refused_for_want_of_room()) == Reason::none);
    CHECK(request.deferral.applied_to_202() == c.to_202);
    CHECK(request.deferral.applied_to_answer() == c.to_answer);
  }
}

}  // namespace spillway::proxy

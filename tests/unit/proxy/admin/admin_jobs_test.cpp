// The pages of deferred requests on a memory store that answers at once.
#include "proxy/admin/admin_jobs.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/admin/job_report.hpp"
#include "store/memory_store.hpp"

namespace spillway::proxy {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using beast_http::verb;
using nlohmann::json;
using std::chrono::milliseconds;

class Office {
 public:
  explicit Office(std::size_t jobs = 0) {
    for (std::size_t n = 0; n < jobs; ++n) write_down(static_cast<std::uint8_t>(n));
  }

  void write_down(std::uint8_t number) {
    store::Enqueue enqueue;
    enqueue.max_pending = 1000;
    enqueue.job.id.bytes[15] = number;
    enqueue.job.lane.route = number % 2 == 0 ? "even" : "odd";
    enqueue.job.method = "POST";
    enqueue.job.target = "/";
    enqueue.job.head = "POST / HTTP/1.1\r\nCookie: secret\r\n\r\n";
    enqueue.job.body = std::string(5000, 'x');
    enqueue.job.accepted = now;
    enqueue.job.expires = now + std::chrono::hours(1);
    enqueue.job.kept = std::chrono::hours(1);
    run(std::move(enqueue));
  }
  // A dead letter.
  void bury(std::size_t number, const char* route) {
    store::Bury bury;
    bury.job.id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
    bury.job.id.bytes[15] = static_cast<std::uint8_t>(number);
    bury.job.lane.route = route;
    bury.job.expires = now + std::chrono::hours(1);
    bury.job.kept = std::chrono::hours(1);
    run(std::move(bury));
  }
  // All of them end so.
  void expire_all() {
    now += std::chrono::hours(2);
    run(store::Sweep{.limit = 1000});
  }
  store::Command run(store::Command command) {
    store::Command* const one = &command;
    REQUIRE_FALSE(store->execute({&one, 1}, now));
    return command;
  }

  AdminResponse ask(verb method, std::string target, std::string body = {},
                    std::string_view type = "application/json", bool is_web_page = false) {
    AdminRequest request(method, target, 11);
    if (!type.empty()) request.set(beast_http::field::content_type, type);
    if (is_web_page) request.set(beast_http::field::origin, "http://localhost");
    request.body() = std::move(body);
    request.prepare_payload();
    asio::io_context io;
    JobsSource source;
    if (has_store) source.submit = [this](StoreCall& call) { return submit(call); };
    source.changed = [this](const observe::JobChange& change) { changes.push_back(change); };
    AdminJobs pages(io, std::move(source));
    auto response = asio::co_spawn(io, pages.answer(request, "127.0.0.1"), asio::use_future);
    io.run();
    pages.close();
    return finished(request, response.get());
  }
  json get(const std::string& target) {
    const AdminResponse response = ask(verb::get, target);
    CHECK(response.result_int() == 200);
    return json::parse(response.body());
  }
  json post(const std::string& target, const json& body) {
    const AdminResponse response = ask(verb::post, target, body.dump());
    CAPTURE(response.body());
    CHECK(response.result_int() == 200);
    return json::parse(response.body());
  }

  std::unique_ptr<store::JobStore> store = store::open_memory();
  jobs::WallTime now{milliseconds(1'795'464'000'000)};
  bool has_store = true;
  bool is_available = true;
  std::vector<observe::JobChange> changes;

 private:
  bool submit(StoreCall& call) {
    if (!is_available) return false;
    store::Command* const one = &call.command;
    if (auto failure = store->execute({&one, 1}, now)) call.failure = *failure;
    call.done();
    return true;
  }
};

std::string id(int number) {
  std::string text(32, '0');
  text[31] = "0123456789abcdef"[number];
  return text;
}

}  // namespace

TEST_CASE("jobs are listed in the order of acceptance, filtered, page by page") {
  Office office(5);
  const json all = office.get("/jobs");
  CHECK(all.at("jobs").size() == 5);
  CHECK(all.at("next").is_null());
  CHECK(office.get("/jobs?route=odd").at("jobs").size() == 2);
  CHECK(office.get("/jobs?state=dead").at("jobs").empty());
  const json first = office.get("/jobs?limit=3");
  REQUIRE(first.at("jobs").size() == 3);
  REQUIRE(first.at("next") == id(2));
  const json rest = office.get("/jobs?limit=3&after=" + id(2));
  REQUIRE(rest.at("jobs").size() == 2);
  CHECK(rest.at("jobs").at(0).at("id") == id(3));
  CHECK(rest.at("next").is_null());
  CHECK(office.ask(verb::head, "/jobs").body().empty());
}

TEST_CASE("what is rare among many jobs is replayed and purged by one request") {
  Office office;
  for (std::size_t n = 0; n <= store::kMostLookedAt; ++n) {
    office.bury(n, n == 0 || n == store::kMostLookedAt ? "rare" : "common");
  }
  const json rare{{"route", "rare"}, {"limit", 9}, {"dry_run", false}, {"per_second", 1}};
  json dry = rare;
  dry["dry_run"] = true;
  CHECK(office.post("/jobs/replay", dry).at("count") == 2);
  CHECK(office.changes.empty());
  CHECK(office.post("/jobs/replay", rare).at("count") == 2);
  REQUIRE(office.changes.size() == 2);  // a step each
  CHECK(office.changes[0].count + office.changes[1].count == 2);
  const json jobs = office.get("/jobs?route=rare").at("jobs");
  REQUIRE(jobs.size() == 1);  // of the first page
  const store::Command last = office.run(store::Find{
      .id = {.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 39, 16}}, .job = std::nullopt});
  const auto& found = std::get<store::Find>(last).job;
  REQUIRE(found);
  CHECK(found->progress.due == office.now + std::chrono::seconds(1));  // behind the first
  office.changes.clear();
  CHECK(office.post("/jobs/purge", {{"route", "common"}, {"limit", 7}, {"dry_run", false}})
            .at("count") == 7);
  CHECK(office.changes.size() == 1);
}

TEST_CASE("of several steps those that change nothing have no line, whichever they are") {
  Office office;
  const auto steps = [&](const char* route) {
    office.changes.clear();
    const json what{{"route", route}, {"limit", 7}, {"dry_run", false}};
    const std::uint64_t count = office.post("/jobs/purge", what).at("count");
    std::vector<std::uint64_t> counts;
    for (const observe::JobChange& change : office.changes) counts.push_back(change.count);
    return std::pair(count, counts);
  };
  using Steps = std::pair<std::uint64_t, std::vector<std::uint64_t>>;
  office.bury(0, "first");
  CHECK((steps("unused") == Steps{0, {0}}));  // where one step does it
  const std::size_t last = store::kMostLookedAt + 2;
  for (std::size_t n = 1; n <= last; ++n) office.bury(n, n == last ? "last" : "common");
  CHECK((steps("unused") == Steps{0, {}}));
  CHECK((steps("first") == Steps{1, {1}}));
  CHECK((steps("last") == Steps{1, {1}}));
}

TEST_CASE("an inspected job shows its head without secrets and the first bytes of its body") {
  Office office(1);
  const json job = office.get("/jobs/" + id(0));
  CHECK(job.at("head") == "POST / HTTP/1.1\r\nCookie: <redacted>\r\n\r\n");
  CHECK(job.at("body").at("text").get<std::string>().size() == kShownBody);
  CHECK(job.at("body").at("is_cut") == true);
  CHECK(job.at("body_bytes") == 5000);
  CHECK(job.at("history").empty());
  CHECK(office.ask(verb::get, "/jobs/" + id(1)).result_int() == 404);
}

TEST_CASE("a cancel ends a job that waits, is repeatable, and too late for others") {
  Office office(1);
  const std::string path = "/jobs/" + id(0) + "/cancel";
  CHECK(office.post(path, json::object()).at("state") == "cancelled");
  REQUIRE(office.changes.size() == 1);
  CHECK(office.changes[0].kind == observe::JobChange::Kind::cancelled);
  CHECK(office.changes[0].count == 1);
  CHECK(office.changes[0].client == "127.0.0.1");
  CHECK(office.get("/jobs/" + id(0)).at("cause") == "cancelled_by_operator");
  CHECK(office.ask(verb::post, path).result_int() == 200);
  CHECK(office.changes.back().count == 0);
  CHECK(office.ask(verb::post, path, R"({"why":1})").result_int() == 400);
  CHECK(office.ask(verb::post, "/jobs/" + id(3) + "/cancel").result_int() == 404);
  office.write_down(5);
  office.now += std::chrono::hours(2);
  office.run(store::Sweep{.limit = 10});
  CHECK(office.ask(verb::post, "/jobs/" + id(5) + "/cancel").result_int() == 409);
}

TEST_CASE("a replay changes nothing until it is no dry run, and keeps the ids") {
  Office office(4);
  office.expire_all();
  const json dry = office.post("/jobs/replay", json::object());
  CHECK(dry.at("dry_run") == true);
  CHECK(dry.at("count") == 4);
  CHECK(office.changes.empty());
  CHECK(office.get("/jobs?state=queued").at("jobs").empty());
  const json real = office.post(
      "/jobs/replay", {{"dry_run", false}, {"limit", 3}, {"per_second", 1}, {"route", "odd"}});
  CHECK(real == json{{"dry_run", false}, {"count", 2}, {"jobs", {id(1), id(3)}}});
  const json queued = office.get("/jobs?state=queued").at("jobs");
  REQUIRE(queued.size() == 2);
  CHECK(queued.at(0).at("id") == id(1));
  CHECK(queued.at(0).at("due_at") == "2026-11-23T22:00:00.000Z");
  CHECK(queued.at(1).at("due_at") == "2026-11-23T22:00:01.000Z");
  REQUIRE(office.changes.size() == 1);
  CHECK(office.changes[0].count == 2);
  CHECK(office.changes[0].filter.route == "odd");
}

TEST_CASE("jobs that are replayed slowly do not expire before their turn") {
  Office office(3);
  office.expire_all();
  office.post("/jobs/replay", {{"dry_run", false}, {"limit", 3}, {"per_second", 0.001}});
  CHECK(office.get("/jobs/" + id(2)).at("expires_at") == "2026-11-24T22:33:20.000Z");
}

TEST_CASE("a purge deletes what has ended, and nothing that waits") {
  Office office(4);
  office.expire_all();
  office.write_down(8);
  CHECK(office.post("/jobs/purge", json::object()) == json{{"dry_run", true}, {"count", 4}});
  CHECK(office.get("/jobs").at("jobs").size() == 5);
  CHECK(office.post("/jobs/purge", {{"dry_run", false}, {"limit", 3}}).at("count") == 3);
  CHECK(office.post("/jobs/purge", {{"dry_run", false}, {"id", id(3)}}).at("count") == 1);
  CHECK(office.post("/jobs/purge", {{"dry_run", false}, {"id", id(8)}}).at("count") == 0);
  CHECK(office.get("/jobs").at("jobs").size() == 1);
  CHECK(office.changes.size() == 3);
}

TEST_CASE("pages of deferred requests refuse what they do not understand") {
  Office office;
  CHECK(office.ask(verb::get, "/jobs?stat=dead").result_int() == 400);
  CHECK(office.ask(verb::get, "/jobs/x").result_int() == 404);
  CHECK(office.ask(verb::post, "/jobs/replay", "{").result_int() == 400);
  CHECK(office.ask(verb::post, "/jobs/purge", R"({"dry_run":false})").result_int() == 400);
  CHECK(office.ask(verb::post, "/jobs/purge", "{}", "text/plain").result_int() == 415);
  CHECK(office.ask(verb::post, "/jobs/purge", "{}", "").result_int() == 415);
  CHECK(office.ask(verb::post, "/jobs/purge", "{}", "application/json", true).result_int() == 403);
  const AdminResponse wrong = office.ask(verb::get, "/jobs/replay");
  CHECK(wrong.result_int() == 405);
  CHECK(wrong[beast_http::field::allow] == "POST");
  CHECK(office.ask(verb::delete_, "/jobs")[beast_http::field::allow] == "GET, HEAD");
  CHECK(office.changes.empty());
}

TEST_CASE("without deferred requests the pages say so, and without a store that it is missing") {
  Office office;
  office.is_available = false;
  const AdminResponse away = office.ask(verb::get, "/jobs");
  CHECK(away.result_int() == 503);
  CHECK(json::parse(away.body()).at("detail") == "the store is unavailable: nothing was changed");
  office.has_store = false;
  const AdminResponse none = office.ask(verb::get, "/jobs");
  CHECK(none.result_int() == 404);
  CHECK(json::parse(none.body()).at("detail") ==
        "no route has \"defer\": there are no deferred requests");
}

}  // namespace spillway::proxy

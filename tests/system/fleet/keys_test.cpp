// Requests with one Idempotency-Key at two proxies at a time.
#include <doctest/doctest.h>

#include <csignal>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/fleet/fleet.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr std::chrono::milliseconds kLease{3000};
constexpr const char* kKey = "Idempotency-Key: order-7\r\n";
constexpr const char* kAsync = "Idempotency-Key: order-7\r\nPrefer: respond-async\r\n";

// A route on which requests are answered live as long as there is room.
json settings(const std::string& url, const char* when) {
  json all = fleet_settings(url, kLease, 4);
  all["routes"][0]["defer"] = {{"when", when}};
  return all;
}

struct Shops {
  explicit Shops(const char* when) : when_(when) {
    const char* const registered = "SELECT count(*) FROM spillway.proxy";
    for (const Deadline deadline; Postgres::ask(url_, registered) != "2" && !deadline.passed();) {
    }
  }

  Message ask(const Member& member, std::string_view lines = kKey) const {
    return RawClient(member.proxy.port()).ask(post("/order", "x", lines));
  }
  // The answer once it is another one than 409.
  Message ask_again(const Member& member, std::string_view lines = kKey) const {
    Message answer;
    const Deadline deadline;
    do {
      answer = ask(member, lines);
    } while (answer.status() == 409 && !deadline.passed());
    return answer;
  }

 private:
  Postgres postgres_;
  const std::string url_ = postgres_.create_database();
  const char* const when_;

 public:
  Member one{"one", 0, settings(url_, when_)}, two{"two", 0, settings(url_, when_)};
};

void check_in_hand(const Message& answer) {
  CAPTURE(answer.body);
  CHECK(answer.status() == 409);
  CHECK(answer.field("Retry-After") == "1");
  CHECK(json::parse(answer.body).value("reason", "") == "IDEMPOTENCY_CONFLICT");
}

}  // namespace

TEST_CASE("a request that comes again at another proxy while it is answered is not sent again") {
  Shops shops("overloaded");
  RawClient first(shops.one.proxy.port());
  first.send(post("/order", "x", kKey));
  REQUIRE(shops.one.backend.comes_to_hold(1));
  for (int n = 0; n < 4; ++n) check_in_hand(shops.ask(shops.two));
  CHECK(shops.two.backend.came().empty());
  // The control: another key.
  shops.two.backend.answer(1);
  CHECK(shops.ask(shops.two, "Idempotency-Key: order-8\r\n").status() == 200);
  shops.one.backend.answer_all();
  CHECK(first.read_response().status() == 200);
  shops.two.backend.answer_all();
  CHECK(shops.ask_again(shops.two).status() == 200);
  CHECK(shops.ask_again(shops.one).status() == 200);
}

TEST_CASE("a request that one proxy answers another one does not write down") {
  Shops shops("prefer");
  RawClient first(shops.one.proxy.port());
  first.send(post("/order", "x", kKey));
  REQUIRE(shops.one.backend.comes_to_hold(1));
  check_in_hand(shops.ask(shops.two, kAsync));
  CHECK(shops.two.metric("spillway_jobs_accepted_total") == 0);
  shops.one.backend.answer_all();
  CHECK(first.read_response().status() == 200);
  CHECK(shops.ask_again(shops.two, kAsync).status() == 202);
  CHECK_MESSAGE(shops.ask(shops.one).status() == 202, "the job's");
}

TEST_CASE("a key that a killed proxy had in hand is free once its lease is over") {
  Shops shops("overloaded");
  RawClient first(shops.one.proxy.port());
  first.send(post("/order", "x", kKey));
  REQUIRE(shops.one.backend.comes_to_hold(1));
  check_in_hand(shops.ask(shops.two));
  shops.one.proxy.process().signal(SIGKILL);
  check_in_hand(shops.ask(shops.two));
  shops.two.backend.answer_all();
  CHECK(shops.ask_again(shops.two).status() == 200);
}

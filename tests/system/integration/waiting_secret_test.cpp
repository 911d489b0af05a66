// The secret of visitors' tokens is replaced while they wait.
#include <doctest/doctest.h>

#include <csignal>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kReplace = "/room-secret/replace";

json kept_at(const std::string& url) {
  return selling(always(), {{"store", {{"url", url}}}, {"log", {{"level", "info"}}}});
}

// One visitor is inside, and the other one waits: its ticket.
std::string come_in_and_wait(Visitor& inside, Visitor& waiting) {
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  return waiting.join().at("id");
}

std::string in_file(const TemporaryDirectory& directory) {
  return "sqlite:" + (directory.path() / "jobs.db").string();
}

}  // namespace

TEST_CASE("no visitor loses a place by the replacement of the secret, also with an old token") {
  const TemporaryDirectory directory;
  for (const std::string& url : {std::string("memory:"), in_file(directory)}) {
    CAPTURE(url);
    Shop shop;
    ProxyProcess proxy(configuration({shop.address()}, kept_at(url)));
    const Operator desk{proxy.admin_port()};
    Visitor inside(proxy), waiting(proxy);
    const std::string id = come_in_and_wait(inside, waiting);
    const std::string old = waiting.jar();
    CHECK(desk.get("/room-secret") ==
          json({{"number", 1}, {"signs_from", nullptr}, {"former_until", nullptr}}));

    const json replaced = desk.post(kReplace);
    CHECK(replaced.at("number") == 2);
    CHECK(replaced.at("former_until").is_string());
    CHECK(desk.get("/room-secret") == replaced);
    CHECK(waiting.poll().at("id") == id);
    CHECK(waiting.jar() != old);  // signed anew
    CHECK(is_in(inside.visit()));
    Visitor other(proxy);
    other.carry(old);
    CHECK(other.poll().at("id") == id);
    // A second one in that time would make the first one's tokens void.
    CHECK(desk.ask("POST", kReplace, "{}").status() == 409);
    CHECK(proxy.process().wait_for_output("room_secret_replaced"));
    CHECK(proxy.process().err().find("\"how\":\"gradual\"") != std::string::npos);
  }
}

TEST_CASE("a secret that is replaced at once makes all tokens void") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  const Operator desk{proxy.admin_port()};
  Visitor inside(proxy), waiting(proxy);
  const std::string id = come_in_and_wait(inside, waiting);
  desk.post(kReplace);
  const json replaced = desk.post(kReplace, {{"at_once", true}});
  CHECK(replaced.at("number") == 3);
  CHECK(replaced.at("former_until").is_null());
  CHECK(inside.visit().status() == 503);
  CHECK(waiting.poll().value("id", "") != id);
  CHECK(waiting.join().at("id") != id);
}

TEST_CASE("replaced secrets survive the process") {
  const TemporaryDirectory directory;
  Shop shop;
  std::string id;
  std::vector<std::string> jars;
  {
    ProxyProcess proxy(configuration({shop.address()}, kept_at(in_file(directory))));
    const Operator desk{proxy.admin_port()};
    Visitor waiting(proxy);
    id = waiting.join().at("id");
    jars.push_back(waiting.jar());
    desk.post(kReplace);
    waiting.poll();
    jars.push_back(waiting.jar());
    proxy.process().signal(SIGKILL);
  }
  ProxyProcess proxy(configuration({shop.address()}, kept_at(in_file(directory))));
  CHECK(Operator{proxy.admin_port()}.get("/room-secret").at("number") == 2);
  REQUIRE(jars[0] != jars[1]);
  for (const std::string& jar : jars) {
    Visitor waiting(proxy);
    waiting.carry(jar);
    CHECK(waiting.poll().at("id") == id);
  }
}

TEST_CASE("without a waiting room there is no secret") {
  Shop shop;
  ProxyUnderTest proxy(shop.address());
  const Operator desk{proxy.admin_port()};
  CHECK(desk.ask("GET", "/room-secret").status() == 404);
  CHECK(desk.ask("POST", kReplace, "{}").status() == 404);
}

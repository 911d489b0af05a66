// What is left of deferred requests on the disk, and what the start says about it.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "support/places.hpp"
#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kBody = "the-body-of-the-request";
constexpr const char* kAnswer = "the-body-of-the-answer";
constexpr const char* kField = "the-value-of-a-field";

class Vault {
 public:
  Vault() {
    write_key("one.key", 'a');
    write_key("other.key", 'b');
  }

  // `key`: empty for none.
  json settings(const std::string& key) const {
    json store{{"url", "sqlite:" + (directory_.path() / "jobs.db").string()}};
    if (!key.empty()) store["key_file"] = (directory_.path() / key).string();
    return configuration({peer_.address()},
                         deferring({{"store", std::move(store)}, {"log", {{"level", "error"}}}}));
  }
  // Whether the text stands anywhere in the files of the store.
  bool has(const std::string& text) const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (!entry.path().filename().string().starts_with("jobs.db")) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(file), {}};
      if (all.find(text) != std::string::npos) return true;
    }
    return false;
  }
  // A job that was done, by a process that has ended.
  std::string keep_one(const std::string& key) const {
    ProxyProcess proxy(settings(key));
    const std::string id =
        defer(proxy.port(), "/export/1", kBody, "X-Field: " + std::string(kField) + "\r\n");
    REQUIRE(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
    proxy.process().signal(SIGTERM);
    REQUIRE(proxy.process().wait() == 0);
    return id;
  }
  Finished start_with(const std::string& key) const {
    json all = settings(key);
    all.merge_patch({{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}});
    return run(
        {in_build("spillway"), "run", "--config", directory_.write("spillway.json", all.dump())});
  }

 private:
  void write_key(const char* name, char digit) {
    using std::filesystem::perms;
    std::filesystem::permissions(directory_.write(name, std::string(64, digit)),
                                 perms::owner_read | perms::owner_write);
  }

  TemporaryDirectory directory_;
  ScriptedPeer peer_{ok(kAnswer)};
};

}  // namespace

TEST_CASE("with key_file neither requests nor answers stand in the file, and answers are served") {
  Vault vault;
  const std::string id = vault.keep_one("one.key");
  for (const char* const text : {kBody, kAnswer, kField, "/export/1"}) {
    CAPTURE(text);
    CHECK_FALSE(vault.has(text));
  }
  ProxyUnderTest proxy(vault.settings("one.key"));
  const Message answer = RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id + "/response"));
  CHECK(answer.status() == 200);
  CHECK(answer.body == kAnswer);
}

TEST_CASE("control: without key_file all of it stands there") {
  Vault vault;
  vault.keep_one("");
  for (const char* const text : {kBody, kAnswer, kField, "/export/1"}) {
    CAPTURE(text);
    CHECK(vault.has(text));
  }
}

TEST_CASE("with another key_file, or with none, the proxy does not start and says why") {
  Vault vault;
  const std::string id = vault.keep_one("one.key");
  for (const char* const key : {"other.key", ""}) {
    CAPTURE(key);
    const Finished refused = vault.start_with(key);
    CHECK(refused.exit_code == 1);
    CHECK((refused.out + refused.err).find("written with another key_file, or with none") !=
          std::string::npos);
  }
  // The control: nothing has changed for the one that has the key.
  ProxyUnderTest proxy(vault.settings("one.key"));
  CHECK(RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id)).status() == 200);
}

TEST_CASE(
    "a job whose body is not all there is not sent: what follows would be taken for the rest") {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "jobs.db").string();
  const ScriptedPeer peer(ok(kAnswer));
  const auto settings = [&](const std::string& server) {
    return configuration({server}, deferring({{"store", {{"url", "sqlite:" + file}}}}));
  };
  {
    ProxyProcess proxy(settings("127.0.0.1:1"));  // nobody is there
    defer(proxy.port(), "/export/1", kBody);
    proxy.process().signal(SIGTERM);
    REQUIRE(proxy.process().wait() == 0);
  }
  const char* const cut =
      "import sqlite3, sys; it = sqlite3.connect(sys.argv[1]);"
      "it.execute(\"UPDATE requests SET body = x'61'\"); it.commit()";
  REQUIRE(run({"/usr/bin/python3", "-c", cut, file}).exit_code == 0);
  ProxyProcess proxy(settings(peer.address()));
  CHECK(Operator{proxy.admin_port()}.come_to(1, "state=dead&cause=route_gone"));
  CHECK(peer.seen().requests == 0);
}

TEST_CASE("the start warns that jobs in memory are lost with the process") {
  const std::string warning = "deferred requests are lost when this process ends";
  const TemporaryDirectory directory;
  const RefusingPort refusing;
  const std::string url = "sqlite:" + (directory.path() / "jobs.db").string();
  for (const std::string& store : {std::string("memory:"), url}) {
    CAPTURE(store);
    ProxyProcess proxy(
        configuration({refusing.address()},
                      deferring({{"store", {{"url", store}}}, {"log", {{"level", "warn"}}}})));
    proxy.process().signal(SIGTERM);
    CHECK(proxy.process().wait() == 0);
    const std::string said = proxy.process().out() + proxy.process().err();
    CHECK((said.find(warning) != std::string::npos) == (store == "memory:"));
  }
}

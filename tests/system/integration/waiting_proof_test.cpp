// The proof by which a backend knows that a waiting room let a request in.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "support/places.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kKey(32, 'k');
const std::string kNextKey(32, 'n');

HmacKey as_key(const std::string& bytes) {
  HmacKey key;
  std::copy_n(bytes.begin(), key.size(), key.begin());
  return key;
}

// A file with a key, for its owner alone.
class KeyFile {
 public:
  KeyFile() { write(kKey); }
  void write(const std::string& text) const {
    directory_.write("proof.key", text);
    set_mode(0600);
  }
  void set_mode(unsigned mode) const { REQUIRE(::chmod(path().c_str(), mode) == 0); }
  std::string path() const { return (directory_.path() / "proof.key").string(); }

 private:
  TemporaryDirectory directory_;
};

// As docs/waiting-room-reference.md says.
bool is_proved(const std::string& field, const std::string& key) {
  const std::size_t end = field.rfind("; sig=");
  if (end == std::string::npos) return false;
  const Sha256 code = hmac_sha256(as_key(key), field.substr(0, end));
  std::string expected(base64url_size(code.size()), '\0');
  write_base64url(code, expected.data());
  const std::string said = field.substr(0, end);
  const long at = std::stol(said.substr(said.rfind('=') + 1));
  return field.substr(end + 6) == expected && std::abs(std::time(nullptr) - at) < 30;
}

std::string told(const Shop& shop) {
  return shop.requests().back().field("Spillway-Pass").value_or("");
}

std::string docs() {
  std::ifstream file(support::in_source("docs/waiting-room-reference.md"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string all;
  std::array<char, 256> some;
  while (pipe && std::fgets(some.data(), some.size(), pipe.get()) != nullptr) all += some.data();
  return all;
}

}  // namespace

TEST_CASE("who was let in is told to the backend with a proof, and nobody can send one") {
  const KeyFile key;
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"proof_key_file", key.path()}}));
  Visitor visitor(proxy, kNavigation + "Spillway-Pass: room=sale; id=0; at=0; sig=0\r\n" +
                             "Spillway_Pass: room=sale; id=0; at=0; sig=0\r\n");
  for (int n = 0; n < 2; ++n) {
    CHECK(is_in(visitor.visit()));
    const std::string field = told(shop);
    CAPTURE(field);
    CHECK(field.starts_with("room=sale; id="));
    CHECK(is_proved(field, kKey));
    CHECK_FALSE(is_proved(field, kNextKey));
    CHECK_FALSE(is_proved("room=sale2" + field.substr(9), kKey));
    CHECK(count(shop.requests().back().fields, "Spillway-Pass") == 1);
    CHECK(count(shop.requests().back().fields, "Spillway_Pass") == 0);
  }
  CHECK(is_in(visitor.ask("GET", "/other", kNavigation + "Spillway-Pass: made up\r\n")));
  CHECK(told(shop).empty());  // no waiting room there
}

TEST_CASE("the lines that the manual shows verify the proof") {
  if (output_of("python3 -c 'print(7)' 2>&1") != "7\n") {
    MESSAGE("no python3: not run");
    return;
  }
  const std::string text = docs();
  const std::size_t begin = text.find("```python\n", text.find("### The proof to the backend"));
  REQUIRE(begin != std::string::npos);
  const std::string lines = text.substr(begin + 10, text.find("```", begin + 10) - begin - 10);
  const KeyFile key;
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"proof_key_file", key.path()}}));
  CHECK(is_in(Visitor(proxy).visit()));
  const std::string field = told(shop);
  std::string changed = field;
  changed[20] = changed[20] == '0' ? '1' : '0';
  const TemporaryDirectory directory;
  const auto shown = [](const std::string& value) { return "\"" + value + "\""; };
  const auto file = directory.write(
      "verify.py", lines + "\nfor field in [" + shown(field) + ", " + shown(changed) + ", " +
                       shown(field.substr(0, field.rfind("; at="))) +
                       ", \"\"]:\n    print(is_let_in(field, b\"" + kKey +
                       "\"))\nprint(is_let_in(" + shown(field) + ", b\"" + kNextKey + "\"))\n");
  CHECK(output_of("python3 " + file.string() + " 2>&1") == "True\nFalse\nFalse\nFalse\nFalse\n");
}

TEST_CASE("a key that others may read, or that is none, is refused at the start and at a reload") {
  const KeyFile key;
  Shop shop;
  const json settings = selling({{"proof_key_file", key.path()}});
  const auto refused = [&](const char* why) {
    CHECK_THROWS_WITH_AS(ProxyUnderTest(shop.address(), settings), doctest::Contains(why),
                         proxy::BadConfiguration);
  };
  ProxyUnderTest proxy(configuration({shop.address()}, settings));
  key.set_mode(0640);
  refused("$.routes[0].waiting_room.proof_key_file: ");
  refused("0600");
  const Message answer = proxy.reload(configuration({shop.address()}, settings));
  CHECK(answer.status() != 200);
  CHECK(answer.body.find("proof_key_file") != std::string::npos);
  CHECK(is_in(Visitor(proxy).visit()));
  CHECK(is_proved(told(shop), kKey));  // by the key it has
  key.write("short");
  refused("neither 32 bytes");
  const json elsewhere = selling({{"proof_key_file", key.path() + "2"}});
  CHECK_THROWS_WITH_AS(ProxyUnderTest(shop.address(), elsewhere), doctest::Contains("No such file"),
                       proxy::BadConfiguration);
}

TEST_CASE("each attempt of a deferred request has a proof of its own, by the key of then") {
  const KeyFile key;
  std::mutex mutex;
  std::string last;
  std::atomic<bool> accepts{false};
  ScriptedPeer backend([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      {
        const std::lock_guard lock(mutex);
        last = request->field("Spillway-Pass").value_or("");
      }
      proxy.send(accepts ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin"
                         : "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const auto seen = [&] {
    const std::lock_guard lock(mutex);
    return last;
  };
  json changes = selling({{"proof_key_file", key.path()}});
  changes["routes"][0]["defer"] = {
      {"when", "prefer"}, {"max_attempts", 100}, {"backoff", {{"base_ms", 100}, {"max_ms", 200}}}};
  const json settings = configuration({backend.address()}, changes);
  ProxyUnderTest proxy(settings);
  Visitor visitor(proxy);
  CHECK(visitor.visit().status() == 503);
  REQUIRE(visitor.jar().starts_with("spillway-sale=p"));
  const Message deferred =
      visitor.ask("POST", "/sale/order", "Prefer: respond-async\r\nContent-Length: 0\r\n");
  REQUIRE(deferred.status() == 202);
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(1, "state=retrying"));
  CHECK(is_proved(seen(), kKey));
  key.write(kNextKey);
  REQUIRE(proxy.reload(settings).status() == 200);
  const Deadline deadline(kPatience);
  while (!is_proved(seen(), kNextKey) && !deadline.passed()) std::this_thread::yield();
  accepts = true;
  REQUIRE(desk.come_to(1, "state=succeeded"));
  CAPTURE(seen());
  CHECK(is_proved(seen(), kNextKey));
  CHECK(seen().starts_with("room=sale; id="));
}

// The proof with which the upstream is told of a visitor's pass.
#include "proxy/visitors/pass_proof.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "unit/proxy/request/lone_process.hpp"
#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

constexpr std::string_view kPass = "room=sale; id=0123456789abcdef0123456789abcdef";
constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'764'000'000)};
// Of the key 00 01 … 1f, by another implementation.
constexpr std::string_view kProved =
    "room=sale; id=0123456789abcdef0123456789abcdef; at=1764000000; "
    "sig=PnwOIffssTvRxUjoqFc8hlOzZ5hA9VzqDgL2jxF9yR4";

HmacKey some_key() {
  HmacKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

// The route of the process has a waiting room; its upstream verifies passes if there is a key.
struct ProcessWithRoom : Process {
  explicit ProcessWithRoom(std::optional<HmacKey> key) {
    nlohmann::json json = settings({{"strategy", "allow"}});
    json["routes"][0]["waiting_room"] = nlohmann::json::object();
    config::Config config = support::checked(json);
    config.routes[0].waiting_room->proof.key = key;
    ReadConfiguration read = resolve_servers(std::move(config));
    REQUIRE(read.config);
    const ProcessContext lineage{
        .workers = {gauges},
        .visitors = std::make_shared<VisitorContext>(waiting::TokenKeys(some_key()), SipKey{1, 2})};
    auto shared =
        std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), lineage);
    const LocalGeneration::Home home{0, loop, services.random, log};
    generation = new LocalGeneration(std::move(shared), home, plans);
  }
};

std::string head_with(std::string_view pass) {
  return "POST /a HTTP/1.1\r\nHost: h\r\nSpillway-Pass: " + std::string(pass) +
         "\r\nX-A: 1\r\n\r\n";
}

}  // namespace

TEST_CASE("a proof is the pass, the time and a signature over both") {
  PassText text;
  CHECK(prove_pass(kPass, some_key(), kNow, text) == kProved);
  const auto signature = [](std::string_view proved) {
    return std::string(proved.substr(proved.find("sig=")));
  };
  PassText other;
  HmacKey changed = some_key();
  changed[31] ^= 1;
  CHECK(signature(prove_pass(kPass, changed, kNow, other)) != signature(kProved));
  CHECK(signature(prove_pass(kPass, some_key(), kNow + std::chrono::seconds(1), other)) !=
        signature(kProved));
  CHECK(signature(prove_pass("room=sold", some_key(), kNow, other)) != signature(kProved));
}

TEST_CASE("a pass that leaves no room for its proof gets none") {
  PassText text;
  CHECK(prove_pass(std::string(300, 'a'), some_key(), kNow, text).empty());
  CHECK(prove_pass(std::string(250, 'a'), some_key(), kNow, text).empty());
}

TEST_CASE("the upstream is told of a pass, with a proof where the waiting room has a key") {
  for (const bool has_key : {false, true}) {
    CAPTURE(has_key);
    ProcessWithRoom process(has_key ? std::optional(some_key()) : std::nullopt);
    LoneRequest request(process, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    PassText text;
    CHECK(told_pass(request.context, kNow, text).empty());  // it has no pass
    request.context.pass = kPass;
    CHECK(told_pass(request.context, kNow, text) == (has_key ? kProved : kPass));
  }
}

TEST_CASE("the head of a deferred request gets the proof of its attempt") {
  ProcessWithRoom process(some_key());
  const LoneRequest request(process, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  std::string head = head_with(kPass);
  prove_pass_in(head, request.context, kNow);
  CHECK(head == head_with(kProved));
  std::string without = "POST /a HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string before = without;
  prove_pass_in(without, request.context, kNow);
  CHECK(without == before);
}

TEST_CASE("control: without a key the head of a deferred request stays as it is") {
  ProcessWithRoom process(std::nullopt);
  const LoneRequest request(process, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  std::string head = head_with(kPass);
  prove_pass_in(head, request.context, kNow);
  CHECK(head == head_with(kPass));
}

}  // namespace spillway::proxy

// kill -9 at random moments: each visitor who was told a place keeps it, and who is inside stays.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/rounds.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const int kRounds = rounds_of(200);
constexpr std::size_t kVisitors = 60;
constexpr int kMost = 20'000;  // requests of a round

json settings(const std::string& shop, const TemporaryDirectory& directory) {
  return configuration({shop},
                       {{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                        {"log", {{"level", "error"}}},
                        {"routes",
                         {{{"name", "sale"},
                           {"match", {{"path", "/sale"}}},
                           {"class", "P1"},
                           {"waiting_room",
                            {{"active_sessions", 10},
                             {"when", "always"},
                             {"expected_stay_ms", 1000},
                             {"secure_cookie", false}}}}}}});
}

// What a browser has of the sale, and what it was told last.
struct Visitor {
  std::string cookie;
  TimePoint asked{};  // its first contact: the proxy read its arrival between these two
  TimePoint answered{};
  bool is_leaving = false;  // whether it has left is not known
  long position = 0;        // 0: it is not waiting

  bool holds(char kind) const { return cookie.starts_with("spillway-sale=") && cookie[14] == kind; }
};

class Crowd {
 public:
  explicit Crowd(std::uint32_t seed) : random_(seed) {}

  // Somebody does something, until the proxy is gone.
  void act(std::uint16_t port, std::atomic<int>& done) {
    try {
      RawClient client(port);
      for (;; ++done, done.notify_one()) act(client);
    } catch (const std::exception&) {  // killed
      done = kMost;
      done.notify_one();
    }
  }
  // What a former process told holds: fails the test case if not.
  void check(std::uint16_t port) {
    RawClient client(port);
    std::erase_if(visitors_, [](const Visitor& visitor) { return visitor.is_leaving; });
    for (Visitor& visitor : visitors_) {
      visitor.position = 0;
      if (visitor.holds('p')) {
        ++passes_;
        CHECK(visit(client, visitor).status() == 200);
      } else if (visitor.holds('t')) {
        ++tickets_;
        const std::string state = poll(client, visitor);
        CAPTURE(state);
        CHECK((state == "waiting" || state == "processing" || state == "fulfilled"));
      }
    }
    for (const Visitor& one : visitors_) {
      for (const Visitor& other : visitors_) {
        const bool are_waiting = one.position > 0 && other.position > 0;
        // Arrivals are known to the millisecond.
        if (are_waiting && one.answered + Milliseconds(2) < other.asked) {
          ++pairs_;
          if (one.position >= other.position) ++out_of_order_;
        }
      }
    }
    CHECK(out_of_order_ == 0);
  }
  long tickets() const { return tickets_; }
  long passes() const { return passes_; }
  long pairs() const { return pairs_; }

 private:
  void act(RawClient& client) {
    if (visitors_.size() < kVisitors && random_() % 4 == 0) {
      Visitor visitor{.asked = Clock::now()};
      visit(client, visitor);
      visitor.answered = Clock::now();
      visitors_.push_back(visitor);
      return;
    }
    if (visitors_.empty()) return;
    Visitor& visitor = visitors_[random_() % visitors_.size()];
    if (visitor.holds('p') && random_() % 1000 == 0) {
      visitor.is_leaving = true;
      ask(client, visitor, "POST /_spillway/rooms/sale/leave",
          "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
    } else if (visitor.holds('p') || random_() % 2 == 0) {
      if (!visitor.is_leaving) visit(client, visitor);
    } else if (!visitor.is_leaving) {
      poll(client, visitor);
    }
  }
  static Message ask(RawClient& client, Visitor& visitor, const std::string& line,
                     const std::string& fields) {
    const std::string cookie = visitor.cookie.empty() ? "" : "Cookie: " + visitor.cookie + "\r\n";
    Message answer = client.ask(line + " HTTP/1.1\r\nHost: a\r\n" + cookie + fields + "\r\n");
    if (const auto set = answer.field("Set-Cookie"))
      visitor.cookie = set->substr(0, set->find(';'));
    return answer;
  }
  static Message visit(RawClient& client, Visitor& visitor) {
    return ask(client, visitor, "GET /sale",
               "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n");
  }
  static std::string poll(RawClient& client, Visitor& visitor) {
    const Message answer =
        ask(client, visitor, "GET /_spillway/rooms/sale/ticket", "Sec-Fetch-Mode: cors\r\n");
    if (answer.status() != 200) return "status " + std::to_string(answer.status());
    const json told = json::parse(answer.body);
    visitor.position = told.value("position", 0L);
    return told.value("state", "");
  }

  std::mt19937 random_;
  std::vector<Visitor> visitors_;
  long tickets_ = 0;
  long passes_ = 0;
  long pairs_ = 0;
  long out_of_order_ = 0;
};

}  // namespace

TEST_CASE("visitors of a proxy that is killed at any moment keep their places, order and passes") {
  const TemporaryDirectory directory;
  ScriptedPeer shop([](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (!proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin")) return;
    }
  });
  Crowd crowd(20261124);
  std::mt19937 random(20261124);
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    ProxyProcess proxy(settings(shop.address(), directory));
    crowd.check(proxy.port());
    std::atomic<int> done = 0;
    std::thread clients([&] { crowd.act(proxy.port(), done); });
    // Most of them before much is written, some after visitors were called.
    const int wanted = static_cast<int>(random() % (round % 4 == 0 ? kMost : kMost / 30));
    for (int seen = 0; seen < wanted; seen = done) done.wait(seen);
    proxy.process().signal(SIGKILL);
    clients.join();
  }
  ProxyProcess proxy(settings(shop.address(), directory));
  crowd.check(proxy.port());
  MESSAGE(crowd.tickets(), " tickets, ", crowd.passes(), " passes, ", crowd.pairs(),
          " pairs in order after ", kRounds, " kills");
  CHECK(crowd.tickets() > 5 * kRounds);
  CHECK(crowd.passes() > kRounds / 4);
}

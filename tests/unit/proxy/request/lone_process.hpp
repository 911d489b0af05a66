// What exchanges need of a process, without any connection: one worker's services and one
// configuration with one upstream, which is not there.
#pragma once

#include <doctest/doctest.h>
#include <spdlog/sinks/null_sink.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "overload/admission/plan.hpp"
#include "proxy/call/abandoned_call.hpp"
#include "proxy/exchange/background_refresh.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/request/owner/services.hpp"
#include "support/proxy_under_test.hpp"

namespace spillway::proxy {

// A worker that has exchanges only, and what they leave behind.
class LoneOwner final : public Owner {
 public:
  LocalGeneration& newest_generation() override {
    FAIL("not asked for");
    std::abort();
  }
  void connection_opened() override {}
  void connection_idle(ClientConnection&) override {}
  void connection_active(ClientConnection&) override {}
  void connection_closed(bool) override {}
  bool needs_room() override { return is_full; }
  bool give_way(ClientConnection&) override { return false; }
  void give_way_no_more(ClientConnection&) override {}
  bool ends_with_response(ClientConnection&, bool) override { return false; }
  void give_back_memory() override {}
  void begin(Owned& object) override {
    if (object.kind() == OwnedKind::refresh) ++refreshes;
    as_it_is(object, [this](auto& begun) { swept.push_back(&begun); });
  }
  void end(Owned& object) override {
    as_it_is(object, [this](auto& ended) {
      std::erase(swept, &ended);
      delete &ended;
    });
  }
  void close_idle_elsewhere(const Generation&, UpstreamId, Parking&) override {}

  void abandon() {
    while (!swept.empty()) {
      swept.back()->abandon();
      end(*swept.back());
    }
  }

  std::vector<Swept*> swept{};  // what was begun and has not ended
  int refreshes = 0;            // that were begun
  bool is_full = false;

 private:
  template <class Act>
  static void as_it_is(Owned& object, const Act& act) {
    switch (object.kind()) {
      case OwnedKind::refresh: return act(static_cast<BackgroundRefresh&>(object));
      case OwnedKind::abandoned_call: return act(static_cast<AbandonedCall&>(object));
      default: FAIL("not asked for");
    }
  }
};

// One slot, and a route with this rule while overloaded, something prepared and a cache.
inline nlohmann::json settings(const nlohmann::json& rule) {
  nlohmann::json route = {{"name", "app"},
                          {"match", {{"path", "/**"}}},
                          {"class", "P1"},
                          {"rules", {{"P1", rule}}},
                          {"cache", {{"max_bytes", 1 << 20}, {"serve", "fresh"}}},
                          {"fallback", {{"status", 203}, {"json", {{"body", "{\"items\":[]}"}}}}}};
  return {{"upstreams",
           {{{"name", "app"}, {"servers", {"127.0.0.1:1"}}, {"dispatch", {{"concurrency", 1}}}}}},
          {"limits", {{"body_bytes", 1000}}},
          {"routes", nlohmann::json::array({route})}};
}

struct Process {
  explicit Process(const nlohmann::json& rule = {{"strategy", "allow"}})
      : Process(support::checked(settings(rule))) {}
  explicit Process(config::Config config, std::shared_ptr<spdlog::sinks::sink> sink =
                                              std::make_shared<spdlog::sinks::null_sink_mt>())
      : log(config.log, std::move(sink)) {
    ReadConfiguration read = resolve_servers(std::move(config));
    REQUIRE(read.config);
    const ProcessContext lineage{
        .workers = {gauges},
        .visitors = std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2})};
    auto shared =
        std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), lineage);
    plans.push_back(shared->upstreams[0].controller.plan());
    const LocalGeneration::Home home{0, loop, services.random, log};
    generation = new LocalGeneration(std::move(shared), home, plans);
    services.wall_clock.refresh();
  }

  ~Process() { owner.abandon(); }

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
  bool has_free_slot() {
    Ticket asks;
    const TimePoint now = Clock::now();
    const bool is_granted = gate().enter(asks, {}, now).kind == dispatch::Offer::Kind::granted;
    if (is_granted) gate().leave(asks.served_as, Duration{0}, now);
    if (!is_granted) gate().cancel(asks, now);
    return is_granted;
  }

  std::shared_ptr<observe::WorkerGauges> gauges = std::make_shared<observe::WorkerGauges>();
  EventLoop loop;
  observe::Log log;
  LoneOwner owner;
  TunnelPermits permits;
  TempSpace temp_space;
  Services services{.owner = owner,
                    .loop = loop,
                    .log = log,
                    .gauges = *gauges,
                    .tunnel_permits = permits,
                    .temp_space = temp_space,
                    .jobs = nullptr,
                    .random = Random(1),
                    .small_blocks = BlockPool(4096),
                    .large_blocks = BlockPool(128 * 1024),
                    .memory_of_clients = traffic::ClientShares({1, 2})};
  Plans plans;
  LocalGenerationPtr generation;
  Ticket slot_holder;
};

}  // namespace spillway::proxy

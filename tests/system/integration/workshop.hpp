// A backend whose requests end when the test says so.
#pragma once

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "support/proxy_under_test.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {

// Says that a request ends only when it is told to; counts how many are at work at once.
class Workshop {
 public:
  // It sees nothing of a client that leaves.
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      most_ = std::max<int>(most_, ++at_work_);
      const bool is_over = proxy.wait(go);
      --at_work_;
      if (!is_over || !proxy.send(ok("done"))) return;
    }
  }};
  Event go;

  int most_at_work() const { return most_; }
  bool is_asked(std::size_t requests) const {
    return peer.wait_until([=](const auto& seen) { return seen.requests >= requests; });
  }

 private:
  std::atomic<int> at_work_{0};
  std::atomic<int> most_{0};
};

// Nothing is kept in files, and uploads are streamed.
inline nlohmann::json with_so_few_slots(int slots) {
  return streamed({{"dispatch", {{"concurrency", slots}}},
                   {"limits", {{"temp_file_bytes", 0}}},
                   {"classes", {{{"name", "P0"}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}}}},
                   {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}});
}

}  // namespace spillway::support

#include "system/soak/disturbances.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "system/soak/balance.hpp"

namespace spillway::soak {

namespace {

constexpr std::string_view kReloads = "spillway_config_reloads_total";
constexpr Milliseconds kStep{100};
constexpr Milliseconds kSlowness{60};

}  // namespace

Disturbances::Disturbances(Scene& scene, Backends& backends, ProxyChild& proxy,
                           std::string settings_file, std::uint64_t seed)
    : scene_(scene),
      backends_(backends),
      proxy_(proxy),
      settings_file_(std::move(settings_file)),
      random_(seed),
      reloads_(can_reload(proxy.page("/metrics"))),
      thread_([this] { run(); }) {}

bool Disturbances::can_reload(std::string_view metrics) { return has(metrics, kReloads); }

void Disturbances::end() {
  ending_.set();
  if (thread_.joinable()) thread_.join();
  backends_.busy.be_slow(Milliseconds{0});
  backends_.second.revive();
}

void Disturbances::run() {
  bool is_slow = false;
  bool is_dead = false;
  for (std::uint64_t step = 0; !ending_.wait(kStep); ++step) {
    if (step % 20 == 7) {  // every two seconds one of these may change
      if (random_.chance(0.5)) {
        is_slow = !is_slow;
        counts_.surges += is_slow;
        backends_.busy.be_slow(is_slow ? kSlowness : Milliseconds{0});
      }
      if (random_.chance(0.5)) {
        is_dead = !is_dead;
        counts_.deaths += is_dead;
        is_dead ? backends_.second.die() : backends_.second.revive();
      }
    }
    if (reloads_ && step % 30 == 13) reload();
  }
}

// One at a time, each seen through to its end: signals that come together count once.
void Disturbances::reload() {
  const bool is_wrong = random_.chance(0.25);
  if (!is_wrong) variant_ = variant_ == Variant::first ? Variant::second : Variant::first;
  const std::string aside = settings_file_ + ".new";
  std::ofstream(aside) << settings(backends_.servers(), is_wrong ? Variant::wrong : variant_);
  std::filesystem::rename(aside, settings_file_);
  const auto counted = [&] { return sum(proxy_.page("/metrics"), kReloads); };
  const double before = counted();
  proxy_.signal(SIGHUP);
  const Deadline deadline(kPatience);
  while (counted() == before) {
    if (deadline.passed() || proxy_.wait(kStep))
      return scene_.failures.add("a reload that never came to an end");
  }
  ++(is_wrong ? counts_.bad_reloads : counts_.reloads);
}

}  // namespace spillway::soak

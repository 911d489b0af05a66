#include "simulate/model/traffic_source.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spillway::simulate {

Random random_stream(std::uint64_t seed, Draws draws, std::uint64_t number) {
  // Neighbouring seeds of SplitMix64 give shifted copies of one sequence; its outputs do not.
  const std::uint64_t spread = Random(seed).next();
  return Random(Random(spread ^ (number << 8 | index(draws))).next());
}

double exponential(double mean, Random& random) { return -std::log(1 - random.uniform()) * mean; }

double lognormal(double mean, double sigma, Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
  return mean * std::exp(sigma * normal - sigma * sigma / 2);
}

TrafficSource::TrafficSource(const Scenario& scenario, std::uint32_t number)
    : clients_(scenario.clients[number]),
      backend_(scenario.backend),
      arrivals_(random_stream(scenario.seed, Draws::arrivals, number)),
      work_(random_stream(scenario.seed, Draws::work, number)),
      keys_(random_stream(scenario.seed, Draws::keys, number)),
      at_(clients_.from),
      until_(std::min<double>(clients_.until.value_or(scenario.seconds), scenario.seconds)),
      peak_(std::max(clients_.rate, clients_.ramp_to.value_or(clients_.rate)) *
            (clients_.burst ? std::max(1.0, clients_.burst->factor) : 1)) {
  double sum = 0;
  for (std::uint32_t key = 1; key <= clients_.keys; ++key) {
    up_to_key_.push_back(sum += std::pow(key, -clients_.key_skew));
  }
  if (clients_.burst) {
    phase_ends_ = at_ + exponential(to_seconds(clients_.burst->off), arrivals_);
  }
}

std::optional<TrafficSource::Arrival> TrafficSource::next() {
  if (peak_ <= 0) return std::nullopt;
  do {
    at_ += exponential(1 / peak_, arrivals_);
    if (at_ >= until_) return std::nullopt;
  } while (arrivals_.uniform() * peak_ >= rate_at(at_));
  std::uint32_t tenant = 0;
  if (clients_.tenants > 1) {
    tenant = static_cast<std::uint32_t>(arrivals_.uniform() * clients_.tenants);
  }
  return Arrival{at_, tenant, draw_work(), draw_key()};
}

double TrafficSource::rate_at(double seconds) {
  double rate = clients_.rate;
  if (clients_.ramp_to) {
    rate += (*clients_.ramp_to - rate) * (seconds - clients_.from) / (until_ - clients_.from);
  }
  if (!clients_.burst) return rate;
  while (phase_ends_ <= seconds) {
    bursting_ = !bursting_;
    const Milliseconds mean = bursting_ ? clients_.burst->on : clients_.burst->off;
    phase_ends_ += exponential(to_seconds(mean), arrivals_);
  }
  return bursting_ ? rate * clients_.burst->factor : rate;
}

std::uint32_t TrafficSource::draw_key() {
  if (up_to_key_.empty()) return 0;
  const double drawn = keys_.uniform() * up_to_key_.back();
  const auto found = std::ranges::upper_bound(up_to_key_, drawn);
  const auto last = static_cast<std::ptrdiff_t>(up_to_key_.size()) - 1;
  return static_cast<std::uint32_t>(std::min(found - up_to_key_.begin(), last) + 1);
}

double TrafficSource::draw_work() {
  double work = lognormal(to_seconds(backend_.service), backend_.sigma, work_);
  if (work_.uniform() < backend_.tail_probability) work *= backend_.tail_factor;
  return work * clients_.service_factor;
}

}  // namespace spillway::simulate

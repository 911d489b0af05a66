#include "overload/control/server_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "overload/limit/dither_phases.hpp"

namespace spillway::overload {
namespace {

using namespace dither;

// Change of a weight's logarithm per judgement, per unit by which throughput follows the limit.
constexpr double kWeightGain = 0.08;
// A server is judged once its growth is known to this precision, relative to that of its work.
constexpr double kWeightPrecision = 0.6;
constexpr double kWeightNoise = 0.6;       // as in PairedDither
constexpr double kLeastDifference = 0.08;  // between the logarithms of the requests at work
constexpr double kLeastFollowing = -0.5, kMostFollowing = 1.5;
// The factor by which each judgement shrinks the logarithm of a weight. So noise does not add up,
// and a server whose share is too small to be judged gets more again.
constexpr double kWeightKept = 0.97;
constexpr double kMostWeight = 8;  // and the least is its inverse
// Servers whose growth is unknown by then are not judged.
constexpr double kLongestRound = 30;  // seconds that count
// A server that returns to rotation is not learned from for this time.
constexpr Duration kServerReturns = std::chrono::seconds(1);
constexpr double kWeightPlenty = 300;  // successes
constexpr double kHeldMemory = 1;      // seconds

}  // namespace

ServerWeights::ServerWeights(std::vector<std::string> servers)
    : names_(std::move(servers)), weights_(names_.size(), 1.0), servers_(names_.size()) {}

void ServerWeights::continue_from(const ServerWeights& former) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto before = std::find(former.names_.begin(), former.names_.end(), names_[i]);
    if (before != former.names_.end())
      weights_[i] = former.weights_[static_cast<std::size_t>(before - former.names_.begin())];
  }
  normalize();
}

void ServerWeights::step(const LimitSample& sample, std::uint32_t limit,
                         std::span<const ServerTick> servers, TimePoint now) {
  if (servers.size() != servers_.size()) return;
  const double seconds = to_seconds(sample.span);
  const std::uint32_t former = std::exchange(limit_, limit);
  if (former != 0 && former != limit) {
    is_high_ = limit > former;
    has_turns_ = true;
    settled_ = now - sample.span + from_seconds(kSettles * longest_held());
  }
  const bool counts = sample.is_short && !sample.is_held_up && !sample.is_unsettled && has_turns_ &&
                      now - sample.span >= settled_;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    Server& it = servers_[i];
    const auto succeeded = static_cast<double>(servers[i].succeeded -
                                               std::exchange(it.succeeded, servers[i].succeeded));
    const double kept = std::exp(-seconds / kHeldMemory);
    it.recent.seconds = it.recent.seconds * kept + seconds;
    it.recent.slot_seconds = it.recent.slot_seconds * kept + servers[i].in_flight * seconds;
    it.recent.succeeded = it.recent.succeeded * kept + succeeded;
    if (!servers[i].is_in) {
      it.settles = now + kServerReturns;
      it.low = it.high = {};
    }
    if (!counts || now < it.settles) continue;
    Phase& phase = is_high_ ? it.high : it.low;
    phase.seconds += seconds;
    phase.slot_seconds += servers[i].in_flight * seconds;
    phase.succeeded += succeeded;
  }
  judge();
}

// How long the slowest of the servers that answer holds a slot. Nothing counts until the requests
// of the former limit have ended there, too: if that takes longer than a turn, nothing is
// learned.
double ServerWeights::longest_held() const {
  double longest = 0;
  for (const Server& server : servers_) {
    const Phase& recent = server.recent;
    if (recent.succeeded >= 1) longest = std::max(longest, recent.slot_seconds / recent.succeeded);
  }
  return longest;
}

// It has too few slots for a difference between the two limits.
bool ServerWeights::is_too_small(const Server& server) {
  return std::min(server.low.succeeded, server.high.succeeded) >= kWeightPlenty &&
         server.high.at_work() < std::exp(kLeastDifference) * server.low.at_work();
}

// Growth of throughput / that of the requests at work; nullopt: not known yet.
std::optional<double> ServerWeights::growth(const Server& server) {
  const Phase &low = server.low, &high = server.high;
  if (std::min(low.succeeded, high.succeeded) < kFewest) return std::nullopt;
  if (std::min(low.slot_seconds, high.slot_seconds) <= 0) return std::nullopt;
  const double more_work = std::log(high.at_work() / low.at_work());
  if (more_work < kLeastDifference) return std::nullopt;
  const double variance = kWeightNoise * (1 / low.succeeded + 1 / high.succeeded);
  if (std::sqrt(variance) > kWeightPrecision * more_work) return std::nullopt;
  return std::clamp(std::log(high.throughput() / low.throughput()) / more_work, kLeastFollowing,
                    kMostFollowing);
}

// Judges all servers at once: weights are only meaningful relative to each other.
void ServerWeights::judge() {
  std::vector<std::optional<double>> growths;
  double sum = 0, round = 0;
  int known = 0, unknown = 0;
  for (const Server& server : servers_) {
    const double counted = server.low.seconds + server.high.seconds;
    round = std::max(round, counted);
    growths.push_back(growth(server));
    if (growths.back()) {
      sum += *growths.back();
      ++known;
    } else if (counted > 0 && !is_too_small(server)) {
      ++unknown;
    }
  }
  if (round < kLongestRound && (unknown > 0 || known == 0)) return;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Server& it = servers_[i];
    const bool is_lost = it.low.seconds + it.high.seconds <= 0;
    if (!is_lost) weights_[i] = std::pow(weights_[i], kWeightKept);
    if (growths[i] && known > 1) weights_[i] *= std::exp(kWeightGain * (*growths[i] - sum / known));
    it.low = it.high = {};
  }
  normalize();
}

void ServerWeights::normalize() {
  const double mean =
      std::accumulate(weights_.begin(), weights_.end(), 0.0) / double(weights_.size());
  for (double& weight : weights_) weight = std::clamp(weight / mean, 1 / kMostWeight, kMostWeight);
}

}  // namespace spillway::overload

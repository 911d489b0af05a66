#include "bench/load/retries.hpp"

#include <algorithm>
#include <chrono>

#include "base/random.hpp"

namespace spillway::load {
namespace {

Random stream(std::uint64_t seed, std::uint64_t what, std::uint64_t number) {
  return Random(Random(Random(seed + what).next() ^ number).next());
}

}  // namespace

std::optional<Duration> pause_before_retry(const Retries& retries, const RequestNumber& number,
                                           const Ending& ending) {
  if (ending.fate == Fate::ok || ending.fate == Fate::deferred || number.attempt > retries.most)
    return std::nullopt;
  Random jitter = stream(retries.seed, number.attempt, number.arrival);
  const Duration pause = retries.backoff.delay(number.attempt, jitter);
  Random client = stream(retries.seed, 0, number.arrival);
  if (!ending.retry_after || client.uniform() >= retries.honouring) return pause;
  return std::max<Duration>(pause, std::chrono::seconds(*ending.retry_after));
}

}  // namespace spillway::load

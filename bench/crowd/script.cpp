#include "bench/crowd/script.hpp"

#include "base/random.hpp"

namespace spillway::crowd {
namespace {

// Of all visitors; the others are polite.
constexpr double kClosing = 0.10;
constexpr double kGlancing = 0.08;
constexpr double kImpatient = 0.08;
constexpr double kElsewhere = 0.05;

Manner manner_of(double drawn) {
  if ((drawn -= kClosing) < 0) return Manner::closing;
  if ((drawn -= kGlancing) < 0) return Manner::glancing;
  if ((drawn -= kImpatient) < 0) return Manner::impatient;
  if ((drawn -= kElsewhere) < 0) return Manner::elsewhere;
  return Manner::polite;
}

}  // namespace

Script script_of(std::size_t number, std::uint64_t seed) {
  Random random(Random(seed).next() ^ Random(number).next());
  Script script;
  script.manner = manner_of(random.uniform());
  script.patience = from_seconds(3 + 12 * random.uniform());
  script.looks = 2 + static_cast<std::size_t>(4 * random.uniform());
  script.pause = from_seconds(1 + 1.5 * random.uniform());
  script.buys = random.uniform() < 0.5;
  return script;
}

}  // namespace spillway::crowd

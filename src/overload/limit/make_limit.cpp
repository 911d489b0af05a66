#include "overload/limit/make_limit.hpp"

#include "overload/limit/aimd.hpp"
#include "overload/limit/gradient2.hpp"
#include "overload/limit/paired_dither.hpp"
#include "overload/limit/seen_limit.hpp"

namespace spillway::overload {

std::unique_ptr<ConcurrencyLimit> make_limit(const config::AutoConcurrency& settings,
                                             std::uint32_t least, config::Mode mode) {
  if (mode == config::Mode::shadow) return std::make_unique<SeenLimit>(settings, least);
  switch (settings.law) {
    case config::LimitLaw::gradient2: return std::make_unique<Gradient2>(settings, least);
    case config::LimitLaw::aimd: return std::make_unique<Aimd>(settings, least);
    case config::LimitLaw::paired_dither: break;
  }
  return std::make_unique<PairedDither>(settings, least);
}

}  // namespace spillway::overload

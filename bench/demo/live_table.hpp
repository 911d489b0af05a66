// The lines that the spike prints while it runs, as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "proxy_view.hpp"
#include "tally.hpp"

namespace spillway::demo {

// Wraps text in terminal colours, or leaves it alone when `on` is false.
struct Paint {
  bool on = false;

  std::string good(std::string text) const { return wrapped("32", std::move(text)); }
  std::string mild(std::string text) const { return wrapped("33", std::move(text)); }
  std::string bad(std::string text) const { return wrapped("31", std::move(text)); }
  std::string strong(std::string text) const { return wrapped("1", std::move(text)); }

 private:
  std::string wrapped(std::string_view code, std::string text) const;
};

// The two lines above the rows.
std::string heading(const Paint& paint);

// One row, without a line end: the time since the start of the run, the phase, for each class
// what happened in the last `span` (offered per second; ok, of these degraded, and denied in per
// cent of the requests that ended; failed in number; p50/p95 of the ok ones), and the proxy's view.
std::string row(Duration at, std::string_view phase, const CountsByKind& counts, Duration span,
                const std::optional<ProxyView>& proxy, const Paint& paint);

}  // namespace spillway::demo

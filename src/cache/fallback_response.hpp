// A route's configured fallback response, prepared at start-up. Immutable; shared by threads.
#pragma once

#include <string>
#include <string_view>

#include "config/fallback.hpp"

namespace spillway::cache {

class FallbackResponse {
 public:
  struct Form {
    std::string_view type;  // empty: the configured fields include Content-Type
    std::string_view content;
  };

  // Keeps references to the configuration, whose referenced files have been read already.
  explicit FallbackResponse(const config::Fallback& settings);

  unsigned status() const { return settings_.status; }
  // The configured fields, each with its CRLF.
  std::string_view lines() const { return lines_; }
  // HTML or JSON, by the client's preference, or the only one configured.
  Form form(bool prefers_html) const;
  // Whether the body depends on Accept.
  bool varies() const { return settings_.json && settings_.html; }
  // Without it no-store is to be sent: the fallback is not the resource.
  bool has_cache_control() const { return has_cache_control_; }

 private:
  const config::Fallback& settings_;
  std::string lines_;
  bool has_type_ = false;
  bool has_cache_control_ = false;
};

}  // namespace spillway::cache

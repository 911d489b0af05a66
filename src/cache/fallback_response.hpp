// A route's configured fallback, made ready to be sent. Immutable; shared by threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"

namespace spillway::cache {

class FallbackResponse {
 public:
  // What is sent to those who prefer this form.
  struct Form {
    std::string_view type;  // empty: the configured fields say it
    std::string_view content;
  };

  // Keeps references to the configuration, whose contents have been read.
  explicit FallbackResponse(const config::Fallback& settings);

  unsigned status() const { return settings_.status; }
  // The configured fields, each with its line end.
  std::string_view lines() const { return lines_; }
  // HTML or JSON, as the client prefers; the only one there is.
  Form form(bool prefers_html) const;
  bool varies() const { return settings_.json && settings_.html; }
  // Otherwise it is not to be cached: it is not the resource.
  bool says_how_to_cache() const { return says_how_to_cache_; }

 private:
  const config::Fallback& settings_;
  std::string lines_;
  bool says_type_ = false;
  bool says_how_to_cache_ = false;
};

}  // namespace spillway::cache

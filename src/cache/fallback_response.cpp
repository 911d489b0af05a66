#include "cache/fallback_response.hpp"

#include "http/field/ascii.hpp"

namespace spillway::cache {

FallbackResponse::FallbackResponse(const config::Fallback& settings) : settings_(settings) {
  for (const config::HeaderField& field : settings.headers) {
    lines_ += field.name + ": " + field.value + "\r\n";
    has_type_ = has_type_ || http::iequals(field.name, "Content-Type");
    has_cache_control_ = has_cache_control_ || http::iequals(field.name, "Cache-Control");
  }
}

FallbackResponse::Form FallbackResponse::form(bool prefers_html) const {
  const bool is_html = settings_.html && (prefers_html || !settings_.json);
  const std::string_view type = is_html ? "text/html; charset=utf-8" : "application/json";
  return {has_type_ ? std::string_view{} : type,
          is_html ? settings_.html->text : settings_.json->text};
}

}  // namespace spillway::cache

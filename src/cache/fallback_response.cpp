#include "cache/fallback_response.hpp"

#include "http/ascii.hpp"

namespace spillway::cache {

FallbackResponse::FallbackResponse(const config::Fallback& settings) : settings_(settings) {
  for (const config::HeaderField& field : settings.headers) {
    lines_ += field.name + ": " + field.value + "\r\n";
    says_type_ = says_type_ || http::iequals(field.name, "Content-Type");
    says_how_to_cache_ = says_how_to_cache_ || http::iequals(field.name, "Cache-Control");
  }
}

FallbackResponse::Form FallbackResponse::form(bool prefers_html) const {
  const bool is_html = settings_.html && (prefers_html || !settings_.json);
  const std::string_view type = is_html ? "text/html; charset=utf-8" : "application/json";
  return {says_type_ ? std::string_view{} : type,
          is_html ? settings_.html->text : settings_.json->text};
}

}  // namespace spillway::cache

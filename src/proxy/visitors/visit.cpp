#include "proxy/visitors/visit.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "http/field/ascii.hpp"
#include "http/outgoing/forwarded.hpp"
#include "traffic/client/tenant.hpp"

namespace spillway::proxy {

namespace {

bool mentions_prefetch(const http::FieldList& fields, std::string_view name) {
  const http::Field* const field = fields.find(name);
  return field != nullptr && field->value.find("prefetch") != std::string_view::npos;
}

// Parts of a page. Browsers send no Fetch Metadata over plain HTTP, but the Accept of a picture or
// a style sheet names its type (WHATWG Fetch, "fetching": Accept by destination).
bool accepts_parts(const http::FieldList& fields) {
  constexpr std::array<std::string_view, 5> kParts{"image/", "text/css", "font/", "audio/",
                                                   "video/"};
  const http::Field* const accept = fields.find(http::FieldId::accept);
  return accept != nullptr && std::ranges::any_of(kParts, [accept](std::string_view part) {
           return http::istarts_with(accept->value, part);
         });
}

bool is_forwarded_host(std::string_view host, const http::FieldList& fields) {
  if (host.empty()) return false;  // as for "file://"
  if (http::iequals(host, traffic::only_value(fields, "X-Forwarded-Host"))) return true;
  const http::ForwardedElements forwarded(fields);
  return forwarded.well_formed() && http::iequals(host, forwarded.last().host);
}

}  // namespace

bool only_looks(const http::RequestHead& head) {
  return head.method == http::Verb::head || mentions_prefetch(head.fields, "Sec-Purpose") ||
         mentions_prefetch(head.fields, "Purpose");
}

bool is_of_another_origin(const http::RequestHead& head, bool is_peer_trusted) {
  if (const http::Field* const site = head.fields.find("Sec-Fetch-Site"))
    return site->value != "same-origin";
  const http::Field* const field = head.fields.find("Origin");
  if (field == nullptr) return false;
  const std::string_view origin = field->value;
  constexpr std::string_view kAuthority = "://";
  const std::size_t at = origin.find(kAuthority);
  if (at == std::string_view::npos) return true;
  const std::string_view its = origin.substr(at + kAuthority.size());
  return !http::iequals(its, head.host) &&
         !(is_peer_trusted && is_forwarded_host(its, head.fields));
}

bool is_visit(const http::RequestHead& head) {
  if (head.method != http::Verb::get || head.path_and_query == "/robots.txt") return false;
  if (only_looks(head)) return false;
  // A script that enters. No form can send the field, nor can another site's script unless the
  // upstream allows it (Fetch: it is not safelisted).
  if (head.fields.find("Spillway-Enter") != nullptr) return true;
  const http::Field* const mode = head.fields.find("Sec-Fetch-Mode");
  if (mode != nullptr && mode->value != "navigate") return false;
  const http::Field* const destination = head.fields.find("Sec-Fetch-Dest");
  return destination == nullptr ? !accepts_parts(head.fields) : destination->value == "document";
}

}  // namespace spillway::proxy

#include "proxy/admin/admin_purge.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "http/field/ascii.hpp"
#include "http/message/target.hpp"
#include "proxy/admin/json_members.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using Read = std::variant<cache::PurgeRequest, std::string>;

constexpr const char* kMembers = "exactly one of \"key\", \"prefix\" and \"route\" is needed";

// No request target contains these characters, so a purge for one would match nothing.
bool is_blank_or_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f;
}

Read read_url(cache::PurgeRequest::Kind kind, const std::string& text) {
  cache::PurgeRequest request{.kind = kind, .authority = {}, .path_and_query = {}, .route = {}};
  std::string_view rest = text;
  if (std::any_of(rest.begin(), rest.end(), is_blank_or_control))
    return "blanks and control characters must be percent-encoded";
  const bool is_secure = http::istarts_with(rest, "https://");
  if (is_secure || http::istarts_with(rest, "http://")) {
    rest.remove_prefix(is_secure ? 8 : 7);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    request.authority = rest.substr(0, end);
    rest.remove_prefix(end);
    if (!http::valid_authority(request.authority)) return "the URL's host is not valid";
    std::transform(request.authority.begin(), request.authority.end(), request.authority.begin(),
                   http::to_lower);
    if (!rest.starts_with('/')) request.path_and_query = "/";  // RFC 9110 section 4.2.3
  } else if (!rest.starts_with('/')) {
    return "a URL that begins with http:// or https:// or a path that begins with / is needed";
  }
  request.path_and_query += rest;
  return request;
}

}  // namespace

Read read_purge(std::string_view body) {
  const auto read = read_members(body);
  if (const auto* const refused = std::get_if<std::string>(&read)) return *refused;
  const auto& document = std::get<json>(read);
  if (document.size() != 1) return kMembers;
  const std::string& name = document.begin().key();
  const json& value = document.begin().value();
  if (name != "key" && name != "prefix" && name != "route") return kMembers;
  if (!value.is_string()) return "\"" + name + "\" must be a string";
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) return "\"" + name + "\" must not be empty";
  if (text.size() > kMaxPurgeText) return "\"" + name + "\" is too long";
  if (name == "route") {
    return cache::PurgeRequest{.kind = cache::PurgeRequest::Kind::route,
                               .authority = {},
                               .path_and_query = {},
                               .route = text};
  }
  return read_url(
      name == "key" ? cache::PurgeRequest::Kind::key : cache::PurgeRequest::Kind::prefix, text);
}

}  // namespace spillway::proxy

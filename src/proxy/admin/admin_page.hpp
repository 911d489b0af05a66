// What the responses of all admin pages have in common.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProblemType = "application/problem+json";

// A request target. Accepts origin form and absolute form (RFC 9112 section 3.2).
struct AdminTarget {
  std::string_view authority;  // empty in origin form
  std::string_view path;
  std::string_view query;  // after the question mark
};
AdminTarget admin_target(const AdminRequest& request);

// One line in ASCII, since a terminal may show it: text from clients cannot control the terminal.
// Never throws: invalid UTF-8 becomes U+FFFD.
std::string json_line(const nlohmann::ordered_json& json);

AdminResponse admin_page(boost::beast::http::status status, std::string_view type,
                         std::string body);
AdminResponse json_page(const nlohmann::ordered_json& json);
// RFC 9457.
AdminResponse admin_problem(boost::beast::http::status status, std::string_view detail);
// GET or HEAD.
bool is_reading(const AdminRequest& request);
AdminResponse wrong_method(const char* allowed);
// The response to a body whose Content-Type is not JSON (RFC 9110 section 8.3.1, any parameters);
// requiring JSON protects against cross-site requests: a browser sends this media type to another
// origin only after a CORS preflight (Fetch standard), which is refused.
bool is_json(const AdminRequest& request);
AdminResponse json_needed();
// Browsers send Origin with every cross-site POST (Fetch standard).
bool is_from_web_page(const AdminRequest& request);

// The response to a request that may change nothing: it is not a POST, comes from a web page, or
// its body is not JSON. nullopt: it may.
std::optional<AdminResponse> refusal_of_change(const AdminRequest& request);

// Adds everything that depends on the request: version, keep-alive, no body for HEAD.
AdminResponse finished(const AdminRequest& request, AdminResponse response);

}  // namespace spillway::proxy

#include "proxy/admin/admin_page.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/caching/date.hpp"
#include "http/field/ascii.hpp"

namespace spillway::proxy {

namespace beast_http = boost::beast::http;

AdminTarget admin_target(const AdminRequest& request) {
  std::string_view target(request.target().data(), request.target().size());
  AdminTarget result;
  constexpr std::string_view kScheme = "http://";
  if (target.size() > kScheme.size() && http::istarts_with(target, kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    result.authority = target.substr(0, end);
    target.remove_prefix(end);
    if (target.empty() || target.front() != '/') target = "/";
  }
  const std::size_t end = std::min(target.find('?'), target.size());
  result.path = target.substr(0, end);
  if (end < target.size()) result.query = target.substr(end + 1);
  return result;
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

AdminResponse admin_page(beast_http::status status, std::string_view type, std::string body) {
  AdminResponse response(status, 11);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const http::DateText date = http::date_text(now);
  response.set(beast_http::field::date, std::string_view(date.data(), date.size()));
  response.set(beast_http::field::content_type, type);
  response.set(beast_http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  response.body() = std::move(body);
  return response;
}

AdminResponse json_page(const nlohmann::ordered_json& json) {
  return admin_page(beast_http::status::ok, kJsonType, json_line(json));
}

AdminResponse admin_problem(beast_http::status status, std::string_view detail) {
  return admin_page(status, kProblemType,
                    json_line({{"type", "about:blank"},
                               {"title", std::string(beast_http::obsolete_reason(status))},
                               {"status", static_cast<unsigned>(status)},
                               {"detail", detail}}));
}

bool is_reading(const AdminRequest& request) {
  return request.method() == beast_http::verb::get || request.method() == beast_http::verb::head;
}

AdminResponse wrong_method(const char* allowed) {
  AdminResponse response = admin_problem(beast_http::status::method_not_allowed,
                                         "this page answers " + std::string(allowed) + " only");
  response.set(beast_http::field::allow, allowed);
  return response;
}

bool is_json(const AdminRequest& request) {
  if (request.count(beast_http::field::content_type) != 1) return false;
  const auto value = request[beast_http::field::content_type];
  const std::string_view type(value.data(), value.size());
  return http::iequals(http::trim(type.substr(0, type.find(';'))), kJsonType);
}

AdminResponse json_needed() {
  AdminResponse response = admin_problem(beast_http::status::unsupported_media_type,
                                         "Content-Type: application/json is needed");
  response.set(beast_http::field::accept, kJsonType);
  return response;
}

bool is_from_web_page(const AdminRequest& request) {
  return request.count(beast_http::field::origin) > 0;
}

std::optional<AdminResponse> refusal_of_change(const AdminRequest& request) {
  if (request.method() != beast_http::verb::post) return wrong_method("POST");
  if (is_from_web_page(request))
    return admin_problem(beast_http::status::forbidden, "a web page may not ask for this");
  if (!is_json(request)) return json_needed();
  return std::nullopt;
}

AdminResponse finished(const AdminRequest& request, AdminResponse response) {
  response.version(request.version());
  response.keep_alive(request.keep_alive());
  response.prepare_payload();
  if (request.method() == beast_http::verb::head) response.body().clear();
  return response;
}

}  // namespace spillway::proxy

#include "proxy/admin/admin_answer.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "base/sha256.hpp"
#include "config/format.hpp"
#include "http/field/ascii.hpp"
#include "http/message/target.hpp"
#include "proxy/admin/admin_purge.hpp"
#include "proxy/admin/job_query.hpp"
#include "proxy/admin/room_query.hpp"

namespace spillway::proxy {
namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

constexpr std::string_view kIndex =
    "<!doctype html><title>Spillway</title><h1>Spillway</h1><ul>"
    "<li><a href=\"/state\">/state</a> signals, queues and counters now"
    "<li><a href=\"/metrics\">/metrics</a> for Prometheus"
    "<li><a href=\"/config\">/config</a> the configuration in effect"
    "<li><a href=\"/healthz\">/healthz</a> the process is alive"
    "<li><a href=\"/readyz\">/readyz</a> traffic may be sent here"
    "<li>POST /reload reads the configuration again"
    "<li>POST /cache/purge forgets cached responses"
    "<li><a href=\"/jobs\">/jobs</a> deferred requests; /jobs/ID one of them"
    "<li>POST /jobs/replay, /jobs/purge and /jobs/ID/cancel change them"
    "<li><a href=\"/rooms\">/rooms</a> waiting rooms; /rooms/NAME, /rooms/NAME/tickets"
    "<li>POST /rooms/NAME/call, /open, /close, /pause, /resume and /message change them"
    "<li><a href=\"/room-secret\">/room-secret</a> of their tokens; POST /room-secret/replace"
    "</ul>\n";

// The credentials of "Bearer <token>" (RFC 6750 section 2.1).
std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  if (authorization.size() < scheme.size() ||
      !iequals({authorization.data(), scheme.size()}, {scheme.data(), scheme.size()})) {
    return std::nullopt;
  }
  authorization.remove_prefix(scheme.size());
  while (!authorization.empty() && authorization.front() == ' ') authorization.remove_prefix(1);
  return authorization;
}

// True for localhost, 127.0.0.0/8 and ::1, each with or without a port, and for nothing
// else.
bool names_loopback(std::string_view authority) {
  if (!spillway::http::valid_authority(authority)) return false;
  std::string_view host = spillway::http::without_port(authority);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return spillway::http::iequals(host, "localhost") || config::is_loopback(host);
}

std::string_view field(const AdminRequest& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

AdminResponse unauthorized(bool tried) {
  AdminResponse response =
      admin_problem(http::status::unauthorized, "this page needs the token of admin.token");
  response.set(
      http::field::www_authenticate,
      tried ? "Bearer realm=\"spillway\", error=\"invalid_token\"" : "Bearer realm=\"spillway\"");
  return response;
}

AdminResponse purge_page(const AdminRequest& request, const AdminSource& source) {
  if (auto refusal = refusal_of_change(request)) return std::move(*refusal);
  const auto read = read_purge(request.body());
  if (const auto* wrong = std::get_if<std::string>(&read))
    return admin_problem(http::status::bad_request, *wrong);
  const cache::PurgeResult result = source.purge(std::get<cache::PurgeRequest>(read));
  if (!result.unknown.empty()) return admin_problem(http::status::not_found, result.unknown);
  return json_page({{"purged", result.purged}});
}

// Access control: the response to a request that is not allowed; nullopt: allowed.
std::optional<AdminResponse> refusal_of(const AdminRequest& request, const AdminTarget& target,
                                        std::string_view token) {
  const auto hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11)) {
    return admin_problem(http::status::bad_request, "exactly one Host field is needed");
  }
  // For load balancers, which have no token and may use any host name. These pages disclose no more
  // than the proxy's own responses do.
  const bool is_open = target.path == "/healthz" || target.path == "/readyz";
  if (!is_open && !token.empty()) {
    const auto given = bearer(field(request, http::field::authorization));
    if (!given || !equal_in_constant_time(sha256(*given), sha256(token)))
      return unauthorized(given.has_value());
  }
  if (!is_open && token.empty()) {
    const std::string_view authority =
        target.authority.empty() ? field(request, http::field::host) : target.authority;
    const bool is_missing = authority.empty() && request.version() < 11;
    if (!is_missing && !names_loopback(authority)) {
      return admin_problem(http::status::forbidden,
                           "without admin.token only a loopback host name is served");
    }
  }
  return std::nullopt;
}

// Pages that only report something.
struct ReportPage {
  std::string_view path;
  std::string_view type;
  std::string (*body)(const AdminSource&);
};
constexpr ReportPage kReportPages[] = {
    {"/metrics", kPrometheusText, [](const AdminSource& source) { return source.metrics(); }},
    {"/state", kJsonType, [](const AdminSource& source) { return source.state(); }},
    {"/config", kJsonType, [](const AdminSource& source) { return source.config(); }},
    {"/healthz", kJsonType,
     [](const AdminSource&) {
       return json_line({{"status", "ok"}});
     }},
    {"/", kHtml, [](const AdminSource&) { return std::string(kIndex); }},
};

AdminResponse readiness_page(std::string_view not_ready_reason) {
  if (not_ready_reason.empty()) return json_page({{"status", "ready"}});
  return admin_page(http::status::service_unavailable, kJsonType,
                    json_line({{"status", "not ready"}, {"reason", not_ready_reason}}));
}

}  // namespace

boost::asio::awaitable<AdminResponse> admin_answer(const AdminRequest& request,
                                                   std::string_view token,
                                                   const AdminSource& source) {
  const AdminTarget target = admin_target(request);
  if (auto refusal = refusal_of(request, target, token)) co_return std::move(*refusal);

  if (target.path == "/reload") {
    if (request.method() != http::verb::post) co_return wrong_method("POST");
    if (!is_from_web_page(request)) {
      co_return admin_problem(http::status::service_unavailable,
                              "too many reloads are in progress");
    }
    co_return admin_problem(http::status::forbidden, "a web page may not ask for this");
  }
  if (target.path == "/cache/purge") co_return purge_page(request, source);

  const bool is_readiness = target.path == "/readyz";
  const auto* const page = std::ranges::find(kReportPages, target.path, &ReportPage::path);
  if (page == std::end(kReportPages) && !is_readiness)
    co_return admin_problem(http::status::not_found, "there is no such page; see /");
  if (!is_reading(request)) co_return wrong_method("GET, HEAD");
  if (!is_readiness) co_return admin_page(http::status::ok, page->type, page->body(source));
  const std::string reason = co_await source.not_ready_reason();
  co_return readiness_page(reason);
}

AdminPart part_for(const AdminRequest& request, std::string_view token) {
  const AdminTarget target = admin_target(request);
  AdminPart part = AdminPart::pages;
  if (is_jobs_path(target.path)) part = AdminPart::jobs;
  if (is_rooms_path(target.path)) part = AdminPart::rooms;
  if (target.path == "/reload" && request.method() == http::verb::post &&
      !is_from_web_page(request))
    part = AdminPart::reload;
  return refusal_of(request, target, token) ? AdminPart::pages : part;
}

AdminResponse reload_page(const ReloadResult& result) {
  if (result.problems.empty())
    return json_page({{"reloaded", true}, {"generation", result.generation}});
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  for (const config::Problem& each : result.problems)
    problems.push_back({{"path", each.path}, {"message", each.message}});
  const auto status = http::status::unprocessable_entity;
  return admin_page(status, kProblemType,
                    json_line({{"type", "about:blank"},
                               {"title", std::string(http::obsolete_reason(status))},
                               {"status", static_cast<unsigned>(status)},
                               {"detail", "the configuration stays as it was"},
                               {"generation", result.generation},
                               {"problems", std::move(problems)}}));
}

AdminResponse admin_refusal(http::status status, std::string_view detail) {
  AdminResponse response = admin_problem(status, detail);
  response.keep_alive(false);
  response.prepare_payload();
  return response;
}

}  // namespace spillway::proxy

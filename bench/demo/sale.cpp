#include "sale.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace spillway::demo {
namespace {

load::SiteResponse json_of(std::string body) {
  return {.content_type = "application/json", .body = std::move(body)};
}

}  // namespace

load::SiteResponse Sale::answer(const load::SiteRequest& request, TimePoint now) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  if (is_get && path == "/report") {
    return json_of(fmt::format(
        R"({{"answered":{},"visitors":{},"without_pass":{},"most_at_once":{},"sold":{}}})",
        answered_, visits_.visitors(), visits_.without_pass(), visits_.most_at_once(now), sold_));
  }
  const bool is_page = is_get && path == "/sale";
  const bool is_count = is_get && path == "/sale/sold";
  const bool is_order = request.method == "POST" && path == "/sale/buy";
  if (!is_page && !is_count && !is_order)
    return {.status = 404, .content_type = "text/plain", .body = "Not found.\n"};
  visits_.request(request.pass, now);
  ++answered_;
  if (is_page) return {.content_type = "text/html; charset=utf-8", .body = page_};
  if (is_order) return json_of(fmt::format(R"({{"order":{}}})", ++sold_));
  return json_of(fmt::format(R"({{"sold":{}}})", sold_));
}

std::optional<SaleReport> parse_report(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  SaleReport report;
  const auto read = [&json](const char* key, std::uint64_t& to) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned()) return false;
    to = found->get<std::uint64_t>();
    return true;
  };
  const bool is_whole = read("answered", report.answered) && read("visitors", report.visitors) &&
                        read("without_pass", report.without_pass) &&
                        read("most_at_once", report.most_at_once) && read("sold", report.sold);
  return is_whole ? std::optional(report) : std::nullopt;
}

}  // namespace spillway::demo

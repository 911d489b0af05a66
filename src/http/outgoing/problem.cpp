#include "http/outgoing/problem.hpp"

#include <boost/beast/http/status.hpp>

#include "http/field/ascii.hpp"
#include "http/outgoing/escape.hpp"
#include "http/outgoing/server_timing.hpp"

namespace spillway::http {
namespace {

constexpr std::size_t kMaxBody = 6144;

// The texts, truncated so that the response always fits.
struct Shown {
  std::string_view title;
  std::string_view class_name;
  std::string_view request_id;
  std::string_view detail;
};

void member(TextWriter& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out << key;
  write_json_string(out, value);
}

void write_json(TextWriter& out, const Problem& problem, const Shown& shown) {
  out << R"({"type":"about:blank","title":")" << shown.title << R"(","status":)" << problem.status;
  member(out, R"(,"detail":)", shown.detail);
  if (problem.reason != Reason::none) out << R"(,"reason":")" << name(problem.reason) << '"';
  member(out, R"(,"class":)", shown.class_name);
  if (problem.retry_after.count() > 0) {
    out << R"(,"retry_after_ms":)" << problem.retry_after.count();
  }
  if (problem.predicted_wait) {
    out << R"(,"predicted_wait_ms":)"
        << std::chrono::ceil<Milliseconds>(*problem.predicted_wait).count();
  }
  member(out, R"(,"request_id":)", shown.request_id);
  out << "}\n";
}

std::int64_t whole_seconds(Milliseconds duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

void write_page(TextWriter& out, const Problem& problem, const Shown& shown) {
  out << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"
      << problem.status << ' ' << shown.title
      << "</title>\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:15vh auto;"
         "padding:0 1.5rem;color:#223;background:#fafafa}h1{font-size:1.6rem;margin:0}"
         "small{color:#667}@media(prefers-color-scheme:dark){body{color:#dde;background:#181a1f}"
         "small{color:#99a}}</style></head>\n<body><h1>"
      << shown.title << "</h1>\n<p>";
  write_html_text(out, shown.detail);
  out << "</p>\n";
  if (problem.retry_after.count() > 0) {
    const std::int64_t seconds = whole_seconds(problem.retry_after);
    out << "<p>Please try again in " << seconds << (seconds == 1 ? " second" : " seconds")
        << ".</p>\n";
  }
  out << "<p><small>" << problem.status;
  if (problem.reason != Reason::none) out << " &middot; " << name(problem.reason);
  if (!shown.request_id.empty()) {
    out << " &middot; request ";
    write_html_text(out, shown.request_id);
  }
  out << "</small></p></body></html>\n";
}

void write_proxy_status(TextWriter& out, const Problem& problem) {
  const std::string_view error =
      problem.proxy_error.empty() ? proxy_error_of(problem.reason) : problem.proxy_error;
  if (error.empty()) return;
  out << "Proxy-Status: spillway; error=" << error;
  if (problem.reason != Reason::none) out << "; details=\"" << name(problem.reason) << '"';
  out << "\r\n";
}

}  // namespace

std::optional<std::size_t> write_problem(TextWriter& out, const Problem& problem) {
  const Shown shown{reason_phrase(problem.status), problem.class_name.substr(0, 128),
                    problem.request_id.substr(0, 128), problem.detail.substr(0, 512)};
  char block[kMaxBody];
  TextWriter body(block);
  problem.html ? write_page(body, problem, shown) : write_json(body, problem, shown);
  if (body.overflowed()) return std::nullopt;

  out << "HTTP/1.1 " << problem.status << ' ' << shown.title
      << (problem.html ? "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: "
                       : "\r\nContent-Type: application/problem+json\r\nContent-Length: ")
      << body.size() << "\r\nCache-Control: no-store\r\n";
  if (!problem.date.empty()) out << "Date: " << problem.date << "\r\n";
  if (problem.retry_after.count() > 0) {
    out << "Retry-After: " << whole_seconds(problem.retry_after) << "\r\n";
  }
  if (problem.queue_wait) write_server_timing(out, *problem.queue_wait);
  write_proxy_status(out, problem);
  write_cache_status(out, problem.cache_status);
  // RFC 9110 sections 15.5.6 and 9.3.7: a 405 and a response to OPTIONS have an Allow field.
  if (problem.status == 405 || problem.status == 200)
    out << "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";
  if (!shown.request_id.empty()) {
    out << "X-Request-Id: ";
    write_field_value(out, shown.request_id);
    out << "\r\n";
  }
  out << problem.pass_lines;
  if (problem.close) out << "Connection: close\r\n";
  out << "\r\n";
  const std::string_view content = problem.head_only ? std::string_view{} : body.text();
  out << content;
  if (out.overflowed()) return std::nullopt;
  return content.size();
}

std::string_view proxy_error_of(Reason reason) {
  switch (reason) {
    case Reason::none: return "";
    case Reason::inflight_saturation:
    case Reason::queue_saturation:
    case Reason::queue_wait_risk:
    case Reason::queue_full:
    case Reason::queue_timeout:
    case Reason::tunnel_limit:
    case Reason::evicted: return "connection_limit_reached";
    case Reason::tail_latency:
    case Reason::shedding_does_not_help:
    case Reason::error_burst:
    case Reason::circuit_open:
    case Reason::upstream_unavailable: return "destination_unavailable";
    case Reason::budget_exceeded:
    case Reason::tenant_share:
    case Reason::bad_request:
    case Reason::idempotency_conflict:
    case Reason::idempotency_mismatch:
    case Reason::request_timeout:
    case Reason::poll_limit:
    case Reason::join_limit:
    case Reason::work_required:
    case Reason::slow_client: return "http_request_error";
    case Reason::event_loop_lag:
    case Reason::client_gone:
    case Reason::waiting_room:
    case Reason::not_stored:
    case Reason::draining: return "proxy_internal_response";
    case Reason::store_unavailable:
    case Reason::store_full:
    case Reason::response_too_large:
    case Reason::local_shortage: return "proxy_internal_error";
    case Reason::deadline_expired:
    case Reason::upstream_timeout: return "http_response_timeout";
    case Reason::upstream_invalid: return "http_protocol_error";
  }
  return "";
}

std::string_view reason_phrase(unsigned status) {
  namespace beast_http = boost::beast::http;
  const auto known = beast_http::int_to_status(status);
  if (known == beast_http::status::unknown) return "";
  return beast_http::obsolete_reason(known);
}

}  // namespace spillway::http

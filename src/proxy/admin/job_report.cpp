#include "proxy/admin/job_report.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/shown_text.hpp"
#include "config/format.hpp"
#include "http/field/ascii.hpp"
#include "http/field/credentials.hpp"
#include "jobs/job_id.hpp"
#include "jobs/time_text.hpp"

namespace spillway::proxy {

namespace {

using Json = nlohmann::ordered_json;

Json attempt_report(const jobs::Attempt& attempt) {
  Json json{{"number", attempt.number},
            {"began_at", jobs::to_text(attempt.began)},
            {"ended_at", jobs::to_text(attempt.ended)}};
  if (attempt.cause != jobs::Cause::none) json["cause"] = jobs::name(attempt.cause);
  if (attempt.status != 0) json["status"] = attempt.status;
  if (!attempt.detail.empty()) json["detail"] = attempt.detail;
  return json;
}

Json body_report(std::string_view first, std::uint64_t whole) {
  const bool is_cut = first.size() < whole;
  // A text that is cut may end within a character of up to four bytes.
  const std::size_t text = utf8_part(first);
  const bool is_text = text == first.size() || (is_cut && first.size() - text < 4);
  if (is_text) return {{"encoding", "utf-8"}, {"text", first.substr(0, text)}, {"is_cut", is_cut}};
  return {{"encoding", "base64"}, {"text", base64(first)}, {"is_cut", is_cut}};
}

}  // namespace

Json job_report(const jobs::JobView& job) {
  const jobs::Progress& progress = job.progress;
  Json json{{"id", jobs::to_text(job.id)},
            {"state", jobs::name(progress.state)},
            {"route", job.lane.route},
            {"tenant", job.tenant_name},
            {"method", job.method},
            {"target", job.target},
            {"body_bytes", job.body_bytes},
            {"attempts", progress.attempts},
            {"recoveries", progress.recoveries},
            {"accepted_at", jobs::to_text(job.accepted)},
            {"expires_at", jobs::to_text(job.expires)}};
  if (progress.cause != jobs::Cause::none) json["cause"] = jobs::name(progress.cause);
  if (jobs::waits(progress.state)) json["due_at"] = jobs::to_text(progress.due);
  if (job.position != 0) json["position"] = job.position;
  if (progress.ended != jobs::kNoTime) json["ended_at"] = jobs::to_text(progress.ended);
  if (job.status != 0) json["status"] = job.status;
  return json;
}

Json inspected_report(const store::Inspect& found) {
  Json json = job_report(*found.job);
  json["head"] = redacted_head(found.head);
  json["body"] = body_report(found.body, found.job->body_bytes);
  Json attempts = Json::array();
  for (const jobs::Attempt& attempt : found.attempts) attempts.push_back(attempt_report(attempt));
  json["history"] = std::move(attempts);
  return json;
}

std::string redacted_head(std::string_view head) {
  std::string out;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size() - 1) + 1;
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        !http::is_credential(http::trim(line.substr(0, colon)))) {
      out += line;
      continue;
    }
    out.append(line.substr(0, colon)).append(": ").append(config::kRedacted);
    out += line.ends_with("\r\n") ? "\r\n" : "\n";
  }
  return out;
}

}  // namespace spillway::proxy

#include "cli/jobs_command.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/admin_client.hpp"
#include "cli/jobs_table.hpp"
#include "http/ascii.hpp"

namespace spillway {

namespace {

using nlohmann::json;

constexpr std::uint64_t kUsualLimit = 100;
constexpr std::uint64_t kMostOnPage = 1000;
constexpr std::size_t kShownIds = 10;
constexpr std::size_t kMaxToken = 4096;

struct FilterOption {
  const char* member;  // of the query and the body
  const char* option;
  const std::optional<std::string>* text;
};

std::array<FilterOption, 7> filter_options(const JobsOptions& options) {
  return {{{"state", "--state", &options.state},
           {"route", "--route", &options.route},
           {"cause", "--cause", &options.cause},
           {"accepted_from", "--accepted-from", &options.accepted_from},
           {"accepted_before", "--accepted-before", &options.accepted_before},
           {"ended_from", "--ended-from", &options.ended_from},
           {"ended_before", "--ended-before", &options.ended_before}}};
}

std::string percent_encoded(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (http::is_alpha(c) || http::is_digit(c) ||
        std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

// In single quotes for a shell, unless it needs none.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return http::is_alpha(c) || http::is_digit(c) ||
           std::string_view("-._/:@+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

class JobsCommand {
 public:
  JobsCommand(const JobsOptions& options, AdminClient client, std::ostream& out, std::ostream& err)
      : options_(options), client_(std::move(client)), out_(out), err_(err) {}

  JobsOutcome run() {
    switch (options_.action) {
      case JobsAction::list: return options_.json ? print_page() : list();
      case JobsAction::show: return show();
      case JobsAction::cancel: return cancel();
      default: return change();
    }
  }

 private:
  JobsOutcome list();
  JobsOutcome print_page();
  JobsOutcome show();
  JobsOutcome cancel();
  JobsOutcome change();
  std::string list_target(std::uint64_t limit, const std::optional<std::string>& after) const;
  std::string change_body() const;
  std::string again_with_yes(std::uint64_t count) const;
  void print_change(const json& answer) const;
  // The answer's body; nullopt, and a sentence on err_, if it is no success.
  std::optional<json> understood(const AdminReply& reply);
  JobsOutcome failed() const { return outcome_; }

  const JobsOptions& options_;
  AdminClient client_;
  std::ostream& out_;
  std::ostream& err_;
  JobsOutcome outcome_ = JobsOutcome::failed;
};

std::optional<json> JobsCommand::understood(const AdminReply& reply) {
  json body = json::parse(reply.body, nullptr, false);
  if (reply.status == 200 && body.is_object()) return body;
  std::string problem = reply.problem;
  if (reply.status != 0) {
    problem = "the admin listener answers " + std::to_string(reply.status);
    if (body.is_object() && body.contains("detail") && body["detail"].is_string())
      problem += ": " + body["detail"].get<std::string>();
  }
  outcome_ = reply.status == 400 ? JobsOutcome::bad_usage : JobsOutcome::failed;
  err_ << "error: " << problem << '\n';
  return std::nullopt;
}

std::string JobsCommand::list_target(std::uint64_t limit,
                                     const std::optional<std::string>& after) const {
  std::string target = "/jobs?limit=" + std::to_string(limit);
  for (const FilterOption& each : filter_options(options_))
    if (*each.text)
      target.append("&").append(each.member).append("=") += percent_encoded(**each.text);
  if (after) target += "&after=" + percent_encoded(*after);
  return target;
}

JobsOutcome JobsCommand::print_page() {
  const AdminReply reply =
      client_.get(list_target(options_.limit.value_or(kUsualLimit), options_.after));
  if (!understood(reply)) return failed();
  out_ << reply.body;
  return JobsOutcome::done;
}

// Page by page: a page may have fewer jobs than it could.
JobsOutcome JobsCommand::list() {
  std::uint64_t left = options_.limit.value_or(kUsualLimit);
  std::optional<std::string> after = options_.after;
  bool is_first = true;
  while (left > 0) {
    const AdminReply reply = client_.get(list_target(std::min(left, kMostOnPage), after));
    const std::optional<json> page = understood(reply);
    if (!page) return failed();
    const json rows = page->value("jobs", json::array());
    if (std::exchange(is_first, false)) print_jobs_heading(out_);
    for (const json& job : rows) print_job_row(out_, job);
    left -= std::min<std::uint64_t>(left, rows.size());
    const json next = page->value("next", json());
    if (!next.is_string()) return JobsOutcome::done;
    after = next.get<std::string>();
  }
  out_ << "There may be more: --after " << after.value_or("") << '\n';
  return JobsOutcome::done;
}

JobsOutcome JobsCommand::show() {
  const AdminReply reply = client_.get("/jobs/" + options_.id.value_or(""));
  const std::optional<json> job = understood(reply);
  if (!job) return failed();
  if (options_.json)
    out_ << reply.body;
  else
    print_inspected_job(out_, *job);
  return JobsOutcome::done;
}

JobsOutcome JobsCommand::cancel() {
  const AdminReply reply = client_.post("/jobs/" + options_.id.value_or("") + "/cancel", "{}");
  if (!understood(reply)) return failed();
  if (options_.json)
    out_ << reply.body;
  else
    out_ << "Cancelled.\n";
  return JobsOutcome::done;
}

std::string JobsCommand::change_body() const {
  json body{{"dry_run", !options_.yes}};
  for (const FilterOption& each : filter_options(options_))
    if (*each.text) body[each.member] = **each.text;
  if (options_.id) body["id"] = *options_.id;
  if (options_.limit) body["limit"] = *options_.limit;
  if (options_.per_second) body["per_second"] = *options_.per_second;
  if (options_.ttl_ms) body["ttl_ms"] = *options_.ttl_ms;
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

JobsOutcome JobsCommand::change() {
  const bool is_replay = options_.action == JobsAction::replay;
  if (options_.yes && !options_.id && !options_.limit) {
    err_ << "error: --yes needs --limit, or the ID of one job\n";
    return JobsOutcome::bad_usage;
  }
  const AdminReply reply = client_.post(is_replay ? "/jobs/replay" : "/jobs/purge", change_body());
  const std::optional<json> answer = understood(reply);
  if (!answer) return failed();
  if (options_.json)
    out_ << reply.body;
  else
    print_change(*answer);
  return JobsOutcome::done;
}

void JobsCommand::print_change(const json& answer) const {
  const char* const what = options_.action == JobsAction::replay ? "replayed" : "purged";
  const auto count = answer.value("count", std::uint64_t{0});
  const std::string jobs = std::to_string(count) + (count == 1 ? " job" : " jobs");
  if (options_.yes) {
    out_ << jobs << ' ' << what << ".\n";
    return;
  }
  out_ << jobs << " would be " << what
       << (count > 0 && !answer.value("jobs", json::array()).empty() ? ":\n" : ".\n");
  const json ids = answer.value("jobs", json::array());
  for (std::size_t n = 0; n < std::min(ids.size(), kShownIds); ++n)
    out_ << "  " << ids[n].get<std::string>() << '\n';
  if (ids.size() > kShownIds) out_ << "  ...\n";
  if (count > 0) out_ << "Nothing was changed. To do it:\n  " << again_with_yes(count) << '\n';
}

// The same command, in earnest.
std::string JobsCommand::again_with_yes(std::uint64_t count) const {
  std::string text = "spillway jobs ";
  text += options_.action == JobsAction::replay ? "replay" : "purge";
  if (options_.id) text += " " + shell_word(*options_.id);
  text += " --admin " + shell_word(options_.admin);
  if (!options_.token_file.empty()) text += " --token-file " + shell_word(options_.token_file);
  for (const FilterOption& each : filter_options(options_))
    if (*each.text) text.append(" ").append(each.option).append(" ") += shell_word(**each.text);
  if (options_.per_second) text += " --per-second " + json(*options_.per_second).dump();
  if (options_.ttl_ms) text += " --ttl-ms " + std::to_string(*options_.ttl_ms);
  if (!options_.id) text += " --limit " + std::to_string(options_.limit.value_or(count));
  return text + " --yes";
}

// The first line; nullopt: the file cannot be read, or does not hold a token.
std::optional<std::string> token_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxToken + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const std::string token(http::trim(text.substr(0, text.find_first_of("\r\n"))));
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (token.empty() || token.size() > kMaxToken ||
      !std::all_of(token.begin(), token.end(), is_visible)) {
    return std::nullopt;
  }
  return token;
}

}  // namespace

JobsOutcome run_jobs_command(const JobsOptions& options, std::ostream& out, std::ostream& err) {
  const std::optional<AdminUrl> url = parse_admin_url(options.admin);
  if (!url) {
    err << "error: --admin must be a URL as http://127.0.0.1:9090\n";
    return JobsOutcome::bad_usage;
  }
  std::string token;
  if (!options.token_file.empty()) {
    auto read = token_of(options.token_file);
    if (!read) {
      err << "error: " << options.token_file << " cannot be read, or its first line is no token\n";
      return JobsOutcome::bad_usage;
    }
    token = std::move(*read);
  }
  return JobsCommand(options, AdminClient(*url, std::move(token)), out, err).run();
}

}  // namespace spillway

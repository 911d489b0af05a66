#include "cli/admin/jobs_command.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/time_text.hpp"
#include "cli/admin/jobs_table.hpp"
#include "http/field/ascii.hpp"
#include "http/field/query.hpp"

namespace spillway {

namespace {

using nlohmann::json;

constexpr std::uint64_t kUsualLimit = 100;
constexpr std::uint64_t kMostOnPage = 1000;
constexpr std::uint64_t kMostAtOnce = 10000;  // jobs that one request may change
constexpr std::size_t kShownIds = 10;

struct FilterOption {
  const char* member;  // its name in the query and the body
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

// Quoted with single quotes for a shell, unless quotes are not needed.
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

// The pause between the jobs of a replay, rounded to milliseconds as the admin listener does.
std::uint64_t whole_pause(double per_second) {
  return static_cast<std::uint64_t>(std::llround(std::ceil(1000 / per_second - 1e-9)));
}

std::string jobs_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " job" : " jobs");
}

class JobsCommand {
 public:
  JobsCommand(const JobsOptions& options, AdminDesk desk, std::ostream& out, std::ostream& err)
      : options_(options), desk_(std::move(desk)), out_(out), err_(err) {}

  AdminOutcome run() {
    switch (options_.action) {
      case JobsAction::list: return options_.json ? print_page() : list();
      case JobsAction::show: return show();
      case JobsAction::cancel: return cancel();
      default: return change();
    }
  }

 private:
  AdminOutcome list();
  AdminOutcome print_page();
  AdminOutcome show();
  AdminOutcome cancel();
  AdminOutcome change();
  AdminOutcome change_all();
  std::string list_target(std::uint64_t limit, const std::optional<std::string>& after) const;
  json change_body() const;
  AdminReply post_change(const json& body) const;
  std::string again_with_yes(std::uint64_t count) const;
  void print_change(const json& answer) const;
  void print_done(std::uint64_t count) const;
  bool is_replay() const { return options_.action == JobsAction::replay; }

  const JobsOptions& options_;
  AdminDesk desk_;
  std::ostream& out_;
  std::ostream& err_;
};

std::string JobsCommand::list_target(std::uint64_t limit,
                                     const std::optional<std::string>& after) const {
  std::string target = "/jobs?limit=" + std::to_string(limit);
  for (const FilterOption& each : filter_options(options_))
    if (*each.text)
      target.append("&").append(each.member).append("=") += http::percent_encoded(**each.text);
  if (after) target += "&after=" + http::percent_encoded(*after);
  return target;
}

AdminOutcome JobsCommand::print_page() {
  const AdminReply reply =
      desk_.client().get(list_target(options_.limit.value_or(kUsualLimit), options_.after));
  if (!desk_.understood(reply)) return desk_.failed();
  out_ << reply.body;
  return AdminOutcome::done;
}

// Fetches page by page: a page may have fewer jobs than the limit allows.
AdminOutcome JobsCommand::list() {
  std::uint64_t left = options_.limit.value_or(kUsualLimit);
  std::optional<std::string> after = options_.after;
  bool is_first = true;
  while (left > 0) {
    const AdminReply reply = desk_.client().get(list_target(std::min(left, kMostOnPage), after));
    const std::optional<json> page = desk_.understood(reply);
    if (!page) return desk_.failed();
    const json rows = page->value("jobs", json::array());
    if (std::exchange(is_first, false)) print_jobs_heading(out_);
    for (const json& job : rows) print_job_row(out_, job);
    left -= std::min<std::uint64_t>(left, rows.size());
    const json next = page->value("next", json());
    if (!next.is_string()) return AdminOutcome::done;
    after = next.get<std::string>();
  }
  out_ << "There may be more: --after " << after.value_or("") << '\n';
  return AdminOutcome::done;
}

AdminOutcome JobsCommand::show() {
  return desk_.print(out_, desk_.client().get("/jobs/" + options_.id.value_or("")),
                     [this](const json& job) { print_inspected_job(out_, job); });
}

AdminOutcome JobsCommand::cancel() {
  const AdminReply reply =
      desk_.client().post("/jobs/" + options_.id.value_or("") + "/cancel", "{}");
  return desk_.print(out_, reply, [this](const json&) { out_ << "Cancelled.\n"; });
}

json JobsCommand::change_body() const {
  json body{{"dry_run", !options_.yes}};
  for (const FilterOption& each : filter_options(options_))
    if (*each.text) body[each.member] = **each.text;
  if (options_.id) body["id"] = *options_.id;
  if (options_.limit) body["limit"] = *options_.limit;
  if (options_.per_second) body["per_second"] = *options_.per_second;
  if (options_.ttl_ms) body["ttl_ms"] = *options_.ttl_ms;
  return body;
}

AdminReply JobsCommand::post_change(const json& body) const {
  return desk_.post(is_replay() ? "/jobs/replay" : "/jobs/purge", body);
}

AdminOutcome JobsCommand::change() {
  if (options_.yes && options_.all) return change_all();
  if (options_.yes && !options_.id && !options_.limit) {
    err_ << "error: --yes needs --limit or --all, or the ID of one job\n";
    return AdminOutcome::bad_usage;
  }
  return desk_.print(out_, post_change(change_body()),
                     [this](const json& answer) { print_change(answer); });
}

// In steps, one request each. Jobs that end during or after this are not included; with a rate each
// step begins where the one before ends.
AdminOutcome JobsCommand::change_all() {
  json body = change_body();
  body["limit"] = kMostAtOnce;
  if (!options_.ended_before) {
    using namespace std::chrono;
    body["ended_before"] = to_text(floor<milliseconds>(system_clock::now()));
  }
  std::uint64_t count = 0;
  for (std::uint64_t step = kMostAtOnce; step == kMostAtOnce; count += step) {
    if (options_.per_second && count > 0)
      body["delay_ms"] = count * whole_pause(*options_.per_second);
    const AdminReply reply = post_change(body);
    const std::optional<json> answer = desk_.understood(reply);
    if (!answer) {
      if (count > 0) print_done(count);
      return desk_.failed();
    }
    if (options_.json) out_ << reply.body;
    step = answer->value("count", std::uint64_t{0});
  }
  if (!options_.json) print_done(count);
  return AdminOutcome::done;
}

void JobsCommand::print_done(std::uint64_t count) const {
  out_ << jobs_text(count) << (is_replay() ? " replayed.\n" : " purged.\n");
}

void JobsCommand::print_change(const json& answer) const {
  const auto count = answer.value("count", std::uint64_t{0});
  if (options_.yes) return print_done(count);
  out_ << (count >= kMostAtOnce ? "At least " : "") << jobs_text(count) << " would be "
       << (is_replay() ? "replayed" : "purged")
       << (count > 0 && !answer.value("jobs", json::array()).empty() ? ":\n" : ".\n");
  const json ids = answer.value("jobs", json::array());
  for (std::size_t n = 0; n < std::min(ids.size(), kShownIds); ++n)
    out_ << "  " << ids[n].get<std::string>() << '\n';
  if (ids.size() > kShownIds) out_ << "  ...\n";
  if (count > 0) out_ << "Nothing was changed. To do it:\n  " << again_with_yes(count) << '\n';
}

// The same command with --yes, so that it takes effect.
std::string JobsCommand::again_with_yes(std::uint64_t count) const {
  std::string text = "spillway jobs ";
  text += is_replay() ? "replay" : "purge";
  if (options_.id) text += " " + shell_word(*options_.id);
  text += " --admin " + shell_word(options_.admin);
  if (!options_.token_file.empty()) text += " --token-file " + shell_word(options_.token_file);
  for (const FilterOption& each : filter_options(options_))
    if (*each.text) text.append(" ").append(each.option).append(" ") += shell_word(**each.text);
  if (options_.per_second) text += " --per-second " + json(*options_.per_second).dump();
  if (options_.ttl_ms) text += " --ttl-ms " + std::to_string(*options_.ttl_ms);
  if (options_.all)
    text += " --all";
  else if (!options_.id)
    text += " --limit " + std::to_string(options_.limit.value_or(count));
  return text + " --yes";
}

}  // namespace

AdminOutcome run_jobs_command(const JobsOptions& options, std::ostream& out, std::ostream& err) {
  auto desk = AdminDesk::open(options, err);
  if (!desk) return AdminOutcome::bad_usage;
  return JobsCommand(options, std::move(*desk), out, err).run();
}

}  // namespace spillway

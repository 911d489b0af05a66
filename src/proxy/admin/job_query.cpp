#include "proxy/admin/job_query.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "http/field/query.hpp"
#include "jobs/time_text.hpp"
#include "proxy/admin/json_members.hpp"

namespace spillway::proxy {

namespace {

using nlohmann::json;
using Problem = std::optional<std::string>;  // nullopt: none

constexpr std::string_view kJobs = "/jobs";
constexpr double kMostPerSecond = 1000;
constexpr double kLeastPerSecond = 0.001;
constexpr std::int64_t kLeastTtl = 1000;
constexpr std::int64_t kMostTtl = 31'536'000'000;  // a year, as in the configuration

// Reads a name of one of the enumeration's values.
template <class Enum>
Problem read_name(std::string_view member, std::string_view text, std::size_t count,
                  std::optional<Enum>& to) {
  std::string all;
  for (std::size_t n = 0; n < count; ++n) {
    const std::string_view name = jobs::name(static_cast<Enum>(n));
    if (name.empty()) continue;
    if (name == text) {
      to = static_cast<Enum>(n);
      return std::nullopt;
    }
    all.append(all.empty() ? "" : ", ").append(name);
  }
  return in_quotes(member) + " must be one of: " + all;
}

Problem read_time(std::string_view member, std::string_view text,
                  std::optional<jobs::WallTime>& to) {
  to = jobs::parse_time(text);
  if (to) return std::nullopt;
  return in_quotes(member) + " must be a time as 2026-11-23T20:00:00Z";
}

Problem read_id(std::string_view member, std::string_view text, std::optional<jobs::JobId>& to) {
  to = jobs::parse_job_id(text);
  if (to) return std::nullopt;
  return in_quotes(member) + " must be the id of a job: 32 lower-case hexadecimal digits";
}

// False: it is not a member of a filter.
bool read_filter(std::string_view member, std::string_view text, store::Filter& filter,
                 Problem& problem) {
  if (member == "state") {
    problem = read_name(member, text, jobs::kJobStateCount, filter.state);
  } else if (member == "cause") {
    problem = read_name(member, text, jobs::kCauseCount, filter.cause);
  } else if (member == "route") {
    if (text.empty())
      problem = "\"route\" must not be empty";
    else
      filter.route = std::string(text);
  } else if (member == "accepted_from") {
    problem = read_time(member, text, filter.accepted_from);
  } else if (member == "accepted_before") {
    problem = read_time(member, text, filter.accepted_before);
  } else if (member == "ended_from") {
    problem = read_time(member, text, filter.ended_from);
  } else if (member == "ended_before") {
    problem = read_time(member, text, filter.ended_before);
  } else {
    return false;
  }
  return true;
}

std::string limit_problem(std::size_t most) {
  return "\"limit\" must be a whole number from 1 to " + std::to_string(most);
}

Problem read_parameter(std::string_view name, std::string_view text, JobsListing& to) {
  Problem problem;
  if (read_filter(name, text, to.filter, problem)) return problem;
  if (name == "after") return read_id(name, text, to.after);
  if (name != "limit") return unknown_member(name);
  if (!read_number(text, to.limit) || to.limit == 0 || to.limit > kMostListedJobs)
    return limit_problem(kMostListedJobs);
  return std::nullopt;
}

// Reads a body's members other than those of a filter.
struct ChangeReader {
  bool is_replay = false;
  JobsChange change;
  bool has_limit = false;

  Problem read(const std::string& name, const json& value);
  Problem read_number(const std::string& name, const json& value);
  Problem judge() const;
};

Problem ChangeReader::read(const std::string& name, const json& value) {
  if (name == "dry_run") {
    if (!value.is_boolean()) return "\"dry_run\" must be true or false";
    change.is_dry_run = value.get<bool>();
    return std::nullopt;
  }
  const bool is_of_replay = name == "per_second" || name == "delay_ms" || name == "ttl_ms";
  if (name == "limit" || (is_replay && is_of_replay)) return read_number(name, value);
  static constexpr std::array<std::string_view, 8> kTexts{
      "state",           "cause",      "route",        "accepted_from",
      "accepted_before", "ended_from", "ended_before", "id"};
  if (std::find(kTexts.begin(), kTexts.end(), name) == kTexts.end()) return unknown_member(name);
  if (!value.is_string()) return in_quotes(name) + " must be a string";
  const auto& text = value.get_ref<const std::string&>();
  if (name == "id") return read_id(name, text, change.filter.id);
  Problem problem;
  read_filter(name, text, change.filter, problem);
  return problem;
}

Problem ChangeReader::read_number(const std::string& name, const json& value) {
  if (name == "limit") {
    const auto limit = whole(value, 1, kMostChangedJobs);
    if (!limit) return limit_problem(kMostChangedJobs);
    change.limit = static_cast<std::size_t>(*limit);
    has_limit = true;
  } else if (name == "delay_ms") {
    const auto delay = whole(value, 0, kMostTtl);
    if (!delay) return "\"delay_ms\" must be a whole number from 0 to " + std::to_string(kMostTtl);
    change.delay = std::chrono::milliseconds(*delay);
  } else if (name == "ttl_ms") {
    const auto ttl = whole(value, kLeastTtl, kMostTtl);
    if (!ttl) {
      return "\"ttl_ms\" must be a whole number from " + std::to_string(kLeastTtl) + " to " +
             std::to_string(kMostTtl);
    }
    change.ttl = std::chrono::milliseconds(*ttl);
  } else {
    const double rate = value.is_number() ? value.get<double>() : 0;
    if (!(rate >= kLeastPerSecond && rate <= kMostPerSecond))
      return "\"per_second\" must be a number from 0.001 to 1000";
    // Rounded up, so that the rate does not exceed the one asked for.
    change.spacing = std::chrono::milliseconds(std::llround(std::ceil(1000 / rate - 1e-9)));
  }
  return std::nullopt;
}

// Checks the members together.
Problem ChangeReader::judge() const {
  const auto& state = change.filter.state;
  const bool may_replay =
      !state || *state == jobs::JobState::dead || *state == jobs::JobState::expired;
  if (is_replay && !may_replay)
    return "only dead and expired jobs are replayed: \"state\" must be one of these";
  if (!is_replay && state && !jobs::has_ended(*state))
    return "only jobs that have ended are purged: \"state\" must be such a state";
  if (!change.is_dry_run && !has_limit && !change.filter.id)
    return "\"limit\" is needed unless it is a dry run or \"id\" names one job";
  const bool is_capped = has_limit && !change.filter.id;
  const std::size_t places = is_capped ? change.limit - 1 : 0;
  if (change.ttl && change.delay + change.spacing * places >= *change.ttl)
    return "\"ttl_ms\" is over before the last of \"limit\" jobs is due at \"per_second\"";
  return std::nullopt;
}

std::variant<JobsChange, std::string> read_change(bool is_replay, std::string_view body) {
  const auto members = read_members(body);
  if (const auto* const wrong = std::get_if<std::string>(&members)) return *wrong;
  ChangeReader reader{.is_replay = is_replay, .change = {}};
  for (const auto& [name, value] : std::get<json>(members).items())
    if (Problem problem = reader.read(name, value)) return std::move(*problem);
  if (Problem problem = reader.judge()) return std::move(*problem);
  if (reader.change.filter.id) reader.change.limit = 1;
  return reader.change;
}

}  // namespace

bool is_jobs_path(std::string_view path) {
  return path.starts_with(kJobs) && (path.size() == kJobs.size() || path[kJobs.size()] == '/');
}

std::optional<JobsPath> read_jobs_path(std::string_view path) {
  using Kind = JobsPath::Kind;
  if (!is_jobs_path(path)) return std::nullopt;
  if (path == kJobs) return JobsPath{Kind::list, {}};
  path.remove_prefix(kJobs.size() + 1);
  if (path == "replay") return JobsPath{Kind::replay, {}};
  if (path == "purge") return JobsPath{Kind::purge, {}};
  const std::size_t slash = std::min(path.find('/'), path.size());
  const auto id = jobs::parse_job_id(path.substr(0, slash));
  if (!id) return std::nullopt;
  const std::string_view rest = path.substr(slash);
  if (rest.empty()) return JobsPath{Kind::inspect, *id};
  return rest == "/cancel" ? std::optional(JobsPath{Kind::cancel, *id}) : std::nullopt;
}

std::variant<JobsListing, std::string> read_jobs_query(std::string_view query) {
  JobsListing listing;
  const auto parameters = http::read_query(query);
  if (const auto* const wrong = std::get_if<std::string>(&parameters)) return *wrong;
  for (const http::Parameter& each : std::get<http::Parameters>(parameters))
    if (Problem problem = read_parameter(each.name, each.value, listing))
      return std::move(*problem);
  return listing;
}

std::variant<JobsChange, std::string> read_replay(std::string_view body) {
  return read_change(true, body);
}

std::variant<JobsChange, std::string> read_jobs_purge(std::string_view body) {
  return read_change(false, body);
}

}  // namespace spillway::proxy

#include "simulate/run/access_log.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/time_text.hpp"
#include "config/file/document.hpp"
#include "simulate/model/client_model.hpp"

namespace spillway::simulate {
namespace {

using config::shown;

constexpr double kLongestRequest = 86'400;  // seconds

// The reason why a line cannot be parsed, as a sentence.
struct BadLine {
  std::string message;
};

// Since 1970.
double seconds_of(std::string_view text) {
  const auto time = parse_time(text);
  if (!time)
    throw BadLine{"time: found " + shown(text) + ", expected such as 2026-01-31T23:59:59.999Z"};
  return to_seconds(time->time_since_epoch());
}

const std::string& text_of(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_string())
    throw BadLine{std::string(key) + ": missing, or no text"};
  return found->get_ref<const std::string&>();
}

double number_of(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number() || !(found->get<double>() >= 0))
    throw BadLine{std::string(key) + ": missing, or no number from 0"};
  return found->get<double>();
}

template <class Id, class Named>
Id find(const std::vector<Named>& list, const std::string& name, const char* key) {
  const auto found = std::ranges::find(list, name, &Named::name);
  if (found == list.end())
    throw BadLine{std::string(key) + ": the configuration has no " + shown(name)};
  return static_cast<Id>(found - list.begin());
}

class AccessLogReader {
 public:
  explicit AccessLogReader(const config::Config& config) : config_(config) {}

  void read(std::string_view text) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object()) throw BadLine{"no JSON object"};
    if (text_of(line, "event") != "access") return;
    const RouteId route = find<RouteId>(config_.routes, text_of(line, "route"), "route");
    const UpstreamId upstream = config_.routes[index(route)].upstream;
    if (!upstream_) upstream_ = upstream;
    if (upstream != *upstream_) {
      ++elsewhere_;
      return;
    }
    if (arrivals_.size() == kMostLoggedArrivals)
      throw BadLine{"more than " + std::to_string(kMostLoggedArrivals) +
                    " requests: play a part of the log"};
    const std::string& tenant = text_of(line, "tenant");
    const double taken = number_of(line, "duration_ms") / 1000;
    if (!(taken >= 0 && taken <= kLongestRequest)) throw BadLine{"duration_ms: more than a day"};
    const double at = seconds_of(text_of(line, "time")) - taken;
    const auto id = find<ClassId>(config_.classes, text_of(line, "class"), "class");
    const std::string& outcome = text_of(line, "outcome");
    if (outcome == "cached") return;  // the upstream was not asked
    const std::uint32_t kind = kind_of(route, id, tenant);
    arrivals_.push_back({at, tenant_hash(tenant), kind});
    if (outcome != "forwarded") return;
    kinds_[kind].service.add(taken - number_of(line, "wait_ms") / 1000);
    all_.add(taken - number_of(line, "wait_ms") / 1000);
  }

  // The arrivals, with times relative to the first one.
  std::vector<LoggedArrival> arrivals() {
    std::ranges::stable_sort(arrivals_, {}, &LoggedArrival::at);
    const double first = arrivals_.empty() ? 0 : arrivals_.front().at;
    for (LoggedArrival& each : arrivals_) each.at -= first;
    return std::move(arrivals_);
  }

  std::vector<Clients> clients(double seconds) const {
    std::vector<Clients> out;
    for (const Kind& kind : kinds_) {
      Clients& clients = out.emplace_back(kind.clients);
      clients.rate = static_cast<double>(kind.requests) / seconds;
      if (kind.service.mean() > 0 && all_.mean() > 0)
        clients.service_factor = std::clamp(kind.service.mean() / all_.mean(), 0.001, 1000.0);
    }
    return out;
  }

  std::optional<UpstreamId> upstream() const { return upstream_; }
  std::uint64_t elsewhere() const { return elsewhere_; }
  double service() const { return all_.mean(); }  // seconds; 0: not known

 private:
  struct Mean {
    double sum = 0;
    std::uint64_t samples = 0;

    void add(double value) {
      sum += std::max(value, 0.0);
      ++samples;
    }
    double mean() const { return samples > 0 ? sum / static_cast<double>(samples) : 0; }
  };
  struct Kind {
    Clients clients;
    std::uint64_t requests = 0;
    Mean service;
  };

  // Tenants of the configuration are separate kinds, because of their weights and budgets.
  std::uint32_t kind_of(RouteId route, ClassId id, const std::string& tenant) {
    const auto is_tenant = [&](const auto& one) { return one.name == tenant; };
    const bool is_named =
        std::ranges::any_of(config::named_tenants(config_.tenants.api_keys), is_tenant);
    const auto [at, is_new] =
        numbers_.try_emplace({index(route), index(id), is_named ? tenant : ""},
                             static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) {
      Clients clients;
      clients.route = route;
      clients.traffic_class = id;
      if (is_named) clients.tenant = tenant;
      kinds_.push_back({clients, 0, {}});
    }
    ++kinds_[at->second].requests;
    return at->second;
  }

  const config::Config& config_;
  std::optional<UpstreamId> upstream_;
  std::vector<LoggedArrival> arrivals_;
  std::vector<Kind> kinds_;
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::uint32_t> numbers_;
  Mean all_;
  std::uint64_t elsewhere_ = 0;
};

std::string printable(std::string_view text) {
  std::string out(text.substr(0, 160));
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return out;
}

// Builds the model for the arrivals that were read.
ScenarioResult scenario_of(AccessLogReader& reader, std::string_view file_name,
                           const config::Config& config, const Told& told) {
  ScenarioResult out;
  const auto fail = [&](const char* path, const char* message) {
    out.problems.push_back({path, message});
  };
  auto traffic = std::make_shared<std::vector<LoggedArrival>>(reader.arrivals());
  if (traffic->empty()) fail("--from-log", "no access line in it");
  if (told.rate) fail("--rps", "the log says when requests come");
  const double last = traffic->empty() ? 0 : traffic->back().at;
  if (last >= 86'400) fail("--from-log", "longer than a day: play a part of the log");
  if (!out.problems.empty()) return out;
  Scenario scenario;
  scenario.name = "log";
  scenario.sentence = "the arrivals of " + printable(file_name);
  scenario.seconds = static_cast<std::uint32_t>(std::ceil(std::max(last, 1e-9)));
  scenario.warm_up_seconds = std::min(5u, scenario.seconds / 4);
  scenario.clients = reader.clients(scenario.seconds);
  scenario.config = config;
  scenario.upstream = *reader.upstream();
  scenario.logged = std::move(traffic);
  const config::Upstream& upstream = config.upstreams[index(scenario.upstream)];
  const config::Concurrency& concurrency = upstream.dispatch.concurrency;
  if (!told.slots && concurrency.search)
    fail("--slots", "missing: a log does not say them, and the concurrency is \"auto\"");
  if (!told.service && reader.service() <= 0)
    fail("--service-ms", "missing: the log has no request that was forwarded");
  if (!out.problems.empty()) return out;
  scenario.backend.slots = told.slots.value_or(concurrency.most);
  const auto learned = std::chrono::ceil<Milliseconds>(from_seconds(reader.service()));
  scenario.backend.service = told.service.value_or(std::max(learned, Milliseconds{1}));
  out.sizing = std::string("slots ") +
               (told.slots ? "as told" : "by the configuration's concurrency") + ", service time " +
               (told.service ? "as told" : "by the log's forwarded requests");
  share_slots(scenario, upstream.servers.size());
  out.warnings = contradictions(scenario, told.slots.has_value());
  if (reader.elsewhere() > 0)
    out.warnings.push_back({"--from-log", std::to_string(reader.elsewhere()) +
                                              " requests went to other upstreams: left out"});
  if (config.log.access_sample > 0 && config.log.access_sample < 1)
    out.warnings.push_back(
        {"$.log.access_sample", "below 1: the log may have only that share of the requests"});
  out.scenario = std::move(scenario);
  return out;
}

}  // namespace

ScenarioResult read_access_log(std::istream& in, std::string_view file_name,
                               const config::Config& config, const Told& told) {
  AccessLogReader reader(config);
  std::vector<char> buffer(kLongestLogLine);
  for (std::uint64_t number = 1; in.getline(buffer.data(), kLongestLogLine) || in.gcount() > 0;
       ++number) {
    const auto problem = [&](const std::string& message) {
      return ScenarioResult{
          std::nullopt, {{std::string(file_name) + ':' + std::to_string(number), message}}, {}, {}};
    };
    if (in.fail()) return problem("longer than " + std::to_string(kLongestLogLine) + " bytes");
    const std::string_view line(buffer.data());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      reader.read(line);
    } catch (const BadLine& bad) {
      return problem(bad.message);
    }
  }
  return scenario_of(reader, file_name, config, told);
}

namespace {

constexpr std::chrono::milliseconds kSilence{2000};
constexpr std::chrono::milliseconds kWhole{60'000};

// A pipe may have no writer, or a silent one, so the wait for it is bounded.
ScenarioResult read_piped_log(const std::string& path, const config::Config& config,
                              const Told& told) {
  config::FileText piped =
      config::read_file(path, kMostPipedBytes, {.silence = kSilence, .whole = kWhole});
  if (!piped.text) return {std::nullopt, std::move(piped.problems), {}, {}};
  if (piped.text->empty()) return {std::nullopt, {{path, "is empty"}}, {}, {}};
  if (piped.text->size() > kMostPipedBytes) {
    return {std::nullopt,
            {{path,
              "a pipe with more than " + std::to_string(kMostPipedBytes) + " bytes: name a file"}},
            {},
            {}};
  }
  std::istringstream in(std::move(*piped.text));
  return read_access_log(in, path, config, told);
}

}  // namespace

ScenarioResult open_access_log(const std::string& path, const config::Config& config,
                               const Told& told) {
  std::error_code missing;  // reported below
  if (!std::filesystem::is_regular_file(path, missing)) return read_piped_log(path, config, told);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    const std::string why =
        errno != 0 ? "cannot read: " + std::generic_category().message(errno) : "is empty";
    return {std::nullopt, {{path, why}}, {}, {}};
  }
  return read_access_log(file, path, config, told);
}

}  // namespace spillway::simulate

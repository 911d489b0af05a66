#include "simulate/scenario/scenario_file.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/describe/reader.hpp"
#include "config/describe/reference_writer.hpp"
#include "config/file/document.hpp"
#include "config/file/load.hpp"
#include "simulate/scenario/built_in.hpp"
#include "simulate/scenario/names.hpp"
#include "simulate/scenario/scenario_description.hpp"

namespace spillway::simulate {
namespace {

using config::Problems;

constexpr double kMostRequests = 2e7;  // about a minute of CPU and 1 GB

Scenario read(const nlohmann::json& root, const config::ReadContext& context, Problems& problems) {
  Scenario out;
  config::Reader(context, problems).read(root, "$", out, config::ByType{});
  return out;
}

// The slots of several servers are those of the backend.
void check_servers(Scenario& scenario, Problems& problems) {
  Backend& backend = scenario.backend;
  if (!backend.servers.empty()) backend.slots = 0;
  for (const Server& server : backend.servers) backend.slots += server.slots;
  for (std::size_t i = 0; i < scenario.changes.size(); ++i) {
    const std::uint32_t server = scenario.changes[i].server.value_or(1);
    if (server > std::max<std::size_t>(backend.servers.size(), 1)) {
      problems.push_back({config::element("$.changes", i) + ".server",
                          "found " + std::to_string(server) + ", $.backend.servers has " +
                              std::to_string(backend.servers.size())});
    }
  }
}

void check_count(const Scenario& scenario, Problems& problems) {
  const std::size_t configured = scenario.config.upstreams[index(scenario.upstream)].servers.size();
  const std::size_t modelled = scenario.backend.servers.size();
  if (modelled == 0 || modelled == configured) return;
  problems.push_back({"$.backend.servers", "found " + std::to_string(modelled) +
                                               " elements, the upstream of $.config has " +
                                               std::to_string(configured) + " servers"});
}

// Constraints between fields. Reports only if no single field is wrong.
void check(Scenario& scenario, Problems& problems) {
  if (scenario.warm_up_seconds >= scenario.seconds) {
    problems.push_back({"$.warm_up_seconds", "found " + std::to_string(scenario.warm_up_seconds) +
                                                 ", allowed: less than $.seconds (" +
                                                 std::to_string(scenario.seconds) + ")"});
  }
  for (std::size_t i = 0; i < scenario.changes.size(); ++i) {
    const Change& change = scenario.changes[i];
    if (change.until && *change.until <= change.at) {
      problems.push_back(
          {config::element("$.changes", i) + ".until_seconds", "allowed: later than at_seconds"});
    }
  }
  check_servers(scenario, problems);
  const auto upstream_of = [&](const Clients& clients) {
    return scenario.config.routes[index(route_of(scenario, clients))].upstream;
  };
  scenario.upstream = upstream_of(scenario.clients.front());
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const Clients& clients = scenario.clients[i];
    const std::string path = config::element("$.clients", i);
    const double until = clients.until.value_or(scenario.seconds);
    if (until <= clients.from) {
      problems.push_back({path + (clients.until ? ".until_seconds" : ".from_seconds"),
                          "they would never come: from_seconds is not before until_seconds or the "
                          "end of the run"});
    }
    if (!clients.traffic_class && !clients.route) {
      problems.push_back({path + ".class", "missing: name a class, a route, or both"});
    }
    if (clients.visit && clients.retries > 0) {
      problems.push_back({path + ".retries", "not with visit: visitors ask again by themselves"});
    }
    if (clients.tenants > 1 && clients.tenant.empty()) {
      problems.push_back({path + ".tenant", "missing: several tenants need a name to number"});
    }
    if (upstream_of(clients) != scenario.upstream) {
      problems.push_back(
          {path + ".route",
           "goes to upstream " +
               config::shown(scenario.config.upstreams[index(upstream_of(clients))].name) +
               ", the first clients go to " +
               config::shown(scenario.config.upstreams[index(scenario.upstream)].name) +
               ": one upstream is simulated"});
    }
  }
}

// Limits a run to what can be simulated in about a minute.
void check_requests(const Scenario& scenario, Problems& problems) {
  double requests = 0;
  for (const Clients& clients : scenario.clients) {
    const double until = clients.until.value_or(scenario.seconds);
    const double rate = (clients.rate + clients.ramp_to.value_or(clients.rate)) / 2;
    const double factor = clients.burst ? std::max(1.0, clients.burst->factor) : 1;
    const double each = clients.visit ? clients.visit->pages * 4.0 : 1.0 + clients.retries;
    requests += rate * factor * each * std::max(0.0, until - clients.from);
  }
  if (requests <= kMostRequests) return;
  problems.push_back({"$.clients", "more than " + std::to_string(std::uint64_t(kMostRequests)) +
                                       " requests and retries: too many to simulate"});
}

// The `concurrency` of the scenario's own upstream of the default route; "auto" stands for the
// right number for its backend.
std::uint32_t concurrency_of(const Scenario& scenario) {
  const config::Config& config = scenario.config;
  const config::Concurrency& its =
      config.upstreams[index(config.default_route().upstream)].dispatch.concurrency;
  if (!its.search) return its.most;
  std::uint32_t slots = scenario.backend.servers.empty() ? scenario.backend.slots : 0;
  for (const Server& server : scenario.backend.servers) slots += server.slots;
  return slots;
}

bool is_reference(const config::Problem& problem) {
  return problem.path.starts_with("$.clients") &&
         (problem.path.ends_with(".class") || problem.path.ends_with(".route"));
}

}  // namespace

bool Configuration::read(const nlohmann::json& node, const std::string& path, config::Config& value,
                         Problems& problems) const {
  config::LoadResult result = config::load_text(node.dump(), path);
  for (config::Problem& problem : result.problems) {
    if (problem.path.starts_with('$')) problem.path.replace(0, 1, path);
    problems.push_back(std::move(problem));
  }
  if (result.config) value = std::move(*result.config);
  return result.problems.empty();
}

// Reads twice: clients refer to classes and routes that come later in the file.
ScenarioResult read_scenario(std::string_view json, std::string_view file_name,
                             const config::Config* own, const Sizing& sizing) {
  config::Document document = config::parse(json, file_name);
  ScenarioResult out{std::nullopt, std::move(document.problems), {}};
  if (!document.root) return out;
  Problems ignored;
  config::ReadContext context;
  const Scenario named = read(*document.root, context, ignored);
  const config::Config& played = own != nullptr ? *own : named.config;
  Names names = names_of(played, named.config);
  context.classes = std::move(names.classes);
  context.routes = std::move(names.routes);
  Scenario scenario = read(*document.root, context, out.problems);
  // A bad configuration has no names: references of clients to it are no errors of their own.
  if (played.classes.empty()) std::erase_if(out.problems, is_reference);
  if (!out.problems.empty()) return out;
  const std::uint32_t former = concurrency_of(named);
  if (own != nullptr) {
    scenario.config = *own;
    out.warnings = translate(scenario.clients, *own, named.config);
  }
  check(scenario, out.problems);
  if (own == nullptr) check_count(scenario, out.problems);
  if (!out.problems.empty()) return out;
  const config::Upstream& upstream = scenario.config.upstreams[index(scenario.upstream)];
  const bool keeps_shape = own != nullptr && sizing.keeps_shape;
  out.sizing = resize(scenario, keeps_shape ? std::optional(former) : std::nullopt, sizing.told);
  check_requests(scenario, out.problems);  // at the size it will be run with
  if (!out.problems.empty()) return out;
  share_slots(scenario, upstream.servers.size());
  if (own != nullptr || sizing.told.any()) {
    const bool knows_slots = sizing.told.slots || !sizing.keeps_shape;
    for (auto& each : contradictions(scenario, knows_slots)) out.warnings.push_back(each);
  } else if (const auto bound = bound_below_slots(scenario)) {
    out.warnings.push_back(*bound);
  }
  out.scenario = std::move(scenario);
  return out;
}

ScenarioResult open_scenario(const std::string& name_or_path, const config::Config* own,
                             const Told& told) {
  std::vector<std::string> names;
  for (const BuiltIn& one : built_in_scenarios()) {
    if (one.name == name_or_path) return read_scenario(one.json, one.name, own, {told, true});
    names.emplace_back(one.name);
  }
  if (name_or_path.find_first_of("./") == std::string::npos) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    const std::string_view near = config::nearest(name_or_path, names);
    return {
        std::nullopt,
        {{"--scenario", "found " + config::shown(name_or_path) + ", there is no such scenario" +
                            (near.empty() ? "" : ": did you mean " + config::shown(near) + "?") +
                            " (built in: " + list + "; or the path of a file)"}},
        {}};
  }
  config::FileText file = config::read_file(name_or_path);
  if (!file.text) return {std::nullopt, std::move(file.problems), {}};
  return read_scenario(*file.text, name_or_path, own, {told, false});
}

std::string scenario_reference() {
  Scenario prototype;
  config::Dump dump(prototype.config);
  return config::reference_of(prototype, dump);
}

}  // namespace spillway::simulate

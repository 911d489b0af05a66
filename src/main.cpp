// The command line of spillway and nothing else. Exit codes: 0 success, 1 run-time failure, 2 bad
// usage or configuration.
#include <spdlog/version.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <boost/version.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/ip_address.hpp"
#include "base/state.hpp"
#include "cli/admin/jobs_command.hpp"
#include "cli/admin/rooms_command.hpp"
#include "cli/explain/explain.hpp"
#include "cli/simulate/simulate_command.hpp"
#include "config/check/warnings.hpp"
#include "config/describe/effective.hpp"
#include "config/describe/reference.hpp"
#include "config/describe/schema.hpp"
#include "config/file/key_files.hpp"
#include "config/file/load.hpp"
#include "proxy/server/server.hpp"
#include "traffic/classify/classify.hpp"

namespace {

constexpr int kFine = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

// Returns a checked configuration, or all its problems.
spillway::config::LoadResult read(const std::string& path) {
  auto result = spillway::config::load_file(path);
  if (!result.config) return result;
  try {
    spillway::traffic::Classifier{*result.config};
  } catch (const std::invalid_argument& error) {
    result.problems.push_back({"$.routes", error.what()});
    result.config.reset();
  }
  return result;
}

void report(const std::string& path, const spillway::config::Problems& problems) {
  for (const auto& problem : problems) {
    std::cerr << "error: " << problem.path << ": " << problem.message << '\n';
  }
  std::cerr << path << ": " << problems.size() << " error(s)\n";
}

// The same, but prints problems to standard error.
std::optional<spillway::config::Config> load(const std::string& path) {
  auto [config, problems] = read(path);
  if (!config) report(path, problems);
  return config;
}

int check(const std::string& path) {
  auto config = load(path);
  if (!config) return kBadUsage;
  spillway::config::Problems problems;
  spillway::config::read_key_files(*config, problems);
  if (!problems.empty()) {
    report(path, problems);
    return kBadUsage;
  }
  for (const auto& each : spillway::config::warnings(*config))
    std::cerr << "warning: " << each.path << ": " << each.message << '\n';
  std::cout << spillway::config::effective(*config).dump(2) << '\n' << std::flush;
  if (std::cout) std::cerr << path << ": valid\n";
  return kFine;
}

// A server name that cannot be resolved is a run-time failure: it may resolve later.
int run(const std::string& path) {
  // Until the server handles them: signals meant for another server must not end a starting one.
  for (const int signal : {SIGUSR1, SIGUSR2, SIGHUP}) std::signal(signal, SIG_IGN);
  auto config = load(path);
  if (!config) return kBadUsage;
  try {
    spillway::proxy::Server server(std::move(*config), [path] { return read(path); });
    return server.serve_until_signalled();
  } catch (const spillway::proxy::BadConfiguration& error) {
    report(path, error.problems);
    return kFailed;
  }
}

int print_schema(bool as_table) {
  std::cout << (as_table ? spillway::config::reference_table()
                         : spillway::config::schema().dump(2) + '\n');
  return kFine;
}

int print_version() {
  std::cout << "spillway " SPILLWAY_VERSION "\n"
            << "compiler: " SPILLWAY_COMPILER "\n"
            << "boost: " << BOOST_VERSION / 100000 << '.' << BOOST_VERSION / 100 % 1000 << '.'
            << BOOST_VERSION % 100 << '\n'
            << "nlohmann_json: " << NLOHMANN_JSON_VERSION_MAJOR << '.'
            << NLOHMANN_JSON_VERSION_MINOR << '.' << NLOHMANN_JSON_VERSION_PATCH << '\n'
            << "spdlog: " << SPDLOG_VER_MAJOR << '.' << SPDLOG_VER_MINOR << '.' << SPDLOG_VER_PATCH
            << '\n'
            << "CLI11: " CLI11_VERSION "\n";
  return kFine;
}

std::optional<spillway::State> state_named(std::string_view text) {
  for (std::size_t i = 0; i < spillway::kStateCount; ++i) {
    if (name(spillway::State(i)) == text) return spillway::State(i);
  }
  return std::nullopt;
}

std::string is_ip_address(const std::string& text) {
  return spillway::parse_ip_address(text) ? "" : "not an IP address: " + text;
}

int explain(const std::string& path, const spillway::ExplainedRequest& request) {
  auto config = load(path);
  if (!config) return kBadUsage;
  spillway::config::Problems problems;
  spillway::config::read_token_keys(*config, problems);
  if (!problems.empty()) {
    report(path, problems);
    return kBadUsage;
  }
  const auto explanation = spillway::explain(*config, request);
  (explanation.understood ? std::cout : std::cerr) << explanation.text;
  return explanation.understood ? kFine : kBadUsage;
}

int simulate(const std::string& path, const spillway::SimulateOptions& options) {
  std::optional<spillway::config::Config> config;
  if (!path.empty()) {
    config = load(path);
    if (!config) return kBadUsage;
  }
  switch (spillway::simulate_scenario(options, config ? &*config : nullptr, std::cout, std::cerr,
                                      isatty(STDERR_FILENO) == 1)) {
    case spillway::SimulateResult::done: return kFine;
    case spillway::SimulateResult::bad_scenario: return kBadUsage;
    case spillway::SimulateResult::plot_failed: break;
  }
  return kFailed;
}

int code_of(spillway::AdminOutcome outcome) {
  switch (outcome) {
    case spillway::AdminOutcome::done: return kFine;
    case spillway::AdminOutcome::bad_usage: return kBadUsage;
    case spillway::AdminOutcome::failed: break;
  }
  return kFailed;
}

// The parsed command line. CLI11 keeps pointers to the members while it parses.
struct Arguments {
  std::string config;
  std::string file;  // the same, as a positional argument
  spillway::ExplainedRequest request;
  std::string state{name(spillway::State::normal)};
  spillway::SimulateOptions simulation;
  spillway::JobsOptions jobs;
  spillway::RoomsOptions rooms;
  bool schema_as_table = false;
};

constexpr const char* kConfigHelp = "Configuration file (JSON)";

// Throws if both forms are given. False if neither is.
bool take_config(Arguments& to) {
  if (to.file.empty()) return !to.config.empty();
  if (!to.config.empty())
    throw CLI::ValidationError("the configuration file is named twice: " + to.file +
                               " and --config " + to.config);
  to.config = std::move(to.file);
  return true;
}

// As a positional argument or with --config.
CLI::App& add_config(CLI::App& command, Arguments& to, const char* help = kConfigHelp) {
  command.add_option("FILE", to.file, help);
  command.add_option("-c,--config", to.config, "The same");
  return command;
}

void require_config(CLI::App& command, Arguments& to) {
  add_config(command, to).parse_complete_callback([&to] {
    if (!take_config(to)) throw CLI::RequiredError("FILE or --config");
  });
}

// If there are three positional arguments, the first one is FILE.
void take_explain_words(Arguments& to) {
  if (to.request.url.empty()) {
    to.request.url = std::move(to.request.method);
    to.request.method = std::exchange(to.file, {});
  }
  if (!take_config(to) || to.request.url.empty() || to.request.method.empty())
    throw CLI::ValidationError("explain takes FILE METHOD URL, or --config and METHOD URL");
}

void add_explain(CLI::App& app, Arguments& to) {
  CLI::App& command =
      *app.add_subcommand("explain", "Which route, class and verdict a request gets, and why");
  add_config(command, to).parse_complete_callback([&to] { take_explain_words(to); });
  command.add_option("METHOD", to.request.method, "E.g. GET");
  command.add_option("URL", to.request.url, "E.g. /checkout or http://shop/checkout");
  command.add_option("-H,--header", to.request.headers, "Header field 'Name: value'")
      ->allow_extra_args(false);
  command.add_option("--at", to.state, "State of the upstream")
      ->transform(CLI::IsMember({"NORMAL", "ELEVATED", "OVERLOADED", "CRITICAL"}, CLI::ignore_case))
      ->capture_default_str();
  command.add_option("--from", to.request.peer, "Address that the connection comes from")
      ->check(is_ip_address, "ADDRESS")
      ->capture_default_str();
}

void add_simulate(CLI::App& app, Arguments& to) {
  CLI::App& command = *app.add_subcommand(
      "simulate", "Play a scenario of overload on a virtual clock with the proxy's own decisions");
  spillway::SimulateOptions& options = to.simulation;
  add_config(command, to, "Configuration file (JSON) in place of the scenario's own")
      .parse_complete_callback([&to] { take_config(to); });
  CLI::Option* const scenario =
      command.add_option("--scenario", options.scenario, "A built-in one, or a file (JSON)")
          ->capture_default_str();
  command
      .add_option("--from-log", options.log,
                  "Replay the arrivals of this access log of Spillway's, with --config")
      ->excludes(scenario);
  command.add_option("--seed", options.seed, "In place of the scenario's seed")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--slots", options.slots, "Requests the backend works on at a time")
      ->check(CLI::Range(1u, 1'000'000u));
  command.add_option("--service-ms", options.service_ms, "Mean time it works on a request")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{3'600'000}));
  command.add_option("--rps", options.rps, "New requests per second, all clients, over the run")
      ->check(CLI::Range(0.001, 1e6));
  command.footer(spillway::kSizeHelp);
  command.add_flag("--compare", options.compare,
                   "Play the same traffic without shedding, too; where requests can be deferred, "
                   "without deferral");
  command.add_option("--plot", options.plot, "Draw what happened into this SVG file");
  command.add_flag("--json", options.json, "Print everything as JSON, no table");
  command.add_flag("--list", options.list, "Print which scenarios are built in");
  command.add_flag("--reference", options.reference,
                   "Print the keys of scenario files as a Markdown table");
}

void add_commands(CLI::App& app, Arguments& to) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "spillway " SPILLWAY_VERSION);
  require_config(*app.add_subcommand(
                     "run", "Serve until SIGTERM or SIGQUIT (drain) or SIGINT; SIGHUP reloads"),
                 to);
  require_config(
      *app.add_subcommand("check", "Validate a configuration and print it with every default"), to);
  add_explain(app, to);
  add_simulate(app, to);
  spillway::add_jobs(app, to.jobs);
  spillway::add_rooms(app, to.rooms);
  app.add_subcommand("schema", "Print the JSON Schema of the configuration file")
      ->add_flag("--reference", to.schema_as_table, "Print all keys as a Markdown table instead");
  app.add_subcommand("version", "Print version, compiler and libraries");
}

int execute(const CLI::App& app, Arguments& arguments) {
  if (app.got_subcommand("run")) return run(arguments.config);
  if (app.got_subcommand("check")) return check(arguments.config);
  if (app.got_subcommand("explain")) {
    arguments.request.state = state_named(arguments.state).value_or(spillway::State::normal);
    return explain(arguments.config, arguments.request);
  }
  if (app.got_subcommand("simulate")) return simulate(arguments.config, arguments.simulation);
  if (app.got_subcommand("jobs"))
    return code_of(spillway::run_jobs_command(arguments.jobs, std::cout, std::cerr));
  if (app.got_subcommand("rooms"))
    return code_of(spillway::run_rooms_command(arguments.rooms, std::cout, std::cerr));
  if (app.got_subcommand("schema")) return print_schema(arguments.schema_as_table);
  return print_version();
}

// An unknown word in place of a command: CLI11 would only say that a command is required.
bool has_unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int n = 1; n < argc && at->get_require_subcommand_min() > 0; ++n) {
    const std::string word = argv[n];
    if (word.starts_with('-')) return false;
    const CLI::App* command = nullptr;
    std::string known;
    for (const CLI::App* each : at->get_subcommands([](const CLI::App*) { return true; })) {
      if (each->get_name() == word) command = each;
      known += (known.empty() ? "" : ", ") + each->get_name();
    }
    if (command != nullptr) {
      at = command;
      continue;
    }
    std::cerr << "error: \"" << word << "\" is no command; use one of " << known << '\n';
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"An HTTP reverse proxy that keeps a backend useful under overload", "spillway"};
  Arguments arguments;
  add_commands(app, arguments);
  if (has_unknown_command(app, argc, argv)) return kBadUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kBadUsage;
  }
  try {
    const int code = execute(app, arguments);
    // Output that could not be written is a failure.
    return code == kFine && !std::cout.flush() ? kFailed : code;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return kFailed;
  }
}

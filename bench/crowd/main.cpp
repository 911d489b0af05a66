// spillway-demo-crowd: sends a crowd to a sale behind a waiting room. Exit status 0 only if all who
// stayed came in, in the order of their arrival, never more at a time than allowed, and all were
// served; 1 if not; 2 on bad usage.
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "bench/crowd/crowd.hpp"
#include "bench/load/descriptors.hpp"

namespace {

namespace asio = boost::asio;
namespace crowd = spillway::crowd;
namespace load = spillway::load;

struct Options {
  std::string proxy;
  std::string admin;
  std::string site;
  std::string config;
  std::size_t visitors = 140;
  double over_s = 20;
  double longest_s = 90;
  std::uint32_t active_sessions = 0;
  bool is_endless = false;
  std::uint64_t seed = 1;
};

void describe(CLI::App& app, Options& options) {
  app.option_defaults()->take_last();  // a script's own options can be overridden
  app.add_option("--proxy", options.proxy, "http://127.0.0.1:PORT of the proxy")->required();
  app.add_option("--admin", options.admin, "of its admin listener")->required();
  app.add_option("--site", options.site, "of the site itself, for its report")->required();
  app.add_option("--config", options.config, "the proxy's configuration, with the waiting room")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--visitors", options.visitors, "how many come")
      ->check(CLI::Range(1, 20000))
      ->capture_default_str();
  app.add_option("--over-s", options.over_s, "seconds in which they come")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  app.add_option("--longest-s", options.longest_s, "seconds after which it ends in any case")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  app.add_option("--active-sessions", options.active_sessions,
                 "how many may be inside, to be judged by; default: as configured")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--endless", options.is_endless,
               "for each who has gone another comes, until SIGTERM");
  app.add_option("--seed", options.seed, "of the crowd")->capture_default_str();
}

// nullopt for anything but this machine's own address: the crowd never runs against another.
std::optional<load::Endpoint> loopback(const std::string& url) {
  const auto endpoint = load::parse_endpoint(url);
  if (endpoint && endpoint->address().is_loopback()) return endpoint;
  std::cerr << "spillway-demo-crowd: http://127.0.0.1:PORT is needed, not '" << url << "'\n";
  return std::nullopt;
}

std::optional<crowd::CrowdOptions> read(const Options& options) {
  const auto proxy = loopback(options.proxy);
  const auto admin = loopback(options.admin);
  const auto site = loopback(options.site);
  if (!proxy || !admin || !site) return std::nullopt;
  std::ifstream file(options.config);
  auto venue = crowd::read_venue(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!venue) {
    std::cerr << "spillway-demo-crowd: " << options.config
              << " has no waiting room that says active_sessions, claim_ms, secure_cookie: false\n";
    return std::nullopt;
  }
  if (options.active_sessions > 0) venue->active_sessions = options.active_sessions;
  if (load::raise_descriptor_limit() < options.visitors + 100) {
    std::cerr << "spillway-demo-crowd: needs " << options.visitors + 100
              << " file descriptors; raise the limit (ulimit -n)\n";
    return std::nullopt;
  }
  return crowd::CrowdOptions{.proxy = *proxy,
                             .admin = *admin,
                             .site = *site,
                             .venue = *venue,
                             .visitors = options.visitors,
                             .over = spillway::from_seconds(options.over_s),
                             .ends = !options.is_endless,
                             .longest = spillway::from_seconds(options.longest_s),
                             .seed = options.seed};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A crowd before a waiting room", "spillway-demo-crowd");
  describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  auto crowd_options = read(options);
  if (!crowd_options) return 2;

  asio::io_context io(1);
  crowd::Crowd all(io, std::move(*crowd_options));
  asio::signal_set stop(io, SIGTERM, SIGINT);
  stop.async_wait([&io](auto, int) { io.stop(); });
  asio::co_spawn(io, crowd::Crowd::run(all), asio::detached);
  io.run();
  if (options.is_endless) return 0;

  const auto records = all.records();
  const crowd::Findings findings = all.findings(records);
  const auto complaints = crowd::complaints(findings);
  std::cout << '\n' << crowd::summary(findings);
  for (const std::string& complaint : complaints) std::cout << "NOT kept: " << complaint << '\n';
  if (complaints.empty()) std::cout << "kept: first come, first served\n";
  std::cout << std::flush;
  return complaints.empty() ? 0 : 1;
}

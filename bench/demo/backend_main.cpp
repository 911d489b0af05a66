// spillway-demo-backend: serves until SIGTERM or SIGINT, then says how much of its work was
// for clients that had already left.
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>

#include "bench/load/backend.hpp"
#include "bench/load/descriptors.hpp"
#include "bench/load/endpoint.hpp"
#include "sale.hpp"

int main(int argc, char** argv) {
  namespace load = spillway::load;
  std::string listen = "127.0.0.1:0";
  load::BackendOptions options;
  std::int64_t service_ms = options.service.count();
  std::int64_t max_age_s = options.max_age.count();

  CLI::App app("A demo HTTP backend of limited capacity", "spillway-demo-backend");
  app.add_option("--listen", listen, "ADDRESS:PORT; port 0 takes a free one and prints it")
      ->capture_default_str();
  app.add_option("--slots", options.slots, "requests worked on at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--service-ms", service_ms, "mean time of work on one request")
      ->check(CLI::Range(1, 60000))
      ->capture_default_str();
  app.add_option("--sigma", options.sigma, "spread of that time (lognormal), 0: none")
      ->check(CLI::Range(0.0, 3.0))
      ->capture_default_str();
  app.add_option("--thrash", options.thrash, "requests inside beyond which all slow down, 0: none")
      ->capture_default_str();
  app.add_option("--max-age-s", max_age_s, "how long a page may be taken from a store")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  app.add_option("--expensive", options.expensive,
                 "share of the work left out when asked with Spillway-Degrade: skip-downstream")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the service times")->capture_default_str();
  std::string sale_page;
  app.add_option("--sale", sale_page, "serve a sale with this HTML file as its page, see sale.hpp")
      ->check(CLI::ExistingFile);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.service = spillway::Milliseconds(service_ms);
  options.max_age = std::chrono::seconds(max_age_s);
  const auto endpoint = load::parse_endpoint(listen);
  if (!endpoint) {
    std::cerr << "spillway-demo-backend: --listen needs ADDRESS:PORT, not " << listen << '\n';
    return 2;
  }

  try {
    load::raise_descriptor_limit();
    boost::asio::io_context io(1);
    load::Backend backend(io, *endpoint, options);
    std::optional<spillway::demo::Sale> sale;
    if (!sale_page.empty()) {
      std::ifstream file(sale_page);
      sale.emplace(std::string(std::istreambuf_iterator<char>(file), {}));
      backend.serve_site([&sale](const load::SiteRequest& request) {
        return sale->answer(request, spillway::Clock::now());
      });
    }
    backend.start();
    boost::asio::signal_set stop(io, SIGTERM, SIGINT);
    stop.async_wait([&io](auto, int) { io.stop(); });
    std::cout << backend.port() << std::endl;
    io.run();
    std::cout << "demo backend: finished " << backend.counters().finished << " requests, "
              << backend.counters().pages << " of them reads of pages, "
              << backend.counters().wasted << " for clients already gone, " << backend.waiting()
              << " still waiting" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "spillway-demo-backend: " << error.what() << '\n';
    return 1;
  }
  return 0;
}

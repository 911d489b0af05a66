// The command line of the soak. Exit codes: 0 fine, 1 not, 2 bad usage.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <string>

#include "support/places.hpp"
#include "system/soak/soak.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Mixed good, slow and hostile traffic through the proxy, for minutes",
               "spillway-soak"};
  spillway::soak::Options options;
  options.binary = spillway::support::in_build("spillway");
  options.directory = spillway::support::in_build();
  options.seed = std::random_device{}();
  double minutes = 2;
  app.add_option("--minutes", minutes, "How long")->check(CLI::Range(0.05, 10'000.0));
  app.add_option("--seed", options.seed,
                 "Of everything that falls by chance; default: another one");
  app.add_option("--binary", options.binary, "The proxy")->capture_default_str();
  app.add_option("--directory", options.directory, "For configuration, log and report")
      ->capture_default_str();
  app.add_option("--only", options.only, "Clients of one kind only");
  CLI11_PARSE(app, argc, argv);
  options.duration = std::chrono::seconds(static_cast<int>(minutes * 60));
  try {
    std::cout << "soak of " << minutes << " minutes, seed " << options.seed << std::endl;
    const spillway::soak::Result result = spillway::soak::soak(options);
    const std::string text = report(result);
    std::cout << text;
    std::ofstream(options.directory + "/soak.md") << text;
    return result.is_fine() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}

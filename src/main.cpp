// The command line, nothing else.
#include <CLI/CLI.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  CLI::App app{"An HTTP reverse proxy that keeps a backend useful under overload", "spillway"};
  app.require_subcommand(1);
  app.add_subcommand("version", "Print version, compiler and libraries")->callback([] {
    std::puts("spillway");
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

// The store of deferred requests by itself: see README.md.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/jobs/store_cycle.hpp"

namespace {

using spillway::bench::Figures;
using spillway::bench::Shop;

void print(const std::string& what, const Figures& figures) {
  std::printf("%-32s %10.0f jobs/s   p50 %7.3f ms   p99 %7.3f ms\n", what.c_str(),
              figures.per_second, figures.median_ms, figures.p99_ms);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Benchmark of the store of deferred requests"};
  std::string directory = ".", url = "sqlite:bench-jobs.db";
  int seconds = 4;
  bool is_short = false;
  app.add_option("--directory", directory, "where a file is made");
  app.add_option("--url", url, "of a store without jobs");
  app.add_option("--seconds", seconds, "of each figure");
  app.add_flag("--enqueue-only", is_short, "without claims and the deep backlog");
  CLI11_PARSE(app, argc, argv);

  const std::chrono::seconds time(seconds);
  Shop shop(url, directory);
  shop.open();
  for (const std::size_t outstanding : {1, 16, 64, 256}) {
    print("enqueue, " + std::to_string(outstanding) + " outstanding",
          shop.enqueue(outstanding, time));
  }
  if (is_short) return 0;
  shop.close();
  for (const char* ending : {"", "-wal", "-shm"}) {
    if (url.starts_with("sqlite:")) {
      std::filesystem::remove(std::filesystem::path(directory) / (url.substr(7) + ending));
    }
  }
  Shop deep(url, directory);
  deep.open();
  for (const std::uint64_t pending : {0, 100'000, 1'000'000}) {
    deep.fill(pending);
    for (const std::size_t limit : {1, 64}) {
      print("claim " + std::to_string(limit) + ", " + std::to_string(pending) + " pending",
            deep.cycle(limit, time));
    }
  }
  deep.close();
  const auto begin = std::chrono::steady_clock::now();
  deep.open();
  std::printf(
      "%-32s %10.0f ms\n", "start with 1000000 pending",
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  return 0;
}

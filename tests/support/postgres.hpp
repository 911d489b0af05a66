// A real PostgreSQL of its own: data directory in a temporary directory, a Unix socket there and no
// TCP, fsync on. The directory is in memory where there is room, unless it has to be on a disk:
// what a server had written outlives its crash there, too, and no test stops the machine.
// PostgreSQL refuses to run as root: a test that runs as root starts it as the user `postgres`.
// Where the machine has no such user it takes the user `nobody`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class Postgres {
 public:
  // `on_disk`: in the directory for temporary files.
  enum class Data : std::uint8_t { in_memory, on_disk };

  // Debian's PostgreSQL is installed.
  static bool is_installed();

  // `settings`: more of its options, e.g. "max_connections=20". Throws std::runtime_error when it
  // does not come up.
  explicit Postgres(std::vector<std::string> settings = {}, Data data = Data::in_memory);
  ~Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  // The URL of a new, empty database.
  std::string create_database();
  std::string url(const std::string& database) const;
  // The first value of the first row. Throws std::runtime_error with the server's message.
  static std::string ask(const std::string& url, const std::string& query);
  // All rows of the first column, a line each.
  static std::string ask_all(const std::string& url, const std::string& query);

  void start();
  void stop();   // as an operator does: transactions are aborted, all is written
  void crash();  // as if it were killed: what was committed is recovered at the next start
  void restart() {
    stop();
    start();
  }
  // The server and all its sessions stand still.
  void freeze();
  void thaw();

 private:
  void end(int signal);
  void signal_all(int number);

  TemporaryDirectory directory_;
  std::vector<std::string> settings_;
  std::unique_ptr<ChildProcess> server_;
  int databases_ = 0;
};

}  // namespace spillway::support

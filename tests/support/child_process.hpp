// A program run as a child, its output read as it comes, ended at its end. Only ever signals the
// process it started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/event.hpp"

namespace spillway::support {

class ChildProcess {
 public:
  // Searches the PATH like a shell; no shell is involved. Throws std::system_error.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ~ChildProcess();  // SIGKILL if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number);
  // Reads its output to the end and reaps it. The exit code, 128 + n after signal n, nullopt when
  // it still runs at the deadline.
  std::optional<int> wait(Milliseconds within = kPatience);
  // Reads until standard output or error contains the text; false if neither ever does.
  bool wait_for_output(std::string_view text, Milliseconds within = kPatience);
  // For a program that ignores SIGPIPE: what it writes from here on is lost. It would stand still
  // once it has filled a pipe that is not read.
  void close_outputs();

  // What has been read so far.
  const std::string& out() const { return texts_[0]; }
  const std::string& err() const { return texts_[1]; }

 private:
  bool read_some(const Deadline& deadline);

  pid_t pid_ = -1;
  int pipes_[2] = {-1, -1};
  std::string texts_[2];
  std::optional<int> exit_code_;
};

struct Finished {
  int exit_code;
  std::string out;
  std::string err;
};

// Runs a program to its end. Throws std::runtime_error when it does not end in time.
Finished run(const std::vector<std::string>& arguments, Milliseconds within = Milliseconds{60'000});

}  // namespace spillway::support

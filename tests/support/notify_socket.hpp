// The service manager's end of sd_notify(3): a datagram socket that keeps what it is told.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/event.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class NotifySocket {
 public:
  enum class Kind { path, abstract };  // in a file system, or in none (unix(7))

  explicit NotifySocket(Kind kind = Kind::path);  // throws std::system_error
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // What $NOTIFY_SOCKET says.
  const std::string& name() const { return name_; }
  // The next datagram; nullopt if none comes.
  std::optional<std::string> next(Milliseconds within = kPatience);
  // Reads on until one has this line, and gives it whole; nullopt if none comes.
  std::optional<std::string> next_with(std::string_view line, Milliseconds within = kPatience);

 private:
  TemporaryDirectory directory_;
  std::string name_;
  int socket_;
};

// True when one of the lines of a datagram is this one.
bool says(std::string_view datagram, std::string_view line);

}  // namespace spillway::support

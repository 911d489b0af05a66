#include "support/nginx.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

Nginx::Nginx(std::string_view server, std::string_view http, const Process& process) {
  std::filesystem::create_directory(files());
  // A port that was free a moment ago may be taken when NGINX binds it.
  for (int attempt = 0; attempt < 5; ++attempt) {
    start(server, http, process);
    if (accepts(kPatience)) return;
  }
  throw std::runtime_error("nginx does not start: " + process_->err());
}

Nginx::~Nginx() {
  if (!process_) return;
  process_->signal(SIGTERM);
  process_->wait(Milliseconds{5000});
}

void Nginx::start(std::string_view server, std::string_view http, const Process& process) {
  process_.reset();
  port_ = RefusingPort().port();
  const std::string directory = directory_.path().string();
  std::string text;
  // The worker of a root process must be root too, or it could not read the directory.
  if (::geteuid() == 0) text += "user root;\n";
  // Not what it says of each bad request: the pipe is read in the end, and it would wait for room.
  text += "daemon off;\nmaster_process on;\nworker_processes 1;\npid " + directory +
          "/pid;\nerror_log stderr crit;\nevents { worker_connections " +
          std::to_string(process.connections) + "; }\nhttp {\n";
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += std::string("  ") + kind + "_temp_path " + directory + "/" + kind + ";\n";
  }
  text.append("  access_log off;\n  client_max_body_size 0;\n  keepalive_timeout 60s;\n")
      .append(http);
  text +=
      "  server {\n"
      "    listen 127.0.0.1:" +
      std::to_string(port_) + ";\n    root " + files().string() + ";\n";
  text.append(server).append("\n  }\n}\n");
  const auto file = directory_.write("nginx.conf", text);
  // Debian has it in sbin, which is not on every user's PATH.
  const char* program = ::access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "nginx";
  std::vector<std::string> command = process.under;
  command.insert(command.end(), {program, "-e", "stderr", "-p", directory, "-c", file});
  process_.emplace(command);
}

bool Nginx::accepts(Milliseconds within) {
  const Deadline deadline(within);
  while (!deadline.passed()) {
    if (process_->wait(Milliseconds{5})) return false;
    try {
      RawClient client(port_);
      return true;
    } catch (const std::system_error&) {  // not yet
    }
  }
  return false;
}

}  // namespace spillway::support

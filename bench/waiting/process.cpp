#include "bench/waiting/process.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace spillway::waiting_bench {

Duration cpu_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("the proxy has ended");
  std::istringstream fields(line.substr(line.rfind(')') + 2));  // from the third on
  std::string skipped;
  for (int n = 3; n < 14; ++n) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return from_seconds(static_cast<double>(user + system) /
                      static_cast<double>(sysconf(_SC_CLK_TCK)));
}

double memory_kib_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string word; file >> word;) {
    if (word != "VmRSS:") continue;
    double kib = 0;
    file >> kib;
    return kib;
  }
  throw std::runtime_error("the proxy has ended");
}

}  // namespace spillway::waiting_bench

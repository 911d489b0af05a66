#include "bench/jobs/disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "tests/support/temporary_directory.hpp"

namespace spillway::job_bench {
namespace {

using Clock = std::chrono::steady_clock;

class Disk : public Queue {
 public:
  Figures accept(std::size_t outstanding, std::chrono::milliseconds time) override {
    const support::TemporaryDirectory directory;
    const std::string file = directory.path() / "jobs", jobs(outstanding * kJobBytes, 'b');
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    std::vector<double> times;
    bool is_good = descriptor >= 0;
    const auto begin = Clock::now();
    while (is_good && Clock::now() - begin < time) {
      const auto since = Clock::now();
      is_good =
          ::write(descriptor, jobs.data(), jobs.size()) == static_cast<ssize_t>(jobs.size()) &&
          ::fdatasync(descriptor) == 0;
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - since).count());
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const int error = errno;
    ::close(descriptor);
    if (!is_good) throw std::system_error(error, std::generic_category(), file);
    return figures_of(times, seconds, static_cast<double>(times.size() * outstanding));
  }
};

}  // namespace

std::unique_ptr<Queue> disk() { return std::make_unique<Disk>(); }

}  // namespace spillway::job_bench

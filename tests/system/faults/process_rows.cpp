// What happens to the process itself: nowhere to write the log, a clock that is set, no descriptors
// left.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "support/child_process.hpp"
#include "support/places.hpp"
#include "support/raw_client.hpp"
#include "support/temporary_directory.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using nlohmann::json;
using namespace support;

namespace {

Outcome ask_both_programs(Stand& stand, Client client) {
  const std::string number = std::to_string(client.number);
  return stand.ask(client.place, {.target = "/good/" + number, .next = "/sound/" + number});
}

// All is as ever.
Row unnoticed(const std::string& name, Stand::Settings settings) {
  return {.name = name,
          .settings = std::move(settings),
          .client = ask_both_programs,
          .allows = any_of({"200"}),
          .must = "200"};
}

// Why a row is not played at NGINX and HAProxy.
constexpr const char* kItsLog = "Spillway's log";

const json kEverythingLogged = {{"log", {{"level", "debug"}, {"access_sample", 1}}}};

Row log_disk_full() {
  Row row = unnoticed(
      "disk full for the log",
      {.changes = kEverythingLogged, .under = {"sh", "-c", "exec \"$@\" 2>/dev/full", "sh"}});
  row.besides = [](Stand& stand) -> std::string {
    return stand.scrape().sum("spillway_log_dropped_total") > 0 ? "" : "no line was lost";
  };
  row.at_peers.not_because = kItsLog;
  return row;
}

// A pipe that is open and not read.
struct UnreadPipe {
  UnreadPipe() : path(directory.path() / "log") {
    if (::mkfifo(path.c_str(), 0600) != 0) {
      throw std::system_error(errno, std::generic_category(), "mkfifo");
    }
    descriptor = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ::fcntl(descriptor, F_SETPIPE_SZ, 4096);
  }
  ~UnreadPipe() { ::close(descriptor); }

  TemporaryDirectory directory;
  std::filesystem::path path;
  int descriptor;
};

Row log_unread() {
  const auto pipe = std::make_shared<UnreadPipe>();
  Row row = unnoticed("the log's reader stands still",
                      {.changes = kEverythingLogged,
                       .under = {"sh", "-c", "exec \"$@\" 2>\"$0\"", pipe->path.string()}});
  row.needs = pipe;
  row.at_peers.not_because = kItsLog;
  return row;
}

// The proxy's wall clock, to be set by seconds.
class ShiftedClock {
 public:
  ShiftedClock() : file_(directory_.write("shift", std::string(sizeof(std::int64_t), '\0'))) {
    const int descriptor = ::open(file_.c_str(), O_RDWR | O_CLOEXEC);
    void* memory =
        ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    seconds_ = static_cast<std::atomic<std::int64_t>*>(memory);
  }
  ~ShiftedClock() { ::munmap(seconds_, sizeof(std::int64_t)); }
  ShiftedClock(const ShiftedClock&) = delete;
  ShiftedClock& operator=(const ShiftedClock&) = delete;

  void shift(std::int64_t seconds) { seconds_->store(seconds); }
  std::vector<std::string> under() const {
    return {"env", "LD_PRELOAD=" + support::in_build("libspillway_clock_shift.so"),
            "CLOCK_SHIFT=" + file_.string(), "ASAN_OPTIONS=verify_asan_link_order=0"};
  }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path file_;
  std::atomic<std::int64_t>* seconds_;
};

constexpr std::int64_t kHour = 3600;

// True when it comes to date its answers by a clock that is so far from ours.
bool comes_to_date(Stand& stand, std::int64_t shift) {
  for (const Deadline deadline; !deadline.passed();) {
    const std::string date =
        RawClient(stand.port()).ask(get("/sound/3")).field("Date").value_or("");
    std::tm time{};
    if (::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &time) == nullptr) continue;
    const std::int64_t off = ::timegm(&time) - std::time(nullptr) - shift;
    if (off > -60 && off < 60) return true;
  }
  return false;
}

Row clock_steps() {
  const auto clock = std::make_shared<ShiftedClock>();
  const json cached = {{"name", "cached"},
                       {"match", {{"path", "/cached/**"}}},
                       {"class", "P0"},
                       {"cache", {{"max_bytes", 1 << 20}, {"max_entry_bytes", 1 << 18}}}};
  Row row = unnoticed("the wall clock steps by hours and days",
                      {.changes = {{"routes", json::array({cached})}}, .under = clock->under()});
  row.client = [](Stand& stand, Client client) {
    const std::string number = std::to_string(client.number);
    return stand.ask(client.place, {.target = "/good/" + number,
                                    .next = "/cached/" + std::to_string(client.place % 8)});
  };
  row.meanwhile = [clock](Stand&, std::size_t, const std::function<bool()>& at_it) {
    const Event never;
    constexpr std::int64_t steps[] = {6 * kHour, -6 * kHour, 400 * 24 * kHour, -1, 0};
    for (std::size_t n = 0; at_it(); ++n) {
      clock->shift(steps[n % std::size(steps)]);
      never.wait(3ms);
    }
    clock->shift(0);
  };
  row.besides = [clock](Stand& stand) -> std::string {
    for (const std::int64_t shift : {6 * kHour, -6 * kHour}) {
      clock->shift(shift);
      if (!comes_to_date(stand, shift)) return "it did not see its clock set";
    }
    return {};
  };
  row.afterwards = "/cached/1";
  row.needs = clock;
  row.at_peers.not_because = "Spillway's clock";
  return row;
}

Row reloads() {
  Row row = unnoticed("the configuration is read again all the time", {});
  row.meanwhile = [](Stand& stand, std::size_t, const std::function<bool()>& at_it) {
    const Event never;
    while (at_it()) {
      stand.proxy().process().signal(SIGHUP);
      never.wait(5ms);
    }
  };
  row.besides = [](Stand& stand) -> std::string {
    return stand.scrape().sum("spillway_config_reloads_total", "success") > 0 ? "" : "it was not";
  };
  row.at_peers.not_because = "Spillway's configuration";
  return row;
}

// Only where the kernel lets us give a process such a clock.
std::vector<Row> long_running() {
  const std::vector<std::string> under{"unshare", "--time", "--monotonic", "1000000000"};
  std::vector<std::string> probe = under;
  probe.emplace_back("true");
  if (run(probe).exit_code != 0) return {};
  return {unnoticed("the machine has run for thirty years", {.under = under})};
}

// So few descriptors that clients have to wait their turn unaccepted.
Row few_descriptors() {
  Row row = unnoticed(
      "few file descriptors from the start",
      {.changes = {{"dispatch", {{"concurrency", 8}}}}, .under = {"prlimit", "--nofile=200:200"}});
  // For two of each client there are enough: without a queue no slots are needed.
  row.at_peers.adjust = [](Wanted& wanted) {
    wanted.slots = 0;
    wanted.clients = 80;
  };
  return row;
}

void limit_descriptors(Stand& stand, std::size_t most) {
  rlimit files{};
  const pid_t pid = stand.proxy().process().pid();
  ::prlimit(pid, RLIMIT_NOFILE, nullptr, &files);
  files.rlim_cur = most == 0 ? files.rlim_max : most;
  ::prlimit(pid, RLIMIT_NOFILE, &files, nullptr);
}

// Others wait unaccepted; who is accepted may find none left for a connection to the backend.
Row no_descriptors() {
  Row row = unnoticed("file descriptors run out", {});
  row.allows = any_of({"200", "503", "WRONG: then 503"});
  row.meanwhile = [](Stand& stand, std::size_t, const std::function<bool()>& at_it) {
    const Event never;
    limit_descriptors(stand, stand.proxy().open_files() + 6);
    never.wait(150ms);
    limit_descriptors(stand, 0);
    while (at_it()) never.wait(1ms);
  };
  row.at_peers.not_because = "taken from the running process";
  return row;
}

}  // namespace

std::vector<Row> process_rows() {
  std::vector<Row> rows{log_disk_full(),   log_unread(),     clock_steps(),
                        few_descriptors(), no_descriptors(), reloads()};
  for (Row& row : long_running()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace spillway::faults

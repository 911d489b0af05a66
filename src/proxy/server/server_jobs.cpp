// Deferred requests: the store, and the thread and workers that run the jobs.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "config/file/key_file.hpp"
#include "proxy/server/server_parts.hpp"
#include "store/contract/key.hpp"
#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_schema.hpp"

namespace spillway::proxy {

namespace {

std::string proxy_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"proxy"};
  return std::string(host.data()) + ":" + std::to_string(::getpid());
}

constexpr std::string_view kSqliteUrl = "sqlite:";

bool any_defers(const config::Config& config) {
  return std::any_of(config.routes.begin(), config.routes.end(),
                     [](const config::Route& route) { return route.defer.has_value(); });
}

// Checks the header (https://www.sqlite.org/fileformat.html): no other file is opened unless
// configured. Does not wait for a pipe.
bool is_file_of_jobs(const std::filesystem::path& file) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(file, missing)) return false;
  std::string header(72, '\0');
  std::ifstream in(file, std::ios::binary);
  if (!in.read(header.data(), static_cast<std::streamsize>(header.size()))) return false;
  std::string wanted;
  for (int shift = 24; shift >= 0; shift -= 8)
    wanted += static_cast<char>(store::kJobTables.application_id >> shift);
  return header.starts_with("SQLite format 3") && header.ends_with(wanted);
}

// Empty: the jobs are not in a file.
std::filesystem::path jobs_file(const config::Store& store) {
  if (store.url.empty()) return store_directory(store) / store::kDefaultFile;
  if (!store.url.starts_with(kSqliteUrl)) return {};
  return store_directory(store) / store.url.substr(kSqliteUrl.size());
}

// An existing store may have jobs of routes that are no longer configured.
bool may_have_jobs(const config::Store& store) {
  if (store.url == store::kMemoryUrl) return false;
  if (store.url.empty()) return is_file_of_jobs(jobs_file(store));
  if (!store.url.starts_with(kSqliteUrl)) return true;
  std::error_code failure;  // opening it will report the failure
  return std::filesystem::exists(jobs_file(store), failure) || failure;
}

// The store is in use by another process, and nothing in the configuration needs it.
bool is_left_alone(const config::Config& config) {
  return !any_defers(config) && config.store.url.empty() &&
         store::is_in_use(jobs_file(config.store));
}

// The key that needs the store.
std::string deferring_key(const config::Config& config) {
  for (std::size_t n = 0; n < config.routes.size(); ++n)
    if (config.routes[n].defer) return "$.routes[" + std::to_string(n) + "].defer";
  return "$.store.url";
}

store::Opened open(const config::Store& store) {
  std::optional<store::Key> key;
  if (!store.key_file.empty()) {
    const auto file = std::filesystem::path(store.directory) / store.key_file;
    config::KeyFile<HmacKey> read = config::read_key_file(file);
    if (!read.key) return {nullptr, {store::Failure::Kind::corrupt, std::move(read.problem)}};
    key = store::Key{*read.key};
  }
  return store::open_store(store.url, store_directory(store), key);
}

}  // namespace

std::filesystem::path store_directory(const config::Store& store) {
  const bool names_file = store.url.starts_with(kSqliteUrl);
  const char* const state = names_file ? nullptr : std::getenv("STATE_DIRECTORY");
  if (state == nullptr || *state == 0) return store.directory;
  const std::string all = state;
  return all.substr(0, all.find(':'));
}

std::optional<config::Problem> unwritable(const std::filesystem::path& file,
                                          const std::string& wanted_by) {
  const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
  std::string what;
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    what = "the directory " + directory.string() + ": " + std::strerror(errno);
  for (const char* ending : {"", ".lock", "-wal", "-shm"}) {
    if (!what.empty()) break;
    std::filesystem::path part = file;
    part += ending;
    if (::access(part.c_str(), R_OK | W_OK) != 0 && errno != ENOENT)
      what = part.string() + ": " + std::strerror(errno);
  }
  if (what.empty()) return std::nullopt;
  return config::Problem{wanted_by,
                         "cannot keep its store: Spillway may not write " + what +
                             ". Name a file in a directory that it may write in store.url "
                             "(sqlite:FILE), or give the service a StateDirectory= (systemd), "
                             "whose path is in $STATE_DIRECTORY"};
}

std::unique_ptr<JobQueue> Server::Parts::make_jobs(const config::Config& config) {
  if (!any_defers(config) && !may_have_jobs(config.store)) return nullptr;
  if (is_left_alone(config)) {
    log.message(observe::Level::warn,
                jobs_file(config.store).string() +
                    " is in use by another process and is left alone: no route has defer, so this "
                    "process neither shows nor forwards the jobs in it");
    return nullptr;
  }
  if (config.store.url == store::kMemoryUrl) {
    log.message(observe::Level::warn,
                "store.url is memory: deferred requests are lost when this process ends");
  }
  JobDispatcher::Acts acts;
  acts.hand_over = [this](jobs::LeasedJob job, store::Epoch epoch) {
    hand_over(std::move(job), epoch);
  };
  acts.abort_all = [this] {
    log.message(observe::Level::error,
                "the lease on deferred requests is lost: those that run are ended");
    for (const auto& worker : workers.all()) worker->abort_jobs();
  };
  acts.tell = [this](const JobStateChange& change) {
    const std::string text = jobs::to_text(change.id);
    log.job({.id = std::string_view(text).substr(0, 16),
             .route = change.route,
             .tenant = change.tenant,
             .state = change.state,
             .cause = change.cause,
             .attempts = change.attempts});
  };
  const auto on_failure = [this](const store::Failure& failure) {
    log.message(observe::Level::error, "the store of deferred requests: " + failure.text);
  };
  return std::make_unique<JobQueue>([store = config.store] { return open(store); }, std::move(acts),
                                    on_failure, proxy_name());
}

void Server::Parts::start_jobs() {
  if (!jobs) return;
  const config::Config& config = generations.current()->config;
  const std::filesystem::path file = jobs_file(config.store);
  if (auto problem = file.empty() ? std::nullopt : unwritable(file, deferring_key(config)))
    throw BadConfiguration({std::move(*problem)});
  if (auto failure = jobs->start(job_routes(generations.current()))) {
    const bool is_by_default =
        config.store.url.empty() && failure->kind == store::Failure::Kind::in_use;
    throw BadConfiguration(
        {{is_by_default ? deferring_key(config) : "$.store.url", std::move(failure->text)}});
  }
}

void Server::Parts::hand_over(jobs::LeasedJob job, store::Epoch epoch) {
  workers.next().run_job(std::move(job), epoch);
}

}  // namespace spillway::proxy

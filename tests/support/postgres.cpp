#include "support/postgres.hpp"

#include <libpq-fe.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <stdexcept>

#include "support/places.hpp"

namespace spillway::support {
namespace {

namespace fs = std::filesystem;

const std::string kPrograms = "/usr/lib/postgresql/15/bin/";
constexpr const char* kOwner = "spillway";  // the database's superuser

// Both write and flush every file of every database, on a disk that others may use.
constexpr Milliseconds kLongPatience{60'000};

// Before a command that is not to run as root. It ends with this process, however that ends.
std::vector<std::string> as_its_user() {
  if (::geteuid() != 0) return {"setpriv", "--pdeathsig=QUIT"};
  for (const char* name : {"postgres", "nobody"}) {
    const passwd* const user = ::getpwnam(name);
    if (user == nullptr) continue;
    return {"setpriv", "--pdeathsig=QUIT", "--reuid=" + std::to_string(user->pw_uid),
            "--regid=" + std::to_string(user->pw_gid), "--clear-groups"};
  }
  throw std::runtime_error("no user that PostgreSQL can run as");
}

void give_away(const fs::path& path) {
  if (::geteuid() != 0) return;
  for (const char* name : {"postgres", "nobody"}) {
    const passwd* const user = ::getpwnam(name);
    if (user == nullptr) continue;
    if (::chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("chown " + path.string());
    }
    return;
  }
}

void run_as_its_user(std::vector<std::string> command) {
  std::vector<std::string> all = as_its_user();
  all.insert(all.end(), command.begin(), command.end());
  const Finished finished = run(all);
  if (finished.exit_code != 0) throw std::runtime_error(command[0] + ": " + finished.err);
}

// A file system in memory with room for several clusters and their logs; elsewhere each database
// and each commit waits for a disk that others use.
fs::path roomy_parent() {
  const fs::path memory = "/dev/shm";
  constexpr std::uintmax_t kRoom = std::uintmax_t{2} << 30;
  std::error_code missing;
  const fs::space_info space = fs::space(memory, missing);
  const bool has_room = !missing && space.available >= kRoom;
  return has_room && ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
}

// An empty cluster takes seconds to make, and a tenth of one to copy: so it is made once in each
// build directory.
void make_cluster(const fs::path& data, const TemporaryDirectory& directory) {
  const fs::path model = in_build("postgres-cluster");
  if (!fs::exists(model)) {
    const fs::path made = directory.path() / "made";
    run_as_its_user({kPrograms + "initdb", "-D", made, "--no-sync", "-A", "trust", "--no-locale",
                     "-E", "UTF8", "-U", kOwner, "--wal-segsize=4"});
    const fs::path copy = model.string() + "-" + std::to_string(::getpid());
    if (run({"cp", "-a", made, copy}).exit_code != 0) throw std::runtime_error("cp");
    std::error_code another_was_first;
    fs::rename(copy, model, another_was_first);
    if (another_was_first) fs::remove_all(copy);
    fs::rename(made, data);
    return;
  }
  if (run({"cp", "-a", model, data}).exit_code != 0) throw std::runtime_error("cp");
}

struct Session {
  explicit Session(const std::string& url) : connection(PQconnectdb(url.c_str())) {}
  ~Session() { PQfinish(connection); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  PGconn* connection;
};

}  // namespace

bool Postgres::is_installed() { return fs::exists(kPrograms + "postgres"); }

Postgres::Postgres(std::vector<std::string> settings, Data data)
    : directory_(data == Data::in_memory ? roomy_parent() : fs::temp_directory_path()),
      settings_(std::move(settings)) {
  give_away(directory_.path());
  make_cluster(directory_.path() / "data", directory_);
  start();
}

Postgres::~Postgres() {
  if (server_) end(SIGQUIT);
}

// Of its log only that it is ready is read. The rest is lost: each session whose client was killed
// logs its statement, and one that logs to a full pipe stands still, keeps its locks, and heeds no
// timeout.
void Postgres::start() {
  std::vector<std::string> command = as_its_user();
  const std::string data = directory_.path() / "data";
  for (const std::string& word :
       {kPrograms + "postgres", std::string("-D"), data, std::string("-k"),
        directory_.path().string(), std::string("-c"), std::string("listen_addresses="),
        std::string("-c"), std::string("log_checkpoints=off"), std::string("-c"),
        std::string("log_min_messages=log"), std::string("-c"),
        std::string("recovery_init_sync_method=syncfs"), std::string("-c"),
        std::string("lc_messages=C")}) {
    command.push_back(word);
  }
  for (const std::string& setting : settings_) {
    command.push_back("-c");
    command.push_back(setting);
  }
  server_ = std::make_unique<ChildProcess>(command);
  if (!server_->wait_for_output("ready to accept connections", kLongPatience)) {
    throw std::runtime_error("PostgreSQL does not start: " + server_->err());
  }
  server_->close_outputs();
}

void Postgres::end(int signal) {
  server_->signal(signal);
  if (!server_->wait(kLongPatience)) throw std::runtime_error("PostgreSQL does not end");
  server_.reset();
}

void Postgres::stop() { end(SIGINT); }
void Postgres::crash() { end(SIGQUIT); }

// The sessions are children of the server.
void Postgres::signal_all(int number) {
  const std::string pid = std::to_string(server_->pid());
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  server_->signal(number);
  for (pid_t child = 0; children >> child;) ::kill(child, number);
}

void Postgres::freeze() { signal_all(SIGSTOP); }
void Postgres::thaw() { signal_all(SIGCONT); }

std::string Postgres::url(const std::string& database) const {
  std::string host;
  for (const char c : directory_.path().string()) host += c == '/' ? "%2F" : std::string(1, c);
  return std::string("postgresql://") + kOwner + "@/" + database + "?host=" + host;
}

std::string Postgres::create_database() {
  const std::string name = "jobs" + std::to_string(++databases_);
  ask(url("postgres"), "CREATE DATABASE " + name + " STRATEGY file_copy");  // half of the work
  return url(name);
}

std::string Postgres::ask(const std::string& url, const std::string& query) {
  const std::string all = ask_all(url, query);
  return all.substr(0, all.find('\n'));
}

std::string Postgres::ask_all(const std::string& url, const std::string& query) {
  const Session session(url);
  PGresult* const result = PQexec(session.connection, query.c_str());
  const ExecStatusType status = PQresultStatus(result);
  std::string rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    rows += std::string(PQgetvalue(result, row, 0)) + '\n';
  }
  PQclear(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
  throw std::runtime_error(query + ": " + PQerrorMessage(session.connection));
}

}  // namespace spillway::support

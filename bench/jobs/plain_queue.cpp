#include "bench/jobs/plain_queue.hpp"

#include <libpq-fe.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "bench/jobs/queue.hpp"

namespace spillway::job_bench {
namespace {

using Clock = std::chrono::steady_clock;

const std::string kBody(kJobBytes, 'b');

class Session {
 public:
  explicit Session(const std::string& url) : connection_(PQconnectdb(url.c_str())) {}
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run(const char* commands) { check(PQexec(connection_, commands)); }
  void prepare(const char* name, const std::string& text) {
    check(PQprepare(connection_, name, text.c_str(), 0, nullptr));
  }
  // All parameters are the same bytes. The first value of the first row.
  std::string execute(const char* name, int parameters, const std::string& bytes) {
    const std::vector<const char*> values(static_cast<std::size_t>(parameters), bytes.data());
    const std::vector<int> lengths(values.size(), static_cast<int>(bytes.size()));
    const std::vector<int> formats(values.size(), 1);
    return check(PQexecPrepared(connection_, name, parameters, values.data(), lengths.data(),
                                formats.data(), 1));
  }

 private:
  std::string check(PGresult* result) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> cleared(result, PQclear);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw std::runtime_error(PQerrorMessage(connection_));
    }
    if (PQntuples(result) == 0) return {};
    return {PQgetvalue(result, 0, 0), static_cast<std::size_t>(PQgetlength(result, 0, 0))};
  }

  PGconn* connection_;
};

using Sessions = std::vector<std::unique_ptr<Session>>;

Sessions sessions(const std::string& url, int connections) {
  Sessions all;
  for (int n = 0; n < connections; ++n) all.push_back(std::make_unique<Session>(url));
  return all;
}

// The same with each of them, in a thread of its own. A failure of one is thrown.
template <typename Work>
void at_once(Sessions& all, Work work) {
  std::vector<std::future<void>> running;
  for (auto& session : all) {
    running.push_back(std::async(std::launch::async, [&] { work(*session); }));
  }
  for (std::future<void>& one : running) one.get();
}

}  // namespace

void make_plain_queue(const std::string& url) {
  Session session(url);
  session.run(
      "CREATE TABLE plain (id bigserial PRIMARY KEY, state int NOT NULL DEFAULT 0, "
      "run_at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL);"
      "CREATE INDEX ON plain (run_at, id) WHERE state = 0");
}

double plain_loop(const std::string& url, int connections, std::chrono::milliseconds time) {
  std::atomic<std::uint64_t> done{0};
  Sessions all = sessions(url, connections);
  for (auto& session : all) {
    session->prepare("put", "INSERT INTO plain (body) VALUES ($1::bytea)");
    session->prepare("take",
                     "UPDATE plain SET state = 1 WHERE id = (SELECT id FROM plain WHERE state = 0 "
                     "AND run_at <= now() ORDER BY run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) "
                     "RETURNING id");
    session->prepare("end", "DELETE FROM plain WHERE id = $1::int8");
  }
  const auto begin = Clock::now();
  at_once(all, [&](Session& session) {
    while (Clock::now() - begin < time) {
      session.execute("put", 1, kBody);
      const std::string id = session.execute("take", 0, {});
      if (id.empty()) continue;
      session.execute("end", 1, id);
      ++done;
    }
  });
  return static_cast<double>(done) / std::chrono::duration<double>(Clock::now() - begin).count();
}

Figures plain_inserts(const std::string& url, int connections, int rows,
                      std::chrono::milliseconds time) {
  std::string text = "INSERT INTO plain (body) VALUES ($1::bytea)";
  for (int n = 2; n <= rows; ++n) text += ", ($" + std::to_string(n) + "::bytea)";
  Sessions all = sessions(url, connections);
  for (auto& session : all) session->prepare("put", text);
  std::mutex mutex;
  std::vector<double> all_times;
  const auto begin = Clock::now();
  at_once(all, [&](Session& session) {
    std::vector<double> times;
    while (Clock::now() - begin < time) {
      const auto since = Clock::now();
      session.execute("put", rows, kBody);
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - since).count());
    }
    const std::lock_guard lock(mutex);
    all_times.insert(all_times.end(), times.begin(), times.end());
  });
  const double jobs = static_cast<double>(all_times.size()) * rows;
  return figures_of(all_times, std::chrono::duration<double>(Clock::now() - begin).count(), jobs);
}

}  // namespace spillway::job_bench

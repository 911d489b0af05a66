#include "bench/jobs/empty_stores.hpp"

namespace spillway::job_bench {

PostgresServer::PostgresServer()
    : server_({"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=30min"},
              support::Postgres::Data::on_disk) {}

EmptyStores::EmptyStores(StoreKind kind) {
  if (kind == StoreKind::postgres) server_.emplace();
}

std::string EmptyStores::next() {
  if (server_) return server_->create_database();
  directory_.emplace();
  return "sqlite:" + (directory_->path() / "jobs.db").string();
}

}  // namespace spillway::job_bench

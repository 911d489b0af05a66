// The store in a PostgreSQL database (12 or later), shared by several proxies. Each proxy has one
// connection, plus one for counting; a batch is one transaction and usually one round trip.
//
// The connection also listens for announcements of other proxies. History is kept in partitions,
// which proxies create and drop: the database role has to own the tables.
//
// Leases, due times and expiry use the database's clock; the `now` of execute() is ignored.
// max_pending is enforced with counts that include other proxies' jobs only after up to a second
// (postgres_hints.hpp).
//
// The URL is libpq's (postgresql://user@host/database?...). Its settings override those of the
// store: connect_timeout, keepalives, tcp_user_timeout. The tables are in the schema `spillway`, or
// the first one of a search_path that the URL's options set.
#pragma once

#include <string>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

Opened open_postgres(const std::string& url, const KeyMark& mark);

}  // namespace spillway::store

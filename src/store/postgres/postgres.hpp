// The store in a PostgreSQL database (12 or later), which several proxies share. One connection a
// proxy, and one that counts; a batch is one transaction and as a rule one round trip.
//
// Its connection also listens for what other proxies announce. History is kept in partitions, which
// proxies create and drop: the database role has to own the tables.
//
// Leases, due times and expiry go by the database's clock; what execute() is told as `now` is not
// used. max_pending is held to by counts that other proxies' jobs enter with a delay of a second
// (postgres_hints.hpp).
//
// The URL is libpq's (postgresql://user@host/database?...). Its settings come before those that the
// store makes: connect_timeout, keepalives, tcp_user_timeout. The tables are in the schema
// `spillway`, or the first one of a search_path that the URL's options set.
#pragma once

#include <string>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

Opened open_postgres(const std::string& url, const KeyMark& mark);

}  // namespace spillway::store

// The admin pages of deferred requests:
//
//     GET  /jobs               jobs that match a filter, in pages
//     GET  /jobs/{id}          one job: head, first bytes of the body, every attempt
//     POST /jobs/{id}/cancel   cancels a job that has not begun
//     POST /jobs/replay        queues dead and expired jobs again
//     POST /jobs/purge         deletes jobs that have ended
//
// Replay and purge are dry runs unless the body says otherwise. job_query.hpp has the members of
// queries and bodies, docs/openapi.yaml all answers.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <set>
#include <string>

#include "observe/count/counter.hpp"
#include "observe/log/operator_change.hpp"
#include "proxy/admin/admin_page.hpp"
#include "proxy/admin/job_query.hpp"
#include "proxy/admin/store_desk.hpp"

namespace spillway::proxy {

// What these pages need from the process.
struct JobsSource {
  // Empty: there is no store (no route has `defer`, nor is there a store with jobs of others).
  StoreDesk::Submit submit = {};
  // A cancel, replay or purge was executed, other than a dry run. On the store's thread.
  std::function<void(const observe::JobChange&)> changed = {};
  // How long a replayed job may wait if the request does not say. On the admin thread.
  std::function<std::chrono::milliseconds()> ttl = {};
  // The names of the routes with `defer`; jobs of other routes wait until theirs is back. Empty
  // function: all routes. On the admin thread.
  std::function<std::set<std::string>()> routes = {};
};

class AdminJobs {
 public:
  AdminJobs(boost::asio::io_context& io, JobsSource source);

  using Page = boost::asio::awaitable<AdminResponse>;

  // The response to a request of an authorized client at this address. `request` must outlive it.
  Page answer(const AdminRequest& request, std::string client);
  // See StoreDesk::close().
  void close() { desk_.close(); }

 private:
  Page list(std::string_view query);
  Page inspect(jobs::JobId id);
  Page change(const AdminRequest& request, JobsPath path, std::string client);
  Page cancel(jobs::JobId id, std::string client);
  Page replay(JobsChange what, std::string client);
  Page purge(JobsChange what, std::string client);
  StoreDesk::Then cancel_audited(jobs::JobId id, std::string client, std::size_t n) const;
  StoreDesk::Then audited(observe::JobChange change) const;

  JobsSource source_;
  StoreDesk desk_;
  observe::Gauge pausing_;  // cancels that wait for another proxy
};

}  // namespace spillway::proxy

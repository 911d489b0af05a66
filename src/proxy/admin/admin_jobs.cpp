#include "proxy/admin/admin_jobs.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "proxy/admin/job_report.hpp"
#include "proxy/admin/json_members.hpp"
#include "proxy/jobs/withdrawals.hpp"

namespace spillway::proxy {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using beast_http::status;

namespace {

constexpr std::size_t kShownIds = 1000;
// The most cancels that wait for another proxy at a time, so that they do not take all connections.
constexpr std::int64_t kMostPausing = 16;

AdminResponse not_executed(StoreDesk::Result result) {
  switch (result) {
    case StoreDesk::Result::late:
      return admin_problem(status::service_unavailable,
                           "the store has not answered in time: what was asked may still be done");
    case StoreDesk::Result::busy:
      return admin_problem(status::service_unavailable,
                           "too many requests wait for the store already");
    default:
      return admin_problem(status::service_unavailable,
                           "the store is unavailable: nothing was changed");
  }
}

AdminResponse no_such_job() {
  return admin_problem(status::not_found, "there is no such job, or it was forgotten");
}

bool is_paused(const jobs::JobView& job, const std::optional<std::set<std::string>>& routes) {
  return routes && jobs::waits(job.progress.state) && !routes->contains(job.lane.route);
}

// The page for replayed jobs; in a dry run, for those that would be replayed.
AdminResponse replay_page(bool is_dry_run, const std::vector<jobs::JobId>& replayed) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < std::min(replayed.size(), kShownIds); ++n)
    ids.push_back(jobs::to_text(replayed[n]));
  return json_page({{"dry_run", is_dry_run}, {"count", replayed.size()}, {"jobs", std::move(ids)}});
}

// The count of one step; nullopt: it was a dry run, or changed nothing and is one of several.
template <class Change>
std::optional<std::uint64_t> count_of(const Change& step, std::uint64_t count) {
  const bool is_only_one = !step.after && !step.next;
  if (step.is_dry_run || (count == 0 && !is_only_one)) return std::nullopt;
  return count;
}

// How many jobs a replay or purge changed; nullopt: there is nothing to report.
std::optional<std::uint64_t> changed_by(const store::Command& command) {
  if (const auto* const replay = std::get_if<store::Replay>(&command))
    return count_of(*replay, replay->jobs.size());
  if (const auto* const purge = std::get_if<store::Purge>(&command))
    return count_of(*purge, purge->count);
  return std::nullopt;
}

}  // namespace

AdminJobs::AdminJobs(asio::io_context& io, JobsSource source)
    : source_(std::move(source)), desk_(io, source_.submit) {}

AdminJobs::Page AdminJobs::answer(const AdminRequest& request, std::string client) {
  const AdminTarget target = admin_target(request);
  const std::optional<JobsPath> path = read_jobs_path(target.path);
  if (!path) co_return admin_problem(status::not_found, "there is no such page; see /");
  if (!source_.submit) {
    co_return admin_problem(status::not_found,
                            "no route has \"defer\": there are no deferred requests");
  }
  const bool is_report =
      path->kind == JobsPath::Kind::list || path->kind == JobsPath::Kind::inspect;
  if (is_report && !is_reading(request)) co_return wrong_method("GET, HEAD");
  if (path->kind == JobsPath::Kind::list) {
    AdminResponse listed = co_await list(target.query);
    co_return listed;
  }
  if (path->kind == JobsPath::Kind::inspect) {
    AdminResponse inspected = co_await inspect(path->id);
    co_return inspected;
  }
  AdminResponse changed = co_await change(request, *path, std::move(client));
  co_return changed;
}

AdminJobs::Page AdminJobs::list(std::string_view query) {
  const auto read = read_jobs_query(query);
  if (const auto* const wrong = std::get_if<std::string>(&read))
    co_return admin_problem(status::bad_request, *wrong);
  const auto& listing = std::get<JobsListing>(read);
  store::Command command =
      store::List{.filter = listing.filter, .after = listing.after, .limit = listing.limit};
  const StoreDesk::Answer answer = co_await desk_.ask(std::move(command));
  if (!answer.call) co_return not_executed(answer.result);
  const auto& found = answer.call->as<store::List>();
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto routes = source_.routes ? std::optional(source_.routes()) : std::nullopt;
  for (const jobs::JobView& job : found.jobs) {
    all.push_back(job_report(job));
    if (is_paused(job, routes)) all.back()["paused"] = true;
  }
  nlohmann::ordered_json next = nullptr;
  if (found.next) next = jobs::to_text(*found.next);
  co_return json_page({{"jobs", std::move(all)}, {"next", std::move(next)}});
}

AdminJobs::Page AdminJobs::inspect(jobs::JobId id) {
  store::Command command = store::Inspect{.id = id,
                                          .body_limit = kShownBody,
                                          .job = std::nullopt,
                                          .head = {},
                                          .body = {},
                                          .attempts = {}};
  const StoreDesk::Answer answer = co_await desk_.ask(std::move(command));
  if (!answer.call) co_return not_executed(answer.result);
  const auto& found = answer.call->as<store::Inspect>();
  if (!found.job) co_return no_such_job();
  nlohmann::ordered_json report = inspected_report(found);
  const auto routes = source_.routes ? std::optional(source_.routes()) : std::nullopt;
  if (is_paused(*found.job, routes)) report["paused"] = true;
  co_return json_page(std::move(report));
}

AdminJobs::Page AdminJobs::change(const AdminRequest& request, JobsPath path, std::string client) {
  if (auto refusal = refusal_of_change(request)) co_return std::move(*refusal);
  if (path.kind == JobsPath::Kind::cancel) {
    if (!is_blank(request.body()))
      co_return admin_problem(status::bad_request, "the body must be empty, or {}");
    AdminResponse cancelled = co_await cancel(path.id, std::move(client));
    co_return cancelled;
  }
  const bool is_replay = path.kind == JobsPath::Kind::replay;
  const auto read = is_replay ? read_replay(request.body()) : read_jobs_purge(request.body());
  if (const auto* const wrong = std::get_if<std::string>(&read))
    co_return admin_problem(status::bad_request, *wrong);
  const auto& what = std::get<JobsChange>(read);
  if (is_replay) {
    AdminResponse replayed = co_await replay(what, std::move(client));
    co_return replayed;
  }
  AdminResponse purged = co_await purge(what, std::move(client));
  co_return purged;
}

AdminJobs::Page AdminJobs::cancel(jobs::JobId id, std::string client) {
  store::Cancel cancelled;
  for (std::size_t n = 0;; ++n) {
    store::Command command = store::Cancel{.id = id,
                                           .cause = jobs::Cause::cancelled_by_operator,
                                           .was = std::nullopt,
                                           .is_done = false};
    StoreDesk::Then then = cancel_audited(id, client, n);
    const StoreDesk::Answer answer = co_await desk_.ask(std::move(command), std::move(then));
    if (!answer.call) co_return not_executed(n == 0 ? answer.result : StoreDesk::Result::late);
    cancelled = answer.call->as<store::Cancel>();
    if (!cancelled.is_elsewhere || n == kCancelAgain.size() || pausing_.value() >= kMostPausing)
      break;
    const observe::Counted pausing(pausing_);
    asio::steady_timer timer(co_await asio::this_coro::executor, kCancelAgain[n]);
    co_await timer.async_wait(asio::use_awaitable);
  }
  if (!cancelled.was) co_return no_such_job();
  if (cancelled.is_elsewhere) {
    co_return admin_problem(status::conflict,
                            "another proxy has the job in hand; it was told to cancel it, which it "
                            "does unless the job was sent: look at it again");
  }
  if (!cancelled.is_done && *cancelled.was != jobs::JobState::cancelled) {
    co_return admin_problem(status::conflict,
                            "the job has begun or ended: it cannot be cancelled any more");
  }
  co_return json_page({{"id", jobs::to_text(id)}, {"state", "cancelled"}});
}

// In steps, each as large as the store searches at once (store::kMostLookedAt).
AdminJobs::Page AdminJobs::replay(JobsChange what, std::string client) {
  // So that even the last job does not expire before it is due.
  const std::chrono::milliseconds usual = (source_.ttl ? source_.ttl() : std::chrono::hours(24)) +
                                          what.delay + what.spacing * (what.limit - 1);
  store::Replay step{.filter = what.filter,
                     .spacing = what.spacing,
                     .ttl = what.ttl.value_or(usual),
                     .is_dry_run = what.is_dry_run,
                     .jobs = {}};
  std::vector<jobs::JobId> replayed;
  do {
    step.limit = what.limit - replayed.size();
    step.delay = what.delay + what.spacing * replayed.size();
    StoreDesk::Then then = audited({observe::JobChange::Kind::replayed, client, what.filter, 0});
    store::Command command = step;
    const StoreDesk::Answer answer = co_await desk_.ask(std::move(command), std::move(then));
    if (!answer.call)
      co_return not_executed(replayed.empty() ? answer.result : StoreDesk::Result::late);
    const auto& done = answer.call->as<store::Replay>();
    replayed.insert(replayed.end(), done.jobs.begin(), done.jobs.end());
    step.after = done.next;
  } while (step.after && replayed.size() < what.limit);
  co_return replay_page(what.is_dry_run, replayed);
}

AdminJobs::Page AdminJobs::purge(JobsChange what, std::string client) {
  store::Purge step{.filter = what.filter, .is_dry_run = what.is_dry_run};
  std::uint64_t purged = 0;
  do {
    step.limit = what.limit - purged;
    StoreDesk::Then then = audited({observe::JobChange::Kind::purged, client, what.filter, 0});
    store::Command command = step;
    const StoreDesk::Answer answer = co_await desk_.ask(std::move(command), std::move(then));
    if (!answer.call) co_return not_executed(purged == 0 ? answer.result : StoreDesk::Result::late);
    const auto& done = answer.call->as<store::Purge>();
    purged += done.count;
    step.after = done.next;
  } while (step.after && purged < what.limit);
  co_return json_page({{"dry_run", what.is_dry_run}, {"count", purged}});
}

// One audit line for the first try, and one for the nth if it found that the job was meanwhile
// cancelled, as the other proxy was asked to do.
StoreDesk::Then AdminJobs::cancel_audited(jobs::JobId id, std::string client, std::size_t n) const {
  observe::JobChange change{observe::JobChange::Kind::cancelled, std::move(client), {}, 0};
  change.filter.id = id;
  return [changed = source_.changed, change = std::move(change), n](const StoreCall& call) mutable {
    const auto& cancel = call.as<store::Cancel>();
    const bool is_done_elsewhere = n > 0 && cancel.was == jobs::JobState::cancelled;
    change.count = cancel.is_done || is_done_elsewhere ? 1 : 0;
    if (changed && (n == 0 || change.count > 0)) changed(change);
  };
}

StoreDesk::Then AdminJobs::audited(observe::JobChange change) const {
  return [changed = source_.changed, change = std::move(change)](const StoreCall& call) mutable {
    const std::optional<std::uint64_t> count = changed_by(call.command);
    if (!count || !changed) return;
    change.count = *count;
    changed(change);
  };
}

}  // namespace spillway::proxy

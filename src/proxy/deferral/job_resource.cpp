#include "proxy/deferral/job_resource.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "http/field/ascii.hpp"
#include "http/message/target.hpp"
#include "jobs/job_id.hpp"
#include "jobs/time_text.hpp"
#include "proxy/deferral/store_question.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "proxy/jobs/withdrawals.hpp"

namespace spillway::proxy {

namespace {

constexpr std::string_view kJobs = "/jobs/";
constexpr std::string_view kDeleted = "deleted";  // shown in place of a state
constexpr std::size_t kIdSize = 32;
// A response up to this size may wait for any client without being counted.
constexpr std::size_t kUncounted = 64 * 1024;
constexpr std::string_view kJsonFields =
    "Content-Type: application/json\r\nCache-Control: no-store\r\n";

Fault answered(std::uint16_t status, StaticText detail) {
  return {.outcome = Outcome::cached, .status = status, .detail = detail};
}

Fault no_such_job() { return answered(404, "There is no such job, or it was forgotten."); }

// Looks among lines that end in CRLF.
bool has_line(std::string_view lines, std::string_view name) {
  while (!lines.empty()) {
    if (http::istarts_with(lines, name) && lines.substr(name.size()).starts_with(':')) return true;
    const std::size_t end = lines.find("\r\n");
    lines.remove_prefix(end == lines.npos ? lines.size() : end + 2);
  }
  return false;
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::optional<std::string_view> own_part(const RequestContext& request, const Services& services) {
  const config::Config& config = request.config();
  const bool has_own =
      services.jobs != nullptr || request.generation->generation().has_waiting_rooms();
  if (!has_own || config.own_path.empty()) return std::nullopt;
  const std::string_view path = http::path_of(request.head.path_and_query);
  if (!path.starts_with(config.own_path)) return std::nullopt;
  const std::string_view rest = path.substr(config.own_path.size());
  if (!rest.empty() && rest.front() != '/') return std::nullopt;
  if (!config.routes[index(request.classification.route)].own_path) return std::nullopt;
  return rest;
}

std::string job_location(const RequestContext& request, const jobs::JobId& id) {
  return request.config().own_path + std::string(kJobs) + jobs::to_text(id);
}

std::optional<JobResource::Asked> JobResource::read(std::string_view path) {
  if (!path.starts_with(kJobs)) return std::nullopt;
  path.remove_prefix(kJobs.size());
  const auto id = jobs::parse_job_id(path.substr(0, kIdSize));
  if (!id) return std::nullopt;
  path.remove_prefix(kIdSize);
  if (!path.empty() && path != "/response" && path != "/events") return std::nullopt;
  return Asked{*id, path};
}

Task<Answer> JobResource::answer(std::string_view path) {
  const std::optional<Asked> asked = read(path);
  if (!path.starts_with(kJobs)) co_return answered(404, "There is nothing here.");
  if (!asked || services_.jobs == nullptr) co_return no_such_job();
  const http::Verb method = request_.head.method;
  const bool is_read = method == http::Verb::get || method == http::Verb::head;
  const bool is_cancel = method == http::Verb::delete_ && asked->part.empty();
  if (!is_read && !is_cancel) {
    refuse_method(asked->part.empty() ? "GET, HEAD, DELETE" : "GET, HEAD");
    co_return JobReport{};
  }
  if (const std::optional<Fault> fault = too_often()) co_return *fault;
  if (is_cancel) {
    const Answer cancelled = co_await cancel(asked->id);
    co_return cancelled;
  }
  if (asked->part.empty()) {
    const Answer shown = co_await show(asked->id);
    co_return shown;
  }
  if (asked->part == "/events") {
    followed_ = asked->id;
    const Answer found = co_await show(asked->id);
    if (!is<JobReport>(found) || method == http::Verb::head) co_return found;
    co_return JobEvents{};
  }
  const Answer shown = co_await show_answer(asked->id, Cut::told);
  co_return shown;
}

// A problem with the Allow field that a 405 must have.
void JobResource::refuse_method(std::string_view allowed) {
  response_ = {405,
               "Allow: " + std::string(allowed) +
                   "\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n",
               dump({{"type", "about:blank"},
                     {"title", "Method Not Allowed"},
                     {"status", 405},
                     {"detail", "This method is not allowed for a job."}})};
}

// Called before the store is asked. A request that the tenant's budget refuses takes nothing from
// the rate that all tenants share.
std::optional<Fault> JobResource::too_often() const {
  const traffic::Tenant& tenant = request_.classification.tenant;
  const TimePoint now = services_.now();
  auto* const budget = request_.generation->generation().tenant_budgets.find(tenant.tier->number);
  if (budget != nullptr && !budget->try_take(now) && !request_.is_shadow())
    return denied(Reason::budget_exceeded, budget->time_per_request());
  const std::optional<Milliseconds> later = services_.jobs->lookups().take(tenant.id, now);
  if (later) return denied(Reason::budget_exceeded, *later);
  return std::nullopt;
}

// A fault if the store does not answer, or too many questions to it are waiting.
Task<std::optional<Fault>> JobResource::ask(StoreCall& call) {
  const Execution execution = co_await execute(services_, parking_, call);
  if (execution == Execution::done) co_return std::nullopt;
  if (execution == Execution::refused && services_.jobs->is_available())
    co_return denied(Reason::budget_exceeded, LookupLimit::kLater);
  co_return Fault{.reason = Reason::store_unavailable,
                  .status = 503,
                  .detail = "This proxy cannot read its jobs now. Please try again later.",
                  .retry_after = Milliseconds{5000}};
}

Task<Answer> JobResource::show(jobs::JobId id) {
  StoreCall call{store::Find{.id = id, .job = std::nullopt}};
  const std::optional<Fault> failure = co_await ask(call);
  if (failure) co_return *failure;
  const auto& found = call.as<store::Find>();
  if (!found.job) co_return no_such_job();
  report(*found.job);
  co_return JobReport{};
}

// A job that a proxy has in hand counts as the next one.
std::int64_t JobResource::retry_after(const jobs::Progress& progress,
                                      std::uint64_t position) const {
  const bool is_leased = progress.state == jobs::JobState::leased;
  const Milliseconds least =
      is_leased ? Milliseconds{0} : progress.due - services_.jobs->wall_now();
  return services_.jobs->retry_after(is_leased ? 1 : position, least).count();
}

std::string JobResource::describe(const jobs::JobView& job) const {
  const jobs::Progress& progress = job.progress;
  nlohmann::ordered_json json{{"id", jobs::to_text(job.id)},
                              {"state", jobs::name(progress.state)},
                              {"attempts", progress.attempts},
                              {"accepted_at", jobs::to_text(job.accepted)},
                              {"expires_at", jobs::to_text(job.expires)}};
  if (jobs::has_ended(progress.state)) {
    json["ended_at"] = jobs::to_text(progress.ended);
    if (progress.cause != jobs::Cause::none) json["cause"] = jobs::name(progress.cause);
    if (job.status != 0) {
      json["status"] = job.status;
      json["response"] = job_location(request_, job.id) + "/response";
    }
  } else {
    if (progress.state == jobs::JobState::retrying)
      json["next_attempt_at"] = jobs::to_text(progress.due);
    if (job.position != 0) json["position"] = job.position;
    json["retry_after_ms"] = retry_after(progress, job.position) * 1000;
  }
  return dump(json);
}

void JobResource::report(const jobs::JobView& job) {
  response_ = {200, std::string(kJsonFields), describe(job)};
  if (jobs::has_ended(job.progress.state)) return;
  const std::int64_t seconds = retry_after(job.progress, job.position);
  response_.lines += "Retry-After: " + std::to_string(seconds) + "\r\n";
}

Task<Answer> JobResource::show_answer(jobs::JobId id, Cut cut) {
  StoreCall call{store::ReadAnswer{.id = id, .state = std::nullopt, .answer = std::nullopt}};
  const std::optional<Fault> failure = co_await ask(call);
  if (failure) co_return *failure;
  auto& read = call.as<store::ReadAnswer>();
  if (!read.state) co_return no_such_job();
  // A replayed job still has the answer of an earlier attempt.
  if (!jobs::has_ended(*read.state))
    co_return answered(409, "The job has not ended: ask for it without /response.");
  if (!read.answer) co_return answered(404, "The job has ended without an answer.");
  if (read.answer->is_cut && cut == Cut::refused)
    co_return answered(409, "The body of the answer was too long to be kept.");
  if (read.answer->is_cut) {
    read.answer->fields += "Spillway-Job: cut\r\n";
    read.answer->body.clear();
  }
  // Until its client has taken the answer, its memory is held for this client alone.
  const bool is_counted = read.answer->body.size() > kUncounted;
  if (is_counted && !kept_.reserve_answer(read.answer->body.size())) {
    // Clients that take their answers slowly give way to others, but not to one that has its share.
    if (!kept_.has_room_for_answer(read.answer->body.size()))
      services_.recent.miss_memory(services_.now());
    co_return denied(Reason::budget_exceeded, LookupLimit::kLater);
  }
  const bool has_date = has_line(read.answer->fields, "Date");
  const bool has_request_id = has_line(read.answer->fields, "X-Request-Id");
  response_ = {.status = read.answer->status,
               .lines = std::move(read.answer->fields),
               .content = std::move(read.answer->body),
               .has_date = has_date,
               .has_request_id = has_request_id,
               .takes_memory = is_counted};
  co_return JobReport{};
}

// Waits for a moment, or until the client leaves.
Task<bool> JobResource::wait_for(Milliseconds time) {
  for (const TimePoint until = services_.now() + time; services_.now() < until;) {
    const Wake wake = co_await parking_.park({.deadline = until, .client_gone = true});
    if (wake == Wake::client_gone) co_return false;
  }
  co_return true;
}

Task<Answer> JobResource::cancel(jobs::JobId id) {
  store::Cancel cancelled;
  for (std::size_t n = 0;; ++n) {
    StoreCall call{store::Cancel{.id = id, .was = std::nullopt}};
    const std::optional<Fault> failure = co_await ask(call);
    if (failure) co_return *failure;
    cancelled = call.as<store::Cancel>();
    if (!cancelled.is_elsewhere || n == kCancelAgain.size()) break;
    const bool is_there = co_await wait_for(kCancelAgain[n]);
    if (!is_there) break;
  }
  if (!cancelled.was) co_return no_such_job();
  if (cancelled.is_elsewhere)
    co_return answered(409,
                       "Another proxy has the job in hand. It was told to cancel it, which it does "
                       "unless the job was sent: please ask for its state.");
  if (!cancelled.is_done && *cancelled.was != jobs::JobState::cancelled)
    co_return answered(409, "The job has begun or ended: it cannot be cancelled any more.");
  response_ = {200, std::string(kJsonFields),
               dump({{"id", jobs::to_text(id)}, {"state", "cancelled"}})};
  co_return JobReport{};
}

Task<Answer> JobResource::answer_of(jobs::JobId id, const std::string& applied) {
  const Answer shown = co_await show_answer(id, Cut::refused);
  if (is<JobReport>(shown)) response_.lines += "Preference-Applied: " + applied + "\r\n";
  co_return shown;
}

void JobResource::report_deferred(const SeenJob& job, const std::string& applied) {
  const jobs::JobState state = job.progress.state;
  const bool is_deleted = job.left == SeenJob::Left::key;
  const std::string location = job_location(request_, job.id);
  response_.status = 202;
  response_.lines = std::string(kJsonFields) + "Location: " + location + "\r\n";
  response_.content = "{\"id\":\"" + jobs::to_text(job.id) + "\",\"state\":\"" +
                      std::string(is_deleted ? kDeleted : jobs::name(state)) +
                      "\",\"location\":\"" + location + '"';
  if (!is_deleted && !jobs::has_ended(state)) {
    const std::string seconds = std::to_string(retry_after(job.progress, job.position));
    response_.lines += "Retry-After: " + seconds + "\r\n";
    response_.content += ",\"retry_after_ms\":" + seconds + "000";
  }
  response_.content += "}\n";
  if (!applied.empty()) response_.lines += "Preference-Applied: " + applied + "\r\n";
}

}  // namespace spillway::proxy

#include "proxy/deferral/deferral.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/choices.hpp"
#include "http/outgoing/rewrite.hpp"
#include "jobs/deferral_rule.hpp"
#include "jobs/idempotency.hpp"
#include "jobs/order.hpp"
#include "jobs/prefer.hpp"
#include "jobs/route_capacity.hpp"
#include "jobs/stored_request.hpp"
#include "proxy/deferral/store_question.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "proxy/jobs/new_job_id.hpp"
#include "proxy/request/context/counted_client.hpp"

namespace spillway::proxy {

namespace {

// The longest wait that a client gets with Prefer.
constexpr std::chrono::seconds kLongestPrefer{60};

// How long a request that could be forwarded waits for the store.
constexpr Duration kPatience = std::chrono::milliseconds(100);

}  // namespace

const config::Defer* Deferral::defer() const {
  if (services_.jobs == nullptr) return nullptr;
  const auto& defer = request_.config().routes[index(request_.classification.route)].defer;
  return defer ? &*defer : nullptr;
}

// During a drain, jobs in a store in memory would end with the process before they are forwarded.
bool Deferral::would_be_lost() const {
  return services_.draining && request_.config().store.url == store::kMemoryUrl;
}

bool Deferral::may_be_deferred() const {
  const http::Framing& framing = request_.head.framing;
  const bool is_long =
      framing.kind == http::Framing::Kind::length && framing.length > defer()->max_body_bytes;
  return !is_long && !would_be_lost() && has_form_to_defer();
}

// Its method and its form allow it.
bool Deferral::has_form_to_defer() const {
  const http::RequestHead& head = request_.head;
  if (request_.is_own || request_.is_shadow() || !request_.upgrade.empty()) return false;
  const jobs::Deferrable by_method = jobs::deferrable(head.method);
  return by_method == jobs::Deferrable::yes ||
         (by_method == jobs::Deferrable::if_preferred && is_preferred());
}

// The client asks for it, if the route's `when` lets it: the field is read only then.
bool Deferral::is_wished(const config::Defer& settings) const {
  return settings.when == config::DeferWhen::prefer && is_preferred();
}

bool Deferral::is_preferred() const {
  return jobs::parse_prefer(request_.head.fields).respond_async;
}

Task<Deferral::Turn> Deferral::turn() {
  if (comes_first()) co_return Turn::later;
  if (has_key()) {
    const KeyState key = co_await take_key();
    if (key == KeyState::in_hand) co_return Turn::of_another;
    if (key == KeyState::of_job) co_return Turn::later;
  }
  if (has_order()) {
    const bool is_behind = co_await is_behind_jobs();
    if (is_behind) co_return Turn::later;
  }
  co_return Turn::now;
}

bool Deferral::comes_first() const {
  const config::Defer* const settings = defer();
  return settings != nullptr && may_be_deferred() &&
         jobs::comes_first(settings->when, services_.draining, is_wished(*settings));
}

bool Deferral::has_key() const {
  return defer() != nullptr && request_.head.fields.find(jobs::kIdempotencyKey) != nullptr &&
         has_form_to_defer();
}

// The key is taken before the store is asked: a request that is being stored holds it until the
// store has it.
Task<Deferral::KeyState> Deferral::take_key() {
  const jobs::ReadKey key = jobs::read_idempotency_key(request_.head.fields);
  if (!key.key) co_return KeyState::free;
  const config::Route& route = request_.config().routes[index(request_.classification.route)];
  const jobs::Digest scope = jobs::scope_of(route.name, principal(), *key.key);
  const bool is_taken = key_.take(services_.jobs->keys_in_flight(), scope, KeyUse::live);
  const bool is_shared = is_taken && services_.jobs->is_available();
  if (is_shared) key_.share();
  store::Command question = store::KnowsKey{.scope = scope, .takes = is_shared};
  const std::optional<store::Command> answer = co_await ask(std::move(question));
  const auto* const told = answer ? &std::get<store::KnowsKey>(*answer) : nullptr;
  const bool is_known = told != nullptr && told->is_known;
  const bool is_elsewhere = told != nullptr && told->is_in_hand;
  if (is_known || is_elsewhere) key_.release();
  if (is_known) co_return KeyState::of_job;
  co_return is_taken && !is_elsewhere ? KeyState::free : KeyState::in_hand;
}

bool Deferral::has_order() const {
  return defer() != nullptr && order().has_value() && !would_be_lost() && has_form_to_defer();
}

Task<bool> Deferral::is_behind_jobs() {
  const config::Route& route = request_.config().routes[index(request_.classification.route)];
  store::Command question = store::HasUnfinished{.route = route.name, .order = *order()};
  const std::optional<store::Command> answer = co_await ask(std::move(question));
  const bool has_any = answer && std::get<store::HasUnfinished>(*answer).has_any;
  co_return has_any;
}

// nullopt: the store has not answered soon enough, or cannot be asked.
Task<std::optional<store::Command>> Deferral::ask(store::Command question) {
  if (!services_.jobs->is_available()) co_return std::nullopt;
  std::optional<store::Command> answer =
      co_await ask_store(services_, parking_, std::move(question), services_.now() + kPatience);
  co_return answer;
}

// The order in which its jobs, and requests that could overtake them, are forwarded.
std::optional<jobs::Digest> Deferral::order() const {
  const std::string& order_by = defer()->order_by;
  if (order_by.empty()) return std::nullopt;
  const http::Field* const field = request_.head.fields.find(order_by);
  if (field == nullptr) return std::nullopt;
  const traffic::Tenant& tenant = request_.classification.tenant;
  if (tenant.source == config::TenantKey::client_address) return jobs::order_of(field->value);
  const config::Route& route = request_.config().routes[index(request_.classification.route)];
  return jobs::order_of(route.name, tenant.value(), field->value);
}

bool Deferral::replaces(const Fault& fault) const {
  const config::Defer* const settings = defer();
  if (settings == nullptr || call_.was_sent() || session_.has_started() || !may_be_deferred())
    return false;
  return jobs::is_deferred_for(fault.reason, fault.outcome,
                               {.when = settings->when,
                                .is_preferred = is_wished(*settings),
                                .include_limits = settings->include_limits,
                                .is_clients_deadline = fault.by_clients_deadline});
}

Task<Answer> Deferral::write_down(std::optional<Fault> refused) {
  call_.abandon();
  const config::Defer& settings = *defer();
  preference_ = jobs::parse_prefer(request_.head.fields);
  std::string content;
  const std::optional<Fault> unread = co_await read_content(content, settings.max_body_bytes);
  const bool is_short = unread && unread->reason == Reason::local_shortage;
  const bool is_long = !unread && content.size() > settings.max_body_bytes;
  if (refused && (is_short || is_long)) {
    if (is_letter(*refused)) services_.jobs->counts().lost(observe::LostLetter::body);
    co_return *refused;
  }
  if (unread) co_return *unread;
  if (is_long) co_return bad_request(http::Error::body_too_large);
  jobs::NewJob job;
  if (const std::optional<Fault> wrong = fill(job, std::move(content))) co_return *wrong;
  if (const std::optional<Fault> wrong = read_key(job)) co_return *wrong;
  const std::optional<Fault> failure = co_await store(std::move(job));
  if (failure) co_return *failure;
  co_return DeferredRequest{};
}

// A request that expired while it waited, and is to be kept if it is not deferred.
bool Deferral::is_letter(const Fault& fault) const {
  return defer() != nullptr && fault.outcome == Outcome::expired &&
         request_.upstream().dead_letters.is_enabled() && has_form_to_defer();
}

void Deferral::keep_expired(const Fault& fault) {
  using observe::LostLetter;
  using Buried = JobQueue::Buried;
  if (!is_letter(fault)) return;
  const config::Defer* const settings = defer();
  JobQueue& queue = *services_.jobs;
  const std::string& route = request_.config().routes[index(request_.classification.route)].name;
  if (!queue.is_available() || queue.is_full()) return queue.counts().lost(LostLetter::store);
  if (!queue.may_bury(route, settings->max_pending)) return queue.counts().lost(LostLetter::full);
  std::optional<std::string> content = body_.take_content(settings->max_body_bytes);
  if (!content) return queue.counts().lost(LostLetter::body);
  jobs::NewJob job;
  if (fill(job, std::move(*content))) return queue.counts().lost(LostLetter::body);
  auto written = [&log = services_.log, id = jobs::to_text(job.id), route,
                  tenant = job.tenant_name] {
    log.job({.id = std::string_view(id).substr(0, 16),
             .route = route,
             .tenant = tenant,
             .state = jobs::JobState::dead,
             .cause = jobs::Cause::expired_in_queue});
  };
  switch (queue.bury(std::move(job), jobs::Cause::expired_in_queue, settings->max_pending,
                     std::move(written))) {
    case Buried::taken: return;
    case Buried::full: return queue.counts().lost(LostLetter::full);
    case Buried::unavailable: return queue.counts().lost(LostLetter::store);
  }
}

// One byte more than `most` means that it is too long.
Task<std::optional<Fault>> Deferral::read_content(std::string& content, std::uint64_t most) {
  if (!body_.has_any()) co_return std::nullopt;
  const std::optional<Fault> fault = co_await body_.read_content(content, most);
  co_return fault;
}

// The head as it would now be sent to the upstream.
std::string Deferral::forwarded_head() const {
  const http::RequestHead& head = request_.head;
  const http::ForwardedRequest with{
      .client_address = request_.client.address(),
      .default_host = request_.upstream().endpoints.front().name,
      .trusted_peer = request_.client.trusted(),
      .protected_fields = &request_.generation->generation().protected_fields,
      .request_id = request_.ids.made_request_id(head, services_.random),
      .traceparent = request_.ids.made_traceparent(head, services_.random),
      .pass = request_.pass};
  std::string text(session_.head_text().size() + http::kRewriteRoom, '\0');
  TextWriter out(text);
  if (!http::write_request_head(out, head, with)) return {};
  text.resize(out.size());
  return text;
}

// A fault if the request cannot be deferred.
std::optional<Fault> Deferral::fill(jobs::NewJob& job, std::string content) const {
  const http::RequestHead& head = request_.head;
  const config::Defer& settings = *defer();
  const config::Route& route = request_.config().routes[index(request_.classification.route)];
  const traffic::Tenant& tenant = request_.classification.tenant;
  job.lane = {jobs::rank_of(settings), route.name, tenant.id};
  job.tenant_name = tenant.value();
  job.method = head.method_name;
  job.target = head.path_and_query;
  job.order = order();
  job.head = jobs::stored_head(forwarded_head(), head.method, content.size());
  if (job.head.empty()) return head_too_large();
  job.body = std::move(content);
  job.kept = settings.result_ttl;
  job.accepted = services_.jobs->wall_now();
  job.expires = job.accepted + settings.ttl;
  const std::optional<jobs::JobId> id = new_job_id(job.accepted);
  if (!id) return not_deferred(Reason::store_unavailable);
  job.id = *id;
  return std::nullopt;
}

std::optional<Fault> Deferral::read_key(jobs::NewJob& job) const {
  const http::RequestHead& head = request_.head;
  const jobs::ReadKey key = jobs::read_idempotency_key(head.fields);
  if (key.is_invalid) return invalid_idempotency_key();
  if (key.key) {
    const http::Field* const type = head.fields.find(http::FieldId::content_type);
    job.idempotency = {
        jobs::scope_of(job.lane.route, principal(), *key.key),
        jobs::fingerprint_of(head.method_name, head.path_and_query,
                             type != nullptr ? type->value : std::string_view{}, job.body)};
  } else if (defer()->require_idempotency_key) {
    return missing_idempotency_key();
  }
  return std::nullopt;
}

// A request with a key goes to the store even if that is full: it may be a duplicate.
Task<std::optional<Fault>> Deferral::store(jobs::NewJob job) {
  using Result = store::Enqueue::Result;
  JobQueue& queue = *services_.jobs;
  const bool has_key = job.idempotency.has_value();
  const bool is_full = queue.is_full();
  if (is_full && !has_key) co_return not_deferred(Reason::store_full);
  const bool is_in_hand =
      has_key && !key_.is_held() &&
      !key_.take(queue.keys_in_flight(), job.idempotency->scope, KeyUse::written_down);
  const std::uint64_t most = is_full || is_in_hand ? 0 : defer()->max_pending;
  StoreCall call{
      store::Enqueue{.job = std::move(job), .max_pending = most, .is_in_share = is_in_share()}};
  // If it waits too long for a commit, it is refused like requests that come now.
  const Execution execution =
      co_await execute(services_, parking_, call, StoreCondition::kLongestTurn);
  if (execution == Execution::refused) co_return not_deferred(queue.condition().reason());
  if (execution == Execution::failed) co_return not_deferred(reason_of(*call.failure));
  const auto& enqueue = call.as<store::Enqueue>();
  observe::JobCounts& counts = queue.counts();
  job_ = {.id = enqueue.id, .progress = {}};
  if (enqueue.result == Result::share_full) co_return share_of_deferred_is_full();
  if (enqueue.result == Result::in_hand) co_return idempotency_key_in_flight();
  if (enqueue.result != Result::full) key_.release();  // from now on the store has the key
  if (enqueue.result == Result::accepted) {
    ++counts.accepted;
    log_accepted(enqueue.job);
    co_return std::nullopt;
  }
  if (enqueue.result == Result::duplicate) {
    ++counts.duplicates;
    const std::optional<Fault> untold = co_await see_job();
    co_return untold;
  }
  if (enqueue.result == Result::mismatch) co_return reused_idempotency_key();
  co_return is_in_hand ? idempotency_key_in_flight() : not_deferred(Reason::store_full);
}

// A trusted peer that names neither a tenant nor a client stands for all of its clients.
bool Deferral::is_in_share() const {
  return request_.classification.tenant.source != config::TenantKey::client_address ||
         counted_client(request_).has_value();
}

// Looks up the job that a duplicate belongs to, so that its client is not promised work that will
// not be done.
Task<std::optional<Fault>> Deferral::see_job() {
  StoreCall look{store::Find{.id = job_.id, .job = std::nullopt}};
  look.is_of_key = true;
  const Execution execution = co_await execute(services_, parking_, look);
  if (execution == Execution::refused) co_return not_deferred(services_.jobs->condition().reason());
  if (execution == Execution::failed) co_return not_deferred(reason_of(*look.failure));
  const std::optional<jobs::JobView>& found = look.as<store::Find>().job;
  if (!found) {
    job_.left = SeenJob::Left::key;
    co_return std::nullopt;
  }
  job_ = {.id = found->id, .progress = found->progress, .position = found->position};
  co_return std::nullopt;
}

std::chrono::seconds Deferral::longest_wait() const {
  return std::min(preference_.wait.value_or(std::chrono::seconds(0)), kLongestPrefer);
}

// If the wait is capped by this proxy, the response says which wait applied.
std::string Deferral::applied_to_202() const {
  std::string applied = preference_.respond_async ? "respond-async" : "";
  if (preference_.wait) applied += (applied.empty() ? "" : ", ") + applied_to_answer();
  return applied;
}

std::string Deferral::applied_to_answer() const {
  return "wait=" + std::to_string(longest_wait().count());
}

// Does not wait at the connection limit: a client that waits costs a connection, and can ask for
// the job later.
Task<bool> Deferral::wait_for_end() {
  const TimePoint until = request_.arrived + longest_wait();
  std::optional<jobs::Progress> known;
  while (services_.now() < until && !services_.draining && !services_.owner.needs_room()) {
    const Followed next =
        co_await follow(services_, parking_, job_.id, known, until, AtConnectionLimit::gives_way);
    if (!next.job) co_return false;
    known = next.job->progress;
    job_ = {.id = job_.id, .progress = *known, .position = next.job->position};
    if (jobs::has_ended(known->state)) co_return true;
  }
  co_return false;
}

std::string Deferral::principal() const {
  const traffic::Tenant& tenant = request_.classification.tenant;
  const auto& by = defer()->idempotency_principal;
  if (!by) return jobs::principal_of(tenant.value(), request_.head.fields);
  const bool is_verified = tenant.source != config::TenantKey::client_address;
  return jobs::principal_of(tenant.value(), is_verified, request_.head.fields, *by);
}

void Deferral::log_accepted(const jobs::NewJob& job) const {
  const std::string id = jobs::to_text(job.id);
  services_.log.job({.id = std::string_view(id).substr(0, 16),
                     .route = job.lane.route,
                     .tenant = job.tenant_name,
                     .state = jobs::JobState::queued});
}

}  // namespace spillway::proxy

// Deferred requests in a run.
#include <chrono>
#include <utility>
#include <vector>

#include "simulate/run/run.hpp"

namespace spillway::simulate {
namespace {

constexpr Duration kStoreTakes = std::chrono::milliseconds(1);  // for a claim

// Makes `job` the request that will be sent to the backend for it.
void make_job(const Request& request, Request& job) {
  ClientModel::repeat(request, job);
  job.demand.key = 0;
  job.demand.address = 0;  // the proxy itself
  job.as_job = request.as_job;
  job.came = request.came;
}

}  // namespace

// The client is answered 202 and leaves; false: the route has its maximum of waiting jobs.
bool Run::defer(Request& request) {
  Request& job = pool_.acquire();
  make_job(request, job);
  if (!jobs_.accept(job, now_)) {
    pool_.release(job);
    return false;
  }
  recorder_.deferred(request);
  leave(request);
  ask_for_jobs();
  return true;
}

void Run::ask_for_jobs() {
  if (!jobs_.is_in_use() || std::exchange(is_pulling_, true)) return;
  schedule(now_ + kStoreTakes, EventKind::pull);
}

void Run::pull_jobs() {
  const std::vector<Request*> pulled = jobs_.pull(proxy_->state(), now_);
  for (Request* job : pulled) {
    if (!loop_.takes_time()) {
      enter_job(*job);
      continue;
    }
    job->in_loop = true;
    loop_.add(*job, now_);
  }
  run_loop();
  if (!pulled.empty()) ask_for_jobs();
}

// False: the job was given back.
bool Run::enter_job(Request& job) {
  const TimePoint from = jobs_.begins_from(job, now_);
  if (from > now_) {
    jobs_.hold(job);
    schedule(from, EventKind::rate_wait, job);
    return true;
  }
  job.client_waits = true;
  const bool is_retried = job.is_retried_job();
  const ProxyModel::Admission admission = proxy_->enter_job(job, now_);
  if (admission.evicted != nullptr) expire(*admission.evicted);
  switch (admission.entry) {
    case ProxyModel::Entry::start:
      start(job);
      if (is_retried) start_waiting();  // it may have been put off
      return true;
    case ProxyModel::Entry::wait: note_depth(); return true;
    default: return wait_for_spare_slot(job);
  }
}

// False: it has given back the slot that it got, and waits for the rate of its route.
bool Run::may_begin(Request& job) {
  if (jobs_.may_begin(job, now_)) return true;
  proxy_->return_slot(job, now_);
  give_back_job(job, jobs::NoSlot::waited);
  ask_for_jobs();
  return false;
}

// The same for the retry budget.
bool Run::may_send_again(Request& job) {
  if (servers_.try_job_retry(now_)) return true;
  proxy_->return_slot(job, now_);
  job.client_waits = false;
  jobs_.put_off(job, now_);
  return false;
}

void Run::complete_job(Request& job) {
  backend_.finish(job);
  job.in_backend = false;
  work_in_backend();
  if (job.timed_out) return pool_.release(job);
  proxy_->answered(job, now_);
  using resilience::CallResult;
  servers_.end(job, job.fails ? CallResult::failure : CallResult::success, now_);
  end_job(job, job.fails ? jobs::Cause::failed : jobs::Cause::answered);
}

// See JobsModel::end(). Its slot is free. A further attempt is a separate request, since the
// backend may still be working on this one.
void Run::end_job(Request& job, jobs::Cause how) {
  job.client_waits = false;
  proxy_->end(job, now_);
  using jobs::Cause;
  const bool was_sent = how != Cause::none && how != Cause::never_sent;
  if (job.is_retried_job() && (how == Cause::answered || !was_sent)) servers_.give_back_retry(now_);
  if (const auto progress = jobs_.end(job, how, now_)) {
    Request& again = pool_.acquire();
    make_job(job, again);
    jobs_.put_back(again, *progress);
  }
  if (!job.in_backend) pool_.release(job);
  start_waiting();
  ask_for_jobs();
}

// For a refused job that has a class. False: it was given back.
bool Run::wait_for_spare_slot(Request& job) {
  switch (proxy_->wait_for_spare_slot(job, now_)) {
    case ProxyModel::Entry::start: start(job); return true;
    case ProxyModel::Entry::wait:
      job.as_job->waits_until = now_ + jobs::kSpareWait;
      schedule(job.as_job->waits_until, EventKind::spare_wait, job);
      return true;
    default: give_back_job(job, jobs::NoSlot::refused); return false;
  }
}

// Since then it may have been given back and pulled again, or be at the backend.
void Run::end_spare_wait(Request& job) {
  if (!job.in_background || now_ < job.as_job->waits_until || !proxy_->cancel(job, now_)) return;
  give_back_job(job, jobs::NoSlot::waited);
  ask_for_jobs();
}

void Run::give_back_job(Request& job, jobs::NoSlot how) {
  job.client_waits = false;
  jobs_.give_back(job, how, now_);
}

}  // namespace spillway::simulate

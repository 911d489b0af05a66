// The requests of a client about its job, below own_path: GET /_spillway/jobs/{id}, GET
// .../response, GET .../events, DELETE. The id is the permission: nothing else shows who may ask.
// Their rate is limited, for each tenant and for all (LookupLimit), and a tenant's budget counts
// these requests like others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/deferral/job_follower.hpp"
#include "proxy/jobs/store_call.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/answer/answer.hpp"
#include "proxy/request/answer/local_reply.hpp"
#include "proxy/request/body/spill.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

// The part of the request's path after config::own_path, from its slash on; nullopt: the request is
// not for the proxy itself.
std::optional<std::string_view> own_part(const RequestContext& request, const Services& services);

// The path at which a client finds its job.
std::string job_location(const RequestContext& request, const jobs::JobId& id);

class JobResource {
 public:
  // `response`: receives the reports.
  JobResource(Services& services, const RequestContext& request, Parking& parking,
              LocalReply& response)
      : services_(services),
        request_(request),
        parking_(parking),
        response_(response),
        kept_(services, request) {}
  JobResource(const JobResource&) = delete;
  JobResource& operator=(const JobResource&) = delete;

  // `path`: own_part(). JobReport, or a fault.
  Task<Answer> answer(std::string_view path);
  // The stored answer of a job, instead of a 202; `applied`: the preference that led to it. A fault
  // if its body was too long to be kept.
  Task<Answer> answer_of(jobs::JobId id, const std::string& applied);
  // Sends an event for each change of the job's state until the job ends (job_events.cpp). Ends
  // earlier if the client leaves, or after a while; the client then reconnects.
  Task<std::optional<Fault>> send_events(ClientSession& session, Admission& admission);
  // The 202 of a request for which this job stands; `applied`: preferences, may be empty.
  void report_deferred(const SeenJob& job, const std::string& applied);

 private:
  struct Asked {
    jobs::JobId id;
    std::string_view part;  // after the id: empty, "/response" or "/events"
  };
  Task<std::optional<Fault>> tell_progress(ClientSession& session);

  static std::optional<Asked> read(std::string_view path);
  void refuse_method(std::string_view allowed);
  std::optional<Fault> too_often() const;
  Task<std::optional<Fault>> ask(StoreCall& call);
  Task<Answer> show(jobs::JobId id);
  // How to report an answer whose body was too long to be kept.
  enum class Cut : std::uint8_t { told, refused };
  Task<Answer> show_answer(jobs::JobId id, Cut cut);
  Task<bool> wait_for(Milliseconds time);
  Task<Answer> cancel(jobs::JobId id);
  void report(const jobs::JobView& job);
  std::string describe(const jobs::JobView& job) const;
  std::int64_t retry_after(const jobs::Progress& progress, std::uint64_t position) const;

  Services& services_;
  const RequestContext& request_;
  Parking& parking_;
  LocalReply& response_;
  Spill kept_;            // counts the memory of the answer that is sent
  jobs::JobId followed_;  // the job whose events are sent
};

}  // namespace spillway::proxy

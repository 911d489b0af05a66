#include "store/sealed_store.hpp"

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "store/seal.hpp"

namespace spillway::store {

namespace {

// Temporarily replaces values in the caller's commands. After a failure the caller executes them
// again, so the plain values are put back afterwards.
class Lent {
 public:
  explicit Lent(const Key& key) : key_(key) {}
  ~Lent() {
    for (auto& [place, plain] : texts_) *place = std::move(plain);
    for (const auto& [place, limit] : limits_) *place = limit;
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  void seal_value(std::string& value, const jobs::JobId& job, Sealed kind) {
    put(value, seal(value, key_, job, kind));
  }
  void seal_as_text(std::string& value, const jobs::JobId& job, Sealed kind) {
    put(value, seal_text(value, key_, job, kind));
  }
  // Removes a limit on the body: a part of a sealed body cannot be opened.
  void lift(std::size_t& limit) {
    limits_.emplace_back(&limit, limit);
    limit = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  }
  bool has_failed() const { return has_failed_; }

 private:
  void put(std::string& value, std::optional<std::string> sealed) {
    has_failed_ = has_failed_ || !sealed;
    texts_.emplace_back(&value, std::exchange(value, std::move(sealed).value_or("")));
  }

  const Key& key_;
  std::vector<std::pair<std::string*, std::string>> texts_;
  std::vector<std::pair<std::size_t*, std::size_t>> limits_;
  bool has_failed_ = false;
};

class SealedStore final : public JobStore {
 public:
  SealedStore(const Key& key, std::unique_ptr<JobStore> inner)
      : key_(key), inner_(std::move(inner)) {}

  std::optional<Failure> execute(std::span<Command* const> batch, jobs::WallTime now) override {
    std::optional<Failure> failure;
    {
      Lent lent(key_);
      for (Command* command : batch) seal_parts(*command, lent);
      if (lent.has_failed()) {
        return Failure{Failure::Kind::unavailable, "the system gives no random bytes"};
      }
      failure = inner_->execute(batch, now);
    }
    if (failure) return failure;
    for (Command* command : batch) open_parts(*command);
    return std::nullopt;
  }

  void rest() override { inner_->rest(); }
  bool is_shared() const override { return inner_->is_shared(); }
  Heard heard() override { return inner_->heard(); }
  int descriptor() const override { return inner_->descriptor(); }

 private:
  void seal_parts(Command& command, Lent& lent) const {
    if (auto* enqueue = std::get_if<Enqueue>(&command)) {
      seal_request(enqueue->job, lent);
    } else if (auto* bury = std::get_if<Bury>(&command)) {
      seal_request(bury->job, lent);
    } else if (auto* settle = std::get_if<Settle>(&command); settle && settle->answer) {
      lent.seal_value(settle->answer->fields, settle->id, Sealed::answer_fields);
      lent.seal_value(settle->answer->body, settle->id, Sealed::answer_body);
    } else if (auto* inspect = std::get_if<Inspect>(&command)) {
      lent.lift(inspect->body_limit);
    }
  }

  static void seal_request(jobs::NewJob& job, Lent& lent) {
    lent.seal_value(job.head, job.id, Sealed::head);
    lent.seal_value(job.body, job.id, Sealed::body);
    lent.seal_as_text(job.method, job.id, Sealed::method);
    lent.seal_as_text(job.target, job.id, Sealed::target);
    lent.seal_as_text(job.tenant_name, job.id, Sealed::tenant);
  }

  void open_parts(Command& command) const {
    if (auto* claim = std::get_if<Claim>(&command)) {
      for (jobs::LeasedJob& job : claim->jobs) {
        job.head = unseal(job.head, key_, job.id, Sealed::head).value_or("");
        job.body = unseal(job.body, key_, job.id, Sealed::body).value_or("");
        open_texts(job);
      }
    } else if (auto* find = std::get_if<Find>(&command)) {
      if (find->job) open_view(*find->job);
    } else if (auto* read = std::get_if<ReadAnswer>(&command)) {
      open_answer(*read);
    } else if (auto* inspect = std::get_if<Inspect>(&command)) {
      inspect->head = unseal(inspect->head, key_, inspect->id, Sealed::head).value_or("");
      inspect->body = unseal(inspect->body, key_, inspect->id, Sealed::body).value_or("");
      if (inspect->body.size() > inspect->body_limit) inspect->body.resize(inspect->body_limit);
      if (inspect->job) open_view(*inspect->job);
    } else if (auto* list = std::get_if<List>(&command)) {
      for (jobs::JobView& job : list->jobs) open_view(job);
    }
  }

  void open_answer(ReadAnswer& read) const {
    if (!read.answer) return;
    auto fields = unseal(read.answer->fields, key_, read.id, Sealed::answer_fields);
    auto body = unseal(read.answer->body, key_, read.id, Sealed::answer_body);
    if (!fields || !body) {
      read.answer.reset();
      return;
    }
    read.answer->fields = std::move(*fields);
    read.answer->body = std::move(*body);
  }

  // For a LeasedJob or a JobView.
  template <class Job>
  void open_texts(Job& job) const {
    job.method = unseal_text(job.method, key_, job.id, Sealed::method).value_or("");
    job.target = unseal_text(job.target, key_, job.id, Sealed::target).value_or("");
    job.tenant_name = unseal_text(job.tenant_name, key_, job.id, Sealed::tenant).value_or("");
  }

  void open_view(jobs::JobView& job) const {
    if (job.body_bytes >= kSealBytes) job.body_bytes -= kSealBytes;
    open_texts(job);
  }

  Key key_;
  std::unique_ptr<JobStore> inner_;
};

}  // namespace

std::optional<std::string> cannot_seal(const Key& key) {
  try {
    (void)aes_256_gcm("", key, {}, "");
    return std::nullopt;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::unique_ptr<JobStore> sealed_with(const Key& key, std::unique_ptr<JobStore> inner) {
  return std::make_unique<SealedStore>(key, std::move(inner));
}

}  // namespace spillway::store

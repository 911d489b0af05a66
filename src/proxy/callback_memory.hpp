// Memory for one pending Asio operation, kept where its owner is. Asio's own recycling holds a
// fixed number of freed operations per thread, and with many connections that is never enough at
// the wrong moment.
//
// The owner outlives the operation: the handler must keep it alive. One operation at a time; a
// second one, or one too large, is allocated from the heap.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace spillway::proxy {

class CallbackMemory {
 public:
  CallbackMemory() = default;
  CallbackMemory(const CallbackMemory&) = delete;
  CallbackMemory& operator=(const CallbackMemory&) = delete;

  void* allocate(std::size_t size) {
    if (used_ || size > bytes_.size()) return ::operator new(size);
    used_ = true;
    return bytes_.data();
  }
  void deallocate(void* memory) {
    if (memory == bytes_.data()) {
      used_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 128> bytes_;
  bool used_ = false;
};

template <class T>
class CallbackAllocator {
 public:
  using value_type = T;

  explicit CallbackAllocator(CallbackMemory& memory) : memory_(&memory) {}
  template <class U>
  CallbackAllocator(const CallbackAllocator<U>& other) : memory_(other.memory_) {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(memory_->allocate(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) { memory_->deallocate(memory); }

  template <class U>
  bool operator==(const CallbackAllocator<U>& other) const {
    return memory_ == other.memory_;
  }

 private:
  template <class>
  friend class CallbackAllocator;
  CallbackMemory* memory_;
};

}  // namespace spillway::proxy

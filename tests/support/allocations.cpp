#include "tests/support/allocations.hpp"

#include <cstdlib>
#include <new>

namespace podsim::test {
namespace {

thread_local std::int64_t allocation_count = 0;

}  // namespace

std::int64_t allocations() {
  return allocation_count;
}

void count_allocation() {
  ++allocation_count;
}

}  // namespace podsim::test

void* operator new(std::size_t size) {
  podsim::test::count_allocation();
  void* place = std::malloc(size == 0 ? 1 : size);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  podsim::test::count_allocation();
  return std::malloc(size == 0 ? 1 : size);
}

void operator delete(void* place) noexcept {
  std::free(place);
}

void operator delete(void* place, const std::nothrow_t&) noexcept {
  std::free(place);
}

void operator delete(void* place, std::size_t) noexcept {
  std::free(place);
}

// What does not depend on the instruction set: what this processor can do, and the threads of a team.
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "team.h"

#if defined(_WIN32)
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

// Whether this processor can run a variant, by the variant's number in `native/library.py`.
EXPORT int attendo_can_run(int variant) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512vnni = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  switch (variant) {
    case 0:
      return avx512vnni && __builtin_cpu_supports("avx512bf16");
    case 1:
      return avx512vnni;
    case 2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    default:
      return 1;
  }
#else
  return variant == 3;
#endif
}

namespace attendo {
namespace {

// A step is over in a millisecond and has some forty products: a thread that slept between them would be late for each.
// So it waits awake while a sentence is decoded, but gives the processor away when it may be the other's.
constexpr int PAUSES = 500, YIELDS = 2000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// One turn of waiting awake; false when it has been long.
bool wait_awake(int turn) {
  if (turn < PAUSES) pause();
  else std::this_thread::yield();
  return turn < PAUSES + YIELDS;
}

}  // namespace

struct Team {
  std::vector<std::thread> others;
  std::atomic<unsigned> round{0};
  std::atomic<int> working{0};
  std::atomic<int> sleeping{0};
  std::mutex mutex;
  std::condition_variable woken;
  Job job = nullptr;
  void *context = nullptr;
  bool ending = false;

  void work(int thread) {
    unsigned seen = 0;
    for (;;) {
      for (int turn = 0; round.load(std::memory_order_acquire) == seen && wait_awake(turn);) ++turn;
      if (round.load(std::memory_order_acquire) == seen) {
        std::unique_lock<std::mutex> lock(mutex);
        sleeping.fetch_add(1);
        woken.wait(lock, [&] { return round.load(std::memory_order_acquire) != seen; });
        sleeping.fetch_sub(1);
      }
      ++seen;
      if (ending) return;
      job(context, thread, static_cast<int>(others.size()) + 1);
      working.fetch_sub(1, std::memory_order_release);
    }
  }

  void announce() {
    {
      // The lock, so that a thread about to sleep either sees the new round or is woken.
      std::lock_guard<std::mutex> lock(mutex);
      round.fetch_add(1, std::memory_order_release);
    }
    if (sleeping.load()) woken.notify_all();
  }
};

Team *team_new(int threads) {
  auto team = std::make_unique<Team>();
  team->others.reserve(threads > 1 ? threads - 1 : 0);
  try {
    for (int thread = 1; thread < threads; ++thread) {
      team->others.emplace_back([team = team.get(), thread] { team->work(thread); });
    }
  } catch (const std::exception &) {
    // The system gives no more threads, or no memory for them. A team of fewer has the same results, and those that are
    // there count it at their first job.
  }
  return team.release();
}

void team_free(Team *team) {
  team->ending = true;
  team->announce();
  for (std::thread &thread : team->others) thread.join();
  delete team;
}

int team_size(const Team *team) { return static_cast<int>(team->others.size()) + 1; }

void team_run(Team *team, Job job, void *context) {
  const int others = static_cast<int>(team->others.size());
  if (!others) return job(context, 0, 1);
  team->job = job;
  team->context = context;
  team->working.store(others, std::memory_order_relaxed);
  team->announce();
  job(context, 0, others + 1);
  for (int turn = 0; team->working.load(std::memory_order_acquire);) wait_awake(turn < PAUSES ? turn++ : turn);
}

}  // namespace attendo

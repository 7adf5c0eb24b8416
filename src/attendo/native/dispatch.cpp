// What does not depend on the instruction set: what this processor can do, and the threads of a team.
#include <atomic>
#include <chrono>
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
// So it waits awake for longer than a product takes, and then sleeps. It must not go on much longer: while another program
// holds the core of the thread that is waited for, the system moves that thread to a core where nobody runs. Nor may it
// yield: whoever gives the core away stays runnable, and has to wait until the other program's slice is over.
constexpr std::chrono::microseconds AWAKE{150};
constexpr int PAUSES = 64;  // between two looks at the clock

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits awake until something is true, for a short time; whether it came true.
template <typename Condition>
bool soon(Condition is_true) {
  for (int turn = 0; turn < PAUSES; ++turn) {
    if (is_true()) return true;
    pause();
  }
  for (const auto end = std::chrono::steady_clock::now() + AWAKE; std::chrono::steady_clock::now() < end;) {
    for (int turn = 0; turn < PAUSES; ++turn) {
      if (is_true()) return true;
      pause();
    }
  }
  return is_true();
}

}  // namespace

struct Team {
  std::vector<std::thread> others;
  std::atomic<unsigned> round{0};
  std::atomic<int> working{0};   // of `others`, those that have not done their share of the round
  std::atomic<int> sleeping{0};  // of `others`
  std::atomic<bool> caller_sleeps{false};
  std::mutex mutex;
  std::condition_variable begun, done;
  Job job = nullptr;
  void *context = nullptr;
  bool ending = false;

  void work(int thread) {
    unsigned seen = 0;
    for (;;) {
      const auto has_begun = [&] { return round.load() != seen; };
      if (!soon(has_begun)) {
        std::unique_lock<std::mutex> lock(mutex);
        sleeping.fetch_add(1);
        begun.wait(lock, has_begun);
        sleeping.fetch_sub(1);
      }
      ++seen;
      if (ending) return;
      job(context, thread, static_cast<int>(others.size()) + 1);
      // Whoever of the two comes second sees the other: the last one done that the caller sleeps, or the caller that
      // all are done.
      if (working.fetch_sub(1) == 1 && caller_sleeps.load()) {
        std::lock_guard<std::mutex> lock(mutex);
        done.notify_one();
      }
    }
  }

  void begin() {
    {
      // The lock, so that a thread about to sleep either sees the new round or is woken.
      std::lock_guard<std::mutex> lock(mutex);
      round.fetch_add(1);
    }
    if (sleeping.load()) begun.notify_all();
  }

  void await() {
    const auto all_done = [&] { return working.load() == 0; };
    if (soon(all_done)) return;
    std::unique_lock<std::mutex> lock(mutex);
    caller_sleeps.store(true);
    done.wait(lock, all_done);
    caller_sleeps.store(false);
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
  team->begin();
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
  team->begin();
  job(context, 0, others + 1);
  team->await();
}

}  // namespace attendo

// What does not depend on the instruction set: what this processor can do, and the threads of a team.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "team.h"

#if defined(__linux__)
#include <sys/resource.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(_WIN32)
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

#if defined(__x86_64__)
namespace {

// Whether this process may use AMX's tile registers with int8 and bfloat16. Linux keeps them for a process only after it has
// asked for them, and refuses where it does not know them or a thread's alternate signal stack has no room for them.
bool may_use_amx() {
#if defined(__linux__)
  constexpr unsigned BFLOAT16 = 1u << 22, TILES = 1u << 24, INT8 = 1u << 25, NEEDED = BFLOAT16 | TILES | INT8;
  constexpr int REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;  // ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA
  static const bool granted = [] {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & NEEDED) == NEEDED &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
  }();
  return granted;
#else
  return false;
#endif
}

}  // namespace
#endif

#if defined(__aarch64__)
namespace {

// Instructions that not every processor of the family has, by their names in Arm's Architecture Reference Manual. LSE are
// atomic ones, which compilers use from Armv8.1 on.
enum class Feature { LSE, DotProd, I8MM, BF16 };

bool has(Feature feature) {
#if defined(__linux__)
  // Linux' documentation, "ARM64 ELF hwcaps". The headers of an older system than this may not have these names.
  constexpr unsigned long ATOMICS = 1ul << 8, ASIMDDP = 1ul << 20;  // of HWCAP
  constexpr unsigned long I8MM = 1ul << 13, BF16 = 1ul << 14;       // of HWCAP2
  switch (feature) {
    case Feature::LSE:
      return getauxval(AT_HWCAP) & ATOMICS;
    case Feature::DotProd:
      return getauxval(AT_HWCAP) & ASIMDDP;
    case Feature::I8MM:
      return getauxval(AT_HWCAP2) & I8MM;
    case Feature::BF16:
      return getauxval(AT_HWCAP2) & BF16;
  }
  return false;
#elif defined(__APPLE__)
  static const char *const names[] = {"hw.optional.arm.FEAT_LSE", "hw.optional.arm.FEAT_DotProd",
                                      "hw.optional.arm.FEAT_I8MM", "hw.optional.arm.FEAT_BF16"};
  int32_t value = 0;
  size_t size = sizeof value;
  return !sysctlbyname(names[static_cast<int>(feature)], &value, &size, nullptr, 0) && value;
#else
  (void)feature;
  return false;
#endif
}

}  // namespace
#endif

// Whether this processor can run a variant, by the variant's number in `native/library.py`.
EXPORT int attendo_can_run(int variant) {
  constexpr int PORTABLE = 7;
  if (variant == PORTABLE) return 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512vnni = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  switch (variant) {
    case 0:
      return avx512vnni && __builtin_cpu_supports("avx512bf16") && may_use_amx();
    case 1:
      return avx512vnni && __builtin_cpu_supports("avx512bf16");
    case 2:
      return avx512vnni;
    case 3:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  }
#elif defined(__aarch64__)
  const bool dot = has(Feature::LSE) && has(Feature::DotProd);
  switch (variant) {
    case 4:
      return dot && has(Feature::I8MM) && has(Feature::BF16);
    case 5:
      return dot;
    case 6:
      return 1;  // part of the architecture
  }
#endif
  return 0;
}

namespace attendo {
namespace {

// A step is over in a millisecond and has some forty products: a thread that slept between them would be late for each.
// So it waits awake for longer than a product takes and, where nobody else wants the core, for as long as a search takes
// between two of them; and then it sleeps. It must not yield: whoever gives the core away waits until the other's slice is
// over.
constexpr std::chrono::microseconds AWAKE{150}, LONG_AWAKE{500};
constexpr std::chrono::milliseconds CONTENDED{100};  // for so long after it has lost its core a thread waits briefly
constexpr int PAUSES = 64;                           // between two looks at the clock

using Clock = std::chrono::steady_clock;

// Whether the system has lately taken the core from this thread to give it to another.
bool is_contended(Clock::time_point now) {
#if defined(__linux__)
  static thread_local long lost = -1;
  static thread_local Clock::time_point lost_at;
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage)) return true;
  if (usage.ru_nivcsw != lost) {
    if (lost >= 0) lost_at = now;
    lost = usage.ru_nivcsw;
  }
  return now - lost_at < CONTENDED;
#else
  (void)now;
  return true;
#endif
}

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
  const auto start = Clock::now();
  auto end = start + AWAKE;
  bool is_long = false;
  for (;;) {
    for (int turn = 0; turn < PAUSES; ++turn) {
      if (is_true()) return true;
      pause();
    }
    const auto now = Clock::now();
    if (now < end) continue;
    if (is_long || is_contended(now)) return is_true();
    is_long = true;
    end = start + LONG_AWAKE;
  }
}

}  // namespace

// A round is one job, cut into as many shares as there are threads. The caller does the first share and then those that
// nobody has begun: beside other programs the other threads may have no core for milliseconds, and their shares are small.
struct Team {
  std::vector<std::thread> others;
  std::atomic<uint64_t> shares{0};   // the round's number << 32 | shares of it that are given out
  std::atomic<int> unfinished{0};    // shares of the round, without the first
  std::atomic<int> sleeping{0};      // of `others`
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> ending{false};
  std::atomic<unsigned> size{1};
  std::mutex mutex;
  std::condition_variable begun, done;
  // Of the round. They stay as they are while a share of it is unfinished.
  Job job = nullptr;
  void *context = nullptr;

  static unsigned given(uint64_t shares) { return static_cast<unsigned>(shares); }

  bool has_work() const { return given(shares.load()) < size; }

  // Takes a share that nobody has begun, and does it; false where there is none.
  bool do_share() {
    for (uint64_t now = shares.load(); given(now) < size;) {
      if (!shares.compare_exchange_weak(now, now + 1)) continue;
      job(context, static_cast<int>(given(now)), team_size(this));
      // Whoever of the two comes second sees the other: the one who did the last share that the caller sleeps, or the
      // caller that no share is unfinished.
      if (unfinished.fetch_sub(1) == 1 && caller_sleeps.load()) {
        std::lock_guard<std::mutex> lock(mutex);
        done.notify_one();
      }
      return true;
    }
    return false;
  }

  void work() {
    const auto is_wanted = [this] { return has_work() || ending.load(); };
    while (!ending.load()) {
      if (do_share() || soon(is_wanted)) continue;
      std::unique_lock<std::mutex> lock(mutex);
      sleeping.fetch_add(1);
      begun.wait(lock, is_wanted);
      sleeping.fetch_sub(1);
    }
  }

  void wake() {
    if (!sleeping.load()) return;
    { std::lock_guard<std::mutex> lock(mutex); }  // one that is about to sleep has looked before, or sleeps
    begun.notify_all();
  }

  void run(Job new_job, void *new_context) {
    job = new_job;
    context = new_context;
    unfinished.store(team_size(this) - 1);
    shares.store(((shares.load() >> 32) + 1) << 32 | 1);
    wake();
    job(context, 0, team_size(this));
    while (do_share()) {
    }
    const auto all_done = [this] { return unfinished.load() == 0; };
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
    team->shares.store(UINT32_MAX);  // all are given out before the first round
    for (int thread = 1; thread < threads; ++thread) team->others.emplace_back([team = team.get()] { team->work(); });
  } catch (const std::exception &) {
    // The system gives no more threads, or no memory for them. A team of fewer has the same results.
  }
  team->size.store(static_cast<unsigned>(team->others.size()) + 1);
  return team.release();
}

void team_free(Team *team) {
  team->ending.store(true);
  team->wake();
  for (std::thread &thread : team->others) thread.join();
  delete team;
}

int team_size(const Team *team) { return static_cast<int>(team->others.size()) + 1; }

void team_run(Team *team, Job job, void *context) {
  if (team->others.empty()) return job(context, 0, 1);
  team->run(job, context);
}

}  // namespace attendo

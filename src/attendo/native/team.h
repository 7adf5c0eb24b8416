// A few threads that share the columns of one product: for a sentence that comes alone. Compiled once, for any
// processor.
#pragma once

namespace attendo {

// A job for one thread of a team: it works on its share, which follows from `thread` and `threads`.
using Job = void (*)(void *context, int thread, int threads);

struct Team;

Team *team_new(int threads);
void team_free(Team *team);
int team_size(const Team *team);
// Runs the job on every thread of the team, the caller's among them, and returns when all are done.
void team_run(Team *team, Job job, void *context);

}  // namespace attendo

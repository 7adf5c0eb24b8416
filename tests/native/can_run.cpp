// Prints for each variant, by its number in `native/library.py`, whether `dispatch.cpp` says that this processor can run it.
#include <cstdio>
#include <cstdlib>

extern "C" int attendo_can_run(int variant);

int main(int, char **arguments) {
  const int variants = atoi(arguments[1]);
  for (int variant = 0; variant < variants; ++variant) printf("%d\n", attendo_can_run(variant));
}

// measure COMMAND...: runs it and prints "seconds kilobytes": user + system time and the largest resident size of any child.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  pid_t const child = fork();
  if (child == 0) {
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  rusage use{};
  if (wait4(child, &status, 0, &use) != child) return 2;
  auto const seconds = [](timeval const& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  std::printf("%.2f %ld\n", seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// A disk that fails: counts the calls of one process that change or open files below a directory, and
// makes the chosen one fail, or the process die there. Loaded by LD_PRELOAD; `tests/faults/disk.py`
// sets it up. Kinds of calls are told apart by bits: 1 open for writing, 2 write, 4 rename, 8 fsync,
// 16 mkdir, unlink and rmdir, 32 flock.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, RENAME = 4, SYNC = 8, REMOVE = 16, LOCK = 32 };

static char below[4096];
static atomic_int kinds, left = -1, seen, lasting;
static int number, dies;

// Arms: the call number `n` of these kinds below `directory` fails with `error`, or with 0 the process
// dies; `more` has all later ones fail, too, as on a disk that stays full. Gives how many were seen.
int faults_arm(const char *directory, int which, int n, int error, int more) {
  snprintf(below, sizeof below, "%s", directory);
  number = error, dies = error == 0, lasting = more;
  left = n;
  int before = seen;
  seen = 0;
  kinds = which;
  return before;
}

static int fails(int kind, const char *path) {
  if (!(kinds & kind) || !path || strncmp(path, below, strlen(below))) return 0;
  seen++;
  int now = left;
  if (now < 0) return 0;
  if (now > 0) {
    left--;
    return 0;
  }
  if (dies) kill(getpid(), SIGKILL);
  if (!lasting) left = -1;
  errno = number;
  return 1;
}

static const char *absolute(const char *path, char *buffer) {
  if (!path || path[0] == '/') return path;
  if (!getcwd(buffer, 4096)) return 0;
  strncat(buffer, "/", 4095 - strlen(buffer));
  strncat(buffer, path, 4095 - strlen(buffer));
  return buffer;
}

static const char *of(int file, char *buffer) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, buffer, 4095);
  if (length < 0) return 0;
  buffer[length] = 0;
  return buffer;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AT(kind, path) \
  char buffer[4096];   \
  if (kinds && fails(kind, absolute(path, buffer))) return -1;
#define ON(kind, file) \
  char buffer[4096];   \
  if (kinds && fails(kind, of(file, buffer))) return -1;

#define OPENS(name, ...)                                                \
  va_list rest;                                                         \
  va_start(rest, flags);                                                \
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
  va_end(rest);                                                         \
  if (flags & (O_WRONLY | O_RDWR)) {                                    \
    AT(OPEN, path)                                                      \
  }                                                                     \
  return REAL(name)(__VA_ARGS__, mode);

int open(const char *path, int flags, ...) { OPENS(open, path, flags) }
int open64(const char *path, int flags, ...) { OPENS(open64, path, flags) }
int openat(int from, const char *path, int flags, ...) { OPENS(openat, from, path, flags) }
int openat64(int from, const char *path, int flags, ...) { OPENS(openat64, from, path, flags) }
ssize_t write(int file, const void *data, size_t size) {
  ON(WRITE, file)
  return REAL(write)(file, data, size);
}
int rename(const char *path, const char *to) {
  AT(RENAME, to)
  return REAL(rename)(path, to);
}
int fsync(int file) {
  ON(SYNC, file)
  return REAL(fsync)(file);
}
int mkdir(const char *path, mode_t mode) {
  AT(REMOVE, path)
  return REAL(mkdir)(path, mode);
}
int unlink(const char *path) {
  AT(REMOVE, path)
  return REAL(unlink)(path);
}
int rmdir(const char *path) {
  AT(REMOVE, path)
  return REAL(rmdir)(path);
}
int flock(int file, int how) {
  ON(LOCK, file)
  return REAL(flock)(file, how);
}

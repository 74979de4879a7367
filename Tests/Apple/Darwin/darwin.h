// The declarations of Darwin's C library that our sources, the C of Sources/C*, and the headers that these include use.
// Names, types and values are those of arm64 with 64 bits. Only Darwin's declarations are here, so the compiler does
// not find those that only Linux has.
//
// With INT_HAS_32_BITS, types as wide as the processor are `int`, as in watches before Series 9. Swift calls them `Int`
// there as everywhere, which would show nothing. Here they become `Int32`, which fits nowhere without a conversion.
#pragma once
#include <stdarg.h>
#include <stddef.h>

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef long long int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef unsigned long long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
#define INT64_MAX 9223372036854775807LL
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL

#ifdef INT_HAS_32_BITS
typedef int wide;
typedef unsigned int unsigned_wide;
#else
typedef long wide;
typedef unsigned long unsigned_wide;
#endif
typedef long ssize_t;
typedef int64_t off_t;
typedef int32_t pid_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint16_t mode_t;
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef uint16_t nlink_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef uint32_t useconds_t;
typedef int32_t suseconds_t;
typedef wide time_t;
typedef unsigned_wide clock_t;

struct timespec { time_t tv_sec; wide tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; wide tm_gmtoff; char *_Nullable tm_zone; };

// time.h: an enumeration; the names without underscore are macros, and in the overlay here
typedef enum {
    _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6, _CLOCK_MONOTONIC_RAW = 4, _CLOCK_MONOTONIC_RAW_APPROX = 5, _CLOCK_UPTIME_RAW = 8,
    _CLOCK_UPTIME_RAW_APPROX = 9, _CLOCK_PROCESS_CPUTIME_ID = 12, _CLOCK_THREAD_CPUTIME_ID = 16
} clockid_t;
int clock_gettime(clockid_t clock, struct timespec *_Nonnull time);
int nanosleep(const struct timespec *_Nullable wanted, struct timespec *_Nullable rest);
time_t time(time_t *_Nullable);
struct tm *_Nullable gmtime_r(const time_t *_Nonnull, struct tm *_Nonnull);
struct tm *_Nullable localtime_r(const time_t *_Nonnull, struct tm *_Nonnull);
time_t timegm(struct tm *_Nonnull);

// errno.h
int *_Nonnull __error(void);
#define errno (*__error())
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define ELOOP 62
#define ENAMETOOLONG 63
#define EDQUOT 69

// fcntl.h, sys/file.h; `open` and `fcntl` are variadic, which Swift does not see: the overlay has them
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define F_GETFL 3
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define F_BARRIERFSYNC 85
#define F_PREALLOCATE 42
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
int open(const char *_Nonnull path, int flags, ...);
int openat(int folder, const char *_Nonnull path, int flags, ...);
int fcntl(int descriptor, int command, ...);
int flock(int descriptor, int operation);

// sys/stat.h; the structure and the function share a name
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec;
    struct timespec st_mtimespec;
    struct timespec st_ctimespec;
    struct timespec st_birthtimespec;
    off_t st_size;
    blkcnt_t st_blocks;
    blksize_t st_blksize;
    uint32_t st_flags;
    uint32_t st_gen;
};
int stat(const char *_Nonnull path, struct stat *_Nonnull status);
int lstat(const char *_Nonnull path, struct stat *_Nonnull status);
int fstat(int descriptor, struct stat *_Nonnull status);
int mkdir(const char *_Nonnull path, mode_t mode);
int chmod(const char *_Nonnull path, mode_t mode);
int fchmod(int descriptor, mode_t mode);

// unistd.h
#define F_OK 0
#define R_OK 4
#define W_OK 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
int access(const char *_Nonnull path, int mode);
int close(int descriptor);
int dup2(int from, int to);
int pipe(int ends[_Nonnull 2]);
int dup(int descriptor);
int fsync(int descriptor);
int ftruncate(int descriptor, off_t length);
int isatty(int descriptor);
int link(const char *_Nonnull, const char *_Nonnull);
int unlink(const char *_Nonnull path);
int rmdir(const char *_Nonnull path);
off_t lseek(int descriptor, off_t offset, int whence);
pid_t getpid(void);
uid_t getuid(void);
uid_t geteuid(void);
ssize_t read(int descriptor, void *_Nullable bytes, size_t count);
ssize_t pread(int descriptor, void *_Nullable bytes, size_t count, off_t offset);
ssize_t write(int descriptor, const void *_Nullable bytes, size_t count);
ssize_t pwrite(int descriptor, const void *_Nullable bytes, size_t count, off_t offset);
int usleep(useconds_t microseconds);
int getpagesize(void);
int sched_yield(void);
int rename(const char *_Nonnull from, const char *_Nonnull to); // stdio.h

// sys/mman.h
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_ANON 0x1000
#define MAP_FIXED 0x10
#define MS_SYNC 0x0010
void *_Null_unspecified mmap(void *_Null_unspecified start, size_t length, int protection, int flags, int descriptor, off_t offset);
int munmap(void *_Null_unspecified start, size_t length);
int msync(void *_Null_unspecified start, size_t length, int flags);
int madvise(void *_Null_unspecified start, size_t length, int advice);

// string.h, stdlib.h
char *_Null_unspecified strerror(int code);
size_t strlen(const char *_Null_unspecified);
int memcmp(const void *_Null_unspecified, const void *_Null_unspecified, size_t);
void *_Null_unspecified memchr(const void *_Null_unspecified, int, size_t);
void *_Null_unspecified memcpy(void *_Null_unspecified, const void *_Null_unspecified, size_t);
void *_Null_unspecified memmove(void *_Null_unspecified, const void *_Null_unspecified, size_t);
void *_Null_unspecified memset(void *_Null_unspecified, int, size_t);
void *_Null_unspecified malloc(size_t);
void *_Null_unspecified realloc(void *_Null_unspecified, size_t);
void free(void *_Null_unspecified);
char *_Null_unspecified getenv(const char *_Nonnull);
int atexit(void (*_Nonnull)(void));
void exit(int) __attribute__((noreturn));
void arc4random_buf(void *_Nonnull bytes, size_t count);
uint32_t arc4random(void);
double strtod(const char *_Null_unspecified, char *_Null_unspecified *_Null_unspecified);

// math.h
double log(double); double log2(double); double log10(double); double exp(double); double pow(double, double); double floor(double);
double ceil(double); double round(double); double sqrt(double);

// pthread.h, sys/utsname.h, sys/sysctl.h
typedef struct _opaque_pthread_t *pthread_t;
int pthread_create(
    pthread_t _Nullable *_Nonnull thread, const void *_Nullable attributes, void *_Nullable (*_Nonnull body)(void *_Nullable),
    void *_Nullable context);
int pthread_detach(pthread_t _Nonnull thread);
int pthread_atfork(void (*_Nullable prepare)(void), void (*_Nullable parent)(void), void (*_Nullable child)(void));
struct utsname { char sysname[256]; char nodename[256]; char release[256]; char version[256]; char machine[256]; };
int uname(struct utsname *_Null_unspecified);
int sysctlbyname(
    const char *_Null_unspecified name, void *_Null_unspecified old, size_t *_Null_unspecified oldLength, void *_Null_unspecified new,
    size_t newLength);

// signal.h
typedef uint32_t sigset_t;
union sigval { int sival_int; void *_Nullable sival_ptr; };
typedef struct __siginfo {
    int si_signo; int si_errno; int si_code; pid_t si_pid; uid_t si_uid; int si_status; void *_Nullable si_addr; union sigval si_value;
    long si_band; unsigned long __pad[7];
} siginfo_t;
struct sigaction {
    union {
        void (*_Nullable __sa_handler)(int);
        void (*_Nullable __sa_sigaction)(int, siginfo_t *_Nullable, void *_Nullable);
    } __sigaction_u;
    sigset_t sa_mask;
    int sa_flags;
};
#define sa_handler __sigaction_u.__sa_handler
#define sa_sigaction __sigaction_u.__sa_sigaction
#define SIG_DFL ((void (*_Nullable)(int))0)
#define SIG_IGN ((void (*_Nullable)(int))1)
#define SA_ONSTACK 0x0001
#define SA_RESTART 0x0002
#define SA_RESETHAND 0x0004
#define SA_NODEFER 0x0010
#define SA_SIGINFO 0x0040
#define SI_USER 0x10001
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGSYS 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGXCPU 24
int sigaction(int signal, const struct sigaction *_Nullable, struct sigaction *_Nullable);
#define SIG_BLOCK 1
#define SIG_SETMASK 3
int sigemptyset(sigset_t *_Nonnull set);
int sigaddset(sigset_t *_Nonnull set, int signal);
int sigismember(const sigset_t *_Nonnull set, int signal);
int sigpending(sigset_t *_Nonnull set);
int sigwait(const sigset_t *_Nonnull set, int *_Nonnull signal);
int pthread_sigmask(int how, const sigset_t *_Nullable set, sigset_t *_Nullable before);
#define sigemptyset(set) (*(set) = 0, 0)
int raise(int signal);
int kill(pid_t process, int signal);

// semaphore.h, sys/ioctl.h: for the toolchain's own headers
typedef int sem_t;
sem_t *_Nullable sem_open(const char *_Nonnull name, int flags, ...);
#define FIOCLEX 0x20006601
int ioctl(int descriptor, unsigned long request, ...);

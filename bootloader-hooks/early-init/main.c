// SPDX-License-Identifier: Apache-2.0
/*
 * main.c - the first program of the boot: loads daybreak.ko, then becomes the real init
 *
 * The kernel starts it instead of /init (rdinit=/daybreak/early-init).  It runs
 * from our own initramfs segment, before anything is mounted, so it needs no C
 * library, and mounts a /proc of its own for as long as it takes to read the
 * module's parameters, daybreak.NAME=VALUE, from the kernel's command line.  Before those it
 * gives programs=/daybreak: the module enables what lies there as NAME.dof.
 * Whatever goes wrong with the module, it says so in one line on the console and
 * goes on: a boot is never lost to us.
 *
 * The real init is /init, or what `daybreak_init=PATH` on the kernel's command
 * line says, or what the kernel itself would fall back to.  It gets our argv and envp as they
 * are, but for argv[0], which is its own path.
 *
 * Run by a script of the initramfs, as any process but the first, it loads the module and ends.
 */
#include "syscalls.h"

#define MODULE_PATH	 "/daybreak/daybreak.ko"
#define INIT_OPTION	 "daybreak_init="
#define PROC_PATH	 "/daybreak/proc"
#define PARAMETER_PREFIX "daybreak."
#define OUR_PARAMETERS	 "programs=/daybreak "

/* Errors that are reported in words; the rest by number. */
enum {
	ERROR_PERM = 1,
	ERROR_NOENT = 2,
	ERROR_NOEXEC = 8,
	ERROR_NOMEM = 12,
	ERROR_EXIST = 17,
	ERROR_INVAL = 22,
	ERROR_NOSYS = 38,
	ERROR_KEYREJECTED = 129,
};

/* struct new_utsname: six strings of 65 bytes; the third is the release. */
#define UTSNAME_BYTES	65
#define UTSNAME_RELEASE 2

struct line {
	char text[512];
	unsigned long bytes;
};

static void line_add(struct line *line, const char *text)
{
	while (*text && line->bytes < sizeof(line->text) - 1)
		line->text[line->bytes++] = *text++;
}

static void line_add_number(struct line *line, unsigned long number)
{
	char digits[24];
	unsigned long at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	line_add(line, digits + at);
}

/*
 * The kernel gives init the console as descriptors 0 to 2, if there was a
 * /dev/console in the initramfs when it looked.
 */
static void line_print(struct line *line)
{
	long fd = syscall3(SYSCALL_OPEN, (long)"/dev/console", 1, 0);

	line_add(line, "\n");
	if (fd >= 0) {
		syscall3(SYSCALL_WRITE, fd, (long)line->text, (long)line->bytes);
		syscall3(SYSCALL_CLOSE, fd, 0, 0);
		return;
	}
	if (syscall3(SYSCALL_WRITE, 2, (long)line->text, (long)line->bytes) < 0)
		syscall3(SYSCALL_WRITE, 1, (long)line->text, (long)line->bytes);
}

static void line_add_kernel(struct line *line)
{
	char name[6 * UTSNAME_BYTES];

	if (syscall3(SYSCALL_UNAME, (long)name, 0, 0) == 0)
		line_add(line, name + UTSNAME_RELEASE * UTSNAME_BYTES);
}

static int starts_with(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return 0;
	return 1;
}

/* Which kernel a module is for: `vermagic=RELEASE ...` somewhere in its file.  Piece by piece: a
 * module with much embedded in it is larger than any buffer here. */
static int module_release(char *release, unsigned long release_bytes)
{
	static const char key[] = "vermagic=";
	static char piece[65536];
	unsigned long matched = 0, length = 0;
	long fd = syscall3(SYSCALL_OPEN, (long)MODULE_PATH, 0, 0);
	int done = 0;
	long got = 0;

	if (fd < 0)
		return 0;
	while (!done && (got = syscall3(SYSCALL_READ, fd, (long)piece, sizeof(piece))) > 0) {
		for (long i = 0; i < got && !done; i++) {
			char c = piece[i];

			if (key[matched] != '\0') {
				/* The key's first letter is nowhere else in it. */
				matched = c == key[matched] ? matched + 1 : c == key[0];
			} else if (c == ' ' || c == '\0' || length == release_bytes - 1) {
				done = 1;
			} else {
				release[length++] = c;
			}
		}
	}
	syscall3(SYSCALL_CLOSE, fd, 0, 0);
	release[length] = '\0';
	return done;
}

static void line_add_wrong_kernel(struct line *line)
{
	char release[128];

	line_add(line, "it is for ");
	if (module_release(release, sizeof(release))) {
		line_add(line, "kernel ");
		line_add(line, release);
	} else {
		line_add(line, "another kernel, or no module");
	}
	line_add(line, ", this is ");
	line_add_kernel(line);
}

static void line_add_reason(struct line *line, long error)
{
	switch (error) {
	case ERROR_NOENT:
		line_add(line, "a symbol that it needs is not in kernel ");
		line_add_kernel(line);
		break;
	case ERROR_NOEXEC:
		line_add_wrong_kernel(line);
		break;
	case ERROR_KEYREJECTED:
		line_add(line, "it is not signed with a key that this kernel trusts");
		break;
	case ERROR_PERM:
		line_add(line, "the kernel is locked down and takes signed modules only");
		break;
	case ERROR_NOMEM:
		line_add(line, "not enough memory");
		break;
	case ERROR_INVAL:
		line_add(line, "it is damaged, or the kernel does not accept it");
		break;
	case ERROR_NOSYS:
		line_add(line, "this kernel has no loadable modules");
		break;
	default:
		line_add(line, "error ");
		line_add_number(line, (unsigned long)error);
		break;
	}
}

/* Reads the kernel's command line; "" when it cannot be had. */
static void command_line_read(char *text, unsigned long bytes)
{
	unsigned long have = 0;
	long fd, got;

	text[0] = '\0';
	syscall3(SYSCALL_MKDIR, (long)PROC_PATH, 0700, 0);
	if (syscall5(SYSCALL_MOUNT, (long)"proc", (long)PROC_PATH, (long)"proc", 0, 0) == 0) {
		fd = syscall3(SYSCALL_OPEN, (long)PROC_PATH "/cmdline", 0, 0);
		while (fd >= 0 && have < bytes - 1 &&
		       (got = syscall3(SYSCALL_READ, fd, (long)(text + have),
				       (long)(bytes - 1 - have))) > 0)
			have += (unsigned long)got;
		if (fd >= 0)
			syscall3(SYSCALL_CLOSE, fd, 0, 0);
		text[have] = '\0';
		syscall3(SYSCALL_UMOUNT2, (long)PROC_PATH, 0, 0);
	}
	syscall3(SYSCALL_RMDIR, (long)PROC_PATH, 0, 0);
}

/* Leaves of a command line what is daybreak.NAME or daybreak.NAME=VALUE, without the prefix.
 * Quotes hold words together, as the kernel has it; after "--" words are init's. */
static void parameters_keep(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		int keep = starts_with(from, PARAMETER_PREFIX), quoted = 0;

		if (starts_with(from, "--") &&
		    (from[2] == ' ' || from[2] == '\n' || from[2] == '\0'))
			break;
		if (keep)
			from += sizeof(PARAMETER_PREFIX) - 1;
		for (; *from && (quoted || (*from != ' ' && *from != '\n')); from++) {
			quoted ^= *from == '"';
			if (keep)
				*to++ = *from;
		}
		if (keep)
			*to++ = ' '; /* where the word's prefix was is room for it */
		while (*from == ' ' || *from == '\n')
			from++;
	}
	*to = '\0';
}

static void module_load(void)
{
	static char parameters[8192]; /* the kernel's own limit is 2048 */
	struct line line = { .bytes = 0 };
	long fd = syscall3(SYSCALL_OPEN, (long)MODULE_PATH, 0, 0);
	long result = fd;

	if (fd >= 0) {
		char *asked = parameters;

		/* Of two values of a parameter the later one counts. */
		for (const char *ours = OUR_PARAMETERS; *ours; ours++)
			*asked++ = *ours;
		command_line_read(asked, sizeof(parameters) - sizeof(OUR_PARAMETERS));
		parameters_keep(asked);
		result = syscall3(SYSCALL_FINIT_MODULE, fd, (long)parameters, 0);
		syscall3(SYSCALL_CLOSE, fd, 0, 0);
	}
	/* Already there is as good as loaded. */
	if (result >= 0 || (fd >= 0 && result == -ERROR_EXIST))
		return;
	line_add(&line, "daybreak: cannot load " MODULE_PATH ": ");
	if (fd == -ERROR_NOENT)
		line_add(&line, "no such file");
	else
		line_add_reason(&line, -result);
	line_add(&line, "; booting on without tracing");
	line_print(&line);
}

/* The kernel hands NAME=VALUE that it does not know to init in the environment.  (One with a dot in
 * NAME it takes for a module's parameter, and drops.) */
static const char *option_find(char **words)
{
	for (; *words; words++)
		if (starts_with(*words, INIT_OPTION) && (*words)[sizeof(INIT_OPTION) - 1] == '/')
			return *words + sizeof(INIT_OPTION) - 1;
	return 0;
}

static long become(const char *path, char **argv, char **envp)
{
	argv[0] = (char *)path;
	return syscall3(SYSCALL_EXECVE, (long)path, (long)argv, (long)envp);
}

/* Entered from start.c. */
__attribute__((noreturn, used)) void early_init(long *stack)
{
	/* /init as with an initramfs; the rest is the kernel's own list without one. */
	static const char *const inits[] = { "/init", "/sbin/init", "/etc/init", "/bin/init",
					     "/bin/sh" };
	char **argv = (char **)(stack + 1);
	char **envp = argv + stack[0] + 1;
	struct line line = { .bytes = 0 };
	const char *asked;

	module_load();
	if (syscall3(SYSCALL_GETPID, 0, 0, 0) != 1)
		syscall3(SYSCALL_EXIT, 0, 0, 0);
	asked = option_find(argv + 1);
	if (!asked)
		asked = option_find(envp);
	if (asked) {
		long result = become(asked, argv, envp);

		line_add(&line, "daybreak: cannot run " INIT_OPTION);
		line_add(&line, asked);
		line_add(&line, ": error ");
		line_add_number(&line, (unsigned long)-result);
		line_add(&line, "; trying the usual ones");
		line_print(&line);
	}
	for (unsigned long i = 0; i < sizeof(inits) / sizeof(inits[0]); i++)
		become(inits[i], argv, envp);
	line = (struct line){ .bytes = 0 };
	line_add(&line, "daybreak: found no init to run");
	line_print(&line);
	for (;;)
		syscall3(SYSCALL_EXIT, 1, 0, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider boot: what args[] of its probes are.  What was to be done is named first; then the nanoseconds that it
 * took, and 0 or a negative errno.
 */
provider boot {
	probe loader__done(uint64_t ns) : (uint64_t ns);
	probe initcall__level(char *level) : (string level);
	probe initcall__start(char *function) : (string function);
	probe initcall__done(char *function, uint64_t ns, int error) : (string function, uint64_t ns, int error);
	probe kernel__message(char *text, int level) : (string text, int level);
	probe module__loaded(void);
	probe module__load__start(char *name) : (string name);
	probe module__load__done(char *name, uint64_t ns, int error) : (string name, uint64_t ns, int error);
	probe firmware__request(char *file, char *device) : (string file, string device);
	probe firmware__done(char *file, char *device, uint64_t ns, int error) :
	    (string file, string device, uint64_t ns, int error);
	probe device__probe__start(char *device, char *driver, char *bus) :
	    (string device, string driver, string bus);
	probe device__probe__done(char *device, char *driver, char *bus, uint64_t ns, int error) :
	    (string device, string driver, string bus, uint64_t ns, int error);
	probe rootfs__mounted(char *source, char *type) : (string source, string type);
	probe switch__root(void);
	probe init__exec(char *path) : (string path);
	probe unit__start(char *unit, char *cgroup) : (string unit, string cgroup);
	probe unit__ready(char *message) : (string message);
	probe unit__stop(char *unit, char *cgroup) : (string unit, string cgroup);
};

/** A child process, or this one. */
interface Leader {
	readonly pid?: number | undefined;
	kill(signal: "SIGKILL"): unknown;
}

/**
 * Kills a process that was started with `detached`, and the processes of its group. Windows has no groups: only the process.
 *
 * @param leader undefined, or without a pid, if it does not run
 */
export function killGroup(leader: Leader | undefined): void {
	if (leader?.pid === undefined) {
		return;
	}
	try {
		process.kill(-leader.pid, "SIGKILL");
	} catch {
		// There is no such group: it has ended, or this is Windows.
		leader.kill("SIGKILL");
	}
}

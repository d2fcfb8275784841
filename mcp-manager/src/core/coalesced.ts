/** A task that never runs twice at a time: if it is requested while it runs, it runs once more afterwards. */
export function coalesced(task: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	let again = false;
	const run = async (): Promise<void> => {
		try {
			do {
				again = false;
				await task();
			} while (again);
		} finally {
			// Not in a later microtask: a request before it would never run.
			running = undefined;
		}
	};
	return () => {
		again = running !== undefined;
		running ??= run();
		return running;
	};
}

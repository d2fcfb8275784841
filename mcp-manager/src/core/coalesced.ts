/** A task that never runs twice at a time: if it is requested while it runs, it runs once more afterwards. */
export function coalesced(task: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	let again = false;
	const run = async (): Promise<void> => {
		do {
			again = false;
			await task();
		} while (again);
	};
	return () => {
		again = running !== undefined;
		running ??= run().finally(() => {
			running = undefined;
		});
		return running;
	};
}

/** Starts a task at an interval in ms, but not while it still runs: NATS may be slow. */
export function every(interval: number, run: () => Promise<void>, onError: (error: Error) => void): NodeJS.Timeout {
	let isRunning = false;
	const start = async (): Promise<void> => {
		if (isRunning) {
			return;
		}
		isRunning = true;
		try {
			await run();
		} catch (error) {
			onError(error as Error);
		} finally {
			isRunning = false;
		}
	};
	return setInterval(() => void start(), interval);
}

/** Milliseconds after which a wait is given up. Only a fault takes so long, also on a busy machine. */
const MAX_WAIT = 300_000;

const POLL_INTERVAL = 5;

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
	const end = Date.now() + MAX_WAIT;
	while (!(await holds())) {
		if (Date.now() > end) {
			throw new Error(`not within ${MAX_WAIT / 1000} s: ${what}`);
		}
		await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
	}
}

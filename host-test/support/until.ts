/**
 * Waits until something holds.
 *
 * @param what named by the error if it does not
 * @param timeout milliseconds
 * @throws Error when it does not hold in time
 */
export async function until(holds: () => boolean | Promise<boolean>, what: string, timeout = 5_000): Promise<void> {
	const end = Date.now() + timeout;
	while (!(await holds())) {
		if (Date.now() > end) {
			throw new Error(`not within ${timeout} ms: ${what}`);
		}
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

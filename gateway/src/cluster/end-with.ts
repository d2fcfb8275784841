/** Has something ended when a connection is lost; at once if it is. */
export function endWith(signal: AbortSignal, end: () => void): void {
	if (signal.aborted) {
		end();
	} else {
		signal.addEventListener("abort", end);
	}
}

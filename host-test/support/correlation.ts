/** Samples between two delays that are compared at first, and samples of the source that are enough for that. */
const COARSE = 4;
const ENOUGH = 16_000;

/**
 * How alike two sounds of the same sample rate are: 1 where one is the other, louder or softer and later by at most `maxDelay`
 * samples; about 0 for sounds that have nothing in common.
 */
export function correlation(source: Int16Array, heard: Int16Array, maxDelay: number): number {
	const start = source.subarray(0, ENOUGH);
	const coarse = best(0, maxDelay, COARSE, (delay) => correlationAt(start, heard.subarray(0, ENOUGH + delay), delay));
	const delay = best(Math.max(0, coarse - COARSE), coarse + COARSE, 1, (delay) => correlationAt(source, heard, delay));
	return correlationAt(source, heard, delay);
}

function best(from: number, to: number, step: number, likeness: (delay: number) => number): number {
	let [found, highest] = [from, -1];
	for (let delay = from; delay <= to; delay += step) {
		const value = likeness(delay);
		if (value > highest) {
			[found, highest] = [delay, value];
		}
	}
	return found;
}

/** What was not heard counts against it. */
function correlationAt(source: Int16Array, heard: Int16Array, delay: number): number {
	let [both, ofSource, ofHeard] = [0, 0, 0];
	for (let at = 0; at < source.length; at += 1) {
		const sample = source[at] as number;
		const other = heard[at + delay] ?? 0;
		both += sample * other;
		ofSource += sample * sample;
		ofHeard += other * other;
	}
	return both / Math.sqrt(ofSource * ofHeard || 1);
}

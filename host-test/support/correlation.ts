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

/** Samples that are looked for together, if the caller does not say: 100 ms of a sound with 24,000 a second. */
const PIECE = 2_400;

/** Similarity of a piece and the heard sound at its position. Noise is encoded as other noise. */
const SURE = 0.8;

/**
 * Computes the {@link correlation} of a sound that was played in real time: a busy machine may play a gap, after which each piece is later
 * than those before it.
 */
export function correlationWithGaps(source: Int16Array, heard: Int16Array, maxDelay: number, size = PIECE): number {
	let delay = 0;
	const inPlace = new Int16Array(source.length);
	for (let start = 0; start < source.length; start += size) {
		const piece = source.subarray(start, start + size);
		const at = (later: number): number => correlationAt(piece, heard, start + later);
		if (at(delay) < SURE) {
			const coarse = best(delay, delay + maxDelay, COARSE, at);
			const found = best(Math.max(delay, coarse - COARSE), coarse + COARSE, 1, at);
			delay = at(found) >= SURE ? found : delay;
		}
		inPlace.set(heard.subarray(start + delay, start + delay + piece.length), start);
	}
	return correlationAt(source, inPlace, 0);
}

/** Samples that were not heard count against it. */
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

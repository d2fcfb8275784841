/** A tone's frequency in Hertz, by its waves from one rise through zero to the last, and the root mean square of its samples. */
export function measureTone(samples: readonly number[], sampleRate: number): { frequency: number; loudness: number } {
	const rises = samples.flatMap((sample, at) => (sample >= 0 && (samples[at - 1] ?? 0) < 0 ? [at] : []));
	const [first = 0, last = 1] = [rises[0], rises[rises.length - 1]];
	const squares = samples.reduce((sum, sample) => sum + sample ** 2, 0);
	return {
		frequency: ((rises.length - 1) * sampleRate) / (last - first),
		loudness: Math.sqrt(squares / samples.length),
	};
}

/** Zero crossings of the filter on each side: more let less of other frequencies pass. */
const CROSSINGS = 16;

/** Changes the sample rate of a whole sound, from and to rates in hertz. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
	const { length, read } = makeResampler(samples, from, to);
	return read(0, length);
}

/**
 * Changes the sample rate of a sound piece by piece, with a windowed sinc as the filter.
 *
 * @returns the samples of the result: their number, and what reads from the first up to, and without, the second
 */
export function makeResampler(samples: Int16Array, from: number, to: number) {
	/** Weights of the samples around a place between two of them. Few places recur: 160 from 22,050 to 24,000 Hz. */
	const filters = new Map<number, Float32Array>();

	/** @param place from 0 up to the rate of the result */
	const filterAt = (place: number): Float32Array => {
		let filter = filters.get(place);
		if (filter === undefined) {
			// Frequencies above half of the lower rate cannot be kept.
			const cutoff = Math.min(1, to / from);
			const reach = Math.ceil(CROSSINGS / cutoff);
			const after = place / to;
			filter = Float32Array.from({ length: 2 * reach }, (_, index) => weight(index + 1 - reach - after, cutoff, reach));
			filters.set(place, filter);
		}
		return filter;
	};

	const read = (begin: number, end: number): Int16Array => {
		if (from === to) {
			return samples.subarray(begin, end);
		}
		const result = new Int16Array(end - begin);
		for (let at = begin; at < end; at += 1) {
			const before = Math.floor((at * from) / to);
			const filter = filterAt(at * from - before * to);
			const first = before + 1 - filter.length / 2;
			let sum = 0;
			for (let index = 0; index < filter.length; index += 1) {
				sum += (samples[first + index] ?? 0) * (filter[index] as number);
			}
			result[at - begin] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
		}
		return result;
	};

	return { length: Math.floor((samples.length * to) / from), read };
}

/** The weight of a sample at this distance, in samples: a sinc in the window of Hann. */
function weight(distance: number, cutoff: number, reach: number): number {
	const angle = Math.PI * distance * cutoff;
	const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
	return cutoff * sinc * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
}

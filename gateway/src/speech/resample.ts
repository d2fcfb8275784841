/** Zero crossings of the filter on each side: more let less of other frequencies pass. */
const CROSSINGS = 16;

/**
 * Changes the sample rate, with a windowed sinc as the filter.
 *
 * @param from Hertz of the samples
 * @param to Hertz of the result
 * @param range samples of the result: from the first up to, and without, the second. Default: all
 */
export function resample(
	samples: Int16Array,
	from: number,
	to: number,
	[begin, end]: readonly [number, number] = [0, resampledLength(samples, from, to)],
): Int16Array {
	if (from === to) {
		return samples.subarray(begin, end);
	}
	// Frequencies above half of the lower rate cannot be kept.
	const cutoff = Math.min(1, to / from);
	const reach = Math.ceil(CROSSINGS / cutoff);
	// Few places between two samples recur: 160 from 22,050 to 24,000 Hz.
	const filters = new Map<number, Float64Array>();
	const result = new Int16Array(end - begin);
	for (let at = begin; at < end; at += 1) {
		const before = Math.floor((at * from) / to);
		const place = at * from - before * to;
		const filter = filters.get(place) ?? makeFilter(place / to, cutoff, reach);
		filters.set(place, filter);
		let sum = 0;
		for (let index = 0; index < filter.length; index += 1) {
			sum += (samples[before + index + 1 - reach] ?? 0) * (filter[index] as number);
		}
		result[at - begin] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
	}
	return result;
}

/** Samples of the result. */
export function resampledLength({ length }: Int16Array, from: number, to: number): number {
	return Math.floor((length * to) / from);
}

/** The weights of the samples around a place between two, which is from 0 up to 1 after the first. */
function makeFilter(place: number, cutoff: number, reach: number): Float64Array {
	return Float64Array.from({ length: 2 * reach }, (_, index) => weight(index + 1 - reach - place, cutoff, reach));
}

/** The weight of a sample at this distance, in samples: a sinc in the window of Hann. */
function weight(distance: number, cutoff: number, reach: number): number {
	const angle = Math.PI * distance * cutoff;
	const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
	return cutoff * sinc * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
}

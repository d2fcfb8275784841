/** Zero crossings of the filter on each side: more let less of other frequencies pass. */
const CROSSINGS = 16;

/**
 * Changes the sample rate, with a windowed sinc as the filter.
 *
 * @param from Hertz of the samples
 * @param to Hertz of the result
 */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
	if (from === to) {
		return samples;
	}
	const step = from / to;
	// Frequencies above half of the lower rate cannot be kept.
	const cutoff = Math.min(1, to / from);
	const reach = CROSSINGS / cutoff;
	const result = new Int16Array(Math.floor(samples.length / step));
	for (let at = 0; at < result.length; at += 1) {
		const center = at * step;
		const last = Math.min(samples.length - 1, Math.floor(center + reach));
		let sum = 0;
		for (let index = Math.max(0, Math.ceil(center - reach)); index <= last; index += 1) {
			sum += (samples[index] as number) * weight(index - center, cutoff, reach);
		}
		result[at] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
	}
	return result;
}

/** The weight of a sample at this distance, in samples: a sinc in the window of Hann. */
function weight(distance: number, cutoff: number, reach: number): number {
	const angle = Math.PI * distance * cutoff;
	const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
	return cutoff * sinc * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
}

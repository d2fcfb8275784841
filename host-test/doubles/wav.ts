interface WavOptions {
	readonly encoding?: number;
	readonly channels?: number;
	readonly sampleRate?: number;
	readonly bits?: number;
	readonly chunks?: readonly (readonly [id: string, bytes: number])[];
}

export function wavFile(samples: ArrayLike<number>, options: WavOptions = {}): Uint8Array {
	const { encoding = 1, channels = 1, sampleRate = 16_000, bits = 16, chunks = [] } = options;
	const frame = (channels * bits) / 8;
	const others = chunks.flatMap(([id, bytes]) => [...word(id), ...little(bytes, 4), ...zeros(bytes + (bytes % 2))]);
	const format = [encoding, channels].flatMap((value) => little(value, 2));
	const rates = [sampleRate, sampleRate * frame].flatMap((value) => little(value, 4));
	const sizes = [frame, bits].flatMap((value) => little(value, 2));
	const head = [...word("WAVE"), ...word("fmt "), ...little(16, 4), ...format, ...rates, ...sizes, ...others];
	const body = [...head, ...word("data"), ...little(samples.length, 4)];
	const riff = [...word("RIFF"), ...little(body.length + samples.length, 4), ...body];
	const file = new Uint8Array(riff.length + samples.length);
	file.set(riff);
	file.set(samples, riff.length);
	return file;
}

const word = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
const little = (value: number, bytes: number): number[] =>
	Array.from({ length: bytes }, (_, at) => Math.floor(value / 256 ** at) & 255);

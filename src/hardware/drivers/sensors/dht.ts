import Timer from "timer";
import type DhtLine from "../../../platform/esp32-dht.js";

type Line = Pick<DhtLine, "wake" | "listen" | "read" | "close">;

/** Times of the start signal, of an answer, and from one measurement to the next, ms. */
const WAKE = 20;
const ANSWER = 10;
const INTERVAL = 2_500;

/** Highest first byte of a DHT22: 100 % in tenths. That of a DHT11 is whole percent, from 20 on. */
const MAX_DHT22 = 3;

const SIGN = 0x80;

/** Consecutive failed measurements that count as an error. Single failures are common. */
const MAX_FAILURES = 3;

/** Driver of the DHT11 and the DHT22 (AM2302). It measures continuously, so that a sample does not wait. */
export default class DHT {
	/** The module that the part `sensor` opens. */
	static readonly io: string = "dht";

	private readonly line: Line;
	private readonly watch: ReturnType<typeof Timer.repeat>;
	private latest: object | undefined;
	private failures = 0;
	private error: unknown;

	constructor({
		sensor: { io, pin },
	}: { readonly sensor: { readonly io: new (at: object) => Line; readonly pin: number } }) {
		this.line = new io({ pin });
		this.watch = Timer.repeat(() => this.measure(), INTERVAL);
	}

	/** Returns the latest values; undefined until the first ones. @throws Error if the last three measurements failed */
	sample(): object | undefined {
		if (this.failures >= MAX_FAILURES) {
			throw this.error;
		}
		return this.latest;
	}

	close(): void {
		Timer.clear(this.watch);
		this.line.close();
	}

	private measure(): void {
		try {
			this.line.wake();
			Timer.delay(WAKE);
			this.line.listen();
			Timer.delay(ANSWER);
			this.latest = decode(this.line.read());
			this.failures = 0;
		} catch (error) {
			this.error = error;
			this.failures += 1;
		}
	}
}

/** Decodes an answer of either sensor. @throws Error if there is none, or its checksum is wrong */
const decode = (answer: ArrayBuffer | undefined): object => {
	if (answer === undefined) {
		throw new Error("no answer: the pin needs a resistor of 4.7 to 10 kΩ to 3.3 V");
	}
	const [a = 0, b = 0, c = 0, d = 0, sum] = new Uint8Array(answer);
	if (((a + b + c + d) & 0xff) !== sum) {
		throw new Error("wrong checksum");
	}
	const isDht22 = a <= MAX_DHT22;
	const humidity = isDht22 ? ((a << 8) | b) / 10 : a + b / 10;
	const size = isDht22 ? (((c & ~SIGN) << 8) | d) / 10 : c + (d & ~SIGN) / 10;
	const isBelowZero = ((isDht22 ? c : d) & SIGN) !== 0;
	return { hygrometer: { humidity }, thermometer: { temperature: isBelowZero ? -size : size } };
};

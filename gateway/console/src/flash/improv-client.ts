// The computer's side of Improv Wi-Fi over a serial port: https://www.improv-wifi.com/serial/
import { makePacket, PACKET, PacketReader } from "../../../../src/setup/improv/improv-packet.js";

/** Why a request failed, by the protocol's name of it. */
export class ImprovError extends Error {
	readonly code: "invalid" | "unknownCommand" | "notJoined" | "noAnswer" | "other";

	constructor(code: ImprovError["code"]) {
		super(code);
		this.name = "ImprovError";
		this.code = code;
	}
}

const COMMAND = { setWiFi: 0x01, state: 0x02, networks: 0x04 } as const;
const ERRORS: Readonly<Record<number, ImprovError["code"]>> = { 1: "invalid", 2: "unknownCommand", 3: "notJoined" };
const BAUD = 115_200;

/** Milliseconds from one request for the state to the next while a board starts, and until it is given up. */
const ASK_AGAIN = 1_000;
const MAX_START = 30_000;

/** Milliseconds for a scan, and to join a network. */
const MAX_SCAN = 30_000;
const MAX_JOIN = 60_000;

/** Results of one request. */
const MAX_RESULTS = 50;

/** The texts of one result. */
type Texts = readonly string[];

/** A request that waits for its results. */
interface Waiting {
	readonly command: number;
	readonly add: (texts: Texts) => void;
	readonly reject: (error: ImprovError) => void;
}

/** A board at a serial port, whose Wi-Fi is set up. One request at a time. */
export class ImprovClient {
	readonly #port: SerialPort;
	readonly #reader = new PacketReader({
		onPacket: (type, data) => this.#receive(type, data),
		// Other text of the board: what matters is asked for again, or times out.
		onDamaged: () => {},
	});
	#waiting: Waiting | undefined;
	#input: ReadableStreamDefaultReader<Uint8Array> | undefined;
	#reading: Promise<void> | undefined;

	constructor(port: SerialPort) {
		this.#port = port;
	}

	/** Opens the port, and waits until the board answers. Rejects with ImprovError ("noAnswer") if it does not. */
	async open(patience = MAX_START): Promise<void> {
		await this.#port.open({ baudRate: BAUD });
		this.#reading = this.#read();
		const end = Date.now() + patience;
		for (;;) {
			try {
				await this.#ask(COMMAND.state, [], { patience: ASK_AGAIN });
				return;
			} catch (error) {
				if (Date.now() >= end) {
					throw error;
				}
			}
		}
	}

	/** The names of the networks that the board finds, the strongest first. */
	async networks(): Promise<readonly string[]> {
		// The last result is empty.
		const isLast = (texts: Texts): boolean => texts.length === 0;
		const results = await this.#ask(COMMAND.networks, [], { patience: MAX_SCAN, isLast });
		return results
			.filter((texts) => !isLast(texts))
			.sort(([, one], [, other]) => Number(other) - Number(one))
			.map(([ssid = ""]) => ssid);
	}

	/** Has the board join a network and keep it. Resolves with the address of its page; empty without one. */
	async join(ssid: string, password: string): Promise<string> {
		const texts = [ssid, password].map((text) => new TextEncoder().encode(text));
		const data = texts.flatMap((bytes) => [bytes.length, ...bytes]);
		const [[url = ""] = []] = await this.#ask(COMMAND.setWiFi, data, { patience: MAX_JOIN });
		return url;
	}

	/** Closes the port. */
	async close(): Promise<void> {
		await this.#input?.cancel().catch(() => {});
		await this.#reading;
		await this.#port.close().catch(() => {});
	}

	/** Sends a command. Resolves with its results. */
	async #ask(
		command: number,
		data: readonly number[],
		{ patience, isLast = () => true }: { readonly patience: number; readonly isLast?: (texts: Texts) => boolean },
	): Promise<readonly Texts[]> {
		const results: Texts[] = [];
		const answered = new Promise<void>((resolve, reject) => {
			const add = (texts: Texts): void => {
				results.push(texts);
				if (isLast(texts) || results.length >= MAX_RESULTS) {
					resolve();
				}
			};
			this.#waiting = { command, add, reject };
		});
		const timer = setTimeout(() => this.#waiting?.reject(new ImprovError("noAnswer")), patience);
		try {
			await this.#write(makePacket(PACKET.command, [command, data.length, ...data]));
			await answered;
			return results;
		} finally {
			clearTimeout(timer);
			this.#waiting = undefined;
		}
	}

	async #write(packet: Uint8Array): Promise<void> {
		const writer = this.#port.writable?.getWriter();
		try {
			await writer?.write(packet);
		} finally {
			writer?.releaseLock();
		}
	}

	async #read(): Promise<void> {
		this.#input = this.#port.readable?.getReader();
		try {
			for (;;) {
				const { value, done } = (await this.#input?.read()) ?? { done: true };
				if (done || value === undefined) {
					break;
				}
				this.#reader.read(value);
			}
		} catch {
			// The cable was pulled out: what is asked for times out.
		} finally {
			this.#input?.releaseLock();
		}
	}

	#receive(type: number, data: Uint8Array): void {
		const [first = 0, length = 0] = data;
		if (type === PACKET.error && first !== 0) {
			this.#waiting?.reject(new ImprovError(ERRORS[first] ?? "other"));
		} else if (type === PACKET.result && first === this.#waiting?.command) {
			this.#waiting.add(textsIn(data.subarray(2, 2 + length)));
		} else if (type === PACKET.state && this.#waiting?.command === COMMAND.state) {
			this.#waiting.add([]);
		}
	}
}

/** Texts, each after its length. */
function textsIn(data: Uint8Array): readonly string[] {
	const texts: string[] = [];
	for (let at = 0; at < data.length; ) {
		const end = at + 1 + (data[at] as number);
		texts.push(new TextDecoder().decode(data.subarray(at + 1, end)));
		at = end;
	}
	return texts;
}

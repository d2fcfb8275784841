// A board at a serial port, in a browser: console-flash.full.test.ts puts it in the place of `navigator.serial`. It speaks the
// protocol of the loader in the ROM of an ESP32-C3, then that of the loader that esptool-js puts into its memory
// (https://docs.espressif.com/projects/esptool/en/latest/esp32c3/advanced-topics/serial-protocol.html), keeps what is written,
// and after a reset runs the firmware's own Improv. What it does not do: signals of USB, real erase times, lost bytes.
import { ImprovService } from "../../src/setup/improv/improv-service.js";

const [SLIP_END, SLIP_ESC, SLIP_ESC_END, SLIP_ESC_ESC] = [0xc0, 0xdb, 0xdc, 0xdd];

const COMMAND = {
	memEnd: 0x06,
	sync: 0x08,
	changeBaud: 0x0f,
	deflBegin: 0x10,
	deflData: 0x11,
	securityInfo: 0x14,
	eraseFlash: 0xd0,
} as const;

/** The chip's number in its security information, and in images: ESP32-C3. */
const CHIP_ID = 5;

/** Anything but 0, which the loader in memory answers. */
const ROM_SYNC_VALUE = 0x20120707;

/** A test's view of the board. */
export interface BoardState {
	/** The files that were written, by their offsets, as text. */
	readonly written: Record<number, string>;
	isErased: boolean;
	/** Bits per second that the loader was asked for. */
	baud: number;
	/** Network and password that it has joined. */
	joined: string[];
}

const board: BoardState = { written: {}, isErased: false, baud: 0, joined: [] };
Object.assign(globalThis, { board });

// Of XS, which the firmware's Improv uses.
Object.assign(ArrayBuffer, { fromString: (text: string) => new TextEncoder().encode(text).buffer });
Object.assign(String, {
	fromArrayBuffer: (buffer: ArrayBuffer) => new TextDecoder("utf-8", { fatal: true }).decode(buffer),
});

class Board {
	readable: ReadableStream<Uint8Array> | null = null;
	writable: WritableStream<Uint8Array> | null = null;
	#output: ReadableStreamDefaultController<Uint8Array> | undefined;
	/** Of the packet that arrives. */
	#packet: number[] = [];
	#file: { offset: number; size: number; pieces: Uint8Array[] } | undefined;
	#runs: "loader" | "firmware" = "firmware";
	#isInReset = false;
	readonly #improv = new ImprovService({
		info: { firmware: "xs-mcp", version: "1.0.0", hardware: "esp32c3", name: "board" },
		wifi: {
			isJoined: false,
			url: "http://esp32c3-0001.local/mcp",
			networks: async () => [
				{ ssid: "cellar", rssi: -80, secured: false },
				{ ssid: "家", rssi: -40, secured: true },
			],
			apply: async ({ ssid, password }) => {
				const isJoined = password === "correct horse";
				if (isJoined) {
					board.joined = [ssid, password];
				}
				return isJoined;
			},
		},
		write: (packet) => this.#send(packet),
		log: () => {},
	});

	getInfo() {
		return { usbVendorId: 0x1a86, usbProductId: 0x7523 };
	}

	async open(): Promise<void> {
		this.readable = new ReadableStream({
			start: (controller) => {
				this.#output = controller;
			},
		});
		this.writable = new WritableStream({ write: (bytes) => this.#receive(bytes) });
	}

	async close(): Promise<void> {
		this.readable = null;
		this.writable = null;
		this.#output = undefined;
	}

	/** DTR pulls the pin that chooses the loader, RTS the reset: as on boards with two transistors. */
	async setSignals({ dataTerminalReady = false, requestToSend = false }): Promise<void> {
		if (requestToSend && !dataTerminalReady) {
			this.#isInReset = true;
		} else if (this.#isInReset && !requestToSend) {
			this.#isInReset = false;
			this.#runs = dataTerminalReady ? "loader" : "firmware";
		}
	}

	#send(bytes: Uint8Array): void {
		this.#output?.enqueue(bytes);
	}

	async #receive(bytes: Uint8Array): Promise<void> {
		if (this.#runs === "firmware") {
			this.#improv.read(bytes);
			return;
		}
		for (const byte of bytes) {
			if (byte !== SLIP_END) {
				this.#packet.push(byte);
			} else if (this.#packet.length > 0) {
				const packet = unescaped(this.#packet);
				this.#packet = [];
				await this.#answer(packet);
			}
		}
	}

	async #answer(packet: Uint8Array): Promise<void> {
		const view = new DataView(packet.buffer);
		const command = packet[1] as number;
		const data = packet.slice(8);
		await this.#carryOut(command, data, view);
		const isSync = command === COMMAND.sync;
		const info = command === COMMAND.securityInfo ? securityInfo() : [];
		for (let count = 0; count < (isSync ? 8 : 1); count += 1) {
			this.#send(escaped(response(command, isSync ? ROM_SYNC_VALUE : 0, [...info, 0, 0, 0, 0])));
		}
		if (command === COMMAND.memEnd) {
			this.#send(escaped(new TextEncoder().encode("OHAI")));
		}
	}

	async #carryOut(command: number, data: Uint8Array, view: DataView): Promise<void> {
		const word = (at: number): number => view.getUint32(8 + 4 * at, true);
		if (command === COMMAND.changeBaud) {
			board.baud = word(0);
		} else if (command === COMMAND.eraseFlash) {
			board.isErased = true;
		} else if (command === COMMAND.deflBegin) {
			this.#file = { size: word(0), offset: word(3), pieces: [] };
		} else if (command === COMMAND.deflData && this.#file !== undefined) {
			const { offset, size, pieces } = this.#file;
			pieces.push(data.slice(16));
			const text = await inflated(pieces).catch(() => "");
			if (text.length >= size) {
				board.written[offset] = text;
			}
		}
	}
}

/** ROM's answer to a command: direction, command, length of the data, a value, the data. */
function response(command: number, value: number, data: readonly number[]): Uint8Array {
	const bytes = new Uint8Array([1, command, 0, 0, 0, 0, 0, 0, ...data]);
	const view = new DataView(bytes.buffer);
	view.setUint16(2, data.length, true);
	view.setUint32(4, value, true);
	return bytes;
}

function securityInfo(): number[] {
	const info = new Uint8Array(20);
	new DataView(info.buffer).setUint32(12, CHIP_ID, true);
	return [...info];
}

function escaped(bytes: Uint8Array): Uint8Array {
	const inside = [...bytes].flatMap((byte) => {
		if (byte === SLIP_END) {
			return [SLIP_ESC, SLIP_ESC_END];
		}
		return byte === SLIP_ESC ? [SLIP_ESC, SLIP_ESC_ESC] : [byte];
	});
	return new Uint8Array([SLIP_END, ...inside, SLIP_END]);
}

function unescaped(bytes: readonly number[]): Uint8Array {
	const found: number[] = [];
	for (let at = 0; at < bytes.length; at += 1) {
		const byte = bytes[at] as number;
		if (byte === SLIP_ESC) {
			at += 1;
			found.push(bytes[at] === SLIP_ESC_END ? SLIP_END : SLIP_ESC);
		} else {
			found.push(byte);
		}
	}
	return new Uint8Array(found);
}

async function inflated(pieces: readonly Uint8Array[]): Promise<string> {
	const stream = new Blob([...pieces] as BlobPart[]).stream().pipeThrough(new DecompressionStream("deflate"));
	return await new Response(stream).text();
}

const port = new Board();
Object.defineProperty(navigator, "serial", { value: { requestPort: async () => port } });

import type { Socket } from "node:net";
import { makePacket, PACKET, PacketReader } from "../../src/protocols/improv-packet.js";
import { until } from "../support/testing.js";

/** Commands and answers: https://www.improv-wifi.com/serial/. */
const COMMAND = { setWiFi: 1, state: 2, info: 3, networks: 4 } as const;
const READY = [PACKET.state, 2];
const PROVISIONED = [PACKET.state, 4];

/** Milliseconds between questions until the chip has started. */
const QUESTION_INTERVAL = 1_000;

/** A text after its length. */
const sized = (text: string): number[] => [text.length, ...Buffer.from(text)];

/** A computer that sets up a chip's Wi-Fi over the serial line, by Improv. */
export class ImprovComputer {
	readonly #line: Socket;
	/** The type of each answer, and its data. */
	readonly #answers: number[][] = [];

	constructor(line: Socket) {
		this.#line = line;
		const reader = new PacketReader({
			onPacket: (type, data) => this.#answers.push([type, ...data]),
			onDamaged: () => this.#answers.push([]),
		});
		line.on("data", (bytes) => reader.read(bytes));
	}

	/** Waits until the chip has started, and asks for its identity. */
	async hardware(): Promise<string> {
		let asked = 0;
		await until(() => {
			if (Date.now() - asked > QUESTION_INTERVAL) {
				asked = Date.now();
				this.#send(COMMAND.state);
			}
			return this.#find(READY) !== undefined;
		}, "the chip answers");
		this.#send(COMMAND.info);
		const info = [PACKET.result, COMMAND.info];
		await until(() => this.#find(info) !== undefined, "the chip says what it is");
		return String(Buffer.from(this.#find(info) ?? []));
	}

	async networks(): Promise<string> {
		this.#answers.length = 0;
		this.#send(COMMAND.networks);
		await until(
			() => this.#find([PACKET.result, COMMAND.networks, 0]) !== undefined,
			"the chip has listed the networks",
		);
		return String(Buffer.from(this.#answers.flat()));
	}

	async setWiFi(ssid: string, password: string): Promise<void> {
		this.#send(COMMAND.setWiFi, ...sized(ssid), ...sized(password));
		await until(() => this.#find(PROVISIONED) !== undefined, "the chip has joined the network");
	}

	#send(command: number, ...data: number[]): void {
		this.#line.write(makePacket(PACKET.command, [command, data.length, ...data]));
	}

	#find(start: readonly number[]): readonly number[] | undefined {
		return this.#answers.find((answer) => start.every((byte, at) => answer[at] === byte));
	}
}

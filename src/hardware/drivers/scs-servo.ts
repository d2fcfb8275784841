import type { HeadServo } from "../board-data.js";
import type { SerialRecord, TimerHandle, TimerModule } from "../hardware.js";
import type { TurningServo } from "../head.js";
import { checkAngle } from "../kinds/servo.js";

/** Instructions of Feetech's protocol for serial servos. */
const READ = 2;
const WRITE = 3;

const HEADER = 0xff;

/** Bytes of a packet besides its parameters: two headers, id, length, instruction or faults, checksum. */
const FRAME_BYTES = 6;

/** Milliseconds that a servo has for its answer. It takes less than one; the machine may be busy meanwhile. */
const TIMEOUT = 100;

/** A glitch on the wire spoils one packet. Reads and writes can be repeated. */
const ATTEMPTS = 2;

/** Bits of a servo's faults. */
const FAULTS = Object.freeze([
	[1, "wrong voltage"],
	[2, "position sensor failed"],
	[4, "too hot"],
	[8, "too much current"],
	[32, "overload: the arm is blocked or held"],
] as const);

/** A servo's answer. */
interface ScsAnswer {
	readonly values: readonly number[];
	/** Fault that the servo reports; undefined without one. */
	readonly fault: string | undefined;
}

/**
 * A bus of serial servos such as the SCS0009: one wire, on which a servo answers each packet. Its packets follow one
 * another, since servos and device cannot send at the same time. The device's own bytes may come back.
 */
export interface ScsBus {
	/** Reads registers. Rejects if the servo does not answer, or only with wrong checksums. */
	read(id: number, register: number, count: number): Promise<ScsAnswer>;
	/** Writes registers. Rejects as {@link read} does. */
	write(id: number, register: number, ...values: readonly number[]): Promise<ScsAnswer>;
	close(): void;
}

/** Calculates the checksum of a packet: the inverted sum of its bytes from the id on. */
const checksum = (bytes: readonly number[]): number => ~bytes.reduce((sum, byte) => sum + byte, 0) & 0xff;

/**
 * Takes the answer to a packet from the bytes so far, after noise, the packet itself, and late answers to others.
 *
 * @param count values of the answer
 * @returns the answer, or why it cannot be used; undefined if it is not there yet
 */
const takeAnswer = (bytes: number[], packet: readonly number[], count: number): ScsAnswer | string | undefined => {
	while (bytes.length >= FRAME_BYTES) {
		const length = bytes[3] as number;
		if (bytes[0] !== HEADER || bytes[1] !== HEADER || bytes[2] === HEADER || length < 2) {
			bytes.shift();
			continue;
		}
		if (bytes.length < length + 4) {
			return undefined;
		}
		const found = bytes.splice(0, length + 4);
		const isEcho = found.every((byte, at) => byte === packet[at]);
		if (isEcho || found[2] !== packet[2] || length !== count + 2) {
			continue;
		}
		if (checksum(found.slice(2, -1)) !== found.at(-1)) {
			return "wrong checksum";
		}
		const faults = found[4] as number;
		return { values: found.slice(5, -1), fault: FAULTS.find(([bit]) => (faults & bit) !== 0)?.[1] };
	}
	return undefined;
};

/** Opens a bus. @throws if its port cannot be opened */
export const openScsBus = ({ io, ...pins }: SerialRecord, timer: TimerModule): ScsBus => {
	/** Settles when the latest packet is done. */
	let last: Promise<unknown> = Promise.resolve();
	let received: number[] = [];
	let onReceived: (() => void) | undefined;
	const port: InstanceType<typeof io> = new io({
		...pins,
		baud: 1_000_000,
		format: "buffer",
		onReadable(count) {
			received.push(...new Uint8Array(port.read(count) ?? new ArrayBuffer(0)));
			onReceived?.();
		},
		onWritable() {},
	});
	/** Sends a packet. @returns the answer, or why there is none */
	const exchange = (packet: readonly number[], count: number): Promise<ScsAnswer | string> =>
		new Promise((resolve) => {
			const finish = (answer: ScsAnswer | string | undefined): void => {
				if (answer !== undefined) {
					timer.clear(timeout);
					onReceived = undefined;
					resolve(answer);
				}
			};
			const timeout = timer.set(() => finish("no answer"), TIMEOUT);
			received = [];
			onReceived = () => finish(takeAnswer(received, packet, count));
			try {
				port.write(Uint8Array.from(packet).buffer);
			} catch (error) {
				finish((error as Error).message);
			}
		});
	const request = (id: number, instruction: readonly number[], count: number): Promise<ScsAnswer> => {
		const body = [id, instruction.length + 1, ...instruction];
		const packet = [HEADER, HEADER, ...body, checksum(body)];
		const done = last.then(async () => {
			let answer: ScsAnswer | string = "";
			for (let attempt = 0; attempt < ATTEMPTS && typeof answer === "string"; attempt += 1) {
				answer = await exchange(packet, count);
			}
			if (typeof answer === "string") {
				throw new Error(`servo ${id}: ${answer}`);
			}
			return answer;
		});
		last = done.catch(() => {});
		return done;
	};
	return {
		read: (id, register, count) => request(id, [READ, register, count], count),
		write: (id, register, ...values) => request(id, [WRITE, register, ...values], 0),
		close: () => port.close(),
	};
};

/** Registers of an SCS0009. Words have their high byte first. */
const TORQUE = 40;
const GOAL_POSITION = 42;
const PRESENT_POSITION = 56;
/** From the position to whether it moves. */
const PRESENT_BYTES = 11;

/** Steps of a degree, as M5Stack's firmware counts them. */
const STEPS = 3.2;

const MAX_POSITION = 1023;

/** Degrees per second if nothing else is asked for. */
const DEFAULT_SPEED = 120;

/** Milliseconds between two readings of a servo that moves. */
const POLL_INTERVAL = 100;

/** Opens a serial servo. Its angle is read from it. It holds its arm while that moves: at rest its motor is off. */
export const openScsServo = (bus: ScsBus, timer: TimerModule, { id, zero, min, max }: HeadServo) => {
	let poll: TimerHandle | undefined;
	/** Counts turns: what was read before a turn says nothing about it. */
	let turns = 0;
	/** Reads the angle until the arm rests or the servo reports a fault, and switches its motor off then. */
	const follow = async (): Promise<void> => {
		const turn = turns;
		try {
			const { values, fault } = await bus.read(id, PRESENT_POSITION, PRESENT_BYTES);
			const [high = 0, low = 0] = values;
			servo.angle = Math.round((((high << 8) | low) - zero) * (10 / STEPS)) / 10;
			const isMoving = values.at(-1) !== 0 && fault === undefined;
			if (turn !== turns) {
				return;
			}
			if (isMoving) {
				poll = timer.set(() => void follow(), POLL_INTERVAL);
				return;
			}
			servo.error = fault && `servo ${id}: ${fault}`;
			await bus.write(id, TORQUE, 0);
		} catch (error) {
			servo.error = (error as Error).message;
		}
	};
	const servo = {
		min,
		max,
		angle: undefined as number | undefined,
		target: undefined as number | undefined,
		error: undefined as string | undefined,
		move(angle: number): void {
			checkAngle("servo", servo, angle);
			// Its error is in `error`.
			servo.turn(angle, DEFAULT_SPEED).catch(() => {});
		},
		async turn(angle: number, speed: number): Promise<void> {
			const position = Math.min(Math.max(Math.round(zero + angle * STEPS), 0), MAX_POSITION);
			const rate = Math.round(speed * STEPS);
			timer.clear(poll);
			turns += 1;
			const turn = turns;
			servo.target = angle;
			try {
				await bus.write(id, TORQUE, 1);
				// Goal position, time, which 0 leaves to the speed, and speed.
				await bus.write(id, GOAL_POSITION, position >> 8, position & 0xff, 0, 0, rate >> 8, rate & 0xff);
				servo.error = undefined;
			} catch (error) {
				servo.error = (error as Error).message;
				throw error;
			}
			if (turn === turns) {
				poll = timer.set(() => void follow(), POLL_INTERVAL);
			}
		},
		close(): void {
			turns += 1;
			timer.clear(poll);
		},
	};
	void follow();
	return servo satisfies TurningServo;
};

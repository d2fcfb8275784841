import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { HeadServo } from "../board-data.js";
import type { SerialRecord, TimerHandle, TimerModule } from "../hardware.js";
import type { TurningServo } from "../head.js";
import { checkAngle } from "../kinds/servo.js";

/** Instructions of Feetech's protocol for serial servos. */
const READ = 2;
const WRITE = 3;

const HEADER = 0xff;

/** Bytes of a packet without parameters: two headers, id, length, instruction or faults, checksum. */
const FRAME_BYTES = 6;

/** Milliseconds that a servo has for its answer. It takes less than one; the machine may be busy meanwhile. */
const TIMEOUT = 100;

/** A glitch on the wire spoils one packet. Reads and writes can be repeated. */
const ATTEMPTS = 2;

/** Bits of a servo's faults. */
const FAULTS = deepFreeze([
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

/**
 * Opens a bus of serial servos such as the SCS0009: one wire, on which a servo answers each packet. Its packets follow one
 * another, since servos and device cannot send at the same time. The device's own bytes may come back.
 *
 * @throws if its port cannot be opened
 */
export const openScsBus = ({ io, ...pins }: SerialRecord, timer: TimerModule) => {
	/** Settles when the latest packet is done. */
	let last: Promise<unknown> = Promise.resolve();
	/** Absent between packets, when bytes are noise. */
	let onReceived: ((bytes: Uint8Array) => void) | undefined;
	const port: InstanceType<typeof io> = new io({
		...pins,
		baud: 1_000_000,
		format: "buffer",
		onReadable(count) {
			const bytes = new Uint8Array(port.read(count) ?? new ArrayBuffer(0));
			onReceived?.(bytes);
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
			const received: number[] = [];
			onReceived = (bytes) => {
				received.push(...bytes);
				finish(takeAnswer(received, packet, count));
			};
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
		/** Reads registers. Rejects if the servo does not answer, or only with wrong checksums. */
		read: (id: number, register: number, count: number) => request(id, [READ, register, count], count),
		/** Writes registers. Rejects as `read` does. */
		write: (id: number, register: number, ...values: readonly number[]) => request(id, [WRITE, register, ...values], 0),
	};
};

/** Registers of an SCS0009. Words have their high byte first. */
const TORQUE = 40;
const GOAL_POSITION = 42;
const PRESENT_POSITION = 56;
/** Bytes from the present position to the moving flag. */
const PRESENT_BYTES = 11;

/** Steps of a degree, as M5Stack's firmware counts them. */
const STEPS = 3.2;

const MAX_POSITION = 1023;

/** Default speed, in degrees per second. */
const DEFAULT_SPEED = 120;

/** Milliseconds between two readings of a servo that moves, and until the next one if it does not answer. */
const POLL_INTERVAL = 100;
const RETRY_DELAY = 1_000;

/** Milliseconds after which a movement should have ended, beyond those of a turn through the whole range. */
const MARGIN = 2_000;

/** Opens a serial servo. Its angle is read from it. Its motor is on while it moves, and off at rest. */
export const openScsServo = (
	bus: Pick<ReturnType<typeof openScsBus>, "read" | "write">,
	timer: TimerModule,
	{ id, zero, min, max }: HeadServo,
) => {
	let poll: TimerHandle | undefined;
	/** Incremented by each move, so that older readings are ignored. */
	let moves = 0;
	/** Readings until a movement should have ended. */
	let polls = MARGIN / POLL_INTERVAL;
	const schedulePoll = (move: number, delay: number): void => {
		if (move === moves) {
			poll = timer.set(() => void pollPosition(), delay);
		}
	};
	const fail = (move: number, { message }: Error): void => {
		if (move === moves) {
			servo.error = message;
		}
		schedulePoll(move, RETRY_DELAY);
	};
	/** Reads the angle until the arm rests, the servo reports a fault, or time is up. Then it switches the motor off. */
	const pollPosition = async (): Promise<void> => {
		const move = moves;
		try {
			const { values, fault } = await bus.read(id, PRESENT_POSITION, PRESENT_BYTES);
			const [high = 0, low = 0] = values;
			servo.angle = Math.round((((high << 8) | low) - zero) * (10 / STEPS)) / 10;
			if (move !== moves) {
				return;
			}
			const isMoving = values.at(-1) !== 0;
			polls -= 1;
			if (isMoving && fault === undefined && polls > 0) {
				schedulePoll(move, POLL_INTERVAL);
				return;
			}
			const error = fault ?? (isMoving ? "does not come to rest" : undefined);
			servo.error = error && `servo ${id}: ${error}`;
			await bus.write(id, TORQUE, 0);
		} catch (error) {
			fail(move, error as Error);
		}
	};
	const servo = {
		min,
		max,
		angle: undefined as number | undefined,
		target: undefined as number | undefined,
		error: undefined as string | undefined,
		async move(angle: number, speed = DEFAULT_SPEED): Promise<void> {
			checkAngle("servo", servo, angle);
			const position = Math.min(Math.max(Math.round(zero + angle * STEPS), 0), MAX_POSITION);
			const rate = Math.round(speed * STEPS);
			timer.clear(poll);
			moves += 1;
			const move = moves;
			polls = (((max - min) / speed) * 1_000 + MARGIN) / POLL_INTERVAL;
			servo.target = angle;
			try {
				await bus.write(id, TORQUE, 1);
				// Goal position, time, which 0 leaves to the speed, and speed.
				await bus.write(id, GOAL_POSITION, position >> 8, position & 0xff, 0, 0, rate >> 8, rate & 0xff);
			} catch (error) {
				fail(move, error as Error);
				throw error;
			}
			servo.error = undefined;
			schedulePoll(move, POLL_INTERVAL);
		},
	};
	void pollPosition();
	return servo satisfies TurningServo;
};

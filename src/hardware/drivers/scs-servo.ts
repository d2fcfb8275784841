import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { HeadServo } from "../board-data.js";
import type { SerialPort, TimerHandle, TimerModule } from "../hardware.js";
import type { TurningServo } from "../head.js";
import { checkAngle } from "../kinds/servo.js";

/** Instructions of Feetech's protocol for serial servos. */
const READ = 2;
const WRITE = 3;

const HEADER = 0xff;

/** Bytes of a packet without parameters: two headers, id, length, instruction or faults, checksum. */
const FRAME_BYTES = 6;

/** Maximum polls for an answer, and their interval, ms. A servo answers within 1 ms, but the machine may be busy. */
const MAX_ANSWER_POLLS = 10;
const ANSWER_POLL_INTERVAL = 10;

/** Bits of a servo's faults. */
const FAULTS = deepFreeze([
	[1, "wrong voltage"],
	[2, "position sensor failed"],
	[4, "too hot"],
	[8, "too much current"],
	[32, "overload: the arm is blocked or held"],
] as const);

/** ECMA-419's serial port, with 1,000,000 bits per second and the format "buffer". */
export interface ServoPort extends Pick<SerialPort, "write" | "close"> {
	/** All bytes received; undefined without any. */
	read(): ArrayBuffer | undefined;
}

/** Calculates a packet's checksum: the inverted sum of its bytes from the id on. Together with it, the result is 0. */
const checksum = (bytes: readonly number[]): number => ~bytes.reduce((sum, byte) => sum + byte, 0) & 0xff;

/** Finds a packet's answer after noise, the packet itself and late answers to others. @param count its values */
const findAnswer = (bytes: readonly number[], packet: readonly number[], count: number): number[] | undefined => {
	const start = [HEADER, HEADER, packet[2], count + 2];
	for (let at = 0; at + FRAME_BYTES + count <= bytes.length; at += 1) {
		const found = bytes.slice(at, at + FRAME_BYTES + count);
		if (start.every((byte, index) => byte === found[index]) && String(found) !== String(packet)) {
			return found;
		}
	}
	return undefined;
};

/**
 * Makes a bus of serial servos such as the SCS0009: one wire, on which a servo answers each packet. Servos and device cannot send
 * at the same time. The device's own bytes may come back.
 */
export const scsBus = (port: ServoPort, timer: TimerModule) => {
	/** Settles when the latest task ends. */
	let last: Promise<unknown> = Promise.resolve();
	const exchange = async (packet: readonly number[], count: number): Promise<number[]> => {
		// Bytes between packets are noise.
		port.read();
		port.write(Uint8Array.from(packet).buffer);
		const received: number[] = [];
		for (let polled = 0; polled < MAX_ANSWER_POLLS; polled += 1) {
			await new Promise<void>((resolve) => void timer.set(resolve, ANSWER_POLL_INTERVAL));
			received.push(...new Uint8Array(port.read() ?? new ArrayBuffer(0)));
			const answer = findAnswer(received, packet, count);
			if (answer !== undefined && checksum(answer.slice(2)) !== 0) {
				throw new Error("wrong checksum");
			}
			if (answer !== undefined) {
				return answer.slice(4, -1);
			}
		}
		throw new Error("no answer");
	};
	/** Sends a packet. A glitch on the wire spoils one packet, so it is repeated once. */
	const request = (id: number, instruction: readonly number[], count: number): Promise<number[]> => {
		const body = [id, instruction.length + 1, ...instruction];
		const packet = [HEADER, HEADER, ...body, checksum(body)];
		return exchange(packet, count)
			.catch(() => exchange(packet, count))
			.catch(({ message }: Error) => {
				throw new Error(`servo ${id}: ${message}`);
			});
	};
	return {
		/** Returns the servo's faults and registers. Rejects if it does not answer, or only with wrong checksums. */
		read: (id: number, register: number, count: number) => request(id, [READ, register, count], count),
		/** Writes registers. Rejects as `read` does. */
		write: (id: number, register: number, ...values: readonly number[]) => request(id, [WRITE, register, ...values], 0),
		/** Runs a task that reads and writes, after all earlier ones. */
		queue(task: () => Promise<void>): Promise<void> {
			const done = last.then(task);
			last = done.catch(() => {});
			return done;
		},
	};
};

/** Registers of an SCS0009. Words have their high byte first. */
const TORQUE = 40;
const GOAL_POSITION = 42;
const PRESENT_POSITION = 56;
/** Bytes from the present position to the moving flag. */
const PRESENT_BYTES = 11;

/** Steps per degree, as in M5Stack's firmware. */
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
	bus: Pick<ReturnType<typeof scsBus>, "read" | "write" | "queue">,
	timer: TimerModule,
	{ id, zero, min, max }: HeadServo,
) => {
	let poll: TimerHandle | undefined;
	/** Readings until a movement should have ended. */
	let polls = MARGIN / POLL_INTERVAL;
	/** Runs a task on the bus. @param task returns the delay until the angle is read again, ms; undefined at rest */
	const run = (task: () => Promise<number | undefined>): Promise<void> =>
		bus.queue(async () => {
			timer.clear(poll);
			let delay: number | undefined = RETRY_DELAY;
			try {
				delay = await task();
			} catch (error) {
				servo.error = (error as Error).message;
				throw error;
			} finally {
				poll = delay === undefined ? undefined : timer.set(readAngle, delay);
			}
		});
	/** Reads the angle. When the arm rests, the servo reports a fault, or time is up, it switches the motor off. */
	const readAngle = (): void =>
		void run(async () => {
			const values = await bus.read(id, PRESENT_POSITION, PRESENT_BYTES);
			const [faults = 0, high = 0, low = 0] = values;
			const fault = FAULTS.find(([bit]) => (faults & bit) !== 0)?.[1];
			servo.angle = Math.round((((high << 8) | low) - zero) * (10 / STEPS)) / 10;
			const isMoving = values.at(-1) !== 0;
			polls -= 1;
			if (isMoving && fault === undefined && polls > 0) {
				return POLL_INTERVAL;
			}
			const error = fault ?? (isMoving ? "does not come to rest" : undefined);
			servo.error = error && `servo ${id}: ${error}`;
			await bus.write(id, TORQUE, 0);
			return undefined;
		}).catch(() => {});
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
			servo.target = angle;
			// A reading queued after the move would find the arm still at rest, and switch the motor off.
			timer.clear(poll);
			await run(async () => {
				polls = (((max - min) / speed) * 1_000 + MARGIN) / POLL_INTERVAL;
				await bus.write(id, TORQUE, 1);
				// Goal position, time (0: by the speed), and speed.
				await bus.write(id, GOAL_POSITION, position >> 8, position & 0xff, 0, 0, rate >> 8, rate & 0xff);
				servo.error = undefined;
				return POLL_INTERVAL;
			});
		},
	};
	readAngle();
	return servo satisfies TurningServo;
};

import { setExpander } from "../../src/hardware/drivers/open-expander.js";
import openPy32Light from "../../src/hardware/drivers/py32-light.js";
import { openScsServo, type ServoPort, scsBus } from "../../src/hardware/drivers/scs-servo.js";
import { servoHead } from "../../src/hardware/head.js";
import { callTool, clientOf, words } from "../doubles/client.js";
import { fakeBus } from "../doubles/fake-bus.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, failureOf, given, matches, settled, suite, throws } from "../harness.js";

const packet = (...body: number[]): number[] => [
	0xff,
	0xff,
	...body,
	~body.reduce((sum, byte) => sum + byte, 0) & 0xff,
];

/** Registers of servos on a wire that brings back what is sent, and what happens to answers. */
class Wire implements ServoPort {
	readonly sent: number[][] = [];
	/** Registers by servo and number. */
	readonly memory = new Map<string, number>();
	faults = 0;
	hasEcho = false;
	change = (answer: number[]): readonly number[] | undefined => answer;
	private waiting: number[] = [];

	set(id: number, register: number, ...values: number[]): void {
		for (const [at, value] of values.entries()) {
			this.memory.set(`${id}/${register + at}`, value);
		}
	}

	read(): ArrayBuffer | undefined {
		const bytes = this.waiting.splice(0);
		return bytes.length > 0 ? Uint8Array.from(bytes).buffer : undefined;
	}

	write(bytes: ArrayBuffer): void {
		this.take([...new Uint8Array(bytes)]);
	}

	close(): void {}

	receive(bytes: readonly number[]): void {
		this.waiting.push(...bytes);
	}

	private take(bytes: number[]): void {
		this.sent.push(bytes);
		const [, , id = 0, , instruction, register = 0, ...rest] = bytes.slice(0, -1);
		const values = [];
		if (instruction === 2) {
			for (let at = 0; at < (rest[0] ?? 0); at += 1) {
				values.push(this.memory.get(`${id}/${register + at}`) ?? 0);
			}
		} else {
			this.set(id, register, ...rest);
		}
		const answer = this.change(packet(id, values.length + 2, this.faults, ...values));
		void Promise.resolve().then(() => this.receive([...(this.hasEcho ? bytes : []), ...(answer ?? [])]));
	}
}

function bus() {
	const wire = new Wire();
	const timer = new FakeTimer();
	return { wire, timer, bus: scsBus(wire, timer) };
}

function servo() {
	const setup = bus();
	setup.wire.set(1, 56, 460 >> 8, 460 & 0xff);
	const arm = openScsServo(setup.bus, setup.timer, { id: 1, zero: 460, min: -128, max: 128 });
	return { ...setup, arm };
}

/** A servo that arrives at once. */
class FakeServo {
	readonly error = undefined;
	/** Angles and speeds. */
	readonly moves: (readonly [angle: number, speed: number])[] = [];
	target: number | undefined;
	angle: number | undefined;

	readonly min: number;
	readonly max: number;

	constructor(min: number, max: number) {
		this.min = min;
		this.max = max;
	}

	async move(angle: number, speed = 120): Promise<void> {
		this.moves.push([angle, speed]);
		this.target = angle;
	}
}

function head() {
	const timer = new FakeTimer();
	const yaw = new FakeServo(-128, 128);
	const pitch = new FakeServo(5, 85);
	const sleep = (delay: number): Promise<void> => new Promise((resolve) => void timer.set(resolve, delay));
	return { timer, yaw, pitch, sleep, head: servoHead({ yaw, pitch }) };
}

/** Lets time pass, step by step, until a promise is settled. */
async function pass<Value>(timer: FakeTimer, promise: Promise<Value>): Promise<Value> {
	let isDone = false;
	const done = promise.finally(() => {
		isDone = true;
	});
	done.catch(() => {});
	for (let step = 0; step < 500 && !isDone; step += 1) {
		await settled();
		timer.pass(10);
	}
	return await done;
}

/** Lets time pass. @param milliseconds default 300 */
const wait = (timer: FakeTimer, milliseconds = 300): Promise<void> =>
	pass(timer, new Promise<void>((resolve) => void timer.set(resolve, milliseconds)));

export default suite("a head on serial servos", {
	"SCS: reads and writes registers, one packet at a time": given(bus, async ({ wire, timer, bus: scs }) => {
		wire.set(2, 56, 0x02, 0x6c);
		const answers: number[][] = [];
		const read = scs.queue(async () => void answers.push(await scs.read(2, 56, 2)));
		const written = scs.queue(async () => void answers.push(await scs.write(2, 40, 1)));
		await settled();
		await pass(timer, Promise.all([read, written]));
		equal(answers, [[0, 0x02, 0x6c], [0]]);
		equal(wire.sent, [
			[0xff, 0xff, 2, 4, 2, 56, 2, 0xbd],
			[0xff, 0xff, 2, 4, 3, 40, 1, 0xcd],
		]);
	}),
	"SCS: ignores its own bytes, noise, and a late answer of another servo": given(
		bus,
		async ({ wire, timer, bus: scs }) => {
			wire.hasEcho = true;
			wire.set(1, 56, 1, 2);
			wire.change = (answer) => [0x00, 0xff, ...packet(2, 4, 0, 9, 9), ...packet(1, 2, 0), ...answer];
			equal(await pass(timer, scs.read(1, 56, 2)), [0, 1, 2]);
		},
	),
	"SCS: repeats a packet once, then reports that a servo does not answer": given(
		bus,
		async ({ wire, timer, bus: scs }) => {
			let isLost = true;
			wire.change = (answer) => {
				const seen = isLost ? undefined : answer;
				isLost = false;
				return seen;
			};
			equal(await pass(timer, scs.write(1, 40, 0)), [0]);
			equal(wire.sent.length, 2);
			wire.change = () => undefined;
			matches(await failureOf(pass(timer, scs.write(1, 40, 0))), /^servo 1: no answer$/);
			equal(wire.sent.length, 4);
			wire.change = (answer) => answer;
			equal(await pass(timer, scs.write(2, 40, 0)), [0]);
		},
	),
	"SCS: drops noise between packets": given(bus, async ({ wire, timer, bus: scs }) => {
		// The start of a long packet, to which later bytes would be added.
		wire.receive([0xff, 0xff, 1, 200, 0]);
		wire.set(1, 56, 1, 2);
		equal(await pass(timer, scs.read(1, 56, 2)), [0, 1, 2]);
	}),
	"SCS: refuses an answer with a wrong checksum": given(bus, async ({ wire, timer, bus: scs }) => {
		wire.change = (answer) => [...answer.slice(0, -1), (answer.at(-1) ?? 0) ^ 1];
		matches(await failureOf(pass(timer, scs.read(1, 56, 2))), /^servo 1: wrong checksum$/);
	}),
	"SCS: refuses half an answer": given(bus, async ({ wire, timer, bus: scs }) => {
		wire.change = (answer) => answer.slice(0, -1);
		matches(await failureOf(pass(timer, scs.read(1, 56, 2))), /^servo 1: no answer$/);
	}),
	"SCS0009: names its fault": given(servo, async ({ wire, timer, arm }) => {
		const faults = [];
		for (const bits of [1, 2, 4, 8, 32]) {
			wire.faults = bits;
			await pass(timer, arm.move(10, 100));
			await wait(timer);
			faults.push(arm.error?.split(":")[1]);
		}
		equal(faults, [" wrong voltage", " position sensor failed", " too hot", " too much current", " overload"]);
	}),
	"SCS0009: reads where it is, and moves with torque at a speed": given(servo, async ({ wire, timer, arm }) => {
		await wait(timer);
		equal([arm.angle, arm.error], [0, undefined]);
		wire.sent.length = 0;
		await pass(timer, arm.move(-50, 100));
		// 460 - 50 * 3.2 = 300 and 100 * 3.2 = 320.
		equal(wire.sent.slice(0, 2), [packet(1, 4, 3, 40, 1), packet(1, 9, 3, 42, 1, 44, 0, 0, 1, 64)]);
	}),
	"SCS0009: switches its motor off at rest": given(servo, async ({ wire, timer, arm }) => {
		await settled();
		wire.set(1, 66, 1);
		await pass(timer, arm.move(10, 100));
		await wait(timer);
		equal(wire.memory.get("1/40"), 1);
		wire.set(1, 56, 492 >> 8, 492 & 0xff);
		wire.set(1, 66, 0);
		await wait(timer);
		equal([wire.memory.get("1/40"), arm.angle, arm.error], [0, 10, undefined]);
	}),
	"SCS0009: lets go of a head that is held, and reports it until the next move": given(
		servo,
		async ({ wire, timer, arm }) => {
			await settled();
			wire.set(1, 66, 1);
			await pass(timer, arm.move(10, 100));
			wire.faults = 32;
			await wait(timer);
			equal([wire.memory.get("1/40"), arm.error], [0, "servo 1: overload: the arm is blocked or held"]);
			wire.faults = 0;
			await pass(timer, arm.move(10, 100));
			equal([wire.memory.get("1/40"), arm.error], [1, undefined]);
		},
	),
	"SCS0009: reports that it does not answer": given(servo, async ({ wire, timer, arm }) => {
		wire.change = () => undefined;
		matches(await failureOf(pass(timer, arm.move(10, 100))), /^servo 1: no answer$/);
		equal(arm.error, "servo 1: no answer");
	}),
	"SCS0009: refuses angles out of its range": given(servo, async ({ arm }) => {
		matches(await failureOf(arm.move(129)), /^angle: servo moves from -128 to 128 degrees, not to 129$/);
	}),
	"SCS0009: answers later than at the start": given(bus, async ({ wire, timer, bus: scs }) => {
		wire.set(1, 56, 460 >> 8, 460 & 0xff);
		wire.change = () => undefined;
		const arm = openScsServo(scs, timer, { id: 1, zero: 460, min: -128, max: 128 });
		await wait(timer);
		equal([arm.angle, arm.error], [undefined, "servo 1: no answer"]);
		wire.change = (answer) => answer;
		await wait(timer, 1_500);
		equal([arm.angle, arm.error, timer.size], [0, undefined, 0]);
	}),
	"SCS0009: switches its motor off after a move that failed": given(servo, async ({ wire, timer, arm }) => {
		await settled();
		// The write to the goal register (42) gets no answer.
		wire.change = (answer) => (wire.sent.at(-1)?.[5] === 42 ? undefined : answer);
		matches(await failureOf(pass(timer, arm.move(10, 100))), /^servo 1: no answer$/);
		equal([wire.memory.get("1/40"), arm.error], [1, "servo 1: no answer"]);
		await wait(timer, 1_500);
		equal([wire.memory.get("1/40"), arm.error, timer.size], [0, undefined, 0]);
	}),
	"SCS0009: switches its motor off after a reading that failed": given(servo, async ({ wire, timer, arm }) => {
		await settled();
		await pass(timer, arm.move(10, 100));
		wire.change = () => undefined;
		await wait(timer, 500);
		equal([wire.memory.get("1/40"), arm.error], [1, "servo 1: no answer"]);
		wire.change = (answer) => answer;
		await wait(timer, 1_500);
		equal([wire.memory.get("1/40"), arm.error, timer.size], [0, undefined, 0]);
	}),
	"SCS0009: is read only some time after a move, also after one that waited for the bus": given(
		servo,
		async ({ wire, timer, bus: scs, arm }) => {
			await settled();
			wire.set(1, 66, 1);
			await pass(timer, arm.move(10, 100));
			await wait(timer, 50);
			void scs.queue(() => new Promise((resolve) => void timer.set(resolve, 100)));
			await pass(timer, arm.move(20, 100));
			await wait(timer, 50);
			// The goal register is 42.
			equal(wire.sent.at(-1)?.[5], 42);
		},
	),
	"SCS0009: gives up on a move that does not end": given(servo, async ({ wire, timer, arm }) => {
		await settled();
		wire.set(1, 66, 1);
		await pass(timer, arm.move(10, 100));
		await wait(timer, 4_000);
		equal(wire.memory.get("1/40"), 1);
		await wait(timer, 1_500);
		equal([wire.memory.get("1/40"), arm.error, timer.size], [0, "servo 1: does not come to rest", 0]);
	}),
	"self.servo.move reports the new angle of a servo of a head": given(servo, async ({ timer, arm }) => {
		await settled();
		const client = clientOf({ servos: { arm } });
		client.initialize("2025-11-25");
		await callTool(client, "self.servo.move", { name: "arm", angle: 30 });
		await wait(timer);
		equal(words(client.heard()[0]), '{"angle":30}');
	}),
	"self.servo.move reports that a servo of a head does not answer": given(servo, async ({ wire, timer, arm }) => {
		await settled();
		wire.change = () => undefined;
		const client = clientOf({ servos: { arm } });
		client.initialize("2025-11-25");
		await callTool(client, "self.servo.move", { name: "arm", angle: 30 });
		await wait(timer, 1_000);
		equal(words(client.heard()[0]), "servo 1: no answer");
	}),
	"self.head.move moves one axis or both": given(head, async ({ head: part, yaw, pitch }) => {
		const client = clientOf({ head: part });
		client.initialize("2025-11-25");
		const call = async (args: object) => await callTool(client, "self.head.move", args);
		await call({ yaw: -30 });
		await call({ pitch: 40, speed: 60 });
		equal([yaw.moves, pitch.moves], [[[-30, 120]], [[40, 60]]]);
	}),
	"self.head.move refuses directions that the head does not reach": given(head, async ({ head: part }) => {
		const client = clientOf({ head: part });
		client.initialize("2025-11-25");
		const call = async (args: object) => await callTool(client, "self.head.move", args);
		equal(words(await call({})), "expected yaw, pitch or both");
		equal(words(await call({ pitch: 0 })), "angle: pitch moves from 5 to 85 degrees, not to 0");
	}),
	"looks at a point, as far as it turns": given(head, async ({ head: part }) => {
		equal(await part.lookAt(100, 0, 100), { yaw: 0, pitch: 45 });
		equal(await part.lookAt(0, -50, 20), { yaw: -90, pitch: 22 });
		equal(await part.lookAt(-100, 1, -40), { yaw: 128, pitch: 5 });
	}),
	"nods and shakes around its last angle": given(head, async ({ timer, yaw, pitch, sleep, head: part }) => {
		await part.move({ yaw: 120, pitch: 10 }, 100);
		equal(
			[await pass(timer, part.gesture("nod", sleep)), await pass(timer, part.gesture("shake", sleep))],
			[true, true],
		);
		equal(
			[pitch, yaw].map(({ moves }) => moves.map(([angle]) => angle)),
			[
				[10, 25, 10, 25, 10],
				[120, 100, 128, 100, 128, 120],
			],
		);
	}),
	"ends a gesture when the head moves otherwise": given(head, async ({ timer, yaw, sleep, head: part }) => {
		const shaking = part.gesture("shake", sleep);
		await settled();
		await part.move({ yaw: 60 }, 100);
		equal(await pass(timer, shaking), false);
		equal(yaw.target, 60);
	}),
	"ends a gesture when its servo moves otherwise": given(head, async ({ timer, yaw, sleep, head: part }) => {
		const shaking = part.gesture("shake", sleep);
		await settled();
		await yaw.move(90);
		equal(await pass(timer, shaking), false);
		equal(yaw.target, 90);
	}),
	"continues a gesture while the other axis moves": given(head, async ({ timer, yaw, pitch, sleep, head: part }) => {
		const shaking = part.gesture("shake", sleep);
		await settled();
		await part.move({ pitch: 40 });
		equal(await pass(timer, shaking), true);
		equal([yaw.target, pitch.target], [0, 40]);
	}),
	"ends a gesture whose call is cancelled": given(head, async ({ yaw, head: part }) => {
		const cancelled = (): Promise<void> => Promise.reject(new Error("cancelled"));
		matches(await failureOf(part.gesture("shake", cancelled)), /^cancelled$/);
		equal(yaw.moves.length, 1);
	}),
	"PY32: switches the servos on": given(fakeBus, ({ bus: i2c, writes }) => {
		setExpander(i2c, { driver: "py32", outputs: { 0: 1, 13: 0 } });
		equal(writes.splice(0), [
			[0x6f, 5, 1],
			[0x6f, 3, 1],
			[0x6f, 6, 0],
			[0x6f, 4, 0x20],
		]);
	}),
	"PY32: shows one colour on all LEDs": given(fakeBus, ({ bus: i2c, writes }) => {
		const light = openPy32Light(i2c, 2);
		light.on = true;
		light.brightness = 100;
		writes.length = 0;
		light.color = 0xff8000;
		equal(writes, [
			[0x6f, 0x30, 0x00],
			[0x6f, 0x31, 0xfc],
			[0x6f, 0x32, 0x00],
			[0x6f, 0x33, 0xfc],
			[0x6f, 0x24, 0x42],
		]);
	}),
	"PY32: writes no colour that the LEDs show already": given(fakeBus, ({ bus: i2c, writes, absent }) => {
		const light = openPy32Light(i2c, 2);
		absent.add(0x6f);
		throws(() => {
			light.on = true;
		}, /^write failed$/);
		absent.clear();
		writes.length = 0;
		light.on = true;
		equal(writes.length, 5);
		light.color = 0xffffff;
		equal(writes.length, 5);
	}),
	"PY32: closes a chip that does not answer": given(fakeBus, ({ bus: i2c, absent, open }) => {
		absent.add(0x6f);
		throws(() => openPy32Light(i2c, 2), /^write failed$/);
		equal(open.size, 0);
	}),
});

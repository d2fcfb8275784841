import power from "../../src/features/power.js";
import { powerBattery } from "../../src/hardware/drivers/open-power.js";
import { registerSpeaker } from "../../src/hardware/drivers/register-speaker.js";
import { boardOnBus, FailingBus } from "../doubles/failing-bus.js";
import { makeFace } from "../doubles/fake-canvas.js";
import { FakeTimer, installGuard } from "../doubles/fake-timer.js";
import { listening, start, startOn } from "../doubles/started-application.js";
import { equal, matches, ok, settled, suite, throws } from "../harness.js";

const MINUTE = 60_000;

function run(isDown = false) {
	const bus = new FailingBus();
	const timer = new FakeTimer();
	const hardware = boardOnBus(bus, timer);
	const { board, follower, ticks, log } = hardware;
	bus.isDown = isDown;
	const started = startOn({
		board,
		features: [listening(follower), power],
		timer,
		ticks,
		log: (line) => log.push(line),
	});
	const machine = installGuard(started.application.guard);
	const socket = started.greet();
	const say = (payload: object): void => socket.arrive([JSON.stringify({ type: "mcp", payload })]);
	let id = 0;
	const ask = async (method: string, params: object = {}): Promise<string> => {
		id += 1;
		socket.grant(100_000);
		say({ jsonrpc: "2.0", id, method, params });
		await settled();
		return socket.messages.filter((text) => text.includes(`"id":${id},`)).at(-1) ?? "";
	};
	return { ...hardware, ...machine, bus, timer, log, ask, application: started.application, socket };
}

/** A run whose machine is released whatever happens. */
const withRun =
	(isDown: boolean, test: (device: ReturnType<typeof run>) => Promise<void>) => async (): Promise<void> => {
		const device = run(isDown);
		try {
			await test(device);
		} finally {
			device.release();
			device.canvas.forget();
		}
	};

async function useEverything({ bus, board, timer, canvas, ask }: ReturnType<typeof run>): Promise<void> {
	await ask("initialize", { protocolVersion: "2024-11-05", capabilities: {} });
	board.camera.capture().catch(() => {});
	for (let minute = 0; minute < 10; minute += 1) {
		bus.interrupt();
		for (const each of Object.values(board.buttons)) {
			each.onPress?.({ long: minute % 2 === 1, milliseconds: 100 });
		}
		timer.pass(MINUTE);
		canvas.forget();
		await ask("ping");
	}
	for (const [name, args] of CALLS) {
		matches(await ask("tools/call", { name, arguments: args }), /"(result|error)"/);
	}
}

const CALLS: readonly (readonly [string, object])[] = [
	["self.get_device_status", {}],
	["self.get_system_info", {}],
	["self.audio_speaker.set_volume", { volume: 10 }],
	["self.audio_speaker.chime", {}],
	["self.screen.set_brightness", { brightness: 20 }],
	["self.screen.set_theme", { theme: "dark" }],
	["self.light.set", { light: "pixels", on: true }],
	["self.light.set", { light: "led", on: true }],
	["self.sensor.read", { sensor: "motion" }],
	["self.sensor.read", { sensor: "soil" }],
	["self.switch.set", { name: "pump", on: true }],
	["self.servo.move", { name: "arm", angle: 90 }],
	["self.line.send", { name: "meter", text: "hello" }],
];

export default suite("hardware that fails", {
	"every kind of part is called, and works as long as its bus does": withRun(false, async ({ ask }) => {
		await ask("initialize", { protocolVersion: "2024-11-05", capabilities: {} });
		for (const [name, args] of CALLS) {
			const answer = await ask("tools/call", { name, arguments: args });
			equal(/"isError":true|"error":/.test(answer), false, answer);
		}
	}),
	"the device runs on when its bus fails at every access, and answers": withRun(false, async (device) => {
		device.bus.isDown = true;
		await useEverything(device);
		ok(device.bus.failures > 100);
		ok(device.guard.count > 0);
		equal(device.application.state === "fatal_error", false);
	}),
	"the device starts when its bus fails at every access": withRun(true, async (device) => {
		await useEverything(device);
		ok(device.guard.count > 0);
	}),
	"the device works again when its bus does": withRun(false, async (device) => {
		const { bus, timer, ask, board } = device;
		bus.isDown = true;
		await useEverything(device);
		bus.isDown = false;
		timer.pass(2 * MINUTE);
		const status = await ask("tools/call", { name: "self.get_device_status", arguments: {} });
		matches(status, /battery/);
		equal(/writeRead failed/.test(status), false, status);
		await ask("tools/call", { name: "self.switch.set", arguments: { name: "pump", on: true } });
		equal(board.switches?.pump?.on, true);
	}),
	"says so in the log, at most once in ten seconds, and in the system information": withRun(false, async (device) => {
		const { bus, log, ask } = device;
		bus.isDown = true;
		const from = log.length;
		await useEverything(device);
		const lines = log.slice(from).filter((line) => line.includes("since the start: Error: writeRead failed"));
		ok(lines.length > 0 && lines.length <= 61, `${lines.length} lines`);
		const info = await ask("tools/call", { name: "self.get_system_info", arguments: {} });
		matches(info, /last_error.*writeRead failed/);
	}),
	"a battery that cannot be read is absent from the status and the screen": withRun(false, async (device) => {
		const { bus, timer, ask } = device;
		await ask("initialize", { protocolVersion: "2024-11-05", capabilities: {} });
		matches(await ask("tools/call", { name: "self.get_device_status", arguments: {} }), /battery/);
		bus.isDown = true;
		timer.pass(MINUTE);
		const status = await ask("tools/call", { name: "self.get_device_status", arguments: {} });
		equal([/battery/.test(status), /audio_speaker/.test(status)], [false, true]);
	}),
	"screen and speaker open when their chips do not answer"() {
		const bus = new FailingBus();
		bus.isDown = true;
		const chip = bus.wrap({ brightness: 0, readByte: () => 0, writeByte: () => {} });
		const { screen, draw } = makeFace({ backlight: powerBattery(chip) });
		screen.show({ state: "idle" });
		ok(draw().areas.length > 0);
		equal(registerSpeaker(() => bus.access(), 1, 256).volume, 70);
	},
	"a brightness that could not be set is not reported"() {
		const bus = new FailingBus();
		const chip = bus.wrap({ brightness: 0, readByte: () => 0, writeByte: () => {} });
		const { screen } = makeFace({ backlight: powerBattery(chip) });
		bus.isDown = true;
		throws(() => {
			screen.brightness = 20;
		}, /writeRead failed/);
		throws(() => {
			screen.light = 0;
		}, /writeRead failed/);
		equal([screen.brightness, screen.light], [75, 100]);
	},
	"a relay that could not be switched off is switched off as soon as its pin answers": withRun(
		false,
		async (device) => {
			const { bus, timer, board, pins } = device;
			const pump = board.switches?.pump;
			pump?.turn(true, 5);
			equal(pins.level(26), 1);
			bus.isDown = true;
			timer.pass(20_000);
			equal([pins.level(26), pump?.on], [1, true]);
			bus.isDown = false;
			timer.pass(2_000);
			equal([pins.level(26), pump?.on], [0, false]);
		},
	),
	"a listener that fails does not keep an event from the others"() {
		const seen: string[] = [];
		const failing = {
			onOnline: () => {
				throw new Error("on purpose");
			},
		};
		const features = [listening(failing, { onOnline: () => void seen.push("online") })];
		const { log } = start(undefined, {}, undefined, { features });
		equal(seen, ["online"]);
		ok(log.some((line) => line.includes("on purpose")));
	},
});

import type { Hardware } from "../../src/hardware/hardware.js";
import { callTool, clientOf, type Wire, words } from "../doubles/client.js";
import { boardWithParts, FakeSensor } from "../doubles/fake-board.js";
import { equal, given, matches, suite } from "../harness.js";

class FakeServo {
	readonly min = 0;
	readonly max = 180;
	readonly error = undefined;
	angle = 0;
	move(angle: number): void {
		this.angle = angle;
	}
}

/** A switch or siren that notes its calls. */
class FakeSwitch {
	readonly left = undefined;
	readonly error = undefined;
	readonly onChange = undefined;
	readonly calls: unknown[] = [];
	on = true;
	turn(on: boolean, ...rest: unknown[]): void {
		this.on = on;
		this.calls.push([on, ...rest]);
	}
	toggle(): void {}
}

const json = (answer: Wire): object => JSON.parse(words(answer));

const SET = "self.light.set";
const READ = "self.sensor.read";

export default suite("tools for lights and sensors", {
	"are offered only if the board has one"() {
		const offered = (board: Hardware): string[] =>
			clientOf(board)
				.names()
				.filter((name) => name === SET || name === READ);
		equal(offered({}), []);
		equal(offered({ lights: { led: { on: false } } }), [SET]);
		equal(offered({ sensors: { room: new FakeSensor(1) } }), [READ]);
	},
	"turn a light on and off, dim it and change its colour": given(boardWithParts, ({ lights }) => {
		const { lamp } = lights;
		const client = clientOf({ lights });
		equal(words(client.call(SET, { light: "lamp", on: true })), "true");
		equal(lamp, { on: true, brightness: 50, color: 0xffffff });
		client.call(SET, { light: "lamp", brightness: 20, color: "#FF8000" });
		equal(lamp, { on: true, brightness: 20, color: 0xff8000 });
		client.call(SET, { light: "lamp", on: false });
		equal(lamp, { on: false, brightness: 20, color: 0xff8000 });
	}),
	"say how a light is after setting it, and where a servo is": given(boardWithParts, async ({ lights }) => {
		const servos = { flap: new FakeServo() };
		const client = clientOf({ lights, servos });
		client.initialize("2025-11-25");
		equal(client.call(SET, { light: "lamp", brightness: 20, color: "#FF8000" }).result.structuredContent, {
			on: true,
			brightness: 20,
			color: "#ff8000",
		});
		const moved = await callTool(client, "self.servo.move", { name: "flap", angle: 30 });
		equal(moved.result.structuredContent, { angle: 30 });
	}),
	"turn a light on by its brightness or colour, and off by brightness 0": given(boardWithParts, ({ lights }) => {
		const { lamp } = lights;
		const client = clientOf({ lights });
		client.call(SET, { light: "lamp", color: "#000001" });
		equal(lamp, { on: true, brightness: 50, color: 1 });
		client.call(SET, { light: "lamp", brightness: 0 });
		equal(lamp, { on: false, brightness: 50, color: 1 });
		client.call(SET, { light: "lamp", brightness: 30 });
		equal(lamp, { on: true, brightness: 30, color: 1 });
		client.call(SET, { light: "lamp", on: false, color: "#000002" });
		equal(lamp, { on: false, brightness: 30, color: 2 });
	}),
	"need no name if there is only one light"() {
		const led = { on: false };
		clientOf({ lights: { led } }).call(SET, { on: true });
		equal(led, { on: true });
	},
	"are toggled by a call that says nothing else"() {
		const led = { on: false };
		const client = clientOf({ lights: { led } });
		client.call(SET);
		equal(led.on, true);
		client.call(SET);
		equal(led.on, false);
	},
	"switch on by a time or a pattern, also what is on"() {
		const pump = new FakeSwitch();
		const alarm = new FakeSwitch();
		const client = clientOf({ switches: { pump }, sirens: { alarm } });
		client.call("self.switch.set", { name: "pump", seconds: 5 });
		client.call("self.switch.set", { name: "pump" });
		equal(pump.calls, [
			[true, 5],
			[false, undefined],
		]);
		client.call("self.siren.set", { name: "alarm", seconds: 5 });
		client.call("self.siren.set", { name: "alarm", on_seconds: 2 });
		client.call("self.siren.set", { name: "alarm" });
		equal(alarm.calls, [
			[true, 5, undefined],
			[true, undefined, { on: 2, off: 1 }],
			[false, undefined, undefined],
		]);
	},
	"are not idempotent where they toggle"() {
		const part = new FakeSwitch();
		const client = clientOf({ lights: { led: part }, switches: { part }, sirens: { part } });
		client.initialize("2025-11-25");
		const { tools } = client.ask("tools/list").result;
		const setters = tools.filter(({ name }: Wire) => /^self\.(light|switch|siren)\.set$/.test(name));
		equal(
			setters.map(({ annotations }: Wire) => annotations.idempotentHint),
			[false, false, false],
		);
	},
	"name the lights there are if none of them is meant, and what a light cannot do"() {
		const { lights } = boardWithParts();
		const client = clientOf({ lights });
		const why = (args: object): string => client.call(SET, args).error.message;
		equal(why({ on: true }), "light: expected one of lamp, led");
		equal(why({ light: "sun", on: true }), 'light: expected one of lamp, led, not "sun"');
		equal(why({ light: "constructor", on: true }), 'light: expected one of lamp, led, not "constructor"');
		equal(why({ light: "led", brightness: 5 }), "brightness: this light cannot be dimmed");
		equal(why({ light: "led", color: "#ff0000" }), "color: this light has one colour only");
		equal(why({ light: "lamp", color: "red" }), 'color: expected #rrggbb, not "red"');
		matches(why({ light: "lamp", brightness: 101 }), /^brightness: expected/);
		equal(lights, boardWithParts().lights);
	},
	"read one sensor, or all": given(boardWithParts, ({ sensors }) => {
		const client = clientOf({ sensors });
		const room = { kind: "temperature", value: 21.5, unit: "°C" };
		equal(json(client.call(READ, { sensor: "room" })), { room });
		equal(json(client.call(READ)), { room, chip: { ...room, value: { x: 1, y: 2 } } });
		equal(client.call(READ, { sensor: "sun" }).error.message, 'sensor: expected one of room, chip, not "sun"');
	}),
	"say why a sensor cannot be read, and read the others all the same": given(boardWithParts, ({ sensors }) => {
		sensors.room.reading = new Error("no answer");
		const client = clientOf({ sensors });
		equal(client.call(READ, { sensor: "room" }).error.message, "no answer");
		equal(json(client.call(READ)), {
			room: { kind: "temperature", error: "no answer" },
			chip: { kind: "temperature", value: { x: 1, y: 2 }, unit: "°C" },
		});
	}),
	"show lights and sensors in the device's status": given(boardWithParts, ({ lights, sensors }) => {
		equal(json(clientOf({ lights, sensors }).call("self.get_device_status")), {
			lights: { lamp: { on: false, brightness: 50, color: "#ffffff" }, led: { on: false } },
			sensors: {
				room: { kind: "temperature", value: 21.5, unit: "°C" },
				chip: { kind: "temperature", value: { x: 1, y: 2 }, unit: "°C" },
			},
		});
	}),
});

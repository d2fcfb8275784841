import Time from "time";
import Timer from "timer";
import * as host from "virtual-host";
import type { Chat } from "../../assistant.js";
import { TimedButton } from "../../drivers/button.js";
import { type ShownLight, shownLight } from "../../drivers/light-state.js";
import type { Board } from "../../hardware.js";
import { servoHead, type TurningServo } from "../../head.js";
import type { Reading, Sensor } from "../../kinds/sensor.js";
import { checkAngle } from "../../kinds/servo.js";

/** Minimum time that a button stays down, and up, ms: longer than a contact bounces. */
const MIN_HOLD = 100;

/** Maximum number of changes that wait for that time. Further presses are ignored. */
const MAX_CHANGES = 20;

/** The user's finger on a button. Rapid changes are queued, because they would look like bouncing. */
class Finger {
	readonly button = new TimedButton({ timer: Timer, ticks: () => Time.ticks });
	private isDown = false;
	private changes = 0;
	private last = Promise.resolve();

	/** Presses or releases the button. @param time minimum duration of the new state, ms */
	move(isDown: boolean, time = MIN_HOLD): void {
		if (isDown === this.isDown || (isDown && this.changes >= MAX_CHANGES)) {
			return;
		}
		this.isDown = isDown;
		this.changes += 1;
		this.last = this.last.then(async () => {
			this.button.follow(isDown);
			await new Promise((resolve) => Timer.set(resolve, Math.max(time, MIN_HOLD)));
			this.changes -= 1;
		});
	}
}

/** A light whose changes are shown to the user. Initially white, at half its brightness. */
const virtualLight = (name: string): ShownLight =>
	shownLight({ on: false, brightness: 50, color: 0xffffff }, (state) => host.tell("light", name, { ...state }));

/** A servo whose arm the user sees. */
const virtualServo = (name: "yaw" | "pitch", { min, max }: Pick<TurningServo, "min" | "max">): TurningServo => {
	const servo = {
		min,
		max,
		error: undefined,
		target: undefined as number | undefined,
		angle: undefined as number | undefined,
		async move(angle: number): Promise<void> {
			checkAngle(name, servo, angle);
			servo.target = angle;
			servo.angle = angle;
			host.tell("servo", name, angle);
		},
	};
	return servo;
};

/** A sensor whose value the user enters. */
const virtualSensor = (kind: string, unit: string, initial: Reading) => {
	let reading = initial;
	const sensor = {
		kind,
		unit,
		onChange: undefined as Sensor["onChange"],
		read: () => reading,
		set(next: Reading): void {
			reading = next;
			sensor.onChange?.(next);
		},
	};
	return sensor;
};

const SENSORS = {
	temperature: () => virtualSensor("temperature", "°C", 21.5),
	light: () => virtualSensor("light", "lx", 320),
	motion: () => virtualSensor("motion", "m/s²", { x: 0, y: 0, z: 9.81 }),
};

/** The lights, sensors, buttons and the head of a virtual board, and its prompt. */
export const openParts = (
	board: typeof host.options.board,
): Pick<Board, "buttons" | "lights" | "sensors" | "servos" | "head"> & { readonly chat: Chat } => {
	const fingers = byName(board.buttons, () => new Finger());
	const sensors = byName(board.sensors, (kind) => SENSORS[kind]());
	host.on("button", (name, isDown) => fingers[name]?.move(isDown));
	// The device itself times the press: the host may be busy meanwhile.
	host.on("press", (name, milliseconds) => {
		fingers[name]?.move(true, milliseconds);
		fingers[name]?.move(false);
	});
	host.on("reading", (name, reading) => sensors[name]?.set(reading));
	/** The prompt: lines that the user types and reads. */
	const chat: Chat = { onLine: undefined, show: (line) => host.tell("chat", line) };
	host.on("typed", (text) => chat.onLine?.(text));
	const servos = board.head && {
		yaw: virtualServo("yaw", board.head.yaw),
		pitch: virtualServo("pitch", board.head.pitch),
	};
	return {
		...(servos && { servos, head: servoHead(servos) }),
		...(board.lights.length > 0 && { lights: byName(board.lights, virtualLight) }),
		...(board.sensors.length > 0 && { sensors }),
		...(board.buttons.length > 0 && { buttons: byName(board.buttons, (name) => (fingers[name] as Finger).button) }),
		chat,
	};
};

const byName = <Name extends string, Part>(
	names: readonly Name[],
	open: (name: Name) => Part,
): Readonly<Record<string, Part>> => Object.fromEntries(names.map((name) => [name, open(name)]));

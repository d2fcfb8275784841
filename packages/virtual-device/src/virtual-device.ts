import { createHash, randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { hasOpus } from "xs-mcp/build/opus";
import { readWav } from "xs-mcp-gateway/wav";
import type { ChipValues } from "../platform/io/bus.js";
import { type BoardProfile, VIRTUAL_BOARD } from "./boards.js";
import { type DeviceRun, openRun } from "./device-run.js";
import type { Engine, EngineExit, HeapReport } from "./engine/engine.js";
import { type DeviceEvents, Environment } from "./environment.js";
import type { ScreenPicture } from "./services/drawn-screen.js";
import type { NetworkConditions } from "./services/network-faults.js";
import { type ChipState, findChip, findInput, type PinState } from "./services/pins.js";
import type { Service } from "./services/service.js";
import type { LightState, Surroundings } from "./services/simulated-board.js";

export interface VirtualDeviceOptions {
	/** The bundled firmware that the device starts with: see {@link bundle}. Later it may install other firmware. */
	readonly firmware: string;
	/** Creates the machine that runs it, for every start. */
	readonly startEngine: (onTrace: (text: string) => void) => Promise<Engine>;
	/** The contents of `mc/config`: `backend`, `token`, … */
	readonly config: Readonly<Record<string, unknown>>;
	/** Name that its page shows while its settings have none. */
	readonly name?: string | undefined;
	/** Lower case, with colons. Default: random, and kept as long as the device. */
	readonly macAddress?: string;
	/** File for values that outlive a restart. Default: memory. */
	readonly settingsFile?: string;
	/** Default: a board that has everything. */
	readonly board?: BoardProfile;
	/** Whether the device restarts after its engine ended, as by a watchdog. Default false. */
	readonly watchdog?: boolean;
}

/** Milliseconds until a watchdog restarts a device. */
const WATCHDOG_DELAY = 1_000;

/** Milliseconds for which a backend sees the connections of a device that lost its power. */
const ABANDONED_TIME = 60_000;

/** Milliseconds after a release in which the firmware sees it. */
const RELEASE_TIME = 100;

/**
 * A device without hardware: the firmware on an engine, with Node for sockets, timers, settings and the simulated board.
 */
export class VirtualDevice extends EventEmitter<DeviceEvents> {
	#options: VirtualDeviceOptions;
	/** Lower case, with colons. */
	readonly macAddress: string;
	/** State that restarts do not change. */
	readonly environment: Environment;
	/** Connections left after a power loss. */
	readonly #abandoned = new Set<Service>();
	/** The current run; undefined without one. */
	#run: DeviceRun | undefined;
	#restartTimer: NodeJS.Timeout | undefined;
	/** Levels of inputs of its own buttons that are not pressed. */
	readonly #atRest = new Map<string, number>();
	/** Why the firmware starts, as a chip reports it. */
	#resetReason = "power-on";
	#isStopped = false;
	/** The last line of the log, which has not ended. */
	#line = "";

	/** @throws Error if the settings file exists and cannot be read */
	constructor(options: VirtualDeviceOptions) {
		super();
		this.#options = options;
		this.macAddress = options.macAddress ?? randomMacAddress();
		this.environment = new Environment(this, options.firmware, options.settingsFile);
	}

	get board(): BoardProfile {
		return this.#options.board ?? VIRTUAL_BOARD;
	}

	/** The engine's name, "XS 13.3 (64-bit)", while it runs. */
	get engineName(): string {
		return this.#run?.engine.name ?? "none";
	}

	/** The UUID that the firmware keeps; undefined until it has started for the first time. */
	get uuid(): string | undefined {
		const uuid = this.environment.settings.domains.board?.uuid;
		return typeof uuid === "string" ? uuid : undefined;
	}

	/** Boots the firmware. Rejects if it fails to start. */
	async start(): Promise<void> {
		const engine = await this.#options.startEngine((text) => this.#trace(text));
		if (this.#isStopped) {
			engine.close();
			return;
		}
		this.environment.own = this.board.own ?? {};
		const { script, isOnTrial } = this.environment.flash.boot();
		const run = openRun(engine, this.environment, (delay) => this.#restartIn(delay));
		this.#run = run;
		void engine.exited.then((exit) => this.#ended(run, exit));
		await run.boot(this.#hostConfig(isOnTrial), script);
	}

	/** The heap of the machine, after a collection. `undefined` if the engine does not report it. */
	async heap(): Promise<HeapReport | undefined> {
		return await this.#run?.engine.heap();
	}

	/** Ends the machine with an exception that no guard handles. */
	crash(): void {
		this.#run?.engine.run('globalThis.abort = undefined; throw new Error("crash() was called")').catch(() => {
			// Expected: the exit event reports it.
		});
	}

	/** Names of its buttons: those of its board, and parts of its own at an input. */
	get buttons(): readonly string[] {
		const parts = this.pins.flatMap(({ kind, part }) => (kind === "input" && part !== undefined ? [part] : []));
		return [...this.board.buttons, ...parts];
	}

	/**
	 * Presses and releases a button. Resolves about when the firmware has seen that.
	 *
	 * @param milliseconds how long it is held down
	 * @param button its name. Default: the first one
	 * @throws Error that names the buttons if it has no such one
	 */
	async press(milliseconds = 100, button = this.buttons[0]): Promise<void> {
		if (button === undefined) {
			return;
		}
		if (this.board.buttons.includes(button)) {
			this.#run?.board.tell(["board.press", button, milliseconds]);
			await delay(milliseconds);
		} else {
			this.hold(button, true);
			await delay(milliseconds);
			this.hold(button, false);
		}
		await delay(RELEASE_TIME);
	}

	/** Lets time pass for the firmware at once: its timers fire in their order. Its connections keep real time. */
	async pass(milliseconds: number): Promise<void> {
		await this.#run?.timers.pass(milliseconds);
	}

	/** Presses or releases a button. @throws Error that names the buttons if it has no such one */
	hold(button: string, isDown: boolean): void {
		const pin = this.pins.find(({ part, kind }) => part === button && kind === "input");
		if (this.board.buttons.includes(button)) {
			this.#run?.board.tell(["board.button", button, isDown]);
		} else if (pin === undefined) {
			throw new Error(`${button}: no such button, expected ${this.buttons.join(", ") || "none"}`);
		} else {
			const rest = this.#atRest.get(button) ?? Number(pin.value);
			this.#atRest.set(button, rest);
			this.setPin(pin.pin, isDown ? 1 - rest : rest);
		}
	}

	/** Says a text to the backend's assistant. What both say is emitted as notes. */
	say(text: string): void {
		this.#run?.board.tell(["board.typed", text]);
	}

	/**
	 * Sets the value of a sensor.
	 *
	 * @param sensor "temperature" (°C), "light" (lx) or "motion" (m/s², along x, y and z)
	 */
	measure(sensor: string, reading: number | Readonly<Record<"x" | "y" | "z", number>>): void {
		this.#surround(sensor, ["board.reading", sensor, reading]);
	}

	/** The pins that its firmware has opened, by their numbers. */
	get pins(): readonly PinState[] {
		return this.#run?.pins.all ?? [];
	}

	/**
	 * Sets the level at an input.
	 *
	 * @param which the number of the pin, or the name of the part that has it
	 * @param level 0 or 1, "on" or "off"; 0 to 4,095 of an analog pin; the pulses of a counter; the line that a serial port receives
	 * @throws Error if the firmware has opened no such input, RangeError if it cannot have this value
	 */
	setPin(which: number | string, level: number | string): void {
		const found = findInput(this.pins, which, level);
		this.environment.levels.set(found.pin, found.level);
		this.#run?.pins.set(found.pin, found.level);
	}

	/** Its sensors, and the chips on its I2C bus that its firmware has talked to, by address. */
	get chips(): readonly ChipState[] {
		return this.#run?.chips.all ?? [];
	}

	/**
	 * Sets the readings of a sensor, or the registers of a chip on the bus.
	 *
	 * @param which its address, or the name of its part
	 * @param values readings by name (°C, %, Pa), or bytes of registers by number. Null unplugs it until it is set again
	 * @throws Error if there is no such chip or value, RangeError if the value is out of range
	 */
	setChip(which: number | string, values: ChipValues): void {
		const chip = findChip(this.chips, which, values);
		const before = this.environment.measured.get(chip.address);
		this.environment.measured.set(chip.address, values && { ...before, ...values });
		this.#run?.chips.set(chip, values);
	}

	/** Its name: the stored setting, else the configured one, else the option; empty without one. */
	get name(): string {
		const { name = "", config } = this.#options;
		return String(this.environment.settings.domains["xs-mcp"]?.name ?? config.name ?? name);
	}

	/** The content of its screen; undefined without power, and until the firmware has shown something. */
	get screen(): ScreenPicture | undefined {
		return this.#run?.board.screen;
	}

	/** Its lights that the firmware has set, by name. */
	get lights(): ReadonlyMap<string, LightState> {
		return this.#run?.board.lights ?? new Map();
	}

	/** The angles of its board's servos that have moved, in degrees, by name. */
	get servos(): ReadonlyMap<string, number> {
		return this.#run?.board.servos ?? new Map();
	}

	/** Whether its machine runs. */
	get isRunning(): boolean {
		return this.#run !== undefined;
	}

	/** @param level percent, an integer from 0 to 100 */
	setBattery(level: number, charging: boolean): void {
		this.#surround("battery", ["board.battery", level, charging]);
	}

	/** Strength of the Wi-Fi's signal, dBm. */
	get signal(): number {
		return this.environment.signal;
	}

	set signal(signal: number) {
		this.environment.signal = signal;
		this.#tellNetwork();
	}

	/** The faults of its network. */
	get network(): NetworkConditions {
		return this.environment.faults.conditions;
	}

	set network(conditions: NetworkConditions) {
		this.environment.faults.conditions = conditions;
		this.#tellNetwork();
	}

	/**
	 * Plays a recording to its microphone, which the device hears in real time while it listens.
	 *
	 * @param wav a WAV file
	 * @throws Error if it cannot be read, RangeError if more than five minutes wait to be heard
	 */
	hear(wav: Buffer): void {
		const { sampleRate, samples } = readWav(wav);
		this.environment.microphone.hear(new Int16Array(Uint8Array.from(samples).buffer), sampleRate);
	}

	/** Whether the switch of its microphone is off. */
	get isMuted(): boolean {
		return this.environment.microphone.isMuted;
	}

	set isMuted(isMuted: boolean) {
		this.environment.microphone.isMuted = isMuted;
		this.#surround("microphone", ["board.muted", isMuted]);
	}

	/** Restarts at once. Its connections are closed. */
	restart(): void {
		this.#restartIn(0);
	}

	/**
	 * Replaces its firmware from outside, as by a cable, and restarts at once.
	 *
	 * @param own settings and board, if they differ from before
	 */
	flash(firmware: string, own: Pick<Partial<VirtualDeviceOptions>, "config" | "board"> = {}): void {
		this.#options = { ...this.#options, ...own };
		this.environment.flash.replace(firmware);
		this.#restartIn(0);
	}

	/** Loses its power for a moment: its connections stay open at the other end, and nobody reads from them. */
	brownOut(): void {
		const clients = this.#run?.abandonClients() ?? [];
		for (const client of clients) {
			this.#abandoned.add(client);
		}
		setTimeout(() => this.#closeAbandoned(clients), ABANDONED_TIME).unref();
		this.#restartIn(0, "brownout");
	}

	/** Switches the device off for good. */
	stop(): void {
		this.#isStopped = true;
		clearTimeout(this.#restartTimer);
		this.#halt();
		this.#closeAbandoned([...this.#abandoned]);
	}

	#restartIn(delay: number, resetReason = "software"): void {
		clearTimeout(this.#restartTimer);
		this.#resetReason = resetReason;
		if (!this.#isStopped) {
			this.#restartTimer = setTimeout(() => void this.#restart(), delay);
		}
	}

	async #restart(): Promise<void> {
		this.#halt();
		try {
			await this.start();
			this.emit("restarted");
		} catch {
			// An engine that ends while it boots is reported by #ended.
		}
	}

	#ended(run: DeviceRun, exit: EngineExit): void {
		if (this.#run !== run) {
			return;
		}
		this.#halt();
		this.emit("exit", exit);
		if (this.#options.watchdog) {
			this.#restartIn(WATCHDOG_DELAY, "panic");
		}
	}

	#halt(): void {
		this.#run?.close();
		this.#run = undefined;
		this.emit("halted");
	}

	#closeAbandoned(clients: readonly Service[]): void {
		for (const client of clients) {
			client.close();
			this.#abandoned.delete(client);
		}
	}

	/** The log arrives in pieces, and is emitted in lines. */
	#trace(text: string): void {
		const lines = (this.#line + text).split("\n");
		this.#line = lines.pop() ?? "";
		for (const line of lines) {
			this.emit("trace", line);
		}
	}

	#tellNetwork(): void {
		this.#surround("network", ["board.network", !this.network.lost, this.environment.signal]);
	}

	#surround(part: string, header: Surroundings): void {
		this.environment.surroundings.set(part, header);
		this.#run?.board.tell(header);
		this.emit("surrounded");
	}

	/** @param isOnTrial whether the firmware was installed by an update and is not confirmed */
	#hostConfig(isOnTrial: boolean): object {
		const { settings, flash, levels, measured } = this.environment;
		return {
			resetReason: this.#resetReason,
			config: this.#options.config,
			settings: settings.domains,
			macAddress: this.macAddress,
			board: { ...withCodec(this.board), pins: undefined, own: undefined },
			firmware: { capacity: flash.capacity, isOnTrial },
			pins: [...levels],
			chips: [...measured],
		};
	}
}

/** Removes the codec from the parts if its optional package is not installed. */
function withCodec(board: BoardProfile): BoardProfile {
	return hasOpus() ? board : { ...board, parts: board.parts.filter((part) => part !== "codec") };
}

export const randomMacAddress = (): string => macAddressOf(randomUUID());

/** Derives a MAC address from a name and this computer's name, so that a gateway always sees the same device. */
export function macAddressOf(name: string): string {
	const digits = createHash("sha256").update(`${hostname()}\n${name}`).digest("hex").slice(0, 10);
	// Locally administered, unicast.
	return ["02", ...(digits.match(/../g) ?? [])].join(":");
}

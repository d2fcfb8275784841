import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type BoardProfile, VIRTUAL_BOARD } from "./boards.js";
import type { Engine, EngineExit, HeapReport, Message } from "./engine/engine.js";
import { ReceiveWindow } from "./receive-window.js";
import { type ChipState, Chips, type ChipValues, findChip } from "./services/chips.js";
import { DnsSd } from "./services/dns-sd.js";
import { HttpListeners } from "./services/http-listeners.js";
import { HttpRequests } from "./services/http-requests.js";
import type { TracedMessage } from "./services/message-trace.js";
import { MqttSockets } from "./services/mqtt-sockets.js";
import { type FaultyClient, type NetworkConditions, NetworkFaults } from "./services/network-faults.js";
import type { ScreenPicture } from "./services/pictures.js";
import { describePin, findInput, isInput, type PinState, Pins } from "./services/pins.js";
import type { Service } from "./services/service.js";
import { SettingsStore } from "./services/settings.js";
import { type LightState, SimulatedBoard, type Surroundings } from "./services/simulated-board.js";
import { type PlayedSamples, Sounds } from "./services/sounds.js";
import { Timers } from "./services/timers.js";
import { WebSockets } from "./services/websockets.js";
import { type Started, VirtualFlash } from "./virtual-flash.js";

export interface VirtualDeviceOptions {
	/** The bundled firmware that the device starts with: see {@link bundle}. Later it may install other firmware. */
	readonly firmware: string;
	/** Creates the machine that runs it, for every start. */
	readonly startEngine: (onTrace: (text: string) => void) => Promise<Engine>;
	/** The contents of `mc/config`: `backend`, `token`, … */
	readonly config: Readonly<Record<string, unknown>>;
	/** Lower case, with colons. Default: random, and kept as long as the device. */
	readonly macAddress?: string;
	/** File for values that outlive a restart. Default: memory. */
	readonly settingsFile?: string;
	/** Default: a board that has everything. */
	readonly board?: BoardProfile;
	/** What the simulated camera sees, a JPEG file. Default: a drawn room. */
	readonly photo?: Uint8Array;
	/** Whether the device restarts after its engine ended, as by a watchdog. Default false. */
	readonly watchdog?: boolean;
}

interface Events {
	/** A line of the firmware's log. */
	trace: [line: string];
	/** What the screen shows; `changed` names the members of the face that were shown just now. */
	screen: [screen: ScreenPicture, changed: readonly string[]];
	light: [name: string, light: LightState];
	/** A pin was opened, or its value has changed. */
	pin: [pin: PinState];
	/** The screen shows a picture, a JPEG or PNG file. */
	picture: [picture: Uint8Array];
	/** A message between the device and its backend. */
	message: [message: TracedMessage];
	/** The speaker plays. Silence between two sounds is not reported. */
	samples: [played: PlayedSamples];
	/** A sound has ended. */
	silence: [];
	/** Something that a user would notice. */
	note: [text: string];
	/** A port to serve at could not be opened. */
	listenFailed: [message: string];
	/** The engine ended, by itself or because the firmware asked for a restart. */
	exit: [exit: EngineExit];
	/** Something around it was changed: a sensor's value, the battery, the network. */
	surrounded: [];
	/** The device has no power until it starts. */
	halted: [];
	/** The device is up again after a restart. */
	restarted: [];
}

/** Milliseconds until a watchdog restarts a device. */
const WATCHDOG_DELAY = 1_000;

/** Milliseconds for which a backend sees the connections of a device that lost its power. */
const ABANDONED_TIME = 60_000;

/** Milliseconds after a release in which the firmware sees it. */
const RELEASE_TIME = 100;

/** dBm */
const GOOD_SIGNAL = -52;

/**
 * A device without hardware: the firmware on an engine, with Node for sockets, timers, settings and the simulated board.
 */
export class VirtualDevice extends EventEmitter<Events> {
	readonly #options: VirtualDeviceOptions;
	readonly #settings: SettingsStore;
	readonly #flash: VirtualFlash;
	readonly #macAddress: string;
	readonly #faults = new NetworkFaults((message) => this.emit("message", message));
	/** What was set of its surroundings, by part: restarts change nothing of it. */
	readonly #surroundings = new Map<string, Surroundings>();
	#signal = GOOD_SIGNAL;
	#photo: Uint8Array | undefined;
	#clients: readonly FaultyClient[] = [];
	/** Connections left after a power loss. */
	readonly #abandoned = new Set<Service>();
	#engine: Engine | undefined;
	#services: readonly Service[] = [];
	#board: SimulatedBoard | undefined;
	#pins: Pins | undefined;
	#chips: Chips | undefined;
	/** What was set of its pins and of the chips on its bus, by number and address: restarts change nothing of it. */
	readonly #levels = new Map<number, number | string>();
	readonly #measured = new Map<number, ChipValues>();
	#inbox = this.#makeInbox();
	#pumping = false;
	#restartTimer: NodeJS.Timeout | undefined;
	#stopped = false;
	#line = "";

	/** @throws Error if the settings file exists and cannot be read */
	constructor(options: VirtualDeviceOptions) {
		super();
		this.#options = options;
		this.#settings = new SettingsStore(options.settingsFile);
		this.#flash = new VirtualFlash(options.firmware);
		this.#macAddress = options.macAddress ?? randomMacAddress();
		this.#photo = options.photo;
	}

	get board(): BoardProfile {
		return this.#options.board ?? VIRTUAL_BOARD;
	}

	/** The engine's name, "XS 13.3 (64-bit)", while it runs. */
	get engineName(): string {
		return this.#engine?.name ?? "none";
	}

	get macAddress(): string {
		return this.#macAddress;
	}

	/** The UUID that the firmware keeps; undefined until it has started for the first time. */
	get uuid(): string | undefined {
		const uuid = this.#settings.domains.board?.uuid;
		return typeof uuid === "string" ? uuid : undefined;
	}

	/** Boots the firmware. Rejects if it fails to start. */
	async start(): Promise<void> {
		const engine = await this.#options.startEngine((text) => this.#trace(text));
		if (this.#stopped) {
			engine.close();
			return;
		}
		const started = this.#flash.boot();
		this.#engine = engine;
		this.#services = this.#startServices();
		void engine.exited.then((exit) => this.#ended(engine, exit));
		this.#pumping = true;
		try {
			await engine.run(`globalThis.hostConfig=${JSON.stringify(this.#hostConfig(started))}`);
			this.#serve(await engine.run(started.script));
			for (const header of this.#surroundings.values()) {
				this.#board?.surround(header);
			}
		} finally {
			this.#pumping = false;
		}
		void this.#pump();
	}

	/** The heap of the machine, after a collection. `undefined` if the engine does not report it. */
	async heap(): Promise<HeapReport | undefined> {
		return await this.#engine?.heap();
	}

	/** Makes the firmware throw, to see what a crash leads to. */
	crash(): void {
		this.#engine?.run('throw new Error("crash() was called")').catch(() => {
			// Expected: the exit event reports it.
		});
	}

	/**
	 * Presses and releases a button. Resolves about when the firmware has seen that.
	 *
	 * @param milliseconds how long it is held down
	 * @param button its name. Default: the main button
	 */
	async press(milliseconds = 100, button = this.board.buttons[0]): Promise<void> {
		if (button !== undefined) {
			this.#board?.press(button, milliseconds);
			await delay(milliseconds + RELEASE_TIME);
		}
	}

	/** Presses or releases a button. */
	hold(button: string, isDown: boolean): void {
		this.#board?.holdButton(button, isDown);
	}

	/** Says a text to the backend's assistant. What both say is emitted as notes. */
	say(text: string): void {
		this.#board?.type(text);
	}

	/**
	 * Sets the value of a sensor.
	 *
	 * @param sensor "temperature" (°C), "light" (lx) or "motion" (m/s², along x, y and z)
	 */
	measure(sensor: string, reading: number | Readonly<Record<"x" | "y" | "z", number>>): void {
		this.#surround(sensor, ["board.reading", sensor, reading]);
	}

	/** What was set of its surroundings, by sensors' names, "battery" and "network". */
	get surroundings(): ReadonlyMap<string, Surroundings> {
		return this.#surroundings;
	}

	/** The pins that its firmware has opened, by their numbers. */
	get pins(): readonly PinState[] {
		return this.#pins?.all ?? [];
	}

	/**
	 * Sets what is connected to an input.
	 *
	 * @param which the number of the pin, or the name of the part that has it
	 * @param level 0 or 1, "on" or "off"; 0 to 4,095 of an analog pin; the pulses of a counter; the line that a serial port receives
	 * @throws Error if the firmware has opened no such input, RangeError if it cannot have this value
	 */
	setPin(which: number | string, level: number | string): void {
		const found = findInput(this.pins, which, level);
		this.#levels.set(found.pin, found.level);
		this.#pins?.set(found.pin, found.level);
	}

	/** The chips on its I2C bus that its firmware has talked to, by address. */
	get chips(): readonly ChipState[] {
		return this.#chips?.all ?? [];
	}

	/**
	 * Sets what a chip on the bus measures.
	 *
	 * @param which its address, or the name of the part that has it
	 * @param values °C, %, Pa; bytes of registers by number. Null unplugs it until it is set again
	 * @throws Error if there is no such chip, or it measures something else
	 */
	setChip(which: number | string, values: ChipValues): void {
		const chip = findChip(this.chips, which, values);
		const before = this.#measured.get(chip.address);
		this.#measured.set(chip.address, values && { ...before, ...values });
		this.#chips?.set(chip, values);
	}

	/** Whether its machine runs. */
	get isRunning(): boolean {
		return this.#engine !== undefined;
	}

	/** @param level percent, an integer from 0 to 100 */
	setBattery(level: number, charging: boolean): void {
		this.#surround("battery", ["board.battery", level, charging]);
	}

	/** Strength of the Wi-Fi's signal, dBm. */
	get signal(): number {
		return this.#signal;
	}

	set signal(signal: number) {
		this.#signal = signal;
		this.#tellNetwork();
	}

	/** What is wrong with its network. */
	get network(): NetworkConditions {
		return this.#faults.conditions;
	}

	set network(conditions: NetworkConditions) {
		this.#faults.conditions = conditions;
		this.#tellNetwork();
	}

	/** What the camera sees, a JPEG file; undefined: a drawn room. */
	get photo(): Uint8Array | undefined {
		return this.#photo;
	}

	set photo(photo: Uint8Array | undefined) {
		this.#photo = photo;
		if (this.#board !== undefined) {
			this.#board.photo = photo;
		}
	}

	/** Restarts at once. Its connections are closed. */
	restart(): void {
		this.#restartIn(0);
	}

	/** Replaces its firmware from outside, as by a cable, and restarts at once. */
	flash(firmware: string): void {
		this.#flash.replace(firmware);
		this.#restartIn(0);
	}

	/** Loses its power for a moment: its connections stay open at the other end, and nobody reads from them. */
	brownOut(): void {
		const clients = this.#clients;
		for (const client of clients) {
			client.abandon();
			this.#abandoned.add(client);
		}
		setTimeout(() => this.#closeAbandoned(clients), ABANDONED_TIME).unref();
		this.#services = this.#services.filter((service) => !clients.includes(service as FaultyClient));
		this.#restartIn(0);
	}

	/** Switches the device off for good. */
	stop(): void {
		this.#stopped = true;
		clearTimeout(this.#restartTimer);
		this.#halt();
		this.#closeAbandoned([...this.#abandoned]);
	}

	#tellNetwork(): void {
		this.#surround("network", ["board.network", !this.network.lost, this.#signal]);
	}

	#surround(part: string, header: Surroundings): void {
		this.#surroundings.set(part, header);
		this.#board?.surround(header);
		this.emit("surrounded");
	}

	#closeAbandoned(clients: readonly Service[]): void {
		for (const client of clients) {
			client.close();
			this.#abandoned.delete(client);
		}
	}

	#hostConfig({ isOnTrial }: Started): object {
		return {
			config: this.#options.config,
			settings: this.#settings.domains,
			macAddress: this.#macAddress,
			board: this.board,
			firmware: { capacity: this.#flash.capacity, isOnTrial },
			pins: [...this.#levels],
			chips: [...this.#measured],
		};
	}

	#startServices(): Service[] {
		const inbox = this.#makeInbox();
		this.#inbox = inbox;
		const deliver = (message: Message): void => {
			inbox.add(message);
			if (inbox === this.#inbox) {
				void this.#pump();
			}
		};
		const events = {
			onRestart: (delay: number): void => this.#restartIn(delay),
			onScreen: (screen: ScreenPicture, changed: readonly string[]) => this.emit("screen", screen, changed),
			onLight: (name: string, light: LightState) => this.emit("light", name, light),
			onPicture: (picture: Uint8Array) => this.emit("picture", picture),
			onNote: (text: string) => this.emit("note", text),
		};
		this.#board = new SimulatedBoard(deliver, events, this.#flash);
		this.#board.photo = this.#photo;
		this.#pins = new Pins(deliver, (pin) => this.#pinChanged(pin));
		this.#chips = new Chips(deliver, () => this.emit("surrounded"));
		this.#clients = this.#faults.open(
			[(tell) => new WebSockets(tell), (tell) => new MqttSockets(tell), (tell) => new HttpRequests(tell)],
			deliver,
		);
		return [
			new Timers(deliver),
			...this.#clients,
			new HttpListeners(deliver, (message) => this.emit("listenFailed", message)),
			new DnsSd(deliver),
			this.#settings,
			this.#board,
			this.#pins,
			this.#chips,
			new Sounds(
				deliver,
				(played) => this.emit("samples", played),
				() => this.emit("silence"),
			),
		];
	}

	/** What a person would notice of an output is a note, too. */
	#pinChanged(pin: PinState): void {
		this.emit("pin", pin);
		if (!isInput(pin)) {
			this.emit("note", `${pin.part ?? `pin ${pin.pin}`} is ${describePin(pin)}`);
		}
	}

	/** Delivers waiting messages to the firmware, a window at a time, and handles its messages. */
	async #pump(): Promise<void> {
		const engine = this.#engine;
		if (this.#pumping || engine === undefined) {
			return;
		}
		this.#pumping = true;
		const inbox = this.#inbox;
		try {
			for (let next = inbox.take(); next.length > 0 && this.#engine === engine; next = inbox.take()) {
				this.#serve(await engine.deliver(next));
			}
		} catch {
			// The engine has ended: `exited` has the reason, and #ended handles it.
		} finally {
			if (this.#engine === engine) {
				this.#pumping = false;
			}
		}
	}

	#serve(messages: readonly Message[]): void {
		for (const { header, bytes } of messages) {
			if (!this.#inbox.heed(header)) {
				const [kind = "", ...args] = header as [string, ...unknown[]];
				const [prefix = "", name = ""] = kind.split(".", 2);
				this.#service(prefix)?.take(name, args, bytes);
			}
		}
	}

	#service(prefix: string): Service | undefined {
		return this.#services.find((service) => service.prefix === prefix);
	}

	#makeInbox(): ReceiveWindow {
		const inbox = new ReceiveWindow((prefix, kind, id) => {
			if (inbox === this.#inbox) {
				this.#service(prefix)?.take(kind, [id], undefined);
			}
		});
		return inbox;
	}

	/** The log arrives in pieces, and is emitted in lines. */
	#trace(text: string): void {
		const lines = (this.#line + text).split("\n");
		this.#line = lines.pop() ?? "";
		for (const line of lines) {
			this.emit("trace", line);
		}
	}

	#ended(engine: Engine, exit: EngineExit): void {
		if (this.#engine !== engine) {
			return;
		}
		this.#halt();
		this.emit("exit", exit);
		if (this.#options.watchdog) {
			this.#restartIn(WATCHDOG_DELAY);
		}
	}

	#restartIn(delay: number): void {
		clearTimeout(this.#restartTimer);
		if (!this.#stopped) {
			this.#restartTimer = setTimeout(() => void this.#restart(), delay);
		}
	}

	async #restart(): Promise<void> {
		this.#halt();
		try {
			await this.start();
			this.emit("restarted");
		} catch {
			// As above: an engine that ends while it boots is reported by #ended.
		}
	}

	#halt(): void {
		const engine = this.#engine;
		this.#engine = undefined;
		this.#pumping = false;
		for (const service of this.#services) {
			service.close();
		}
		this.#services = [];
		this.#clients = [];
		this.#board = undefined;
		this.#pins = undefined;
		this.#chips = undefined;
		this.#inbox = this.#makeInbox();
		engine?.close();
		this.emit("halted");
	}
}

/** A locally administered unicast address. */
export function randomMacAddress(): string {
	const bytes = randomBytes(6);
	bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
	return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

import { Guard } from "../hardware/guard.js";
import type { Board, Device, Face, Hardware, System } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import type { AudioParams } from "../hardware/sound.js";
import type { Runtime, TimerModule } from "../hardware/timer.js";
import { type Features, McpServer, type McpServerOptions } from "../mcp_server/mcp-server.js";
import { deviceMessage, ENVELOPE_NAMES } from "../protocols/envelope.js";
import type { HttpClients } from "../protocols/net/http-client.js";
import { messageLimits } from "../protocols/queued-channel.js";
import type { NetworkClients } from "../protocols/transport.js";
import { drawAttention } from "../sound/chime.js";
import type { HardwareTool } from "../tools/define-tool.js";
import { Backend } from "./backend.js";
import { BackendMessages } from "./backend-messages.js";
import { DeviceNetwork } from "./device-network.js";
import { type DeviceState, DeviceStateMachine } from "./device-state.js";
import { Inputs } from "./inputs.js";
import type { Words } from "./language/en.js";
import { type Feature, type Listener, startInOrder } from "./listener.js";
import { observeParts } from "./observed-parts.js";
import { OfflineRestart } from "./offline-restart.js";
import { SafeMode } from "./safe-mode.js";
import { FIRMWARE } from "./settings/firmware.js";
import { readSetting, SettingError, type SettingSource } from "./settings/read-setting.js";
import { type SettingName, type SettingValue, unknownSettings } from "./settings/settings-table.js";
import { StatusIcons } from "./status-icons.js";
import { Talk } from "./talk.js";

/** Values and functions of the platform that the firmware runs on. */
export interface Host extends Runtime {
	readonly board: Board & { readonly system: System };
	/** Settings of the build: the manifest's `config`. */
	readonly built: Readonly<Record<string, unknown>>;
	readonly openNetwork: (built: Readonly<Record<string, unknown>>) => NetworkClients & HttpClients;
	readonly tools: readonly HardwareTool[];
	/** A monotonic clock: milliseconds, as a 32-bit number. Without it the uptime is unknown. */
	readonly ticks?: () => number;
	/** Milliseconds since 1970. Default `Date.now`. */
	readonly now?: () => number;
	/** Counts and logs errors that nobody handles. Default: a new one. */
	readonly guard?: Guard;
	/** Whether the device starts in safe mode. Default false. */
	readonly isSafe?: boolean;
}

/** The firmware put together: the board, its settings, its state, the backend, the MCP server, and the bus of events. */
export class Application implements Device {
	/** Parts of the board. Features add theirs. */
	readonly board: Host["board"] & Hardware;
	readonly built: Host["built"];
	readonly timer: TimerModule;
	readonly guard: Guard;
	readonly isSafe: boolean;
	readonly log: (message: string) => void;
	readonly now: () => number;
	readonly ticks: () => number;
	/** The backend, and the network that leads to it. */
	backend: Backend;
	readonly network: DeviceNetwork;
	/** Turns of the user and the assistant, once the device has started. */
	talk!: Talk;
	/** The MCP server, once the device has started. */
	server!: McpServer<Hardware>;
	/** Tools that are offered if the board has their parts. Emptied once the device has started, to free the others. */
	tools: readonly HardwareTool[];
	/** Resources, prompts and other MCP capabilities. Undefined: tools only. */
	extensions: Features<Hardware> | undefined;
	/** The device's own words. Undefined in a build without them. */
	words: Words | undefined;
	/** Audio format of the board, if a feature plays and records it. */
	audio: AudioParams | undefined;
	/** Version of the firmware that was rolled back before this start. */
	rolledBack: string | undefined;
	/** Fatal error: a setting that cannot be used, so that only features for rescue run. */
	failure: string | undefined;
	/** The board without the observers and parts of the firmware. */
	private readonly bareBoard: Board;
	private readonly openNetwork: Host["openNetwork"];
	private readonly machine: DeviceStateMachine;
	private readonly startTicks: number | undefined;
	private listeners: Listener[] = [];
	private _clients: (NetworkClients & HttpClients) | undefined;

	constructor(host: Host) {
		const { board, timer, log, ticks = () => 0, now = Date.now, isSafe = false } = host;
		this.bareBoard = board;
		this.openNetwork = host.openNetwork;
		this.built = host.built;
		this.timer = timer;
		this.ticks = ticks;
		this.now = now;
		this.isSafe = isSafe;
		this.startTicks = host.ticks?.();
		this.log = (message) => {
			log(message);
			this.emit("onLog", message);
		};
		this.guard = host.guard ?? new Guard(this.log, ticks);
		this.tools = host.tools;
		this.machine = new DeviceStateMachine(this);
		this.board = Object.assign({ ...board }, { device: this });
		observeParts(this);
		this.backend = new Backend(this);
		this.network = new DeviceNetwork(this);
	}

	/** Starts the features, and then the device. A setting that cannot be used is a fatal error. */
	start(features: readonly Feature[]): void {
		const rescue = features.filter(({ rescue }) => rescue);
		try {
			this.talk = new Talk(this);
			this.listen(this.network, new BackendMessages(this), this.talk, new Inputs(this));
			this.listen(new StatusIcons(this), new OfflineRestart(this), this.isSafe && new SafeMode(this));
			startInOrder(this.isSafe ? rescue : features, (each) => each.start(this));
			this.server = this.makeServer();
			this.tools = [];
			this.backend.open();
		} catch (error) {
			if (!(error instanceof SettingError)) {
				throw error;
			}
			this.fail(error, rescue);
			return;
		}
		const { words, board } = this;
		this.logUnknown();
		this.show({ backend: this.backend.label, words, volume: board.speaker?.volume });
		this.enter("starting");
		this.network.start();
		this.emit("onStart");
	}

	/** Shows the error, and starts the features for rescue alone. The device does not restart: that would not help. */
	private fail({ message }: SettingError, rescue: readonly Feature[]): void {
		this.emit("onClose");
		this.listeners = [];
		this.backend = new Backend(this);
		this.failure = message;
		// An observed screen would clear the error after a time.
		Object.assign(this.board, { screen: this.bareBoard.screen });
		this.enter("fatal_error");
		this.logUnknown();
		this.log(`fatal error: ${message}`);
		startInOrder(rescue, (feature) => {
			try {
				feature.start(this);
			} catch (error) {
				this.log(`${feature.name}: could not start: ${String(error)}`);
			}
		});
		const { words } = this;
		this.show({ words, alert: { status: words?.invalidSetting ?? "", message } });
		this.emit("onStart");
	}

	/** Once the features run: one of them keeps the log. */
	private logUnknown(): void {
		const unknown = unknownSettings(this.built);
		if (unknown.length > 0) {
			this.log(`unknown settings: ${unknown.join(", ")}`);
		}
	}

	/** Adds receivers of events. */
	listen(...listeners: readonly (Listener | undefined | false)[]): void {
		this.listeners.push(...listeners.filter((each) => typeof each === "object"));
	}

	/**
	 * Calls each listener that has a method for the event, until one returns true. One that fails does not keep the event
	 * from the others.
	 *
	 * @returns whether a listener has returned true
	 */
	emit<Event extends keyof Listener>(event: Event, ...about: Parameters<Required<Listener>[Event]>): boolean {
		for (const listener of this.listeners) {
			try {
				const method = listener[event] as ((...about: unknown[]) => unknown) | undefined;
				if (method?.apply(listener, about) === true) {
					return true;
				}
			} catch (error) {
				this.guard.report(error);
			}
		}
		return false;
	}

	/** Ends the session and closes the board. */
	stop(): void {
		this.emit("onOffline");
		this.emit("onClose");
		this.backend.close();
		this.bareBoard.close();
	}

	/** Sources of the settings: the stored ones, and those of the build. */
	get source(): SettingSource {
		return { built: this.built, settings: this.board.settings };
	}

	/** Reads a setting. @throws SettingError */
	setting<Name extends SettingName>(name: Name): SettingValue<Name> {
		return readSetting(name, this.source);
	}

	/** The device's MAC address, lower case, with colons. */
	get id(): string {
		return this.board.system.macAddress;
	}

	/** Clients of the network, opened at first use. @throws SettingError */
	get clients(): NetworkClients & HttpClients {
		this._clients ??= this.openNetwork(this.built);
		return this._clients;
	}

	/** Limits of a message's size, in bytes. @throws SettingError */
	get limits(): ReturnType<typeof messageLimits> {
		return messageLimits(this.setting("chunkBytes"));
	}

	get name(): string {
		return this.board.name;
	}

	get state(): DeviceState {
		return this.machine.state;
	}

	get errors(): number {
		return this.guard.count;
	}

	get lastError(): string | undefined {
		return this.guard.lastError;
	}

	get uptime(): number | undefined {
		return this.startTicks === undefined ? undefined : (this.ticks() - this.startTicks) >>> 0;
	}

	/** Enters a state. @returns whether the device is in it now */
	enter(state: DeviceState): boolean {
		return this.machine.enter(state);
	}

	/** Enters the state outside a conversation: "activating" until the backend is known. */
	rest(): void {
		this.enter(this.backend.isSearching ? "activating" : "idle");
	}

	onStateChange(newState: DeviceState, oldState: DeviceState): void {
		this.log(`state ${oldState} -> ${newState}`);
		this.show({ state: newState });
		this.notify("notifications/state_changed", { newState, oldState });
		this.emit("onState", newState);
	}

	/** Notifies the backend and the clients of the device by MCP, in a session. */
	notify(method: string, params: object): void {
		if (this.backend.session !== undefined) {
			this.server.notify(method, params);
		}
		this.emit("onNotification", method, params);
	}

	/** Sends a message of the device that is not MCP. */
	send(type: string, members?: object): void {
		this.backend.send(deviceMessage(this.backend.session?.id ?? "", type, members));
	}

	show(change: Partial<Face>): void {
		this.emit("onFaceChange", change);
		this.board.screen?.show(change);
	}

	/** Shows an alert for a while, and plays the chime. */
	alert(status: keyof Words, message: string): void {
		this.show({ alert: { status: this.words?.[status] ?? "", message } });
		drawAttention(this.board.player, this.log);
	}

	private makeServer(): McpServer<Hardware> {
		const { board, extensions, timer, log } = this;
		const options: McpServerOptions<Hardware> = {
			name: this.setting("name") || board.name,
			version: FIRMWARE.version,
			context: board,
			tools: this.tools.filter((tool) => isOffered(tool, board)),
			names: ENVELOPE_NAMES,
			timer,
			log,
		};
		return extensions?.serve(options) ?? new McpServer(options);
	}
}

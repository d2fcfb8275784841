import type { Words } from "../features/language.js";
import type { BoardServices } from "../hardware/board-data.js";
import { Guard } from "../hardware/guard.js";
import {
	type Board,
	type Device,
	type Face,
	type Hardware,
	isOffered,
	type Runtime,
	type System,
	type TimerModule,
} from "../hardware/hardware.js";
import { type Feature as Extension, FeatureServer } from "../mcp_server/features/feature-server.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import { ENVELOPE_NAMES } from "../protocols/envelope.js";
import { playChime } from "../sound/chime.js";
import type { HardwareTool } from "../tools/define-tool.js";
import { Backend } from "./backend.js";
import { BackendMessages } from "./backend-messages.js";
import { DeviceNetwork, type OpenNetwork } from "./device-network.js";
import { FIRMWARE } from "./firmware.js";
import { Inputs } from "./inputs.js";
import { preferFlashed } from "./known-networks.js";
import { type DeviceState, type Feature, type Listener, startInOrder, TRANSITIONS } from "./listener.js";
import { observeParts } from "./observed-parts.js";
import { OfflineRestart } from "./offline-restart.js";
import { readSetting, SettingError, type SettingSource } from "./read-setting.js";
import { needsSafeMode, SAFE_TOOLS, SafeMode } from "./safe-mode.js";
import { type SettingName, type SettingValue, unknownSettings } from "./settings-table.js";
import { StatusIcons } from "./status-icons.js";
import { type SettingsStore, StoredSettings } from "./stored-settings.js";
import { Talk } from "./talk.js";
import { hostnameOf } from "./text/hostname.js";

/** Delay of a restart, ms, so that queued messages still arrive. */
const RESTART_DELAY = 1000;

/** Values and functions of the platform that the firmware runs on. */
export interface Host extends Runtime {
	openBoard(services: BoardServices): Board & { readonly system: System };
	/** Settings of the build: the manifest's `config`. */
	readonly built: SettingSource["built"];
	/** The flash that the stored settings are in. */
	readonly store: SettingsStore;
	readonly openNetwork: OpenNetwork;
	/** @param wanted modules of tools. Default: all of the build */
	findTools(wanted?: readonly string[]): readonly HardwareTool[];
	/** A monotonic clock: milliseconds, as a 32-bit number. Default: one that stands still. */
	readonly ticks?: () => number;
	/** Milliseconds since 1970. Default `Date.now`. */
	readonly now?: () => number;
}

/** The firmware put together: the board, its settings, its state, the backend, the MCP server, and the bus of events. */
export class Application implements Device {
	readonly log: (message: string) => void;
	/** Lines of the log from before the device has started, with their times, for listeners. Undefined afterwards. */
	private early: [line: string, time: number][] | undefined = [];
	/** Counts and logs errors that nobody handles. */
	readonly guard: Guard;
	private listeners: Listener[] = [];
	/** Parts of the board. Features add theirs. */
	readonly board: ReturnType<Host["openBoard"]> & Hardware;
	/** Values of the settings: those that are stored, and those of the build. */
	readonly source: SettingSource;
	readonly timer: TimerModule;
	readonly ticks: () => number;
	readonly now: () => number;
	readonly isSafe: boolean;
	state: DeviceState = "unknown";
	readonly network: DeviceNetwork;
	backend: Backend;
	/** Turns of the user and the assistant, once the device has started. */
	talk!: Talk;
	/** The MCP server, once the device has started. */
	server!: McpServer<Hardware>;
	/** Tools that are offered if the board has their parts. Emptied once the device has started, to free the others. */
	tools: readonly HardwareTool[];
	/** Resources, prompts and other MCP capabilities. Default: tools only. */
	extensions: readonly Extension<Hardware>[] = [];
	/** The device's own words. Undefined in a build without them. */
	words: Words | undefined;
	/** Fatal error: a setting that cannot be used, so that only features for rescue run. */
	failure: string | undefined;
	/** The board as it was opened, without the observers of its parts. */
	private readonly opened: ReturnType<Host["openBoard"]>;
	private readonly startTicks: number;

	constructor({ openBoard, built, store, openNetwork, findTools, timer, log, ticks = () => 0, now = Date.now }: Host) {
		this.ticks = ticks;
		this.startTicks = ticks();
		this.log = (message) => {
			log(message);
			this.early === undefined ? this.emit("onLog", message) : this.early.push([message, this.uptime]);
		};
		this.guard = new Guard(this.log, ticks);
		const source = { built, settings: new StoredSettings(store, this.log) };
		// Before the board reads its settings.
		preferFlashed(source, this.log);
		const board = openBoard({ source, log: this.log });
		this.opened = board;
		this.board = Object.assign({ ...board }, { device: this });
		this.source = { built, settings: board.settings };
		this.timer = timer;
		this.now = now;
		this.isSafe = needsSafeMode(board, timer);
		this.tools = findTools(this.isSafe ? SAFE_TOOLS : undefined);
		observeParts(this);
		this.network = new DeviceNetwork(this, openNetwork);
		this.backend = new Backend(this);
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

	/** Starts the features, and then the device. After a setting that cannot be used, only features for rescue start. */
	start(features: readonly Feature[]): void {
		const rescue = features.filter(({ rescue }) => rescue);
		try {
			this.talk = new Talk(this);
			this.listen(new BackendMessages(this), this.talk, new Inputs(this));
			this.listen(new StatusIcons(this), new OfflineRestart(this), this.isSafe && new SafeMode(this));
			startInOrder(this.isSafe ? rescue : features, (each) => each.start(this));
			const { board, extensions, timer, log } = this;
			this.server = new FeatureServer(extensions, {
				name: this.setting("name") || board.name,
				version: FIRMWARE.version,
				context: board,
				tools: this.tools.filter((tool) => isOffered(tool, board)),
				names: ENVELOPE_NAMES,
				timer,
				log,
			});
			this.tools = [];
			this.backend.open();
		} catch (error) {
			if (!(error instanceof SettingError)) {
				throw error;
			}
			this.fail(error.message, rescue);
		}
		const { early = [] } = this;
		this.early = undefined;
		for (const line of early) {
			this.emit("onLog", ...line);
		}
		const unknown = unknownSettings(this.source.built);
		if (unknown.length > 0) {
			this.log(`unknown settings: ${unknown.join(", ")}`);
		}
		if (this.failure === undefined) {
			this.show({ backend: this.backend.label, words: this.words, volume: this.board.speaker?.volume });
			this.enter("starting");
			this.network.start();
		}
		this.emit("onStart");
	}

	/** Shows a fatal error. The device does not restart: that would not help. */
	private fail(message: string, rescue: readonly Feature[]): void {
		this.emit("onClose");
		this.listeners = [];
		this.backend = new Backend(this);
		this.failure = message;
		// An observed screen would clear the error after a time.
		Object.assign(this.board, { screen: this.opened.screen });
		this.enter("fatal_error");
		startInOrder(rescue, (feature) => {
			try {
				feature.start(this);
			} catch (error) {
				this.log(`${feature.name}: could not start: ${String(error)}`);
			}
		});
		this.log(`fatal error: ${message}`);
		const { words } = this;
		this.show({ words, alert: { status: words?.invalidSetting ?? "", message } });
	}

	/** Reads a setting. @throws SettingError */
	setting<Name extends SettingName>(name: Name): SettingValue<Name> {
		return readSetting(name, this.source);
	}

	/** The device's own name in networks. */
	get hostname(): string {
		return hostnameOf(this.board.system.macAddress);
	}

	get uptime(): number {
		return (this.ticks() - this.startTicks) >>> 0;
	}

	/** Restarts the device soon. */
	restart(): void {
		this.board.system.restart(RESTART_DELAY);
	}

	/** Enters a state, if the device may from its present one. @returns whether the device is in it now */
	enter(newState: DeviceState): boolean {
		const oldState = this.state;
		if (newState === oldState) {
			return true;
		}
		if (!TRANSITIONS[oldState].includes(newState)) {
			this.log(`state ${oldState} -> ${newState} refused`);
			return false;
		}
		this.state = newState;
		this.log(`state ${oldState} -> ${newState}`);
		this.show({ state: newState });
		this.notify("notifications/state_changed", { newState, oldState });
		this.emit("onState", newState);
		return true;
	}

	/** Notifies the backend and the clients of the device by MCP, in a session. */
	notify(method: string, params: object): void {
		if (this.backend.session !== undefined) {
			this.server.notify(method, params);
		}
		this.emit("onNotification", method, params);
	}

	show(change: Partial<Face>): void {
		this.emit("onFaceChange", change);
		this.board.screen?.show(change);
	}

	/** Shows an alert for a while, and plays the chime. */
	alert(status: keyof Words, message: string): void {
		this.show({ alert: { status: this.words?.[status] ?? "", message } });
		void this.drawAttention();
	}

	/** Plays the chime to attract the user's attention, unless another sound is played. Settles when it was played. */
	async drawAttention(): Promise<void> {
		const { player } = this.board;
		if (player?.isPlaying === false) {
			await playChime(player).catch((error: Error) => this.log(`chime failed: ${error.message}`));
		}
	}
}

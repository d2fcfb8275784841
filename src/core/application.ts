import type { Words } from "../features/language.js";
import { Guard } from "../hardware/guard.js";
import type { Board, Device, Face, Hardware, System } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import type { Runtime, TimerModule } from "../hardware/timer.js";
import { FeatureSet } from "../mcp_server/features/feature-set.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import { ENVELOPE_NAMES } from "../protocols/envelope.js";
import type { HttpClients } from "../protocols/http-client.js";
import type { NetworkClients } from "../protocols/transport.js";
import { drawAttention } from "../sound/chime.js";
import type { HardwareTool } from "../tools/define-tool.js";
import { Backend } from "./backend.js";
import { BackendMessages } from "./backend-messages.js";
import { DeviceNetwork } from "./device-network.js";
import { type DeviceState, mayEnter } from "./device-state.js";
import { FIRMWARE } from "./firmware.js";
import { Inputs } from "./inputs.js";
import { EventBus, type Feature, startInOrder } from "./listener.js";
import { observeParts } from "./observed-parts.js";
import { OfflineRestart } from "./offline-restart.js";
import { readSetting, SettingError, type SettingSource } from "./read-setting.js";
import { SafeMode } from "./safe-mode.js";
import { type SettingName, type SettingValue, unknownSettings } from "./settings-table.js";
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
	/** Whether the device starts in safe mode. Default false. */
	readonly isSafe?: boolean;
}

/** The firmware put together: the board, its settings, its state, the backend, the MCP server, and the bus of events. */
export class Application extends EventBus implements Device {
	/** What is read of the platform after the start. */
	readonly host: Pick<Host, "board" | "built" | "openNetwork">;
	/** Parts of the board. Features add theirs. */
	readonly board: Host["board"] & Hardware;
	readonly timer: TimerModule;
	readonly guard: Guard;
	readonly isSafe: boolean;
	readonly log: (message: string) => void;
	readonly now: () => number;
	readonly ticks: () => number;
	state: DeviceState = "unknown";
	/** The backend, and the network that leads to it. */
	backend: Backend;
	readonly network: DeviceNetwork;
	/** Turns of the user and the assistant, once the device has started. */
	talk!: Talk;
	/** The MCP server, once the device has started. */
	server!: McpServer<Hardware>;
	/** Tools that are offered if the board has their parts. Emptied once the device has started, to free the others. */
	tools: readonly HardwareTool[];
	/** Resources, prompts and other MCP capabilities. Default: tools only. */
	extensions = new FeatureSet<Hardware>([]);
	/** The device's own words. Undefined in a build without them. */
	words: Words | undefined;
	/** Fatal error: a setting that cannot be used, so that only features for rescue run. */
	failure: string | undefined;
	private readonly startTicks: number | undefined;

	constructor(host: Host) {
		const { board, built, openNetwork, timer, log, ticks = () => 0, now = Date.now, isSafe = false } = host;
		super();
		this.host = { board, built, openNetwork };
		this.timer = timer;
		this.ticks = ticks;
		this.now = now;
		this.isSafe = isSafe;
		this.startTicks = host.ticks?.();
		this.log = (message) => {
			log(message);
			this.emit("onLog", message);
		};
		this.guard = new Guard(this.log, ticks);
		this.tools = host.tools;
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
		}
		const { words, board, failure } = this;
		const unknown = unknownSettings(this.host.built);
		if (unknown.length > 0) {
			this.log(`unknown settings: ${unknown.join(", ")}`);
		}
		if (failure === undefined) {
			this.show({ backend: this.backend.label, words, volume: board.speaker?.volume });
			this.enter("starting");
			this.network.start();
		} else {
			this.log(`fatal error: ${failure}`);
			this.show({ words, alert: { status: words?.invalidSetting ?? "", message: failure } });
		}
		this.emit("onStart");
	}

	/** Starts the features for rescue alone. The device does not restart: that would not help. */
	private fail({ message }: SettingError, rescue: readonly Feature[]): void {
		this.emit("onClose");
		this.listeners = [];
		this.backend = new Backend(this);
		this.failure = message;
		// An observed screen would clear the error after a time.
		Object.assign(this.board, { screen: this.host.board.screen });
		this.enter("fatal_error");
		startInOrder(rescue, (feature) => {
			try {
				feature.start(this);
			} catch (error) {
				this.log(`${feature.name}: could not start: ${String(error)}`);
			}
		});
	}

	private makeServer(): McpServer<Hardware> {
		const { board, extensions, timer, log } = this;
		return extensions.serve({
			name: this.setting("name") || board.name,
			version: FIRMWARE.version,
			context: board,
			tools: this.tools.filter((tool) => isOffered(tool, board)),
			names: ENVELOPE_NAMES,
			timer,
			log,
		});
	}

	/** Ends the session and closes the board. */
	stop(): void {
		this.emit("onOffline");
		this.emit("onClose");
		this.backend.close();
		this.host.board.close();
	}

	/** Sources of the settings: the stored ones, and those of the build. */
	get source(): SettingSource {
		return { built: this.host.built, settings: this.board.settings };
	}

	/** Reads a setting. @throws SettingError */
	setting<Name extends SettingName>(name: Name): SettingValue<Name> {
		return readSetting(name, this.source);
	}

	/** The device's MAC address, lower case, with colons. */
	get id(): string {
		return this.board.system.macAddress;
	}

	get uptime(): number | undefined {
		return this.startTicks === undefined ? undefined : (this.ticks() - this.startTicks) >>> 0;
	}

	/** Enters a state, if the device may from its present one. @returns whether the device is in it now */
	enter(newState: DeviceState): boolean {
		const oldState = this.state;
		if (newState === oldState) {
			return true;
		}
		if (!mayEnter(oldState, newState)) {
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

	/** Enters the state outside a conversation: "activating" until the backend is known. */
	rest(): void {
		this.enter(this.backend.isSearching ? "activating" : "idle");
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
		drawAttention(this.board.player, this.log);
	}
}

import type { Face, Hardware, Settings } from "../hardware/hardware.js";
import type { AudioParams } from "../hardware/sound.js";
import type { FirmwareSource } from "../hardware/updater.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import { type Envelope, helloMessage, mcpWrapper, type ProtocolError, type Session } from "../protocols/envelope.js";
import { Protocol, type ProtocolEvents } from "../protocols/protocol.js";
import { messageLimits, parseUrl, type Transport, type TransportOptions } from "../protocols/transport.js";
import { webSocketTransport } from "../protocols/websocket-channel.js";
import { tryBackend } from "./backend-trial.js";
import { type Config, deviceUuid, readConfig, SEARCH_SCHEME } from "./config.js";
import { AppPart } from "./listener.js";
import { readSetting, SettingError, type SettingSource, withSettings } from "./read-setting.js";

/** Settings of a backend that was found. They override those of the device. */
export interface ServedBackend {
	readonly backend: string;
	readonly [setting: string]: string | number;
}

/** Firmware that a server has for this kind of board. */
export interface OfferedFirmware extends FirmwareSource {
	readonly version: string;
	/** Whether to install it even if it is not newer. */
	readonly force: boolean;
}

/** A gateway that a person can choose. */
export interface FoundGateway {
	/** The announced name. */
	readonly name: string;
	/** Value of the setting `backend` that finds it even if its address changes: `mdns:HOST`. */
	readonly backend: string;
}

/** Events of the search for the backend. */
export type SearchEvents = Pick<Backend, "onBackend" | "onActivation" | "onMissing" | "onFailed"> &
	Partial<Pick<Backend, "onActivated" | "onFirmware">>;

/** A search for the backend: the bootstrap, or the search for a gateway. */
export interface Search {
	start(): void;
	stop(): void;
	/** A session with the backend has started. */
	onReached?(): void;
	/** Searches again: the session has ended, or could not start. */
	restart?(): void;
}

/** A way to find the backend. */
export interface BackendSource {
	/** Name in the log: "bootstrap". */
	readonly name: string;
	/** Text for the screen until the backend is known. */
	readonly label: string;
	open(events: SearchEvents): Search;
}

/** Characters of a code and of a text that are kept for the screen. */
const MAX_CODE_LENGTH = 32;
const MAX_TEXT_LENGTH = 256;

/** The backend: finds it if the settings do not name it, connects to it, and serves MCP in the session. */
export class Backend extends AppPart implements ProtocolEvents {
	/** Return a source of the backend if the settings name one. The first result counts. May throw a SettingError. */
	readonly sources: ((settings: SettingSource) => BackendSource | undefined)[] = [];
	/** Transport factories by URL scheme, which features add. WebSocket is built in. */
	readonly transports = new Map<string, (options: TransportOptions) => Transport>();
	/** Lists the gateways of the network. Undefined if the build cannot find any. */
	listGateways: (() => Promise<readonly FoundGateway[]>) | undefined;
	/** Whether the device works without a backend, because it serves clients itself. */
	isOptional = false;
	/** Audio format of the board, if a feature plays and records it. */
	audio: AudioParams | undefined;
	/** Text for the screen: the backend's URL, or its source. Empty without a backend. */
	label = "";
	/** MCP session of the connection, which opens before the hello and may outlive a session with the backend. */
	receiver: McpSession<Hardware> | undefined;
	/** The connection. Undefined until there is a backend to connect to. */
	protocol: Protocol | undefined;
	/** The device's UUID. */
	uuid = "";
	private search: Search | undefined;
	private sourceName = "";
	/** The backend that the search has found, as JSON without its secrets, to detect another one. */
	private found = "";

	/** Reads the settings, and prepares the connection. @throws SettingError */
	open(): void {
		const { settings } = this.app.board;
		const { config, source, isNamed } = this.read(settings);
		this.uuid = deviceUuid(settings, config.uuid);
		this.label = source?.label ?? config.backend;
		this.protocol = isNamed ? this.openProtocol(config, this.transportTo(config)) : undefined;
		this.sourceName = source?.name ?? "";
		this.search = source?.open(this);
	}

	private openProtocol(config: Config, transport: Transport): Protocol {
		const { app, audio } = this;
		const { board, server, timer, log } = app;
		const namesFormat = app.setting("audioParams");
		return new Protocol(transport, {
			events: this,
			onAudio: audio && ((frame) => void app.emit("onAudio", frame)),
			timer,
			log,
			hello: (used) => {
				// Only these frames have timestamps, which a backend needs to cancel the echo.
				const aec = app.talk.isRealtime && (used.name === "udp" || used.version === 2);
				return helloMessage(used, audio ?? (namesFormat === false ? null : undefined), board.screen?.glyphs?.font, aec);
			},
			names: server,
			// New firmware must prove that it reaches its backend, even if no session is needed now.
			session: board.updater?.isOnTrial ? "always" : config.session,
		});
	}

	/** Checks whether the firmware can start with these settings. @throws SettingError */
	check(settings: Pick<Settings, "get">): void {
		const { config, isNamed } = this.read(settings);
		readSetting("name", { ...this.app.source, settings });
		if (isNamed) {
			this.transportTo(config);
		}
	}

	/**
	 * Tries to reach the backend of these settings, without changing the current connection. A device that serves clients
	 * itself needs none.
	 *
	 * @returns the reason if the backend could not be reached. Rejects with a SettingError
	 */
	async tryOut(settings: Pick<Settings, "get">): Promise<string | undefined> {
		const { config, source, isNamed } = this.read(settings);
		const backend = isNamed ? this.transportTo(config) : source;
		return backend && tryBackend(this.app, backend, (served) => this.transportTo(this.configOf(served, settings)));
	}

	/** Connects to the backend, or searches for it. Called when the device is online. */
	connect(): void {
		this.search?.start();
		if (this.protocol !== undefined) {
			this.protocol.open();
		} else if (this.search === undefined) {
			this.app.emit("onBackendReady");
		}
	}

	/** Ends session and search. Called when the device is offline. */
	disconnect(): void {
		this.search?.stop();
		this.protocol?.close();
		this.endSession();
	}

	/** Enters "idle", or "activating" while the backend is not known. */
	rest(): void {
		const isSearching = this.search !== undefined && this.protocol === undefined;
		this.app.enter(isSearching ? "activating" : "idle");
	}

	/** Whether a session can be requested: the device is online and knows its backend. */
	get isReachable(): boolean {
		return this.protocol !== undefined && this.app.board.network?.online !== false;
	}

	/** The session; undefined until hellos are exchanged. */
	get session(): Session | undefined {
		return this.protocol?.session;
	}

	/** Sends a message of the device that is not MCP: `{"session_id":…,"type":"abort"}`. */
	send(type: string, members?: object): void {
		this.protocol?.send(JSON.stringify({ session_id: this.session?.id ?? "", type, ...members }));
	}

	/**
	 * Reads from settings how to reach the backend: they name it, or a source finds it later.
	 *
	 * @throws SettingError if a setting is wrong, or needs a feature that the build lacks
	 */
	private read(settings: Pick<Settings, "get"> | undefined) {
		const from = { ...this.app.source, settings };
		let source: BackendSource | undefined;
		for (const read of this.sources) {
			source ??= read(from);
		}
		const hasBootstrap = readSetting("otaUrl", from) !== "";
		const backend = hasBootstrap ? "" : readSetting("backend", from);
		if (source === undefined && hasBootstrap) {
			throw new SettingError("otaUrl", "this build has no bootstrap");
		}
		if (source === undefined && backend?.startsWith(SEARCH_SCHEME)) {
			throw new SettingError("backend", "this build has no multicast DNS to find a gateway: name its address");
		}
		const isUnknown = source !== undefined || (this.isOptional && backend === undefined);
		const config = readConfig(from, this.app.board.system.macAddress, isUnknown ? "" : undefined);
		return { config, source, isNamed: source === undefined && (config.backend !== "" || !this.isOptional) };
	}

	private configOf(served: ServedBackend, settings: Pick<Settings, "get"> | undefined): Config {
		const { board, source } = this.app;
		return readConfig({ ...source, settings: withSettings(served, settings) }, board.system.macAddress);
	}

	/** The transport for the scheme of the backend's URL. @throws SettingError */
	private transportTo(config: Config): Transport {
		const { app, uuid } = this;
		const { network, board, log } = app;
		const deviceId = board.system.macAddress;
		const limits = messageLimits(config.chunkBytes);
		const options = { ...config, ...limits, network: network.clients, deviceId, uuid, log };
		const { scheme } = parseUrl(config.backend);
		const open = this.transports.get(scheme);
		if (open === undefined && scheme.startsWith("mqtt")) {
			throw new SettingError("backend", "this build has no MQTT");
		}
		return open?.(options) ?? webSocketTransport(options);
	}

	onConnecting(): void {
		this.app.enter("connecting");
	}

	onOpen(): void {
		const { protocol, app } = this;
		this.receiver =
			protocol && app.server.open({ send: protocol.send, wrapper: mcpWrapper(""), maxBytes: protocol.maxSentBytes });
	}

	onSession(session: Session): void {
		const { app, receiver, protocol } = this;
		app.log(`session ${JSON.stringify(session.id)} with the backend`);
		if (receiver !== undefined && protocol !== undefined) {
			receiver.wrapper = mcpWrapper(session.id);
			receiver.maxBytes = protocol.maxSentBytes;
		}
		app.show({ connected: true, online: true });
		app.emit("onSession", session);
		this.search?.onReached?.();
		app.emit("onBackendReady");
	}

	onMessage(message: Envelope): void {
		this.app.emit("onMessage", message);
	}

	onLost(error: ProtocolError, retryIn: number | undefined): void {
		const next = retryIn === undefined ? "reconnecting on demand" : `next attempt in ${retryIn} ms`;
		this.app.log(`backend session ended: ${error.message} [${error.code}]; ${next}`);
		this.endSession(error, retryIn === undefined ? {} : { online: false });
		this.search?.restart?.();
	}

	private endSession(error?: ProtocolError, change: Partial<Face> = {}): void {
		const { app } = this;
		this.receiver?.close();
		this.receiver = undefined;
		app.emit("onSessionLost", error);
		app.show({ connected: false, ...change });
		if (app.state !== "upgrading" && app.state !== "wifi_configuring") {
			this.rest();
		}
	}

	/**
	 * Connects to the found backend, unless it is the current one. Some servers make a new token for each answer:
	 * it is used for the next connection, and does not end the current one.
	 *
	 * @throws Error if it cannot be used
	 */
	onBackend(served: ServedBackend): void {
		const { app, protocol } = this;
		const config = this.configOf(served, app.board.settings);
		const transport = this.transportTo(config);
		const { token, mqttPassword, ...rest } = served;
		const found = JSON.stringify(rest);
		if (found === this.found) {
			protocol?.use(transport);
			return;
		}
		app.log(`${this.sourceName}: the backend is ${config.backend}`);
		this.found = found;
		this.protocol = this.openProtocol(config, transport);
		// The session with another backend ends first.
		protocol?.close();
		this.endSession();
		app.show({ backend: config.backend });
		this.protocol.open();
	}

	/** Shows text and code: the device waits to be bound. Either may be empty. */
	onActivation(code: string, message: string): void {
		const { app } = this;
		const shown = { code: code.slice(0, MAX_CODE_LENGTH), message: message.slice(0, MAX_TEXT_LENGTH) };
		app.log(`activation code ${shown.code}: ${shown.message}`);
		app.board.screen?.show(shown);
		void app.drawAttention();
	}

	/** Called when the device is bound. */
	onActivated(): void {
		this.app.board.screen?.show({ code: "", message: "" });
	}

	/** Installs firmware that is available. Settles if it was not installed; otherwise the device restarts. */
	async onFirmware(firmware: OfferedFirmware): Promise<void> {
		const { board, log } = this.app;
		const { version, force } = firmware;
		if (board.installer?.offer === undefined) {
			log(`firmware ${version}${force ? " (forced)" : ""} is available, but this board cannot update itself`);
		}
		await board.installer?.offer?.(firmware);
	}

	/** Reports a check that failed. The next one follows in `retryIn` milliseconds; none if undefined. */
	onFailed({ message }: Error, retryIn: number | undefined): void {
		const next = retryIn === undefined ? "no further attempt until the next start" : `next attempt in ${retryIn} ms`;
		this.report(`failed: ${message}, ${next}`, message);
	}

	/** Reports why no backend was found. The search continues. */
	onMissing(message: string): void {
		this.report(`goes on: ${message}`, message);
	}

	/** Logs the line. The message is shown only while no backend is known. */
	private report(line: string, message: string): void {
		const { log, board, words } = this.app;
		log(`${this.sourceName} ${line}`);
		if (this.protocol === undefined) {
			board.screen?.show({ alert: { status: words?.noBackend ?? "", message } });
		}
	}
}

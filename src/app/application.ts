import type { BackendSearch } from "../backend/search/backend-search.js";
import type { BackendLink } from "../conversation/backend-link.js";
import type { Conversation } from "../conversation/conversation.js";
import { type DeviceState, DeviceStateMachine, type StateEvents } from "../device_state/device-state.js";
import type { Press } from "../hardware/button.js";
import { Guard } from "../hardware/guard.js";
import type { Board, Face, Hardware } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import type { Reading, Sensor } from "../hardware/sensor.js";
import type { Words } from "../language/en.js";
import { notificationMessage } from "../mcp_server/json-rpc.js";
import { McpServer, type McpServerOptions } from "../mcp_server/mcp-server.js";
import { deviceMessage, ENVELOPE_NAMES, type Envelope } from "../protocols/envelope.js";
import type { Session } from "../protocols/hello.js";
import { Protocol } from "../protocols/protocol.js";
import type { ProtocolEvents } from "../protocols/protocol-options.js";
import type { ProtocolError } from "../protocols/transport.js";
import { FIRMWARE } from "../settings/firmware.js";
import type { Voice } from "../voice/voice.js";
import type { ApplicationOptions, Attachment } from "./application-options.js";
import { BackendFace } from "./backend-face.js";
import { BackendMcp } from "./backend-mcp.js";
import { DeviceNetwork, type NetworkEvents } from "./device-network.js";
import { followInputs, type InputActions } from "./follow-inputs.js";
import { type PartsLink, withObservedParts } from "./observed-parts.js";
import { RunningDevice } from "./running-device.js";
import { StatusIcons } from "./status-icons.js";
import { SystemCommands } from "./system-commands.js";
import { Talk } from "./talk.js";

/** The answer to a press on a board with a codec whose backend is reached without a way for audio. */
const NO_SPEECH = "no speech over MQTT on this device: set a backend with ws:// or wss://";

/** The firmware put together: the board, its tools, the state machine, and the session with the backend. */
export class Application implements BackendLink, InputActions, NetworkEvents, PartsLink, ProtocolEvents, StateEvents {
	readonly server: McpServer<Hardware>;
	private readonly board: Board;
	private readonly protocol: Protocol;
	private readonly _state: DeviceStateMachine;
	/** The receivers of events, in this order. */
	private readonly attached: Attachment[] = [];
	private readonly network: DeviceNetwork;
	private readonly face: BackendFace;
	private readonly search: BackendSearch | undefined;
	readonly mcp: BackendMcp;
	private readonly _talk: Talk;
	private readonly voice: Voice | undefined;
	private readonly hasBackend: boolean;
	private readonly conversation: Conversation | undefined;
	readonly log: (message: string) => void;
	readonly guard: Guard;

	constructor(options: ApplicationOptions) {
		const { board, backend, words, timer, log, ticks = () => 0 } = options;
		this.log = log;
		this.guard = options.guard ?? new Guard(log, ticks);
		this.hasBackend = backend !== "";
		this._state = new DeviceStateMachine(this);
		this.network = new DeviceNetwork(this, { board, setup: options.setup, state: this._state, timer });
		this.attach(this.network, options.power);
		const parts = this.observeParts(options);
		this.conversation = options.conversation?.({ board: parts, link: this, words, timer, log });
		// One object: a copy would take a slot of the heap for each part.
		this.board = Object.assign(parts, this.conversation?.parts);
		this.server = makeServer(options, this.board);
		this.mcp = new BackendMcp(this.server);
		this.protocol = this.makeProtocol(options);
		this.voice = this.openVoice(options);
		this._talk = new Talk({
			state: this._state,
			protocol: this.protocol,
			mode: options.listenMode ?? "auto",
			link: this,
			voice: this.voice,
		});
		this.search = this.openSearch(options);
		this.face = new BackendFace(this, { glyphs: board.screen?.glyphs, player: board.player, words });
		if (board.log !== undefined) {
			board.log.send = (data) => {
				const message = { level: "debug", logger: "device", data };
				this.mcp.session?.notify(notificationMessage("notifications/message", message));
			};
		}
		this.attach(this.face, this.mcp, board.log, this._talk, this.voice, ...(options.followers ?? []));
		this.attach(new SystemCommands(board.system, this._state, log), this.conversation);
		this.attach(followInputs(this.board, this), new StatusIcons(this, board, timer));
		this.attach(options.direct?.serve(this.server), this.search);
		this.show({ backend, words, volume: this.board.speaker?.volume });
	}

	/** The board, whose parts tell the application how they are used, and what the application adds to it. */
	private observeParts({
		board,
		timer,
		words,
		update,
		isSafe = false,
		ticks,
	}: ApplicationOptions): Board & Partial<Hardware> {
		const parts = withObservedParts(board, { timer, words, observeInstaller: update?.observe, link: this });
		return Object.assign(parts, {
			device: new RunningDevice(board.name, isSafe, this._state, this.guard, ticks),
			...(this.network.hasSetup && { wifiSetup: { begin: (delay = 0) => this.network.setUpIn(delay) } }),
		});
	}

	private makeProtocol({ board, transport, session, audioParams, voice, timer, log }: ApplicationOptions): Protocol {
		const codec = voice && board.codec;
		return new Protocol(transport, {
			events: this,
			onAudio: codec && ((frame) => this.voice?.hear(frame)),
			timer,
			log,
			audio: codec?.params,
			namesFormat: audioParams,
			font: board.screen?.glyphs?.font,
			names: this.server,
			session,
		});
	}

	private openVoice({ board, voice, openUdp, ticks = () => 0, log }: ApplicationOptions): Voice | undefined {
		const { codec, lights } = board;
		const onSpoken = (): void => this._talk.spoken();
		return codec && voice?.({ codec, lights, link: this, protocol: this.protocol, openUdp, onSpoken, ticks, log });
	}

	get state(): DeviceState {
		return this._state.state;
	}

	get hello(): Readonly<Record<string, unknown>> | undefined {
		return this.protocol.session?.hello;
	}

	get isReachable(): boolean {
		const isKnown = this.search?.isFound ?? this.hasBackend;
		return isKnown && this.board.network?.online !== false;
	}

	request(): void {
		this.protocol.request();
	}

	send(type: string, members?: object): void {
		this.protocol.send(deviceMessage(this.protocol.session?.id ?? "", type, members));
	}

	/** Outside a session some backends treat any message as an error. */
	tell(method: string, params: object): void {
		if (this.protocol.session !== undefined) {
			this.server.notify(method, params);
		}
	}

	show(change: Partial<Face>): void {
		this.emit("shown", change);
		this.board.screen?.show(change);
	}

	/** Starts the device: it connects as soon as it is online, and stays connected. */
	start(): void {
		this._state.enter("starting");
		this.network.start();
	}

	/** The application has begun to record: a session starts if needed, and the state is "listening". */
	listen(): void {
		this._talk.listen();
	}

	/** The application has stopped recording. */
	stopListening(): void {
		this._talk.stopListening();
	}

	/** Shows an alert for a while; the device goes on. */
	alert(status: keyof Words, message: string): void {
		this.face.alert(status, message);
	}

	/** Ends the session and closes the board. */
	stop(): void {
		this.emit("close");
		this.emit("offline");
		this.protocol.close();
		this.mcp.sessionEnded();
		this.board.close();
	}

	pressed(button: string, press: Press): boolean {
		return this.conversation?.pressed(button, press) === true;
	}

	sensed(name: string, sensor: Sensor, value: Reading): void {
		this.conversation?.sensed(name, sensor, value);
	}

	changed(): void {
		this.emit("changed");
	}

	explain(): void {
		this.show({ details: true });
	}

	used(): void {
		this.emit("used");
	}

	talk(): void {
		if (this.board.network?.online === false) {
			return;
		}
		if (this.state === "idle" && this.voice !== undefined && !this.protocol.carriesAudio) {
			this.log(NO_SPEECH);
			this.alert("error", NO_SPEECH);
			return;
		}
		this._talk.toggle();
	}

	private attach(...attachments: readonly (Attachment | undefined)[]): void {
		this.attached.push(...attachments.filter((each) => each !== undefined));
	}

	/** One receiver that fails does not keep the event from the others. */
	private emit<Event extends keyof Attachment>(event: Event, ...about: Parameters<Required<Attachment>[Event]>): void {
		for (const attached of this.attached) {
			try {
				(attached[event] as ((...about: unknown[]) => void) | undefined)?.apply(attached, about);
			} catch (error) {
				this.guard.report(error);
			}
		}
	}

	onActivate(): void {
		this._state.enter("activating");
		this._state.enter(this.restingState);
	}

	/** The state outside a conversation: "activating" until the backend is known. */
	private get restingState(): DeviceState {
		return this.search?.isFound === false ? "activating" : "idle";
	}

	onOnline(): void {
		if (this._state.state === "starting" || this._state.state === "wifi_configuring") {
			this.onActivate();
		}
		this.emit("online");
		if (this.search?.isFound ?? this.hasBackend) {
			this.protocol.open();
		} else if (this.search === undefined) {
			this.emit("reached");
		}
	}

	onOffline(): void {
		this.emit("offline");
		this.protocol.close();
		this.closeSession();
	}

	private openSearch({
		source,
		search,
		words,
		hasFailed = () => false,
	}: ApplicationOptions): BackendSearch | undefined {
		return (
			source &&
			search?.({
				source,
				board: this.board,
				words,
				hasFailed,
				state: () => this.state,
				onFound: ({ url, transport }) => {
					// The session with another backend ends first.
					this.protocol.close();
					this.closeSession();
					this.protocol.use(transport);
					this.show({ backend: url });
					this.protocol.open();
				},
				onToken: (transport) => this.protocol.use(transport),
				log: this.log,
			})
		);
	}

	onConnecting(): void {
		this._state.enter("connecting");
	}

	onOpen(): void {
		this.mcp.open(this.protocol.send);
	}

	onSession({ id }: Session): void {
		this.log(`session ${JSON.stringify(id)} with the backend`);
		this.show({ connected: true, online: true });
		this.emit("sessionBegan", id);
		this.emit("reached");
	}

	onMessage(message: Envelope): void {
		this.emit("receive", message);
	}

	onLost(error: ProtocolError, retryIn: number | undefined): void {
		const next = retryIn === undefined ? "reconnecting on demand" : `next attempt in ${retryIn} ms`;
		this.log(`backend session ended: ${error.message} [${error.code}]; ${next}`);
		this.closeSession(retryIn === undefined ? {} : { online: false });
		this.emit("lost");
	}

	private closeSession(change: Partial<Face> = {}): void {
		this.emit("sessionEnded");
		this.show({ connected: false, ...change });
		if (this._state.state !== "upgrading" && this._state.state !== "wifi_configuring") {
			this._state.enter(this.restingState);
		}
	}

	/** A device that installs firmware neither speaks nor listens. */
	onUpgrade(state: "upgrading" | "idle"): void {
		if (state === "upgrading" && this._state.state !== "activating") {
			this._state.enter("idle");
		}
		this._state.enter(state === "idle" ? this.restingState : state);
	}

	onStateChange(newState: DeviceState, oldState: DeviceState): void {
		this.log(`state ${oldState} -> ${newState}`);
		this.show({ state: newState });
		this.tell("notifications/state_changed", { newState, oldState });
		this.emit("stateChanged", newState);
	}
}

const makeServer = (options: ApplicationOptions, board: Hardware): McpServer<Hardware> => {
	const { name = options.board.name, tools, features, timer, log } = options;
	const serverOptions: McpServerOptions<Hardware> = {
		name,
		version: FIRMWARE.version,
		context: board,
		tools: tools.filter((tool) => isOffered(tool, board)),
		names: ENVELOPE_NAMES,
		timer,
		log,
	};
	return features?.serve(serverOptions) ?? new McpServer(serverOptions);
};

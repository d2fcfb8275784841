import type { Backend, BackendSearch, BackendSearchOptions, BackendSource } from "../backend/search/backend-search.js";
import type { BackendLink } from "../conversation/backend-link.js";
import type { Conversation } from "../conversation/conversation.js";
import { type DeviceState, DeviceStateMachine } from "../device_state/device-state.js";
import type { Board, Face, Glyphs, Hardware } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import { McpServer, type McpServerOptions } from "../mcp_server/mcp-server.js";
import { deviceMessage, ENVELOPE_NAMES, type Envelope } from "../protocols/envelope.js";
import { Protocol } from "../protocols/protocol.js";
import type { ProtocolEvents } from "../protocols/protocol-events.js";
import type { ProtocolError } from "../protocols/transport.js";
import { FIRMWARE } from "../settings/firmware.js";
import type { PhoneSetup } from "../setup/phone-setup.js";
import { drawAttention } from "../sound/chime.js";
import type { Voice } from "../voice/voice.js";
import type { ApplicationOptions, Attachment } from "./application-options.js";
import { BackendMcp } from "./backend-mcp.js";
import { describeDevice } from "./describe-device.js";
import { faceChange } from "./face-change.js";
import { followInputs } from "./follow-inputs.js";
import { withObservedParts } from "./observed-parts.js";
import { StatusIcons } from "./status-icons.js";
import { RESTART_DELAY, SystemCommands } from "./system-commands.js";
import { Talk } from "./talk.js";

/** The firmware put together: the board, its tools, the state machine, and the session with the backend. */
export class Application implements BackendLink {
	readonly server: McpServer<Hardware>;
	readonly #board: Board;
	readonly #protocol: Protocol;
	readonly #state: DeviceStateMachine;
	/** The receivers of events, in this order. */
	readonly #attached: Attachment[] = [];
	readonly #log: (message: string) => void;
	readonly #timer: TimerModule;
	readonly #search: BackendSearch | undefined;
	readonly #setup: PhoneSetup | undefined;
	readonly #words: Words | undefined;
	readonly #mcp: BackendMcp;
	readonly #talk: Talk;
	readonly #voice: Voice | undefined;
	readonly #hasBackend: boolean;
	/** Of the bare screen: what wraps it has none. */
	readonly #glyphs: Glyphs | undefined;
	readonly #icons: StatusIcons;
	/** Starts the requested set-up. */
	#setupTimer: TimerHandle | undefined;

	constructor(options: ApplicationOptions) {
		const { board, backend, source, timer, log } = options;
		this.#log = log;
		this.#timer = timer;
		this.#words = options.words;
		this.#hasBackend = backend !== "";
		this.#glyphs = board.screen?.glyphs;
		this.#state = new DeviceStateMachine({ onChange: (state, old) => this.#stateChanged(state, old), log });
		this.#setup = options.setup?.({
			onNeeded: () => this.#setUp(),
			onShow: (setup) => this.show({ setup }),
			onEnd: (restart) => this.#endSetup(restart),
		});
		this.#attach(options.power);
		const parts = this.#observeParts(options);
		const conversation = options.conversation?.({ board: parts, link: this, words: options.words, timer, log });
		// One object: a copy would take a slot of the heap for each part.
		this.#board = Object.assign(parts, conversation?.parts);
		this.server = makeServer(options, this.#board);
		this.#mcp = new BackendMcp(this.server);
		this.#protocol = this.#makeProtocol(options);
		this.#voice = this.#openVoice(options);
		this.#talk = new Talk({
			state: this.#state,
			protocol: this.#protocol,
			mode: options.listenMode ?? "auto",
			send: (type, members) => this.send(type, members),
			voice: this.#voice,
		});
		this.#search = source && options.search?.begin(this.#searchOptions(source, options.hasFailed));
		this.#icons = new StatusIcons(board, timer, (change) => this.show(change));
		this.#icons.update();
		this.#attach(this.#mcp);
		this.#attach(this.#talk);
		this.#attach(this.#voice);
		for (const follower of options.followers ?? []) {
			this.#attach(follower);
		}
		this.#attach(new SystemCommands(board.system, this.#state, log));
		this.#attach(conversation);
		this.#attach({ close: this.#followInputs(conversation) });
		this.#attach(this.#icons);
		this.#attach(options.direct?.serve(this.server));
		this.#attach(this.#search);
		this.show({ backend, words: options.words, volume: this.#board.speaker?.volume });
	}

	/** The board, whose parts tell the application how they are used, and what the application adds to it. */
	#observeParts({ board, timer, words, update, ticks, log }: ApplicationOptions): Board & Partial<Hardware> {
		return {
			...withObservedParts(board, {
				timer,
				words,
				observeInstaller: update?.observe,
				onUpgrade: (state) => this.#upgrade(state),
				onUse: this.#used,
				log,
			}),
			device: describeDevice(board.name, () => this.#state.state, ticks),
			...(this.#setup && { wifiSetup: { begin: (delay = 0) => this.#setUpIn(delay) } }),
		};
	}

	#makeProtocol({ board, transport, session, audioParams, voice, timer, log }: ApplicationOptions): Protocol {
		const codec = voice && board.codec;
		const events: ProtocolEvents = {
			onConnecting: () => this.#state.enter("connecting"),
			onOpen: () => this.#mcp.open(this.#protocol.send),
			onSession: ({ id }) => this.#begin(id),
			mcp: this.#mcp,
			onRejected: (payload, reason) => this.#mcp.session?.reject(payload, reason),
			onTooLong: (...message) => this.#mcp.shorten(...message),
			onMessage: (message) => this.#receive(message),
			onAudio: codec && ((frame) => this.#voice?.hear(frame)),
			onLost: (error, retryIn) => this.#end(error, retryIn),
		};
		return new Protocol(transport, {
			events,
			timer,
			log,
			audio: codec?.params ?? (audioParams === false ? null : undefined),
			font: this.#glyphs?.font,
			names: this.server,
			...(session && { session }),
		});
	}

	#openVoice({ board, voice, openUdp, ticks = () => 0, log }: ApplicationOptions): Voice | undefined {
		const { codec, lights } = board;
		const onSpoken = (): void => this.#talk.spoken();
		return codec && voice?.({ codec, lights, link: this, protocol: this.#protocol, openUdp, onSpoken, ticks, log });
	}

	/** @returns a function that stops it */
	#followInputs(conversation: Conversation | undefined): () => void {
		return followInputs(this.#board, {
			tell: (method, params) => this.tell(method, params),
			pressed: (button, press) => conversation?.pressed(button, press) === true,
			sensed: (...event) => conversation?.sensed(...event),
			changed: () => this.#emit("changed"),
			talk: () => this.#toggleTalk(),
			explain: () => this.show({ details: true }),
			used: this.#used,
			log: this.#log,
		});
	}

	get state(): DeviceState {
		return this.#state.state;
	}

	get hello(): Readonly<Record<string, unknown>> | undefined {
		return this.#protocol.session?.hello;
	}

	get isReachable(): boolean {
		const isKnown = this.#search?.isFound ?? this.#hasBackend;
		return isKnown && this.#board.network?.online !== false;
	}

	request(): void {
		this.#protocol.request();
	}

	send(type: string, members?: object): void {
		this.#protocol.send(deviceMessage(this.#protocol.session?.id ?? "", type, members));
	}

	/** Outside a session some backends treat any message as an error. */
	tell(method: string, params: object): void {
		this.#emit("told", method, params);
		if (this.#protocol.session !== undefined) {
			this.server.notify(method, params);
		}
	}

	show(change: Partial<Face>): void {
		this.#emit("shown", change);
		this.#board.screen?.show(change);
	}

	/** Starts the device: it connects as soon as it is online, and stays connected. */
	start(): void {
		this.#state.enter("starting");
		const { network } = this.#board;
		if (network === undefined) {
			this.#connect();
			return;
		}
		network.onChange = () => this.#followNetwork(network.online);
		if (!network.online && network.ssid === "") {
			this.#setUp();
		} else {
			this.#activate();
			this.#followNetwork(network.online);
		}
	}

	/** The application has begun to record: a session starts if needed, and the state is "listening". */
	listen(): void {
		this.#talk.listen();
	}

	/** The application has stopped recording. */
	stopListening(): void {
		this.#talk.stopListening();
	}

	/** Shows an alert for a while; the device goes on. */
	alert(status: keyof Words, message: string): void {
		this.show({ alert: { status: this.#words?.[status] ?? "", message } });
		drawAttention(this.#board.player, this.#log);
	}

	/** Ends the session and closes the board. */
	stop(): void {
		if (this.#board.network !== undefined) {
			this.#board.network.onChange = undefined;
		}
		this.#setup?.close();
		this.#clearSetup();
		this.#emit("close");
		this.#emit("offline");
		this.#protocol.close();
		this.#mcp.sessionEnded();
		this.#board.close();
	}

	readonly #used = (): void => this.#emit("used");

	#attach(attachment: Attachment | undefined): void {
		if (attachment !== undefined) {
			this.#attached.push(attachment);
		}
	}

	#emit<Event extends keyof Attachment>(event: Event, ...about: Parameters<Required<Attachment>[Event]>): void {
		for (const attached of this.#attached) {
			(attached[event] as ((...about: unknown[]) => void) | undefined)?.apply(attached, about);
		}
	}

	#activate(): void {
		this.#state.enter("activating");
		this.#state.enter(this.#restingState);
	}

	/** The state outside a conversation: "activating" until the backend is known. */
	get #restingState(): DeviceState {
		return this.#search?.isFound === false ? "activating" : "idle";
	}

	#connect(): void {
		if (this.#state.state === "starting" || this.#state.state === "wifi_configuring") {
			this.#activate();
		}
		this.#emit("online");
		if (this.#search?.isFound ?? this.#hasBackend) {
			this.#protocol.open();
		} else if (this.#search === undefined) {
			this.#reached();
		}
	}

	#reached(): void {
		this.#setup?.reached();
		this.#emit("reached");
	}

	/** During the set-up the network is joined only to try it. */
	#followNetwork(online: boolean): void {
		if (this.#setup?.isOpen) {
			return;
		}
		this.#setup?.follow(online);
		this.show({ online });
		this.#icons.update();
		if (online) {
			this.#connect();
		} else {
			this.#goOffline();
		}
	}

	#setUpIn(delay: number): void {
		this.#clearSetup();
		if (delay === 0) {
			this.#setUp();
		} else {
			this.#setupTimer = this.#timer.set(() => this.#setUp(), delay);
		}
	}

	#clearSetup(): void {
		this.#timer.clear(this.#setupTimer);
		this.#setupTimer = undefined;
	}

	/** The session ends first: a device that is set up is not in its network. */
	#setUp(): void {
		const { state } = this.#state;
		if (this.#setup?.isOpen || state === "upgrading") {
			return;
		}
		if (state !== "starting") {
			this.#goOffline();
		}
		this.#state.enter("wifi_configuring");
		this.#setup?.begin();
	}

	/** Settings other than the network's are read when the firmware starts. */
	#endSetup(restart: boolean): void {
		const { network, system } = this.#board;
		if (restart && system !== undefined) {
			system.restart(RESTART_DELAY);
		} else if (network?.online === true || network?.ssid !== "") {
			this.#activate();
			this.#followNetwork(network?.online === true);
		} else {
			// The set-up's network could not be opened, and the device knows no other: the set-up is tried again later.
			this.#setup?.follow(false);
		}
	}

	#goOffline(): void {
		this.#emit("offline");
		this.#protocol.close();
		this.#closeSession();
	}

	#searchOptions(source: BackendSource, hasFailed: (version: string) => boolean = () => false): BackendSearchOptions {
		return {
			source,
			board: this.#board,
			words: this.#words,
			hasFailed,
			state: () => this.state,
			onFound: (backend) => this.#meetBackend(backend),
			log: this.#log,
		};
	}

	/** The session with another backend ends first. */
	#meetBackend({ url, use }: Backend): void {
		this.#protocol.close();
		this.#closeSession();
		use();
		this.show({ backend: url });
		this.#protocol.open();
	}

	#begin(sessionId: string): void {
		this.#log(`session ${JSON.stringify(sessionId)} with the backend`);
		this.show({ connected: true, online: true });
		this.#emit("sessionBegan", sessionId);
		this.#reached();
	}

	#end(error: ProtocolError, retryIn: number | undefined): void {
		const next = retryIn === undefined ? "reconnecting on demand" : `next attempt in ${retryIn} ms`;
		this.#log(`backend session ended: ${error.message} [${error.code}]; ${next}`);
		this.#closeSession(retryIn === undefined ? {} : { online: false });
		this.#emit("lost");
	}

	#closeSession(change: Partial<Face> = {}): void {
		this.#emit("sessionEnded");
		this.show({ connected: false, ...change });
		if (this.#state.state !== "upgrading" && this.#state.state !== "wifi_configuring") {
			this.#state.enter(this.#restingState);
		}
	}

	/** A device that installs firmware neither speaks nor listens. */
	#upgrade(state: "upgrading" | "idle"): void {
		if (state === "upgrading" && this.#state.state !== "activating") {
			this.#state.enter("idle");
		}
		this.#state.enter(state === "idle" ? this.#restingState : state);
	}

	#stateChanged(newState: DeviceState, oldState: DeviceState): void {
		this.#log(`state ${oldState} -> ${newState}`);
		this.show({ state: newState });
		this.tell("notifications/state_changed", { newState, oldState });
		this.#emit("stateChanged", newState);
	}

	#toggleTalk(): void {
		if (this.#board.network?.online !== false) {
			this.#talk.toggle();
		}
	}

	/** Messages of the backend that are not MCP. */
	#receive(message: Envelope): void {
		this.#glyphs?.take(message.glyph_push);
		const change = faceChange(message);
		if (Object.keys(change).length > 0) {
			this.show(change);
		}
		if (change.alert !== undefined) {
			drawAttention(this.#board.player, this.#log);
		}
		this.#emit("receive", message);
	}
}

/** The MCP server, with the tools whose parts the board has. */
function makeServer(options: ApplicationOptions, board: Hardware): McpServer<Hardware> {
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
}

import { type DeviceState, DeviceStateMachine } from "../device_state/device-state.js";
import { FIRMWARE } from "../firmware.js";
import type { Board, Face, Hardware } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";
import { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import { ENVELOPE_NAMES, type Envelope, mcpWrapper } from "../protocols/envelope.js";
import { Protocol, type ProtocolEvents } from "../protocols/protocol.js";
import type { ProtocolError } from "../protocols/protocol-error.js";
import type { Transport } from "../protocols/transport.js";
import { type HardwareTool, isOffered } from "../tools/define-tool.js";
import { TOOLS } from "../tools/index.js";
import { type Backend, BackendSearch, type BackendSource } from "./backend-search.js";
import { withObservedParts } from "./observed-parts.js";

export interface ApplicationOptions {
	readonly board: Board;
	/** The backend's URL, for the screen. */
	readonly backend: string;
	/** How the backend is reached. */
	readonly transport: Transport;
	/** Where the backend comes from if it is not a setting: the device connects once it is found. */
	readonly source?: BackendSource;
	readonly timer: TimerModule;
	/** Default: every tool of the firmware. Those whose parts the board lacks are not offered. */
	readonly tools?: readonly HardwareTool[];
	readonly log: (message: string) => void;
}

/** A `system` message with "reboot" restarts the device after this many milliseconds. */
const REBOOT_DELAY = 1000;

/** Characters of a text that are kept for the screen. */
const LONGEST_TEXT = 256;

/** The firmware put together: the board, its tools, the state machine, and the session with the backend. */
export class Application {
	readonly server: McpServer<Hardware>;
	readonly #board: Board;
	readonly #protocol: Protocol;
	readonly #state: DeviceStateMachine;
	readonly #log: (message: string) => void;
	readonly #search: BackendSearch | undefined;
	#session: McpSession<Hardware> | undefined;

	constructor({ board, backend, transport, source, timer, tools = TOOLS, log }: ApplicationOptions) {
		this.#log = log;
		this.#board = withObservedParts(board);
		this.#state = new DeviceStateMachine({ onChange: (state, old) => this.#stateChanged(state, old), log });
		this.server = new McpServer<Hardware>({
			name: board.name,
			version: FIRMWARE.version,
			context: this.#board,
			tools: tools.filter((tool) => isOffered(tool, board)),
			names: ENVELOPE_NAMES,
			timer,
			log,
		});
		const events: ProtocolEvents = {
			onConnecting: () => this.#state.enter("connecting"),
			onSession: (session) => this.#begin(session.id),
			onMcp: (payload) => this.#session?.receive(payload),
			onRejected: (payload, reason) => this.#session?.reject(payload, reason),
			onMessage: (message) => this.#receive(message),
			onLost: (error, retryIn) => this.#end(error, retryIn),
		};
		this.#protocol = new Protocol(transport, { events, timer, log, names: () => this.server.names });
		const onFound = (found: Backend): void => this.#meetBackend(found);
		this.#search = source && new BackendSearch({ source, board: this.#board, state: this.#state, onFound, log });
		this.#show({ backend, volume: this.#board.speaker?.volume });
	}

	get state(): DeviceState {
		return this.#state.state;
	}

	/** Starts the device: as soon as the network is there, it connects and stays connected. */
	start(): void {
		this.#state.enter("starting");
		this.#state.enter("activating");
		if (this.#search === undefined) {
			this.#state.enter("idle");
		}
		const { network } = this.#board;
		if (network === undefined) {
			this.#connect();
			return;
		}
		network.onChange = () => this.#followNetwork(network.online);
		this.#followNetwork(network.online);
	}

	/** Ends the session and lets go of the board. */
	stop(): void {
		if (this.#board.network !== undefined) {
			this.#board.network.onChange = undefined;
		}
		this.#search?.stop();
		this.#protocol.close();
		this.#session?.close();
		this.#session = undefined;
		this.#board.close();
	}

	#followNetwork(online: boolean): void {
		if (online) {
			this.#connect();
			return;
		}
		this.#search?.stop();
		this.#protocol.close();
		this.#closeSession();
	}

	#connect(): void {
		this.#search?.start();
		if (this.#search?.isFound ?? true) {
			this.#protocol.open();
		}
	}

	/** The session with another backend ends first. */
	#meetBackend({ url, use }: Backend): void {
		this.#protocol.close();
		this.#closeSession();
		use();
		this.#show({ backend: url });
		this.#protocol.open();
	}

	#begin(sessionId: string): void {
		this.#log(`session ${JSON.stringify(sessionId)} with the backend`);
		this.#session = this.server.open({ send: (text) => this.#protocol.send(text), wrapper: mcpWrapper(sessionId) });
		this.#show({ connected: true });
		this.#state.enter("idle");
	}

	#end(error: ProtocolError, retryIn: number): void {
		this.#log(`no session with the backend: ${error.message} [${error.code}], next attempt in ${retryIn} ms`);
		this.#closeSession();
	}

	#closeSession(): void {
		this.#session?.close();
		this.#session = undefined;
		this.#show({ connected: false });
		const isSearching = this.#search?.isFound === false;
		if (this.#state.state !== "upgrading" && !isSearching) {
			this.#state.enter("idle");
		}
	}

	#stateChanged(newState: DeviceState, oldState: DeviceState): void {
		this.#log(`state ${oldState} -> ${newState}`);
		this.#show({ state: newState });
		this.server.notify("notifications/state_changed", { newState, oldState });
	}

	/** Messages of the backend that are not MCP. What is missing or of the wrong type is taken as empty. */
	#receive(message: Envelope): void {
		switch (message.type) {
			case "tts":
				this.#speak(message);
				break;
			case "stt":
				this.#show({ message: word(message.text) });
				break;
			case "llm":
				this.#show({ emotion: word(message.emotion), message: word(message.text) });
				break;
			case "alert":
				this.#show({
					alert: { status: word(message.status), message: word(message.message) },
					emotion: word(message.emotion),
				});
				break;
			case "system":
				this.#command(word(message.command));
				break;
			case "custom":
				this.#show({ message: word(JSON.stringify(message.payload)) });
				break;
		}
	}

	/** `start` and `stop` frame what the assistant says, `sentence_start` brings each sentence of it. */
	#speak({ state, text }: Envelope): void {
		if (state === "start") {
			this.#state.enter("speaking");
		} else if (state === "stop") {
			this.#state.enter("idle");
		} else if (state === "sentence_start") {
			this.#show({ message: word(text) });
		}
	}

	#command(command: string): void {
		if (command === "reboot" && this.#board.system !== undefined) {
			this.#board.system.restart(REBOOT_DELAY);
		} else {
			this.#log(`system command ${JSON.stringify(command)}: not known here`);
		}
	}

	#show(change: Partial<Face>): void {
		this.#board.screen?.show(change);
	}
}

/** Text for the screen, which keeps it until the next comes: a long one would fill the heap. */
function word(value: unknown): string {
	return typeof value === "string" ? value.slice(0, LONGEST_TEXT) : "";
}

import { type DeviceState, DeviceStateMachine } from "../device_state/device-state.js";
import { FIRMWARE } from "../firmware.js";
import type { Board, Device, Face, Hardware } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import type { TimerModule } from "../hardware/timer.js";
import type { Feature } from "../mcp_server/feature.js";
import { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import { ENVELOPE_NAMES, type Envelope, mcpWrapper } from "../protocols/envelope.js";
import { Protocol, type ProtocolEvents } from "../protocols/protocol.js";
import type { ProtocolError } from "../protocols/protocol-error.js";
import type { Transport } from "../protocols/transport.js";
import type { HardwareTool } from "../tools/define-tool.js";
import { TOOLS } from "../tools/index.js";
import { withObservedParts } from "./observed-parts.js";

export interface ApplicationOptions {
	readonly board: Board;
	/** The backend's URL, for the screen. */
	readonly backend: string;
	/** How the backend is reached. */
	readonly transport: Transport;
	readonly timer: TimerModule;
	/** Default: every tool of the firmware. Those whose parts the board lacks are not offered. */
	readonly tools?: readonly HardwareTool[];
	/** What the device offers besides tools. Default: nothing. */
	readonly features?: Feature<Hardware>;
	/** Milliseconds of a clock that is never set; it may begin anew after 2^32. Without it the uptime is not known. */
	readonly ticks?: () => number;
	/** Called when the device's state has changed. */
	readonly onState?: (state: DeviceState) => void;
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
	readonly #onState: ((state: DeviceState) => void) | undefined;
	#session: McpSession<Hardware> | undefined;

	constructor(options: ApplicationOptions) {
		const { board, backend, transport, timer, tools = TOOLS, features, log } = options;
		this.#log = log;
		this.#onState = options.onState;
		this.#state = new DeviceStateMachine({ onChange: (state, old) => this.#stateChanged(state, old), log });
		this.#board = { ...withObservedParts(board), device: this.#describeDevice(options) };
		this.server = new McpServer<Hardware>({
			name: board.name,
			version: FIRMWARE.version,
			context: this.#board,
			tools: tools.filter((tool) => isOffered(tool, this.#board)),
			...(features && { features }),
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
		this.#show({ backend, volume: this.#board.speaker?.volume });
	}

	#describeDevice({ board, ticks }: ApplicationOptions): Device {
		const machine = this.#state;
		const start = ticks?.();
		return {
			name: board.name,
			get state() {
				return machine.state;
			},
			get uptime() {
				return ticks === undefined || start === undefined ? undefined : (ticks() - start) >>> 0;
			},
		};
	}

	get state(): DeviceState {
		return this.#state.state;
	}

	/** Starts the device: as soon as the network is there, it connects and stays connected. */
	start(): void {
		this.#state.enter("starting");
		this.#state.enter("activating");
		this.#state.enter("idle");
		const { network } = this.#board;
		if (network === undefined) {
			this.#protocol.open();
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
		this.#protocol.close();
		this.#session?.close();
		this.#session = undefined;
		this.#board.close();
	}

	#followNetwork(online: boolean): void {
		if (online) {
			this.#protocol.open();
			return;
		}
		this.#protocol.close();
		this.#closeSession();
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
		if (this.#state.state !== "upgrading") {
			this.#state.enter("idle");
		}
	}

	#stateChanged(newState: DeviceState, oldState: DeviceState): void {
		this.#log(`state ${oldState} -> ${newState}`);
		this.#show({ state: newState });
		this.server.notify("notifications/state_changed", { newState, oldState });
		this.#onState?.(newState);
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

import type { DeviceState, DeviceStateMachine } from "../device_state/device-state.js";
import type { Envelope } from "../protocols/envelope.js";
import type { Protocol } from "../protocols/protocol.js";
import type { SettingValue } from "../settings/settings-table.js";

interface TalkOptions {
	readonly state: DeviceStateMachine;
	readonly protocol: Pick<Protocol, "session" | "request">;
	readonly mode: SettingValue<"listenMode">;
	/** Sends messages of the device that are not MCP. */
	readonly link: { send(type: string, members?: object): void };
	/** Plays the backend's speech: the state ends with the sound. Undefined without a codec. */
	readonly voice: { silence(): void } | undefined;
}

/** Turns of person and assistant, begun and ended by the main button. As on the C++ firmware. */
export class Talk {
	private readonly options: TalkOptions;
	/** Whether the person speaks, or is to go on when the assistant has ended. */
	private isListening = false;

	constructor(options: TalkOptions) {
		this.options = options;
	}

	/** The person begins to speak: a session starts if needed, and the state is "listening". */
	listen(): void {
		const { protocol, state } = this.options;
		this.isListening = true;
		if (protocol.session === undefined) {
			protocol.request();
		} else {
			state.enter("listening");
		}
	}

	/** The person has ended. */
	stopListening(): void {
		const { state, link } = this.options;
		this.isListening = false;
		if (state.state === "listening") {
			link.send("listen", { state: "stop" });
			state.enter("idle");
		}
	}

	/** A press starts or ends listening, or interrupts the assistant. */
	toggle(): void {
		const { state, link, voice } = this.options;
		if (state.state === "idle") {
			this.listen();
		} else if (state.state === "listening") {
			this.stopListening();
		} else if (state.state === "speaking") {
			// The backend says when it has stopped.
			link.send("abort");
			voice?.silence();
		}
	}

	/** A session has begun. */
	sessionBegan(): void {
		const { state } = this.options;
		if (state.state === "connecting") {
			state.enter(this.isListening ? "listening" : "idle");
		}
	}

	/** The session has ended. */
	sessionEnded(): void {
		this.isListening = false;
	}

	/** The device listens: at first, or again after the assistant has spoken. */
	stateChanged(state: DeviceState): void {
		const { mode, link } = this.options;
		if (state === "listening") {
			link.send("listen", { state: "start", mode });
		}
	}

	/** `start` and `stop` frame what the assistant says. In the mode "manual" the person does not go on after it. */
	receive({ type, state: when }: Envelope): void {
		const { state, mode, voice } = this.options;
		if (type !== "tts") {
			return;
		}
		if (when === "start") {
			this.isListening &&= mode !== "manual";
			state.enter("speaking");
		} else if (when === "stop" && voice === undefined) {
			this.spoken();
		}
	}

	/** The assistant has ended. */
	spoken(): void {
		const { state } = this.options;
		if (state.state === "speaking") {
			state.enter(this.isListening ? "listening" : "idle");
		}
	}
}

import type { Envelope } from "../protocols/envelope.js";
import { AppPart, type DeviceState, type Listener } from "./listener.js";

/** Turns of person and assistant, which the main button starts and stops, as on the C++ firmware. */
export class Talk extends AppPart implements Listener {
	private readonly mode = this.app.setting("listenMode");
	/** Whether the device listens, or resumes listening when the assistant has spoken. */
	private isListening = false;
	/** Whether the device listens in realtime, also while the assistant speaks: this needs no second `start`. */
	private isReported = false;

	/** Whether the person is heard while the assistant speaks. */
	get isRealtime(): boolean {
		const { board, backend } = this.app;
		return this.mode === "realtime" && backend.audio !== undefined && board.codec?.isFullDuplex === true;
	}

	/** Starts listening to the person, in a session that starts if needed. */
	listen(): void {
		const { app } = this;
		this.isListening = true;
		if (app.backend.session === undefined) {
			app.backend.protocol?.request();
		} else {
			app.enter("listening");
		}
	}

	/** Stops listening. */
	stopListening(): void {
		const { app } = this;
		this.isListening = false;
		if (app.state === "listening") {
			app.backend.send("listen", { state: "stop" });
			app.enter("idle");
		}
	}

	/** Starts or stops listening, or interrupts the assistant. */
	onMainButton(): void {
		const { app } = this;
		if (app.board.network?.online === false) {
			return;
		}
		if (app.state === "idle") {
			this.listen();
		} else if (app.state === "listening") {
			this.stopListening();
		} else if (app.state === "speaking") {
			// The backend says when it has stopped.
			app.backend.send("abort");
			app.emit("onInterrupt");
		}
	}

	onSession(): void {
		if (this.app.state === "connecting") {
			this.app.enter(this.isListening ? "listening" : "idle");
		}
	}

	onSessionLost(): void {
		this.isListening = false;
	}

	/** Reports each start of listening. A device that listens while the assistant speaks does not report it again. */
	onState(state: DeviceState): void {
		if (state === "listening" && !this.isReported) {
			this.app.backend.send("listen", { state: "start", mode: this.mode });
		}
		this.isReported = this.isRealtime && (state === "listening" || (state === "speaking" && this.isReported));
	}

	/** Handles `start` and `stop` of the assistant's speech. In the mode "manual" listening does not resume after it. */
	onMessage({ type, state: when }: Envelope): void {
		const { app } = this;
		if (type !== "tts") {
			return;
		}
		if (when === "start") {
			this.isListening &&= this.mode !== "manual";
			app.enter("speaking");
		} else if (when === "stop" && app.backend.audio === undefined) {
			this.onSpoken();
		}
	}

	/** Ends the assistant's turn. With a codec its sound ends after the backend's message. */
	onSpoken(): void {
		const { app } = this;
		if (app.state === "speaking") {
			app.enter(this.isListening ? "listening" : "idle");
		}
	}
}

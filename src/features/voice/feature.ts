import type { Application } from "../../core/application.js";
import type { DeviceState } from "../../core/device-state.js";
import type { Feature, Listener } from "../../core/listener.js";
import { isObject } from "../../core/text/is-object.js";
import type { PartsByKind } from "../../hardware/kinds/index.js";
import type { Light } from "../../hardware/kinds/light.js";
import type { Codec } from "../../hardware/sound.js";
import type { Envelope } from "../../protocols/envelope.js";
import type { Session } from "../../protocols/hello.js";
import { readAudioParams, readFrame, writeFrame } from "./audio-frames.js";
import { readUdpSettings, type UdpChannel } from "./udp-audio.js";

/** 60 ms of Opus without a sound (RFC 6716, section 3.2.1): from it a backend learns where its datagrams have to go. */
const SILENCE = Uint8Array.of(0x58);

/** Speech from the backend and from the microphone, between messages and the board's codec. */
class Voice implements Listener {
	private readonly app: Application;
	private readonly codec: Codec;
	private readonly dropped: DroppedAudio;
	private readonly light: ListeningLight;
	/** Whether the backend speaks: between `tts` `start` and `stop`. */
	private isSpeaking = false;
	/** Counts what was begun: the end of an earlier one means nothing. */
	private utterance = 0;
	private isRecording = false;
	/** Carries the audio, if the backend has offered it. */
	private udp: UdpChannel | undefined;

	constructor(app: Application, codec: Codec) {
		this.app = app;
		this.codec = codec;
		this.dropped = new DroppedAudio(app.log);
		this.light = new ListeningLight(app.board.lights);
	}

	onAudio(frame: ArrayBuffer): void {
		try {
			this.play(readFrame(frame, this.app.backend.version));
		} catch (error) {
			this.dropped.add((error as Error).message);
		}
	}

	onSession({ hello }: Session): void {
		const { clients, log } = this.app;
		const { openUdp } = clients;
		const { udp } = hello;
		this.closeUdp();
		if (openUdp === undefined || !isObject(udp)) {
			return;
		}
		try {
			this.udp = openUdp(readUdpSettings(udp), {
				onPacket: (packet) => this.play(packet),
				onDropped: (reason) => this.dropped.add(reason),
			});
			this.udp.send(SILENCE);
		} catch (error) {
			log(`no audio over UDP: ${(error as Error).message}`);
		}
	}

	onMessage({ type, state }: Envelope): void {
		if (type === "tts" && state === "start") {
			this.begin();
		} else if (type === "tts" && state === "stop") {
			this.end();
		} else if (type === "listen" && state === "start") {
			this.listen();
		} else if (type === "listen" && state === "stop") {
			this.app.talk.stopListening();
		}
	}

	onState(state: DeviceState): void {
		const { app, codec } = this;
		const shouldRecord = state === "listening" && codec.record !== undefined;
		if (shouldRecord === this.isRecording) {
			return;
		}
		this.isRecording = shouldRecord;
		try {
			codec.record?.(shouldRecord ? this.send : undefined);
			this.light.show(shouldRecord);
		} catch (error) {
			app.log(`cannot record: ${(error as Error).message}`);
			// Other listeners receive this state first.
			void Promise.resolve().then(() => app.talk.stopListening());
		}
	}

	/** Ends the sound at once. */
	onInterrupt(): void {
		this.utterance += 1;
		this.isSpeaking = false;
		this.codec.stop();
	}

	onSessionLost(): void {
		this.onInterrupt();
		this.closeUdp();
	}

	onClose(): void {
		this.onSessionLost();
		this.onState("idle");
	}

	private readonly send = (packet: Uint8Array): void => {
		const { backend, ticks } = this.app;
		if (this.udp !== undefined) {
			this.udp.send(packet);
		} else if (!backend.sendAudio(writeFrame(packet, backend.version, ticks()))) {
			this.dropped.add("the connection does not take what was recorded");
		}
	};

	/** The backend asks the device to listen: an addition of this project. If it does not, its answer says why. */
	private listen(): void {
		const { app, codec } = this;
		if (codec.record === undefined) {
			app.send("listen", { state: "stop", reason: "no microphone" });
		} else if (codec.muted) {
			app.send("listen", { state: "stop", reason: "muted" });
		} else if (app.state === "idle") {
			app.talk.listen();
		} else if (app.state === "listening") {
			app.send("listen", { state: "start" });
		} else {
			app.send("listen", { state: "stop", reason: app.state });
		}
	}

	private play(packet: Uint8Array): void {
		if (!this.isSpeaking) {
			this.dropped.add("the backend has not begun to speak");
			return;
		}
		try {
			this.codec.play(packet);
		} catch (error) {
			this.dropped.add((error as Error).message);
		}
	}

	private closeUdp(): void {
		this.udp?.close();
		this.udp = undefined;
	}

	/** A second `start` restarts it. */
	private begin(): void {
		const { app, codec } = this;
		this.onInterrupt();
		try {
			codec.begin(readAudioParams(app.backend.session?.hello.audio_params));
			// A router may have forgotten it.
			this.udp?.send(SILENCE);
			this.isSpeaking = true;
		} catch (error) {
			app.log(`cannot play what the backend says: ${(error as Error).message}`);
		}
	}

	/** The codec may have a second of sound that it has not played. */
	private end(): void {
		const { app, codec } = this;
		if (!this.isSpeaking) {
			app.talk.onSpoken();
			return;
		}
		this.isSpeaking = false;
		const utterance = this.utterance;
		void codec
			.end()
			.catch((error: Error) => app.log(`what the backend said was not played to its end: ${error.message}`))
			.then(() => {
				if (utterance === this.utterance) {
					app.talk.onSpoken();
				}
			});
	}
}

/** Counts audio that is dropped. The log has the first one, the tenth, the hundredth …, so that a flood does not fill it. */
class DroppedAudio {
	private readonly log: (message: string) => void;
	private count = 0;
	private nextLogged = 1;

	constructor(log: (message: string) => void) {
		this.log = log;
	}

	add(reason: string): void {
		this.count += 1;
		if (this.count === this.nextLogged) {
			this.nextLogged *= 10;
			this.log(`audio dropped: ${reason}${this.count === 1 ? "" : ` (${this.count} so far)`}`);
		}
	}
}

/** Red, as on devices that record. */
const COLOR = 0xff0000;

/** Shows by a board's first light that the device listens. */
class ListeningLight {
	private readonly light: Light | undefined;
	/** How the light was before; undefined while the device does not listen. */
	private before: { readonly on: boolean; readonly color: number | undefined } | undefined;

	constructor(lights: PartsByKind["lights"] = {}) {
		this.light = Object.values(lights).find(({ error }) => error === undefined);
	}

	show(isListening: boolean): void {
		const light = this.light;
		if (light === undefined) {
			return;
		}
		if (isListening) {
			const { on, color } = light;
			this.before = { on, color };
			set(light, { on: true, color: color === undefined ? undefined : COLOR });
		} else if (this.before !== undefined) {
			// A color that was set meanwhile stays.
			if (light.on && (light.color === undefined || light.color === COLOR)) {
				set(light, this.before);
			}
			this.before = undefined;
		}
	}
}

const set = (light: Light, { on, color }: { readonly on: boolean; readonly color: number | undefined }): void => {
	if (color !== undefined) {
		light.color = color;
	}
	light.on = on;
};

/** Speech to and from the backend, for a board with a codec. */
const voice: Feature = {
	name: "voice",
	after: ["parts"],
	start(app) {
		const { codec } = app.board;
		if (codec !== undefined) {
			app.audio = codec.params;
			app.listen(new Voice(app, codec));
		}
	},
};

export default voice;

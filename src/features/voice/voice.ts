import type { Application } from "../../core/application.js";
import { AppPart, type DeviceState, type Feature, type Listener } from "../../core/listener.js";
import { SettingError } from "../../core/read-setting.js";
import { isObject } from "../../core/text/json.js";
import type { Http } from "../../hardware/hardware.js";
import type { Light } from "../../hardware/kinds/light.js";
import type { Codec, PlayOpusFile } from "../../hardware/sound.js";
import type { Envelope, Session } from "../../protocols/envelope.js";
import { readAudioParams, readFrame, readTimestamp, writeFrame } from "./audio-frames.js";
import { OggOpusReader, packetDuration } from "./ogg-opus.js";
import { type OpenUdp, readUdpSettings, type UdpChannel } from "./udp-audio.js";

/** 60 ms of Opus without a sound (RFC 6716, section 3.2.1). It tells the backend the device's address and port. */
const SILENCE = Uint8Array.of(0x58);

/** Milliseconds between two checks for room in the codec, and the longest wait for it. */
const ROOM_CHECK = 20;
const MAX_ROOM_WAIT = 5_000;

/** Hertz at which files are played: each board that plays Opus has it. */
const FILE_RATE = 24_000;

/** Reason why the codec takes no packet. */
const TOO_MANY = "too many packets wait to be played";

/** Reason why there is no audio over MQTT. */
const NOT_OFFERED = "the backend offers no audio over UDP";

/** Red, as on devices that record. */
const RECORDING_COLOR = 0xff0000;

/** Speech from the backend and from the microphone, between messages and the board's codec. */
class Voice extends AppPart implements Listener {
	private readonly openUdp: OpenUdp;
	private readonly codec = this.app.board.codec as Codec;
	/** Shows that the device listens: the board's first light that works. */
	private readonly light = Object.values(this.app.board.lights ?? {}).find(({ error }) => error === undefined);
	/** State of the light before; undefined while the device does not listen. */
	private before: Required<Pick<Light, "on" | "color">> | undefined;
	/** Whether the backend speaks: between `tts` `start` and `stop`. */
	private isSpeaking = false;
	/** Counts utterances, so that the end of an earlier one has no effect. */
	private utterance = 0;
	private isRecording = false;
	/** Cancels the download of the file that is played; undefined if none is. */
	private cancelFile: (() => void) | undefined;
	/** Carries the audio, if the backend has offered it and it can be used. */
	private udp: UdpChannel | undefined;
	/** Reason why a connection over MQTT has no such channel. */
	private noUdp = NOT_OFFERED;
	private dropped = 0;
	private nextLogged = 1;

	constructor(app: Application, openUdp: OpenUdp) {
		super(app);
		this.openUdp = openUdp;
	}

	onAudio(frame: ArrayBuffer): void {
		try {
			this.play(readFrame(frame, this.version), readTimestamp(frame, this.version));
		} catch (error) {
			this.drop((error as Error).message);
		}
	}

	onSession({ hello }: Session): void {
		const { udp } = hello;
		this.closeUdp();
		this.noUdp = NOT_OFFERED;
		if (!isObject(udp)) {
			return;
		}
		try {
			this.udp = this.openUdp(readUdpSettings(udp), {
				onPacket: (packet, timestamp) => this.play(packet, timestamp),
				onDropped: (reason) => this.drop(reason),
				onFailed: (reason) => this.onUdpFailed(reason),
			});
			this.udp.send(SILENCE, this.timestamp());
		} catch (error) {
			this.onUdpFailed((error as Error).message);
		}
	}

	onMessage({ type, state }: Envelope): void {
		if (type === "tts" && state === "start") {
			this.startSpeech();
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
		if (this.cancelFile !== undefined && state !== "idle") {
			this.onInterrupt();
		}
		const isHeard = state === "listening" || (state === "speaking" && this.isRecording && app.talk.isRealtime);
		const shouldRecord = isHeard && codec.record !== undefined;
		if (shouldRecord === this.isRecording) {
			return;
		}
		this.isRecording = shouldRecord;
		try {
			codec.record?.(shouldRecord ? this.send : undefined);
			this.showListening(shouldRecord);
		} catch (error) {
			this.refuse((error as Error).message);
		}
	}

	onPress(): boolean {
		if (this.cancelFile !== undefined) {
			this.onInterrupt();
		}
		return false;
	}

	/** Ends the sound at once. */
	onInterrupt(): void {
		const { cancelFile } = this;
		this.utterance += 1;
		this.cancelFile = undefined;
		this.isSpeaking = false;
		this.codec.stop();
		cancelFile?.();
	}

	onSessionLost(): void {
		this.onInterrupt();
		this.closeUdp();
	}

	private readonly send = (packet: Uint8Array, echo: number): void => {
		const { backend } = this.app;
		const timestamp = this.timestamp(echo);
		if (this.udp !== undefined) {
			this.udp.send(packet, timestamp);
		} else if (backend.protocol?.transport.name === "udp") {
			this.refuse(this.noUdp);
		} else if (!backend.protocol?.sendBinary(writeFrame(packet, this.version, timestamp))) {
			this.drop("the connection does not take what was recorded");
		}
	};

	/**
	 * Returns the timestamp of a packet. In realtime it is that of the packet being played, which a backend needs
	 * to cancel the echo.
	 *
	 * @param echo 0 for none
	 */
	private timestamp(echo = 0): number {
		return this.app.talk.isRealtime ? echo : this.app.ticks();
	}

	/** Stops listening, and tells the person why. */
	private refuse(reason: string): void {
		const { app } = this;
		app.log(`cannot record: ${reason}`);
		// Other listeners receive this state first. A change of the state clears the screen.
		void Promise.resolve().then(() => {
			app.talk.stopListening();
			app.alert("error", reason);
		});
	}

	/** Listens at the backend's request, an addition of this project. If that is not possible, its answer says why. */
	private listen(): void {
		const { app, codec } = this;
		const problem = codec.record === undefined ? "no microphone" : codec.muted ? "muted" : undefined;
		if (problem === undefined && app.state === "idle") {
			app.talk.listen();
		} else if (problem === undefined && app.state === "listening") {
			app.backend.send("listen", { state: "start" });
		} else {
			app.backend.send("listen", { state: "stop", reason: problem ?? app.state });
		}
	}

	private play(packet: Uint8Array, timestamp: number): void {
		try {
			const isTaken = this.isSpeaking && this.codec.play(packet, timestamp);
			if (!isTaken) {
				this.drop(this.isSpeaking ? TOO_MANY : "the backend has not begun to speak");
			}
		} catch (error) {
			this.drop((error as Error).message);
		}
	}

	/** The hello's version, which says how audio is framed. */
	private get version(): number {
		return this.app.backend.protocol?.transport.version ?? 0;
	}

	/** Logs audio that is dropped: the first frame, the tenth, the hundredth …, so that a flood does not fill the log. */
	private drop(reason: string): void {
		this.dropped += 1;
		if (this.dropped === this.nextLogged) {
			this.nextLogged *= 10;
			this.app.log(`audio dropped: ${reason}${this.dropped === 1 ? "" : ` (${this.dropped} so far)`}`);
		}
	}

	private showListening(isListening: boolean): void {
		const { light } = this;
		const look = isListening ? { color: RECORDING_COLOR, on: true } : this.before;
		if (light === undefined || look === undefined) {
			return;
		}
		const { on, color = RECORDING_COLOR } = light;
		this.before = isListening ? { color, on } : undefined;
		// A color that was set meanwhile stays.
		if (isListening || (on && color === RECORDING_COLOR)) {
			Object.assign(light, light.color === undefined ? { on: look.on } : look);
		}
	}

	private onUdpFailed(reason: string): void {
		this.closeUdp();
		this.noUdp = `no audio over UDP: ${reason}`;
		this.app.log(this.noUdp);
	}

	private closeUdp(): void {
		this.udp?.close();
		this.udp = undefined;
	}

	/** A file arrives faster than it plays: the download waits for room in the codec. */
	readonly playFile: PlayOpusFile = async (url, onStart) => {
		const { app, codec } = this;
		const { http } = app.board as { readonly http: Http };
		if (app.state !== "idle") {
			throw new Error(`${url} is not played: the device is ${app.state}`);
		}
		this.onInterrupt();
		const { utterance } = this;
		const isCurrent = (): boolean => utterance === this.utterance;
		this.cancelFile = () => {};
		const onOpen = (cancel: () => void): void => {
			if (isCurrent()) {
				this.cancelFile = cancel;
			} else {
				cancel();
			}
		};
		const file = new OggOpusReader();
		let hasSound = false;
		const play = async (packet: Uint8Array): Promise<void> => {
			const duration = packetDuration(packet);
			if (!hasSound) {
				codec.begin({ ...codec.params, sample_rate: FILE_RATE, channels: 1, frame_duration: duration });
				hasSound = true;
				onStart();
			}
			for (let waited = 0; isCurrent() && !codec.play(packet); waited += ROOM_CHECK) {
				if (waited >= MAX_ROOM_WAIT) {
					throw new Error(TOO_MANY);
				}
				await new Promise<void>((resolve) => app.timer.set(resolve, ROOM_CHECK));
			}
		};
		try {
			const onPiece = async (piece: ArrayBuffer): Promise<void> => {
				file.add(new Uint8Array(piece));
				for (let packet = file.next(); packet !== undefined && isCurrent(); packet = file.next()) {
					await play(packet);
				}
			};
			await http.request({ method: "GET", url, onPiece, onOpen, mustSucceed: true });
			if (!file.isWhole) {
				throw new RangeError("Ogg: the file is cut off");
			}
			if (!hasSound) {
				throw new RangeError("Ogg: the file has no sound");
			}
			await codec.end();
		} catch (error) {
			if (isCurrent()) {
				throw error;
			}
		} finally {
			if (isCurrent()) {
				this.onInterrupt();
			}
		}
	};

	/** Starts to play speech. A second `start` restarts it. */
	private startSpeech(): void {
		const { app, codec } = this;
		this.onInterrupt();
		try {
			codec.begin(readAudioParams(app.backend.session?.hello.audio_params));
			// A router may have dropped the port mapping.
			this.udp?.send(SILENCE, this.timestamp());
			this.isSpeaking = true;
		} catch (error) {
			app.log(`cannot play what the backend says: ${(error as Error).message}`);
		}
	}

	/** Ends speech once the codec has played the rest, which may be a second of sound. */
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

/** Speech to and from the backend, for a board with a codec. */
export const voiceFeature = (openUdp: OpenUdp): Feature => ({
	name: "voice",
	after: ["http", "parts"],
	start(app) {
		const { codec } = app.board;
		if (codec?.record !== undefined && !codec.isFullDuplex && app.setting("listenMode") === "realtime") {
			throw new SettingError("listenMode", "realtime: this board cannot record while it plays, use auto or manual");
		}
		if (codec !== undefined) {
			app.backend.audio = codec.params;
			const voice = new Voice(app, openUdp);
			app.listen(voice);
			if (app.board.http !== undefined) {
				Object.assign(app.board, { playOpusFile: voice.playFile });
			}
		}
	},
});

import type { DeviceState } from "../../device_state/device-state.js";
import type { Board } from "../../hardware/hardware.js";
import type { Words } from "../../language/en.js";
import type { Transport } from "../../protocols/transport.js";
import { drawAttention } from "../../sound/chime.js";
import type { BootstrapEvents, OfferedFirmware } from "../bootstrap/bootstrap-answer.js";
import type { ServedBackend } from "../bootstrap/served-backend.js";

/** A backend that was served. */
export interface Backend {
	readonly url: string;
	readonly transport: Transport;
}

interface OpenSource {
	start(): void;
	stop(): void;
	/** A session with the backend has begun. */
	reached?(): void;
	/** The session has ended, or could not begin: searches again. */
	restart?(): void;
}

/** The source of the backend if it is not a setting. */
export interface BackendSource {
	/** For the log: "bootstrap". */
	readonly name: string;
	/** Opens the bootstrap, or the search for a gateway: `Bootstrap`, `GatewaySearch`. */
	readonly open: (events: BootstrapEvents) => OpenSource;
	/** @throws SettingError if the served backend cannot be used */
	readonly connect: (served: ServedBackend) => Backend;
}

export interface BackendSearchOptions {
	readonly source: BackendSource;
	readonly board: Pick<Board, "screen" | "installer" | "player">;
	readonly words: Words | undefined;
	/** Whether firmware of this version was rolled back: it is not installed again before the next restart. */
	readonly hasFailed: (version: string) => boolean;
	readonly state: () => DeviceState;
	/** Called with the first backend, and again whenever another one is served, or other settings than its token or password. */
	readonly onFound: (backend: Backend) => void;
	/** Called with the transport for the next connection if only the token or password has changed. */
	readonly onToken: (transport: Transport) => void;
	readonly log: (message: string) => void;
}

/** Characters of a code and of a text that are kept for the screen. */
const MAX_CODE_LENGTH = 32;
const MAX_TEXT_LENGTH = 256;

/** Lets the source look for the backend, shows its progress, and lets the board install firmware. */
export class BackendSearch {
	private readonly options: BackendSearchOptions;
	private readonly source: OpenSource;
	/** The backend that was found, as text without its secrets. */
	private found: string | undefined;

	constructor(options: BackendSearchOptions) {
		this.options = options;
		this.source = options.source.open({
			onBackend: (served) => this.find(served),
			onActivation: (code, message) => {
				const { board, log } = this.options;
				const shown = { code: code.slice(0, MAX_CODE_LENGTH), message: message.slice(0, MAX_TEXT_LENGTH) };
				log(`activation code ${shown.code}: ${shown.message}`);
				board.screen?.show(shown);
				drawAttention(board.player, log);
			},
			onActivated: () => this.options.board.screen?.show({ code: "", message: "" }),
			onFirmware: (firmware) => this.install(firmware),
			onFailed: ({ message }, retryIn) => {
				const end = "no further attempt until the next start";
				this.tell(`failed: ${message}, ${retryIn === undefined ? end : `next attempt in ${retryIn} ms`}`, message);
			},
			onMissing: (message) => this.tell(`goes on: ${message}`, message),
		});
	}

	/** Whether there is a backend to connect to. */
	get isFound(): boolean {
		return this.found !== undefined;
	}

	online(): void {
		this.source.start();
	}

	offline(): void {
		this.source.stop();
	}

	/** A session with the backend has begun. */
	sessionBegan(): void {
		this.source.reached?.();
	}

	/** The session with the backend could not start, or has ended. */
	lost(): void {
		this.source.restart?.();
	}

	/** Some servers make a new token for each answer: it is for the next connection, and does not end the current one. */
	private find(served: ServedBackend): void {
		const { source, onFound, onToken, log } = this.options;
		const backend = source.connect(served);
		const { token, mqttPassword, ...rest } = served;
		const found = JSON.stringify(rest);
		if (found === this.found) {
			onToken(backend.transport);
			return;
		}
		log(`${source.name}: the backend is ${backend.url}`);
		this.found = found;
		onFound(backend);
	}

	private async install(firmware: OfferedFirmware): Promise<void> {
		const { board, state, hasFailed, log } = this.options;
		const { version, url, force } = firmware;
		const offer = `firmware ${version}${force ? " (forced)" : ""}`;
		if (board.installer === undefined) {
			log(`${offer} is available, but this board cannot update itself`);
		} else if (hasFailed(version)) {
			log(`${offer} is available, but was rolled back; skipped until the next restart`);
		} else if (state() === "listening" || state() === "speaking") {
			log(`${offer} is available; postponed to the next check, because the device is ${state()}`);
		} else {
			log(`${offer}: installing from ${url}`);
			await board.installer.install(firmware).catch(() => {
				// The reason is already in the log and on the screen.
			});
		}
	}

	/** The screen shows it only while there is no backend. */
	private tell(line: string, message: string): void {
		this.options.log(`${this.options.source.name} ${line}`);
		if (!this.isFound) {
			this.options.board.screen?.show({ alert: { status: this.options.words?.noBackend ?? "", message } });
		}
	}
}

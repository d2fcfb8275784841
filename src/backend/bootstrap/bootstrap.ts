import type { Feature } from "../../app/application.js";
import type { Search, SearchEvents } from "../../app/backend.js";
import type { Board, Http, HttpResponse } from "../../hardware/hardware.js";
import type { Runtime, TimerHandle } from "../../hardware/timer.js";
import { expectOk } from "../../net/http-status.js";
import { Backoff } from "../../protocols/backoff.js";
import { deviceUuid } from "../../settings/config.js";
import { FIRMWARE } from "../../settings/firmware.js";
import { deepFreeze } from "../../text/deep-freeze.js";
import { toHex } from "../../text/hex.js";
import { isNewer } from "../../text/version.js";
import { type Activation, type BootstrapAnswer, readAnswer } from "./bootstrap-answer.js";
import { bootstrapHeaders, bootstrapReport, type Identity, readBootstrapConfig } from "./bootstrap-report.js";
import { type ServedBackend, storeBackend, storedBackend } from "./served-backend.js";

type HmacSha256 = (key: ArrayBuffer, message: ArrayBuffer) => Promise<ArrayBuffer>;

export interface BootstrapOptions extends Runtime, Identity {
	/** Its settings keep the backend; its clock, if it has one, is set by the server's time. */
	readonly board: Identity["board"] & Pick<Board, "settings" | "clock">;
	readonly http: Http;
	/** Whether WebSocket is taken if the server offers MQTT, too: over that, this device has no audio. Default false. */
	readonly prefersWebSocket?: boolean;
	/** HMAC-SHA256 (RFC 2104). */
	readonly hmacSha256: HmacSha256;
	/** A number in [0, 1). Default `Math.random`. */
	readonly random?: () => number;
	readonly events: SearchEvents;
}

/** Checks in a row until one succeeds. */
const TRIES = 10;

/** Milliseconds between them. */
const BACKOFF = deepFreeze({ minimum: 10_000, maximum: 10_000 * 2 ** (TRIES - 2) });

/** Milliseconds to the check after a failure to reach the backend; they double while it stays unreachable. */
const UNREACHED = deepFreeze({ minimum: 10_000, maximum: 640_000 });

/** Activation requests before the bootstrap starts over; milliseconds between them. */
const ACTIVATION_TRIES = 10;
const UNBOUND = deepFreeze({ minimum: 4_000, maximum: 4_000 });
const ACTIVATION_FAILED = deepFreeze({ minimum: 10_000, maximum: 60_000 });

const MAX_ANSWER_BYTES = 8_192;

/** Milliseconds that a request may take without progress. */
const TIMEOUT = 30_000;

/**
 * Asks a server of the xiaozhi family for the backend, at the start and from time to time ("OTA" in the C++ firmware).
 * The answer is kept: if the server does not answer at the next start, the device connects to the backend of the last one.
 *
 * @internal exported for its test
 */
export class Bootstrap implements Search {
	private readonly options: BootstrapOptions;
	/** Changes when a check starts or ends, so that results of an earlier one are ignored. */
	private turn = 0;
	private isRunning = false;
	private failures = 0;
	private readonly backoff: Backoff;
	/** Whether the next check is that of the schedule, so that one may precede it. */
	private isResting = false;
	private isReached = false;
	private readonly unreached: Backoff;
	/** The backend that was reported to the application, as text. */
	private reported = "";
	/** Whether binding was requested and is not yet confirmed. */
	private isUnbound = false;
	private timer: TimerHandle | undefined;

	constructor(options: BootstrapOptions) {
		this.options = options;
		this.backoff = new Backoff({ ...BACKOFF, random: options.random });
		this.unreached = new Backoff({ ...UNREACHED, random: options.random });
	}

	/** Checks now, then on schedule until {@link stop}. */
	start(): void {
		if (!this.isRunning) {
			this.isRunning = true;
			this.forgetFailures();
			void this.check();
		}
	}

	/** Makes no more requests. */
	stop(): void {
		this.isRunning = false;
		this.isResting = false;
		this.turn += 1;
		this.options.timer.clear(this.timer);
		this.timer = undefined;
	}

	/** A session with the backend has begun. */
	onReached(): void {
		this.isReached = true;
		this.unreached.reset();
	}

	/**
	 * Checks earlier than planned if the backend cannot be reached, because the server may name another one, or another
	 * token. The end of a session is no reason: the device connects again first.
	 */
	restart(): void {
		const wasReached = this.isReached;
		this.isReached = false;
		if (this.isResting && !wasReached) {
			const { otaInterval } = this.options.config;
			const delay = this.unreached.next();
			this.options.timer.clear(this.timer);
			this.checkIn(otaInterval === 0 ? delay : Math.min(delay, otaInterval * 1000));
		}
	}

	private async check(): Promise<void> {
		this.turn += 1;
		const turn = this.turn;
		try {
			const answer = await this.ask();
			if (turn === this.turn) {
				await this.take(answer, turn);
			}
		} catch (error) {
			if (turn === this.turn) {
				this.fail(error as Error);
			}
		}
	}

	private async ask(): Promise<BootstrapAnswer> {
		const { config, prefersWebSocket, log } = this.options;
		const response = await this.post(config.otaUrl, JSON.stringify(bootstrapReport(this.options)), TIMEOUT);
		const answer = readAnswer(String.fromArrayBuffer(expectOk(response, config.otaUrl).body), prefersWebSocket);
		for (const problem of answer.dropped) {
			log(`bootstrap: dropped: ${problem}`);
		}
		return answer;
	}

	private async post(url: string, body: string, timeout: number): Promise<HttpResponse> {
		return await this.options.http.request({
			method: "POST",
			url,
			headers: bootstrapHeaders(this.options),
			body: [ArrayBuffer.fromString(body)],
			maxBytes: MAX_ANSWER_BYTES,
			timeout,
		});
	}

	private async take(answer: BootstrapAnswer, turn: number): Promise<void> {
		const { serverTime, firmware, activation } = answer;
		if (serverTime !== undefined) {
			this.options.board.clock?.set(serverTime.time, serverTime.timezone);
		}
		const isOther = firmware !== undefined && firmware.version !== FIRMWARE.version;
		if (isOther && (firmware.force || isNewer(firmware.version, FIRMWARE.version))) {
			await this.options.events.onFirmware(firmware);
		}
		if (turn === this.turn && activation !== undefined) {
			await this.activate(activation, turn);
		} else if (turn === this.turn) {
			this.endActivation();
			this.use(answer);
			this.forgetFailures();
			this.schedule();
		}
	}

	/**
	 * Uses the first usable backend of the answer. If it names none, the one that this server named last is used.
	 *
	 * @throws Error if none can be used
	 */
	private use({ backends, dropped }: BootstrapAnswer): void {
		const { config } = this.options;
		const { settings } = this.options.board;
		const stored = storedBackend(settings, config.otaUrl);
		const candidates = backends.length > 0 || stored === undefined ? backends : [stored];
		let problem = new Error(["the response has neither mqtt nor websocket", ...dropped].join("; "));
		for (const backend of candidates) {
			try {
				this.report(backend);
				storeBackend(settings, config.otaUrl, backend);
				return;
			} catch (error) {
				problem = error as Error;
				this.options.log(`bootstrap: dropped: ${backend.backend}: ${problem.message}`);
			}
		}
		throw problem;
	}

	private report(backend: ServedBackend): void {
		const text = JSON.stringify(backend);
		if (text !== this.reported) {
			this.options.events.onBackend(backend);
			this.reported = text;
		}
	}

	/** Shows the code, and polls until the device is bound. Then the bootstrap starts over. */
	private async activate(activation: Activation, turn: number): Promise<void> {
		const { events, random } = this.options;
		const body = await this.activationBody(activation);
		this.isUnbound = true;
		events.onActivation(activation.code, activation.message);
		const unbound = new Backoff({ ...UNBOUND, random });
		const failed = new Backoff({ ...ACTIVATION_FAILED, random });
		for (let attempt = 0; attempt < ACTIVATION_TRIES; attempt += 1) {
			const status = await this.askWhetherBound(body, activation.timeout);
			if (turn !== this.turn) {
				return;
			}
			if (status === 200) {
				this.endActivation();
				break;
			}
			await this.wait((status === 202 ? unbound : failed).next());
		}
		this.checkIn(unbound.next());
	}

	private endActivation(): void {
		if (this.isUnbound) {
			this.isUnbound = false;
			this.options.log("device bound");
			this.options.events.onActivated();
		}
	}

	/** @returns the HTTP status, or 0 if there was no answer */
	private async askWhetherBound(body: string, timeout: number): Promise<number> {
		const { config, log } = this.options;
		const url = `${config.otaUrl}${config.otaUrl.endsWith("/") ? "" : "/"}activate`;
		try {
			return (await this.post(url, body, timeout + TIMEOUT)).status;
		} catch (error) {
			log((error as Error).message);
			return 0;
		}
	}

	/** A device with a serial number proves that the number is its own. */
	private async activationBody({ challenge }: Activation): Promise<string> {
		const { config, hmacSha256 } = this.options;
		const { serialNumber, hmacKey } = config;
		if (serialNumber === "" || hmacKey === undefined) {
			return "{}";
		}
		const hmac = toHex(await hmacSha256(hmacKey, ArrayBuffer.fromString(challenge)));
		return JSON.stringify({ algorithm: "hmac-sha256", serial_number: serialNumber, challenge, hmac });
	}

	/** Does not settle if the bootstrap is stopped meanwhile. */
	private wait(delay: number): Promise<void> {
		return new Promise((resolve) => {
			this.timer = this.options.timer.set(() => resolve(), delay);
		});
	}

	private fail(error: Error): void {
		this.failures += 1;
		if (this.reported === "") {
			this.useStored();
		}
		if (this.failures < TRIES) {
			this.options.events.onFailed(error, this.checkIn(this.backoff.next()));
		} else {
			this.forgetFailures();
			this.options.events.onFailed(error, this.schedule());
		}
	}

	private forgetFailures(): void {
		this.failures = 0;
		this.backoff.reset();
	}

	private useStored(): void {
		const { config, board, log } = this.options;
		const stored = storedBackend(board.settings, config.otaUrl);
		if (stored === undefined) {
			return;
		}
		try {
			this.report(stored);
		} catch (error) {
			log(`stored backend unusable: ${(error as Error).message}`);
		}
	}

	/** Plans the next check. @returns milliseconds until then, or undefined if no check is due */
	private schedule(): number | undefined {
		const { otaInterval } = this.options.config;
		const retryIn = otaInterval === 0 ? undefined : this.checkIn(otaInterval * 1000);
		this.isResting = true;
		return retryIn;
	}

	private checkIn(delay: number): number {
		this.isResting = false;
		this.timer = this.options.timer.set(() => void this.check(), delay);
		return delay;
	}
}

/** Asks a server for the backend, if the setting `otaUrl` names one and the build has an HTTP client. */
export const bootstrapFeature = (hmacSha256: HmacSha256): Feature => ({
	name: "bootstrap",
	after: ["http"],
	rescue: true,
	start(app) {
		const { board, timer, log, backend } = app;
		const { http } = board;
		if (http === undefined) {
			return;
		}
		backend.sources.push({
			name: "bootstrap",
			read(source) {
				const config = readBootstrapConfig(source);
				if (config === undefined) {
					return undefined;
				}
				return {
					shown: config.otaUrl,
					open(events) {
						const uuid = deviceUuid(board.settings, app.setting("uuid"));
						// Over MQTT this device may have no audio.
						const prefersWebSocket = app.audio !== undefined && app.clients.openUdp === undefined;
						return new Bootstrap({ board, http, uuid, config, prefersWebSocket, hmacSha256, events, timer, log });
					},
				};
			},
		});
	},
});

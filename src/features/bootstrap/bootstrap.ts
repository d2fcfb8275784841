import type { Application } from "../../core/application.js";
import type { Search, SearchEvents, ServedBackend } from "../../core/backend.js";
import { FIRMWARE } from "../../core/firmware.js";
import { AppPart, type Feature } from "../../core/listener.js";
import { toHex } from "../../core/text/hex.js";
import { isObject, tryParseJson } from "../../core/text/json.js";
import { decodeText } from "../../core/text/message-assembler.js";
import { isNewer } from "../../core/text/version.js";
import type { Http, HttpResponse, Settings, TimerHandle } from "../../hardware/hardware.js";
import { Backoff } from "../../protocols/backoff.js";
import { type Activation, type BootstrapAnswer, readAnswer } from "./bootstrap-answer.js";
import { type BootstrapConfig, bootstrapHeaders, bootstrapReport, readBootstrapConfig } from "./bootstrap-report.js";

/** HMAC-SHA256 (RFC 2104). */
type HmacSha256 = (key: ArrayBuffer, message: ArrayBuffer) => Promise<ArrayBuffer>;

/** Maximum number of consecutive checks until one succeeds. */
const TRIES = 10;

/** Milliseconds between these checks. */
const BACKOFF = Object.freeze({ minimum: 10_000, maximum: 10_000 * 2 ** (TRIES - 2) });

/** Milliseconds to the check after a failure to reach the backend; they double while it stays unreachable. */
const UNREACHED = Object.freeze({ minimum: 10_000, maximum: 640_000 });

/** Activation requests before the bootstrap starts over; milliseconds between them. */
const ACTIVATION_TRIES = 10;
const UNBOUND = Object.freeze({ minimum: 4_000, maximum: 4_000 });
const ACTIVATION_FAILED = Object.freeze({ minimum: 10_000, maximum: 60_000 });

const MAX_ANSWER_BYTES = 8_192;

/** Milliseconds that a request may take without progress. */
const TIMEOUT = 30_000;

/**
 * Asks a server of the xiaozhi family for the backend, at the start and periodically ("OTA" in the C++ firmware).
 * Stores the backend of the answer, to connect to it if the server does not answer at the next start.
 *
 * @internal exported for its test
 */
export class Bootstrap extends AppPart implements Search {
	private readonly http = this.app.board.http as Http;
	private readonly config: BootstrapConfig;
	private readonly hmacSha256: HmacSha256;
	private readonly events: SearchEvents;
	private readonly random: () => number;
	/** Changes when a check starts or ends, so that results of an earlier one are ignored. */
	private turn = 0;
	private isRunning = false;
	private failures = 0;
	private readonly backoff: Backoff;
	/** Whether only the scheduled check is due, so that an earlier one may precede it. */
	private isResting = false;
	private isReached = false;
	private readonly unreached: Backoff;
	/** The backend last reported to the application, as JSON. */
	private reported = "";
	/** Whether binding was requested and is not yet confirmed. */
	private isUnbound = false;
	private timer: TimerHandle | undefined;

	/** @param random a number in [0, 1) */
	constructor(
		app: Application,
		config: BootstrapConfig,
		hmacSha256: HmacSha256,
		events: SearchEvents,
		random: () => number = Math.random,
	) {
		super(app);
		this.config = config;
		this.hmacSha256 = hmacSha256;
		this.events = events;
		this.random = random;
		this.backoff = new Backoff({ ...BACKOFF, random });
		this.unreached = new Backoff({ ...UNREACHED, random });
	}

	/** Checks now, then on schedule until {@link stop}. */
	start(): void {
		if (!this.isRunning) {
			this.isRunning = true;
			this.forgetFailures();
			void this.check();
		}
	}

	/** Stops all requests. */
	stop(): void {
		this.isRunning = false;
		this.isResting = false;
		this.turn += 1;
		this.app.timer.clear(this.timer);
	}

	/** A session with the backend has begun. */
	onReached(): void {
		this.isReached = true;
		this.unreached.reset();
	}

	/** Checks earlier if the backend cannot be reached: the server may name another one, or another token. */
	restart(): void {
		const wasReached = this.isReached;
		this.isReached = false;
		if (this.isResting && !wasReached) {
			const { otaInterval } = this.config;
			const delay = this.unreached.next();
			this.app.timer.clear(this.timer);
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
		const { app, config } = this;
		const { body } = await this.post(config.otaUrl, bootstrapReport(app, config), TIMEOUT);
		const answer = readAnswer(decodeText(body));
		for (const problem of answer.dropped) {
			app.log(`bootstrap: dropped: ${problem}`);
		}
		return answer;
	}

	private async post(url: string, body: object, timeout: number): Promise<HttpResponse> {
		return await this.http.request({
			method: "POST",
			url,
			headers: bootstrapHeaders(this.app, this.config),
			body: [ArrayBuffer.fromString(JSON.stringify(body))],
			maxBytes: MAX_ANSWER_BYTES,
			mustSucceed: true,
			timeout,
		});
	}

	private async take(answer: BootstrapAnswer, turn: number): Promise<void> {
		const { serverTime, firmware, activation } = answer;
		if (serverTime !== undefined) {
			this.app.board.clock?.set(serverTime.time, serverTime.timezone);
		}
		const isOther = firmware !== undefined && firmware.version !== FIRMWARE.version;
		if (isOther && (firmware.force || isNewer(firmware.version, FIRMWARE.version))) {
			await this.events.onFirmware?.(firmware);
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
	 * Uses the first usable backend of the answer. If it names none, uses the one that this server named last.
	 *
	 * @throws Error if none can be used
	 */
	private use({ backends, dropped }: BootstrapAnswer): void {
		const { settings } = this.app.board;
		const { otaUrl } = this.config;
		const stored = storedBackend(settings, otaUrl);
		const candidates = backends.length > 0 || stored === undefined ? backends : [stored];
		let problem = new Error(["the response has neither mqtt nor websocket", ...dropped].join("; "));
		for (const backend of candidates) {
			try {
				this.report(backend);
				settings?.set(...STORED, JSON.stringify({ otaUrl, backend }));
				return;
			} catch (error) {
				problem = error as Error;
				this.app.log(`bootstrap: dropped: ${backend.backend}: ${problem.message}`);
			}
		}
		throw problem;
	}

	private report(backend: ServedBackend): void {
		const text = JSON.stringify(backend);
		if (text !== this.reported) {
			this.events.onBackend(backend);
			this.reported = text;
		}
	}

	/** Shows the code, and polls until the device is bound. Then the bootstrap starts over. */
	private async activate(activation: Activation, turn: number): Promise<void> {
		const { random } = this;
		const body = await this.activationBody(activation);
		this.isUnbound = true;
		this.events.onActivation(activation.code, activation.message);
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
			const delay = (status === 202 ? unbound : failed).next();
			// Does not settle if the bootstrap is stopped meanwhile.
			await new Promise<void>((resolve) => {
				this.timer = this.app.timer.set(resolve, delay);
			});
		}
		this.checkIn(unbound.next());
	}

	private endActivation(): void {
		if (this.isUnbound) {
			this.isUnbound = false;
			this.app.log("device bound");
			this.events.onActivated?.();
		}
	}

	/** @returns the HTTP status, or 0 if it is not 2xx */
	private async askWhetherBound(body: object, timeout: number): Promise<number> {
		const { otaUrl } = this.config;
		const url = `${otaUrl}${otaUrl.endsWith("/") ? "" : "/"}activate`;
		try {
			return (await this.post(url, body, timeout + TIMEOUT)).status;
		} catch (error) {
			this.app.log((error as Error).message);
			return 0;
		}
	}

	/** A device with a serial number proves that the number is its own. */
	private async activationBody({ challenge }: Activation): Promise<object> {
		const { serialNumber, hmacKey } = this.config;
		if (serialNumber === "" || hmacKey === undefined) {
			return {};
		}
		const hmac = toHex(await this.hmacSha256(hmacKey, ArrayBuffer.fromString(challenge)));
		return { algorithm: "hmac-sha256", serial_number: serialNumber, challenge, hmac };
	}

	private fail(error: Error): void {
		this.failures += 1;
		const { board, log } = this.app;
		const stored = this.reported === "" ? storedBackend(board.settings, this.config.otaUrl) : undefined;
		try {
			stored && this.report(stored);
		} catch (cause) {
			log(`stored backend unusable: ${(cause as Error).message}`);
		}
		if (this.failures < TRIES) {
			this.events.onFailed(error, this.checkIn(this.backoff.next()));
		} else {
			this.forgetFailures();
			this.events.onFailed(error, this.schedule());
		}
	}

	private forgetFailures(): void {
		this.failures = 0;
		this.backoff.reset();
	}

	/** Plans the next check. @returns milliseconds until then, or undefined if no check is due */
	private schedule(): number | undefined {
		const { otaInterval } = this.config;
		const retryIn = otaInterval === 0 ? undefined : this.checkIn(otaInterval * 1000);
		this.isResting = true;
		return retryIn;
	}

	private checkIn(delay: number): number {
		this.isResting = false;
		this.timer = this.app.timer.set(() => void this.check(), delay);
		return delay;
	}
}

const STORED = Object.freeze(["bootstrap", "backend"] as const);

/** The backend that this server served last. Checked, because the stored text may be from another firmware. */
const storedBackend = (settings: Settings | undefined, otaUrl: string): ServedBackend | undefined => {
	const stored = tryParseJson(settings?.get(...STORED));
	const backend = isObject(stored) && stored.otaUrl === otaUrl ? stored.backend : undefined;
	return isObject(backend) && typeof backend.backend === "string" ? (backend as ServedBackend) : undefined;
};

/** Asks a server for the backend, if the setting `otaUrl` names one and the build has an HTTP client. */
export const bootstrapFeature = (hmacSha256: HmacSha256): Feature => ({
	name: "bootstrap",
	after: ["http"],
	rescue: true,
	start(app) {
		if (app.board.http !== undefined) {
			app.backend.sources.push((settings) => {
				const config = readBootstrapConfig(settings);
				return (
					config && {
						name: "bootstrap",
						label: config.otaUrl,
						open: (events) => new Bootstrap(app, config, hmacSha256, events),
					}
				);
			});
		}
	},
});

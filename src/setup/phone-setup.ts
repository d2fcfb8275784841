import type { TimerHandle } from "../hardware/timer.js";
import type { FoundNetwork, SetupNotice, WiFiAccess } from "../hardware/wifi-setup.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { settingText } from "../settings/read-setting.js";
import { SetupAttempt, type SetupAttemptOptions } from "./setup-attempt.js";
import { SetupConnection } from "./setup-connection.js";
import { type CheckSettings, checkValues, currentValues, type FormErrors, readForm } from "./setup-form.js";
import { inLanguage } from "./setup-message.js";
import { SetupNeed, type SetupNeedOptions } from "./setup-need.js";
import { answerRequest, type SetupSource, type SetupStatus } from "./setup-routes.js";

interface PhoneSetupOptions extends SetupAttemptOptions, SetupNeedOptions {
	readonly platform: HttpServerPlatform;
	/** The name of the device's own network. */
	readonly name: string;
	/** Its password, possibly a new one for each set-up; empty for an open network. */
	readonly makePassword: () => string;
	/** Seconds after which a device that knows a network gives up, unless the user scans or sends the form. */
	readonly patience: number;
	readonly check: CheckSettings;
	readonly isSafe: boolean;
	/** A number in [0, 1). */
	readonly random: () => number;
}

/** Events for the application. */
export interface SetupEvents {
	/** No network could be joined for too long. */
	onNeeded(): void;
	/** The notice on the screen; undefined once the set-up has ended. */
	onShow(notice: SetupNotice | undefined): void;
	/**
	 * The set-up has ended by itself.
	 *
	 * @param restart whether settings were changed that are read when the firmware starts
	 */
	onEnd(restart: boolean): void;
}

/** Milliseconds that the page is served after the network was joined, so that it learns about it. */
const FAREWELL_TIME = 4_000;

/** Connections served at the same time: a browser opens several. */
const MAX_CONNECTIONS = 4;

/** Networks that the page lists. */
const MAX_NETWORKS = 20;

/**
 * Sets the device up with a phone: opens its own network, serves a page there, tries the settings, and stores them if
 * network and backend could be reached. Passwords and tokens are neither logged nor sent.
 */
export class PhoneSetup {
	private readonly options: PhoneSetupOptions;
	private readonly events: SetupEvents;
	private readonly connections = new Set<SetupConnection>();
	private readonly need: SetupNeed;
	private _isOpen = false;
	private server: HttpServer | undefined;
	private access: WiFiAccess = { ssid: "", password: "" };
	private formToken = "";
	/** Of the page, once a form was sent; before that the device's own. */
	private language = "";
	private status: SetupStatus = { state: "waiting" };
	private attempt: SetupAttempt | undefined;
	/** Ends the set-up. */
	private timer: TimerHandle | undefined;

	constructor(options: PhoneSetupOptions, events: SetupEvents) {
		this.options = options;
		this.events = events;
		this.need = new SetupNeed(options, () => events.onNeeded());
	}

	get isOpen(): boolean {
		return this._isOpen;
	}

	/** Opens the device's own network, and serves the page. If that fails the set-up ends at once. */
	begin(): void {
		const { platform, accessPoint, name, makePassword, log } = this.options;
		this.access = { ssid: name, password: makePassword() };
		this.language = settingText("language", this.options);
		this.formToken = makeToken(this.options.random);
		this.status = { state: "waiting" };
		this.attempt = this.makeAttempt();
		this.need.stop();
		this._isOpen = true;
		try {
			accessPoint.open(this.access);
			this.server = platform.open({
				port: accessPoint.port,
				onConnect: (connection) => this.serve(connection),
				onListening: () => log(`set-up: join the Wi-Fi ${JSON.stringify(name)} and open ${this.url}`),
				onError: (error) => this.fail(error),
			});
		} catch (error) {
			this.fail(error);
			return;
		}
		this.show();
		this.wait();
	}

	/** Starts by itself, if the device may. */
	beginByItself(): void {
		if (this.need.mayBegin) {
			this.begin();
		}
	}

	/**
	 * Reports whether the device is online. The set-up starts if it is offline for too long, or if it is online but does
	 * not reach a backend that was stored untried.
	 */
	follow(online: boolean): void {
		if (!this.isOpen) {
			this.need.follow(online);
		}
	}

	/** Reports that the device has reached its backend. */
	reached(): void {
		this.need.reached();
	}

	close(): void {
		this.clearTimer();
		this.need.stop();
		this.attempt?.close();
		this.attempt = undefined;
		if (this.isOpen) {
			this.server?.close();
			this.server = undefined;
			for (const connection of this.connections) {
				connection.close();
			}
			this.options.accessPoint.close();
			this._isOpen = false;
			this.events.onShow(undefined);
		}
	}

	private makeAttempt(): SetupAttempt {
		return new SetupAttempt(this.options, {
			onProgress: (status) => this.setStatus(status),
			onPaused: (status) => {
				this.setStatus(status);
				this.wait();
			},
			onStored: (status, restart) => {
				this.setStatus(status);
				this.timer = this.options.timer.set(() => this.end(restart), FAREWELL_TIME);
			},
			onUntried: () => this.need.untried(),
		});
	}

	private get host(): string {
		const { address, port } = this.options.accessPoint;
		return port === 80 ? address : `${address}:${port}`;
	}

	private get url(): string {
		return `http://${this.host}/`;
	}

	private clearTimer(): void {
		this.options.timer.clear(this.timer);
		this.timer = undefined;
	}

	/** A device without a network has nothing else to do. Automatic requests of a phone do not prolong the set-up. */
	private wait(): void {
		this.clearTimer();
		if (settingText("ssid", this.options) !== "") {
			this.timer = this.options.timer.set(() => {
				this.options.log("set-up: timed out; trying the stored settings again");
				this.end(this.attempt?.hasLeft === true);
			}, this.options.patience * 1000);
		}
	}

	private fail(error: unknown): void {
		this.options.log(`set-up: could not open: ${String(error)}`);
		this.end(false);
	}

	private end(restart: boolean): void {
		this.close();
		this.events.onEnd(restart);
	}

	private setStatus(status: SetupStatus): void {
		this.status = status;
		this.show();
	}

	private show(): void {
		const { message } = this.status;
		const shown = message ?? (this.options.isSafe ? { text: "safeMode" as const } : undefined);
		const progress = shown === undefined ? "" : inLanguage(shown, this.language);
		this.events.onShow({ ...this.access, url: this.url, progress });
	}

	private serve(connection: HttpConnection): void {
		if (this.connections.size >= MAX_CONNECTIONS) {
			connection.close();
			return;
		}
		const served = new SetupConnection(connection, {
			answer: (request, body) => answerRequest(request, body, this.source()),
			timer: this.options.timer,
			onEnd: () => this.connections.delete(served),
		});
		this.connections.add(served);
	}

	private source(): SetupSource {
		return {
			host: this.host,
			formToken: this.formToken,
			device: this.access.ssid,
			isSafe: this.options.isSafe,
			findsGateways: this.options.findGateways !== undefined,
			status: () => this.status,
			values: () => currentValues(this.options),
			networks: () => this.networks(),
			submit: (text) => this.submit(text),
		};
	}

	/** A scan disturbs an attempt to join. */
	private async networks(): Promise<readonly FoundNetwork[]> {
		const { state } = this.status;
		if (state === "joining" || state === "joined") {
			return [];
		}
		this.wait();
		return strongest(await this.options.accessPoint.scan());
	}

	private submit(text: string): FormErrors | undefined {
		const { settings, check } = this.options;
		if (this.status.state === "joining" || this.status.state === "joined") {
			return { form: { text: "busy" } };
		}
		this.wait();
		const form = readForm(text, currentValues(this.options));
		if ("errors" in form) {
			return form.errors;
		}
		this.language = form.values.language;
		// A search for a gateway has no backend to check yet.
		const errors = form.finds ? undefined : checkValues(form.values, settings, check);
		if (errors === undefined) {
			this.clearTimer();
			void this.attempt?.join(form);
		}
		return errors;
	}
}

/** Each network once, with its strongest access point; without hidden ones. */
const strongest = (found: readonly FoundNetwork[]): readonly FoundNetwork[] => {
	const networks: FoundNetwork[] = [];
	for (const network of [...found].sort((a, b) => b.rssi - a.rssi)) {
		if (network.ssid !== "" && networks.every(({ ssid }) => ssid !== network.ssid)) {
			networks.push(network);
		}
	}
	return networks.slice(0, MAX_NETWORKS);
};

const makeToken = (random: () => number): string =>
	Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join("");

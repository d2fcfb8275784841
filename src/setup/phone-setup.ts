import type { TimerHandle } from "../hardware/timer.js";
import type { FoundNetwork, SetupNotice, WiFiAccess } from "../hardware/wifi-setup.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { knownNetworks } from "../settings/known-networks.js";
import { readSetting, settingText } from "../settings/read-setting.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { hostnameOf } from "../text/hostname.js";
import { type AttemptEvents, SetupAttempt, type SetupAttemptOptions } from "./setup-attempt.js";
import { SetupConnection } from "./setup-connection.js";
import { checkValues, currentValues, type FormErrors, readForm } from "./setup-form.js";
import { inLanguage } from "./setup-message.js";
import type { SetupOptions } from "./setup-options.js";
import { answerRequest, type SetupSource, type SetupStatus } from "./setup-routes.js";

interface PhoneSetupOptions extends SetupOptions, SetupAttemptOptions {
	readonly platform: HttpServerPlatform;
}

/** Events for the application. */
export interface SetupEvents {
	/**
	 * The set-up should begin: no network could be joined for too long, or a person holds the BOOT button.
	 *
	 * @param isFallback whether the network is lost
	 */
	onNeeded(isFallback: boolean): void;
	/** Called with a text for the screen. */
	onAlert(message: string): void;
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

const MAX_NETWORKS = 20;

/** Milliseconds between attempts to join a known network while nobody uses the page. Each one disturbs the device's own network. */
const REJOIN_INTERVAL = 60_000;

/** Milliseconds for which the BOOT button is held. */
const SETUP_HOLD = 5_000;
const RESET_HOLD = 10_000;

/** Milliseconds from the alert to the factory reset. */
const RESET_DELAY = 1_000;

/** Set until the stored backend was reached once. */
const UNREACHED = deepFreeze(["wifi", "unreached"] as const);

/** Letters and digits that are hard to confuse. */
const PASSWORD_CHARACTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const PASSWORD_LENGTH = 8;

/**
 * Sets the device up with a phone: opens its own network, serves a page there, tries the settings, and stores them if
 * network and backend could be reached. Passwords and tokens are neither logged nor sent.
 *
 * The own network's password is the setting `setupPassword`. Without it a board with a screen makes one each time and
 * shows it; on a board without a screen the network is open.
 */
export class PhoneSetup implements SetupSource, AttemptEvents {
	readonly options: PhoneSetupOptions;
	private readonly events: SetupEvents;
	private readonly connections = new Set<SetupConnection>();
	private readonly password: string;
	/** Seconds without a network after which the set-up begins; 0: never by itself. */
	private readonly after: number;
	/** Seconds after which a device that knows a network gives up, unless the user scans or sends the form. */
	private readonly patience: number;
	isOpen = false;
	private server: HttpServer | undefined;
	access: WiFiAccess = { ssid: "", password: "" };
	formToken = "";
	/** The page's language, once a form was sent; before that the device's own. */
	private language = "";
	status: SetupStatus = { state: "waiting" };
	private attempt: SetupAttempt | undefined;
	/** Ends the set-up. */
	private timer: TimerHandle | undefined;
	/** Begins it. */
	private needTimer: TimerHandle | undefined;
	/** Tries the known networks, unless somebody uses the page. */
	private rejoinTimer: TimerHandle | undefined;

	/** @throws SettingError */
	constructor(options: PhoneSetupOptions, events: SetupEvents) {
		this.options = options;
		this.events = events;
		this.password = readSetting("setupPassword", options);
		this.after = readSetting("setupAfter", options);
		this.patience = readSetting("setupTime", options);
		this.watchBootButton();
	}

	/**
	 * Opens the device's own network, and serves the page. If that fails the set-up ends at once.
	 *
	 * @param isFallback whether the network is lost: the known ones are tried again from time to time
	 */
	begin(isFallback = false): void {
		const { platform, board, accessPoint, deviceId, log } = this.options;
		const invented = board.screen === undefined ? "" : this.inventText(PASSWORD_CHARACTERS, PASSWORD_LENGTH);
		this.access = { ssid: hostnameOf(deviceId), password: this.password || invented };
		this.language = settingText("language", this.options);
		this.formToken = this.inventText("abcdefghijklmnopqrstuvwxyz0123456789", 16);
		this.status = { state: "waiting" };
		this.attempt = new SetupAttempt(this.options, this);
		this.stopNeed();
		this.isOpen = true;
		try {
			accessPoint.open(this.access);
			this.server = platform.open({
				port: accessPoint.port,
				onConnect: (connection) => this.serve(connection),
				onListening: () => log(`set-up: join the Wi-Fi ${JSON.stringify(this.access.ssid)} and open ${this.url}`),
				onError: (error) => this.fail(error),
			});
		} catch (error) {
			this.fail(error);
			return;
		}
		this.show();
		this.wait();
		if (isFallback) {
			this.rejoinLater();
		}
	}

	/** Starts without a person's request, if the settings allow it. */
	beginByItself(): void {
		if (this.after > 0) {
			this.begin();
		}
	}

	/**
	 * Takes whether the device is online. The set-up starts if it is offline for too long, or if it is online but does
	 * not reach a backend that was stored untried.
	 */
	follow(online: boolean): void {
		if (this.isOpen) {
			return;
		}
		if (online) {
			this.stopNeed();
		}
		if (this.after > 0 && (!online || this.isUnreached)) {
			this.needTimer ??= this.options.timer.set(() => this.need(!online), this.after * 1000);
		}
	}

	/** Takes note that the device has reached its backend. */
	reached(): void {
		if (this.isUnreached) {
			this.options.settings.delete(...UNREACHED);
			this.stopNeed();
		}
	}

	close(): void {
		this.clearTimer();
		this.stopNeed();
		this.stopRejoining();
		this.attempt?.close();
		this.attempt = undefined;
		if (this.isOpen) {
			this.server?.close();
			this.server = undefined;
			for (const connection of this.connections) {
				connection.close();
			}
			this.options.accessPoint.close();
			this.isOpen = false;
			this.events.onShow(undefined);
		}
	}

	private get isUnreached(): boolean {
		return this.options.settings.get(...UNREACHED) !== undefined;
	}

	private need(isFallback: boolean): void {
		this.needTimer = undefined;
		this.events.onNeeded(isFallback);
	}

	private stopNeed(): void {
		this.options.timer.clear(this.needTimer);
		this.needTimer = undefined;
	}

	/** Another part of the device may use its pin. */
	private watchBootButton(): void {
		const { board, log } = this.options;
		try {
			const button = board.bootButton?.();
			if (button !== undefined) {
				button.onRelease = (milliseconds) => this.release(milliseconds);
			}
		} catch (error) {
			log(`BOOT button: not available: ${String(error)}`);
		}
	}

	private release(milliseconds: number): void {
		const { board, timer, log } = this.options;
		if (milliseconds >= RESET_HOLD) {
			log("factory reset: every setting is erased, and the device restarts");
			this.events.onAlert(inLanguage({ text: "erased" }, settingText("language", this.options)));
			timer.set(() => board.system?.factoryReset?.(), RESET_DELAY);
		} else if (milliseconds >= SETUP_HOLD && this.isOpen) {
			this.use();
		} else if (milliseconds >= SETUP_HOLD) {
			log("BOOT button: set-up");
			this.need(false);
		}
	}

	private rejoinLater(): void {
		this.rejoinTimer = this.options.timer.set(() => void this.rejoin(), REJOIN_INTERVAL);
	}

	private async rejoin(): Promise<void> {
		const isJoined = await this.options.accessPoint.rejoin();
		if (this.rejoinTimer === undefined) {
			return;
		}
		if (isJoined) {
			this.options.log("set-up: a known network is back");
			this.end(false);
		} else {
			this.rejoinLater();
		}
	}

	private stopRejoining(): void {
		this.options.timer.clear(this.rejoinTimer);
		this.rejoinTimer = undefined;
	}

	private inventText(characters: string, length: number): string {
		const { random = Math.random } = this.options;
		return Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join("");
	}

	onProgress(status: SetupStatus): void {
		this.status = status;
		this.show();
	}

	onPaused(status: SetupStatus): void {
		this.onProgress(status);
		this.wait();
	}

	onStored(status: SetupStatus, restart: boolean): void {
		this.onProgress(status);
		this.timer = this.options.timer.set(() => this.end(restart), FAREWELL_TIME);
	}

	onUntried(): void {
		this.options.settings.set(...UNREACHED, "yes");
	}

	get host(): string {
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

	/** Keeps the set-up open for the person who uses it. Automatic requests of a phone do not. */
	private use(): void {
		this.stopRejoining();
		this.wait();
	}

	/** A device without a network has nothing else to do. */
	private wait(): void {
		this.clearTimer();
		if (knownNetworks(this.options).length > 0) {
			this.timer = this.options.timer.set(() => {
				this.options.log("set-up: timed out; trying the stored settings again");
				this.end(this.attempt?.hasLeft === true);
			}, this.patience * 1000);
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
			answer: (request, body) => answerRequest(request, body, this),
			timer: this.options.timer,
			onEnd: () => this.connections.delete(served),
		});
		this.connections.add(served);
	}

	/** A scan disturbs an attempt to join. */
	async networks(): Promise<readonly FoundNetwork[]> {
		const { state } = this.status;
		if (state === "joining" || state === "joined") {
			return [];
		}
		this.use();
		return strongest(await this.options.accessPoint.scan());
	}

	submit(text: string): FormErrors | undefined {
		const { settings, check } = this.options;
		if (this.status.state === "joining" || this.status.state === "joined") {
			return { form: { text: "busy" } };
		}
		this.use();
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

/** The set-up of a board: the application makes it with its events. */
export type Setup = (events: SetupEvents) => PhoneSetup;

/**
 * Makes the set-up with a phone, for a board that has an access point and keeps settings.
 *
 * @returns undefined on any other board
 */
export const openSetup = (platform: HttpServerPlatform, options: SetupOptions): Setup | undefined => {
	const { accessPoint, settings } = options.board;
	return (
		accessPoint && settings && ((events) => new PhoneSetup({ ...options, platform, accessPoint, settings }, events))
	);
};

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

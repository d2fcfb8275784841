import type { Application } from "../../core/application.js";
import type { FoundGateway } from "../../core/backend.js";
import { knownNetworks } from "../../core/known-networks.js";
import { AppPart, type Feature, type Listener } from "../../core/listener.js";
import { settingText, withSettings } from "../../core/read-setting.js";
import type { Settings, TimerHandle } from "../../hardware/hardware.js";
import type { AccessPoint, FoundNetwork, WiFiAccess, WiFiSetup } from "../../hardware/wifi-setup.js";
import type { HttpServer, HttpServerPlatform } from "../../protocols/http-server.js";
import { SetupConnection } from "./setup-connection.js";
import {
	checkValues,
	currentValues,
	type FormErrors,
	readForm,
	type SetupForm,
	type SetupValues,
	storeValues,
} from "./setup-form.js";
import { inLanguage, type SetupMessage } from "./setup-texts.js";

/** The state of the set-up. "joining" is any step in progress. */
export interface SetupStatus {
	readonly state: "waiting" | "joining" | "found" | "joined" | "failed";
	/** A message for the user. Absent until the form was sent. */
	readonly message?: SetupMessage;
	/** Gateways to choose from, in the state "found". */
	readonly gateways?: readonly FoundGateway[];
	/** Whether the settings can be stored although this attempt failed. */
	readonly canKeep?: boolean;
}

/** Milliseconds that the page is served after the network was joined, so that it learns about it. */
const FAREWELL_TIME = 4_000;

/** Connections served at the same time: a browser opens several. */
const MAX_CONNECTIONS = 4;

const MAX_NETWORKS = 20;

/** Milliseconds after which a device that knows a network ends the set-up, unless the user scans or sends the form. */
const IDLE_TIME = 300_000;

/** Milliseconds between attempts to join a known network while nobody uses the page: each disturbs the own network. */
const REJOIN_INTERVAL = 60_000;
const REJOIN_ATTEMPTS = IDLE_TIME / REJOIN_INTERVAL;

/** Milliseconds for which the BOOT button is held. */
const SETUP_HOLD = 5_000;
const RESET_HOLD = 10_000;

/** Milliseconds from the alert to the factory reset. */
const RESET_DELAY = 1_000;

/** Set until the stored backend was reached once. */
const UNREACHED = Object.freeze(["wifi", "unreached"] as const);

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
export class PhoneSetup extends AppPart implements Listener, WiFiSetup {
	private readonly settings = this.app.board.settings as Settings;
	private readonly accessPoint = this.app.board.accessPoint as AccessPoint;
	private readonly password = this.app.setting("setupPassword");
	/** Seconds without a network after which the set-up starts; 0: never by itself. */
	private readonly after = this.app.setting("setupAfter");
	private readonly platform: HttpServerPlatform;
	readonly connections = new Set<SetupConnection>();
	isOpen = false;
	private server: HttpServer | undefined;
	/** The device's own network. */
	access: WiFiAccess = { ssid: "", password: "" };
	/** A token sent with the form, which other sites cannot know. */
	formToken = "";
	/** The page's language, once a form was sent; before that the device's own. */
	private language = "";
	status: SetupStatus = { state: "waiting" };
	/** Whether a network was joined that is not stored: only a restart returns to the stored one. */
	private hasLeft = false;
	/** Ends an open set-up or tries the known networks; starts a closed one. */
	private timer: TimerHandle | undefined;
	/** Whether the timer starts the set-up at a user's request. */
	private isRequested = false;

	/**
	 * @param app has an access point and settings
	 * @throws SettingError
	 */
	constructor(app: Application, platform: HttpServerPlatform) {
		super(app);
		this.platform = platform;
		try {
			const button = app.board.bootButton?.();
			if (button !== undefined) {
				button.onRelease = (milliseconds) => this.release(milliseconds);
			}
		} catch (error) {
			// Another part of the device may use its pin.
			app.log(`BOOT button: not available: ${String(error)}`);
		}
	}

	/** Starts the set-up if no network is known, or if a setting cannot be used and the firmware is not rolled back. */
	onStart(): void {
		const { failure, network, board } = this.app;
		const isRescue = failure !== undefined && this.after > 0 && board.updater?.isOnTrial !== true;
		if (isRescue || (failure === undefined && network.isUnset)) {
			this.open();
		}
	}

	/** Starts the set-up at a user's request, after a delay in milliseconds. */
	begin(delay = 0): void {
		if (delay === 0) {
			this.open();
		} else if (!this.isOpen) {
			this.isRequested = true;
			this.plan(() => this.open(), delay);
		}
	}

	/** Sets the timer, in place of its previous task. */
	private plan(callback: () => void, delay: number): void {
		this.stopTimer();
		this.timer = this.app.timer.set(() => {
			this.timer = undefined;
			callback();
		}, delay);
	}

	private stopTimer(): void {
		this.app.timer.clear(this.timer);
		this.timer = undefined;
	}

	/**
	 * Opens the device's own network, and serves the page. If that fails the set-up ends at once.
	 *
	 * @param isFallback whether the network was lost: known networks are then tried periodically
	 */
	open(isFallback = false): void {
		const { app, accessPoint, platform } = this;
		this.isRequested = false;
		if (this.isOpen || app.state === "upgrading") {
			return;
		}
		if (app.failure === undefined) {
			app.network.hold();
		}
		const invented = app.board.screen === undefined ? "" : inventText(PASSWORD_CHARACTERS, PASSWORD_LENGTH);
		this.access = { ssid: app.hostname, password: this.password || invented };
		this.language = settingText("language", app.source);
		this.formToken = inventText("abcdefghijklmnopqrstuvwxyz0123456789", 16);
		this.status = { state: "waiting" };
		this.hasLeft = false;
		this.stopTimer();
		this.isOpen = true;
		try {
			accessPoint.open(this.access);
			this.server = platform.open({
				port: accessPoint.port,
				onConnect: (connection) => {
					if (this.connections.size < MAX_CONNECTIONS) {
						this.connections.add(new SetupConnection(connection, this));
					} else {
						connection.close();
					}
				},
				onListening: () => app.log(`set-up: join the Wi-Fi ${JSON.stringify(this.access.ssid)} and open ${this.url}`),
				onError: (error) => this.fail(error),
			});
		} catch (error) {
			this.fail(error);
			return;
		}
		this.show();
		if (isFallback && this.knowsNetworks) {
			this.rejoinLater(REJOIN_ATTEMPTS);
		} else {
			this.wait();
		}
	}

	onOnline(): void {
		this.follow(true);
	}

	onOffline(): void {
		this.follow(false);
	}

	/** Plans the set-up if the device is offline for long, or does not reach a backend that was stored untried. */
	private follow(online: boolean): void {
		if (this.isOpen || this.isRequested) {
			return;
		}
		if (online) {
			this.stopTimer();
		}
		if (this.after > 0 && this.timer === undefined && (!online || this.isUnreached)) {
			this.plan(() => this.open(!online), this.after * 1000);
		}
	}

	onBackendReady(): void {
		if (this.isUnreached) {
			this.settings.delete(...UNREACHED);
			this.follow(true);
		}
	}

	/** Stops serving the page, and closes the device's own network. */
	close(): void {
		this.stopTimer();
		if (this.isOpen) {
			this.server?.close();
			this.server = undefined;
			for (const connection of this.connections) {
				connection.close();
			}
			this.accessPoint.close();
			this.isOpen = false;
			this.app.show({ setup: undefined });
		}
	}

	private get isUnreached(): boolean {
		return this.settings.get(...UNREACHED) !== undefined;
	}

	private release(milliseconds: number): void {
		const { app } = this;
		if (milliseconds >= RESET_HOLD) {
			app.log("factory reset: every setting is erased, and the device restarts");
			const message = inLanguage({ text: "erased" }, settingText("language", app.source));
			app.show({ alert: { status: "", message } });
			app.timer.set(() => app.board.system.factoryReset?.(), RESET_DELAY);
		} else if (milliseconds >= SETUP_HOLD && this.isOpen) {
			this.wait();
		} else if (milliseconds >= SETUP_HOLD) {
			app.log("BOOT button: set-up");
			this.open();
		}
	}

	/** Tries the known networks periodically, unless somebody uses the page. */
	private rejoinLater(attempts: number): void {
		this.plan(() => {
			void this.accessPoint.rejoin().then((isJoined) => {
				// Use of the page sets the timer, or another state while a form is tried.
				const isUsed = this.timer !== undefined || this.status.state !== "waiting";
				if (!this.isOpen || isUsed) {
					return;
				}
				if (isJoined) {
					this.app.log("set-up: a known network is back");
					this.end(false);
				} else if (attempts > 1) {
					this.rejoinLater(attempts - 1);
				} else {
					this.timeOut();
				}
			});
		}, REJOIN_INTERVAL);
	}

	/** Host and port of the page. */
	get host(): string {
		const { address, port } = this.accessPoint;
		return port === 80 ? address : `${address}:${port}`;
	}

	private get url(): string {
		return `http://${this.host}/`;
	}

	/** Waits for the person who uses the page, without a limit if no network is known. */
	private wait(): void {
		this.stopTimer();
		if (this.knowsNetworks) {
			this.plan(() => this.timeOut(), IDLE_TIME);
		}
	}

	private get knowsNetworks(): boolean {
		return knownNetworks(this.app.source).length > 0;
	}

	private timeOut(): void {
		this.app.log("set-up: timed out; trying the stored settings again");
		this.end(this.hasLeft);
	}

	private fail(error: unknown): void {
		this.app.log(`set-up: could not open: ${String(error)}`);
		this.end(false);
	}

	/** @param restart whether to restart: it applies changed settings, and returns to the stored network */
	private end(restart: boolean): void {
		const { app } = this;
		const { failure, network } = app;
		this.close();
		if (restart) {
			app.restart();
		} else if (failure === undefined && !network.isUnset) {
			network.resume();
		} else {
			// Nobody came, or the device's own network could not be opened: the set-up is tried again later.
			network.isHeld = false;
			this.follow(false);
		}
	}

	private show(): void {
		const { message } = this.status;
		const shown = message ?? (this.app.isSafe ? { text: "safeMode" as const } : undefined);
		const progress = shown === undefined ? "" : inLanguage(shown, this.language);
		this.app.show({ setup: { ...this.access, url: this.url, progress } });
	}

	/** A scan disturbs an attempt to join. */
	async networks(): Promise<readonly FoundNetwork[]> {
		const { state } = this.status;
		if (state === "joining" || state === "joined") {
			return [];
		}
		this.wait();
		return strongest(await this.accessPoint.scan());
	}

	/** Takes a form. @returns its errors */
	submit(text: string): FormErrors | undefined {
		const { app } = this;
		if (this.status.state === "joining" || this.status.state === "joined") {
			return { form: { text: "busy" } };
		}
		this.wait();
		const form = readForm(text, currentValues(app.source));
		if ("errors" in form) {
			return form.errors;
		}
		this.language = form.values.language;
		// A search for a gateway has no backend to check yet.
		const errors = form.finds ? undefined : checkValues(form.values, this.settings, app.backend);
		if (errors === undefined) {
			this.stopTimer();
			void this.tryForm(form);
		}
		return errors;
	}

	/** Joins the network of a form, then looks for gateways, or tries the backend and stores the settings. */
	private async tryForm({ values, finds, keeps }: SetupForm): Promise<void> {
		const { app, accessPoint } = this;
		const { ssid, password } = values;
		this.report({ state: "joining", message: { text: "joining", name: ssid } });
		const isJoined = await accessPoint.join({ ssid, password });
		app.log(`set-up: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(ssid)}`);
		const stored = settingText("ssid", app.source);
		this.hasLeft ||= isJoined && stored !== "" && ssid !== stored;
		if (!isJoined) {
			this.pause({ state: "failed", message: { text: "notJoined", name: ssid } });
		} else if (finds) {
			await this.findGateways(ssid);
		} else if (keeps || app.failure !== undefined) {
			this.finish(values, false);
		} else {
			await this.tryBackend(values);
		}
	}

	private async findGateways(ssid: string): Promise<void> {
		this.report({ state: "joining", message: { text: "finding" } });
		const gateways = (await this.app.backend.listGateways?.()) ?? [];
		this.pause(
			gateways.length === 0
				? { state: "failed", message: { text: "noGateway", name: ssid } }
				: { state: "found", message: { text: "chooseGateway" }, gateways },
		);
	}

	private async tryBackend(values: SetupValues): Promise<void> {
		const { backend, log } = this.app;
		this.report({ state: "joining", message: { text: "connecting" } });
		const problem = await backend.tryOut(withSettings(values, this.settings));
		log(`set-up: the backend ${problem === undefined ? "answers" : `cannot be reached: ${problem}`}`);
		if (problem === undefined) {
			this.finish(values, true);
		} else {
			this.pause({ state: "failed", message: { text: "notReached", detail: problem }, canKeep: true });
		}
	}

	/** Stores the settings, and ends the set-up soon. */
	private finish(values: SetupValues, isReached: boolean): void {
		try {
			const restart = storeValues(values, { ...this.app.source, settings: this.settings });
			if (!isReached) {
				this.settings.set(...UNREACHED, "yes");
			}
			const text = restart ? "joinedRestarts" : "joinedConnects";
			this.report({ state: "joined", message: { text, name: values.ssid } });
			this.plan(() => this.end(restart), FAREWELL_TIME);
		} catch (error) {
			this.pause({ state: "failed", message: { text: "notStored", detail: String(error) } });
		}
	}

	/** Shows the progress of the attempt. */
	private report(status: SetupStatus): void {
		this.status = status;
		this.show();
	}

	/** Waits for another form: the attempt has failed, or found gateways to choose from. */
	private pause(status: SetupStatus): void {
		this.report(status);
		this.wait();
	}
}

/** Sets the device up with a phone, on a board that has an access point and keeps settings. */
export const setupFeature = (platform: HttpServerPlatform): Feature => ({
	name: "setup",
	after: ["language"],
	rescue: true,
	start(app) {
		const { accessPoint, settings } = app.board;
		if (accessPoint !== undefined && settings !== undefined) {
			const setup = new PhoneSetup(app, platform);
			Object.assign(app.board, { wifiSetup: setup });
			app.listen(setup);
		}
	},
});

const inventText = (characters: string, length: number): string =>
	Array.from({ length }, () => characters[Math.floor(Math.random() * characters.length)]).join("");

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

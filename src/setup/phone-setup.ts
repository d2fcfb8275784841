import type { FoundGateway } from "../backend/discovery/gateway-list.js";
import type { Settings } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { AccessPoint, FoundNetwork, SetupNotice, WiFiAccess } from "../hardware/wifi-setup.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { settingText, storeSetting, withSettings } from "../settings/read-setting.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { SetupConnection } from "./setup-connection.js";
import {
	type CheckSettings,
	checkValues,
	currentValues,
	FIELDS,
	type FormErrors,
	readForm,
	type SetupForm,
	type SetupValues,
} from "./setup-form.js";
import { inLanguage } from "./setup-message.js";
import { answerRequest, type SetupSource, type SetupStatus } from "./setup-routes.js";

interface PhoneSetupOptions {
	readonly platform: HttpServerPlatform;
	readonly accessPoint: AccessPoint;
	/** What the firmware was built with. */
	readonly built: Readonly<Record<string, unknown>>;
	readonly settings: Settings;
	/** The name of the device's own network. */
	readonly name: string;
	/** Its password, possibly a new one for each set-up; empty for an open network. */
	readonly makePassword: () => string;
	/** Whether it has one. */
	readonly isProtected: boolean;
	/** Seconds after which a device that knows a network gives up, unless the user scans or sends the form. */
	readonly patience: number;
	/** Seconds without a network after which the set-up starts; 0: never by itself. */
	readonly after: number;
	readonly check: CheckSettings;
	/** Tries the backend before settings are stored. Absent: they are stored untried. */
	readonly tryBackend?: TryBackend | undefined;
	/** Lists gateways on the network that was joined. Absent: the page does not offer it. */
	readonly findGateways?: FindGateways | undefined;
	/** A number in [0, 1). */
	readonly random: () => number;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

/** Events for the application. */
export interface SetupEvents {
	/** No network could be joined for too long. */
	onNeeded(): void;
	/** What the screen shows; undefined once the set-up has ended. */
	onShow(notice: SetupNotice | undefined): void;
	/**
	 * The set-up has ended by itself.
	 *
	 * @param restart whether settings were changed that are read when the firmware starts
	 */
	onEnd(restart: boolean): void;
}

/** A step that takes a while and can be cancelled. */
interface Step {
	close(): void;
}

/**
 * Tries to reach the backend of these settings in the network that was joined. `onEnd` is called once, with the reason if it
 * could not be reached; not after `close`.
 */
export type TryBackend = (settings: Pick<Settings, "get">, onEnd: (problem: string | undefined) => void) => Step;

/** Looks for gateways in the network that was joined. `onEnd` is called once; not after `close`. */
export type FindGateways = (onEnd: (gateways: readonly FoundGateway[]) => void) => Step;

/** Milliseconds that the page is served after the network was joined, so that it learns about it. */
const FAREWELL_TIME = 4_000;

/** Connections served at the same time: a browser opens several. */
const MAX_CONNECTIONS = 4;

/** Networks that the page lists. */
const MAX_NETWORKS = 20;

/** Stores the name of the network that was joined last. Written only when it changes, to spare the flash. */
const JOINED = deepFreeze(["wifi", "joined"] as const);

/** Set until the stored backend was reached once. */
const UNREACHED = deepFreeze(["wifi", "unreached"] as const);

/**
 * Sets the device up with a phone: opens its own network, serves a page there, tries the settings, and stores them if
 * network and backend could be reached. Passwords and tokens are neither logged nor sent.
 */
export class PhoneSetup {
	readonly #options: PhoneSetupOptions;
	readonly #events: SetupEvents;
	readonly #connections = new Set<SetupConnection>();
	#isOpen = false;
	#server: HttpServer | undefined;
	#access: WiFiAccess = { ssid: "", password: "" };
	#formToken = "";
	/** Of the page, once a form was sent; before that the device's own. */
	#language = "";
	#status: SetupStatus = { state: "waiting" };
	/** The step after joining a network. */
	#step: Step | undefined;
	/** Whether it has joined a network that is not stored: only a restart returns it to the stored one. */
	#hasLeft = false;
	/** While the set-up is open: until it ends. Otherwise: until it is needed. */
	#timer: TimerHandle | undefined;

	constructor(options: PhoneSetupOptions, events: SetupEvents) {
		this.#options = options;
		this.#events = events;
	}

	get isOpen(): boolean {
		return this.#isOpen;
	}

	/** Opens the device's own network, and serves the page. If that fails the set-up ends at once. */
	begin(): void {
		const { platform, accessPoint, name, makePassword, log } = this.#options;
		this.#access = { ssid: name, password: makePassword() };
		this.#language = settingText("language", this.#options);
		this.#formToken = makeToken(this.#options.random);
		this.#status = { state: "waiting" };
		this.#hasLeft = false;
		this.#isOpen = true;
		try {
			accessPoint.open(this.#access);
			this.#server = platform.open({
				port: accessPoint.port,
				onConnect: (connection) => this.#serve(connection),
				onListening: () => log(`set-up: join the Wi-Fi ${JSON.stringify(name)} and open ${this.#url}`),
				onError: (error) => this.#fail(error),
			});
		} catch (error) {
			this.#fail(error);
			return;
		}
		this.#show();
		this.#wait();
	}

	/** Starts by itself, if the device may. */
	beginByItself(): void {
		if (this.#mayBeginByItself) {
			this.begin();
		}
	}

	/**
	 * Reports whether the device is online. The set-up starts if it is offline for too long, or if it is online but does
	 * not reach a backend that was stored untried.
	 */
	follow(online: boolean): void {
		const { timer, after, settings } = this.#options;
		if (this.isOpen) {
			return;
		}
		if (online) {
			this.#clearTimer();
			if (settings.get(...JOINED) !== this.#ssid) {
				settings.set(...JOINED, this.#ssid);
			}
		}
		if (online ? this.#isUnreached && after > 0 : this.#mayBeginByItself) {
			this.#timer ??= timer.set(() => {
				this.#timer = undefined;
				this.#events.onNeeded();
			}, after * 1000);
		}
	}

	/** Reports that the device has reached its backend. */
	reached(): void {
		if (this.#isUnreached) {
			this.#options.settings.delete(...UNREACHED);
			this.#clearTimer();
		}
	}

	close(): void {
		this.#clearTimer();
		this.#endStep();
		if (this.isOpen) {
			this.#server?.close();
			this.#server = undefined;
			for (const connection of this.#connections) {
				connection.close();
			}
			this.#options.accessPoint.close();
			this.#isOpen = false;
			this.#events.onShow(undefined);
		}
	}

	get #ssid(): string {
		return settingText("ssid", this.#options);
	}

	/**
	 * An attacker who jams the Wi-Fi could force set-up mode. So an unprotected device opens its network only while its
	 * settings have never worked.
	 */
	get #mayBeginByItself(): boolean {
		const { after, isProtected, settings } = this.#options;
		return after > 0 && (isProtected || settings.get(...JOINED) !== this.#ssid);
	}

	get #isUnreached(): boolean {
		return this.#options.settings.get(...UNREACHED) !== undefined;
	}

	get #host(): string {
		const { address, port } = this.#options.accessPoint;
		return port === 80 ? address : `${address}:${port}`;
	}

	get #url(): string {
		return `http://${this.#host}/`;
	}

	#endStep(): void {
		this.#step?.close();
		this.#step = undefined;
	}

	#clearTimer(): void {
		this.#options.timer.clear(this.#timer);
		this.#timer = undefined;
	}

	/** A device without a network has nothing else to do. Automatic requests of a phone do not prolong the set-up. */
	#wait(): void {
		this.#clearTimer();
		if (this.#ssid !== "") {
			this.#timer = this.#options.timer.set(() => {
				this.#options.log("set-up: timed out; trying the stored settings again");
				this.#end(this.#hasLeft);
			}, this.#options.patience * 1000);
		}
	}

	#fail(error: unknown): void {
		this.#options.log(`set-up: could not open: ${String(error)}`);
		this.#end(false);
	}

	#end(restart: boolean): void {
		this.close();
		this.#events.onEnd(restart);
	}

	#setStatus(status: SetupStatus): void {
		this.#status = status;
		this.#show();
	}

	#show(): void {
		const { message } = this.#status;
		const progress = message === undefined ? "" : inLanguage(message, this.#language);
		this.#events.onShow({ ...this.#access, url: this.#url, progress });
	}

	#serve(connection: HttpConnection): void {
		if (this.#connections.size >= MAX_CONNECTIONS) {
			connection.close();
			return;
		}
		const served = new SetupConnection(connection, {
			answer: (request, body) => answerRequest(request, body, this.#source()),
			timer: this.#options.timer,
			onEnd: () => this.#connections.delete(served),
		});
		this.#connections.add(served);
	}

	#source(): SetupSource {
		return {
			host: this.#host,
			formToken: this.#formToken,
			device: this.#access.ssid,
			findsGateways: this.#options.findGateways !== undefined,
			status: () => this.#status,
			values: () => this.#values(),
			networks: () => this.#networks(),
			submit: (text) => this.#submit(text),
		};
	}

	#values(): SetupValues {
		return currentValues(this.#options);
	}

	/** A scan disturbs an attempt to join. */
	async #networks(): Promise<readonly FoundNetwork[]> {
		const { state } = this.#status;
		if (state === "joining" || state === "joined") {
			return [];
		}
		this.#wait();
		return strongest(await this.#options.accessPoint.scan());
	}

	#submit(text: string): FormErrors | undefined {
		const { settings, check } = this.#options;
		if (this.#status.state === "joining" || this.#status.state === "joined") {
			return { form: { text: "busy" } };
		}
		this.#wait();
		const form = readForm(text, this.#values());
		if ("errors" in form) {
			return form.errors;
		}
		this.#language = form.values.language;
		// A search for a gateway has no backend to check yet.
		const errors = form.finds ? undefined : checkValues(form.values, settings, check);
		if (errors === undefined) {
			void this.#join(form);
		}
		return errors;
	}

	async #join(form: SetupForm): Promise<void> {
		const { ssid, password } = form.values;
		const { accessPoint, log } = this.#options;
		this.#clearTimer();
		this.#setStatus({ state: "joining", message: { text: "joining", name: ssid } });
		const server = this.#server;
		const isJoined = await accessPoint.join({ ssid, password });
		if (this.#server !== server) {
			return;
		}
		log(`set-up: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(ssid)}`);
		if (!isJoined) {
			this.#rest({ state: "failed", message: { text: "notJoined", name: ssid } });
			return;
		}
		this.#hasLeft ||= this.#ssid !== "" && ssid !== this.#ssid;
		if (form.finds) {
			this.#find(ssid);
		} else {
			this.#try(form);
		}
	}

	#find(ssid: string): void {
		this.#setStatus({ state: "joining", message: { text: "finding" } });
		this.#step = this.#options.findGateways?.((gateways) => {
			this.#step = undefined;
			this.#rest(
				gateways.length === 0
					? { state: "failed", message: { text: "noGateway", name: ssid } }
					: { state: "found", message: { text: "chooseGateway" }, gateways },
			);
		});
	}

	#try({ values, keeps }: SetupForm): void {
		const { tryBackend, settings, log } = this.#options;
		if (keeps || tryBackend === undefined) {
			this.#finish(values, false);
			return;
		}
		this.#setStatus({ state: "joining", message: { text: "connecting" } });
		this.#step = tryBackend(withSettings(values, settings), (problem) => {
			this.#step = undefined;
			log(`set-up: the backend ${problem === undefined ? "answers" : `cannot be reached: ${problem}`}`);
			if (problem === undefined) {
				this.#finish(values, true);
			} else {
				this.#rest({ state: "failed", message: { text: "notReached", detail: problem }, canKeep: true });
			}
		});
	}

	#finish(values: SetupValues, isReached: boolean): void {
		const { settings, timer } = this.#options;
		try {
			const restart = this.#store(values);
			if (!isReached) {
				settings.set(...UNREACHED, "yes");
			}
			const text = restart ? "joinedRestarts" : "joinedConnects";
			this.#setStatus({ state: "joined", message: { text, name: values.ssid } });
			this.#timer = timer.set(() => this.#end(restart), FAREWELL_TIME);
		} catch (error) {
			this.#rest({ state: "failed", message: { text: "notStored", detail: String(error) } });
		}
	}

	/** Waits for the next form. */
	#rest(status: SetupStatus): void {
		this.#setStatus(status);
		this.#wait();
	}

	/** @returns whether a setting has changed that is read when the firmware starts */
	#store(values: SetupValues): boolean {
		const before = this.#values();
		const changed = FIELDS.filter((field) => values[field] !== before[field]);
		for (const field of changed) {
			storeSetting(field, values[field], this.#options.settings);
		}
		if (changed.includes("backend") || changed.includes("otaUrl")) {
			this.#forgetLogin();
		}
		return changed.some((field) => field !== "ssid" && field !== "password");
	}

	/** The page has no fields for them, so without this they would be sent to another backend. */
	#forgetLogin(): void {
		for (const name of ["mqttUsername", "mqttPassword"] as const) {
			if (settingText(name, this.#options) !== "") {
				storeSetting(name, "", this.#options.settings);
			}
		}
	}
}

/** Each network once, with its strongest access point; without hidden ones. */
function strongest(found: readonly FoundNetwork[]): readonly FoundNetwork[] {
	const networks: FoundNetwork[] = [];
	for (const network of [...found].sort((a, b) => b.rssi - a.rssi)) {
		if (network.ssid !== "" && networks.every(({ ssid }) => ssid !== network.ssid)) {
			networks.push(network);
		}
	}
	return networks.slice(0, MAX_NETWORKS);
}

function makeToken(random: () => number): string {
	return Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join("");
}

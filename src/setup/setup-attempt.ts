import type { FoundGateway } from "../backend/discovery/gateway-list.js";
import type { Settings } from "../hardware/hardware.js";
import type { AccessPoint } from "../hardware/wifi-setup.js";
import { type SettingSource, settingText, storeSetting, withSettings } from "../settings/read-setting.js";
import { currentValues, FIELDS, type SetupForm, type SetupValues } from "./setup-form.js";
import type { SetupStatus } from "./setup-routes.js";

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

export interface SetupAttemptOptions extends Pick<SettingSource, "built"> {
	readonly accessPoint: AccessPoint;
	readonly settings: Settings;
	/** Tries the backend before settings are stored. Absent: they are stored untried. */
	readonly tryBackend?: TryBackend | undefined;
	/** Lists gateways on the network that was joined. Absent: the page does not offer it. */
	readonly findGateways?: FindGateways | undefined;
	readonly log: (message: string) => void;
}

/** Reports how an attempt goes on. */
interface AttemptEvents {
	/** It has got further. */
	onProgress(status: SetupStatus): void;
	/** It waits for another form: it has failed, or found gateways to choose from. */
	onPaused(status: SetupStatus): void;
	/**
	 * The settings are stored.
	 *
	 * @param restart whether one of them is read when the firmware starts
	 */
	onStored(status: SetupStatus, restart: boolean): void;
	/** The backend that is being stored was not tried. */
	onUntried(): void;
}

/** Tries the forms that a person sends: joins the network, then looks for gateways, or tries the backend and stores the settings. */
export class SetupAttempt {
	private readonly options: SetupAttemptOptions;
	private readonly events: AttemptEvents;
	/** The step after joining a network. */
	private step: Step | undefined;
	/** Whether it has joined a network that is not stored: only a restart returns it to the stored one. */
	hasLeft = false;
	private isClosed = false;

	constructor(options: SetupAttemptOptions, events: AttemptEvents) {
		this.options = options;
		this.events = events;
	}

	/** Ends the present step. */
	close(): void {
		this.isClosed = true;
		this.step?.close();
		this.step = undefined;
	}

	async join(form: SetupForm): Promise<void> {
		const { ssid, password } = form.values;
		const { accessPoint, log } = this.options;
		this.events.onProgress({ state: "joining", message: { text: "joining", name: ssid } });
		const isJoined = await accessPoint.join({ ssid, password });
		if (this.isClosed) {
			return;
		}
		log(`set-up: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(ssid)}`);
		if (!isJoined) {
			this.events.onPaused({ state: "failed", message: { text: "notJoined", name: ssid } });
			return;
		}
		const stored = settingText("ssid", this.options);
		this.hasLeft ||= stored !== "" && ssid !== stored;
		if (form.finds) {
			this.find(ssid);
		} else {
			this.try(form);
		}
	}

	private find(ssid: string): void {
		this.events.onProgress({ state: "joining", message: { text: "finding" } });
		this.step = this.options.findGateways?.((gateways) => {
			this.step = undefined;
			this.events.onPaused(
				gateways.length === 0
					? { state: "failed", message: { text: "noGateway", name: ssid } }
					: { state: "found", message: { text: "chooseGateway" }, gateways },
			);
		});
	}

	private try({ values, keeps }: SetupForm): void {
		const { tryBackend, settings, log } = this.options;
		if (keeps || tryBackend === undefined) {
			this.finish(values, false);
			return;
		}
		this.events.onProgress({ state: "joining", message: { text: "connecting" } });
		this.step = tryBackend(withSettings(values, settings), (problem) => {
			this.step = undefined;
			log(`set-up: the backend ${problem === undefined ? "answers" : `cannot be reached: ${problem}`}`);
			if (problem === undefined) {
				this.finish(values, true);
			} else {
				this.events.onPaused({
					state: "failed",
					message: { text: "notReached", detail: problem },
					canKeep: true,
				});
			}
		});
	}

	private finish(values: SetupValues, isReached: boolean): void {
		try {
			const restart = this.store(values);
			if (!isReached) {
				this.events.onUntried();
			}
			const text = restart ? "joinedRestarts" : "joinedConnects";
			this.events.onStored({ state: "joined", message: { text, name: values.ssid } }, restart);
		} catch (error) {
			this.events.onPaused({ state: "failed", message: { text: "notStored", detail: String(error) } });
		}
	}

	/** @returns whether a setting has changed that is read when the firmware starts */
	private store(values: SetupValues): boolean {
		const { settings } = this.options;
		const before = currentValues(this.options);
		const changed = FIELDS.filter((field) => values[field] !== before[field]);
		for (const field of changed) {
			storeSetting(field, values[field], settings);
		}
		if (changed.includes("backend") || changed.includes("otaUrl")) {
			this.forgetLogin();
		}
		return changed.some((field) => field !== "ssid" && field !== "password");
	}

	/** The page has no fields for them, so without this they would be sent to another backend. */
	private forgetLogin(): void {
		for (const name of ["mqttUsername", "mqttPassword"] as const) {
			if (settingText(name, this.options) !== "") {
				storeSetting(name, "", this.options.settings);
			}
		}
	}
}

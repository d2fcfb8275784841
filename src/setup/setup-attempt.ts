import type { Settings } from "../hardware/hardware.js";
import type { AccessPoint } from "../hardware/wifi-setup.js";
import { storeNetwork } from "../settings/known-networks.js";
import { settingText, storeSetting, withSettings } from "../settings/read-setting.js";
import { BackendTrial } from "./backend-trial.js";
import { currentValues, FIELDS, type SetupForm, type SetupValues } from "./setup-form.js";
import type { SetupOptions } from "./setup-options.js";
import type { SetupStatus } from "./setup-routes.js";

/** A step that takes a while and can be cancelled. Its callback is not called after that. */
interface Step {
	close(): void;
}

export interface SetupAttemptOptions
	extends Pick<SetupOptions, "built" | "routeOf" | "listGateways" | "timer" | "log"> {
	readonly accessPoint: AccessPoint;
	readonly settings: Settings;
}

/** Reports how an attempt goes on. */
export interface AttemptEvents {
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
		const { listGateways, timer, log } = this.options;
		this.step = listGateways?.({
			timer,
			log,
			onEnd: (gateways) => {
				this.step = undefined;
				this.events.onPaused(
					gateways.length === 0
						? { state: "failed", message: { text: "noGateway", name: ssid } }
						: { state: "found", message: { text: "chooseGateway" }, gateways },
				);
			},
		});
	}

	private try({ values, keeps }: SetupForm): void {
		const { routeOf, settings, timer, log } = this.options;
		if (keeps || routeOf === undefined) {
			this.finish(values, false);
			return;
		}
		this.events.onProgress({ state: "joining", message: { text: "connecting" } });
		const onEnd = (problem: string | undefined): void => {
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
		};
		this.step = new BackendTrial({ ...routeOf(withSettings(values, settings)), timer, log, onEnd });
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
		const others = changed.filter((field) => field !== "ssid" && field !== "password");
		if (others.length < changed.length) {
			storeNetwork(values, this.options);
		}
		for (const field of others) {
			storeSetting(field, values[field], settings);
		}
		if (changed.includes("backend") || changed.includes("otaUrl")) {
			this.forgetLogin();
		}
		return others.length > 0;
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

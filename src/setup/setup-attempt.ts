import type { Application } from "../app/application.js";
import type { Settings } from "../hardware/hardware.js";
import type { AccessPoint } from "../hardware/wifi-setup.js";
import { storeNetwork } from "../settings/known-networks.js";
import { settingText, storeSetting, withSettings } from "../settings/read-setting.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { currentValues, FIELDS, type SetupForm, type SetupValues } from "./setup-form.js";
import type { SetupStatus } from "./setup-routes.js";

/** A step that takes a while and can be cancelled. Its callback is not called after that. */
interface Step {
	close(): void;
}

/** Set until the stored backend was reached once. */
export const UNREACHED = deepFreeze(["wifi", "unreached"] as const);

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
	readonly settings: Settings;
}

/** Tries the forms that a person sends: joins the network, then looks for gateways, or tries the backend and stores the settings. */
export class SetupAttempt {
	private readonly app: Application;
	private readonly accessPoint: AccessPoint;
	private readonly events: AttemptEvents;
	/** The step after joining a network. */
	private step: Step | undefined;
	/** Whether it has joined a network that is not stored: only a restart returns it to the stored one. */
	hasLeft = false;
	private isClosed = false;

	constructor(app: Application, accessPoint: AccessPoint, events: AttemptEvents) {
		this.app = app;
		this.accessPoint = accessPoint;
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
		this.events.onProgress({ state: "joining", message: { text: "joining", name: ssid } });
		const isJoined = await this.accessPoint.join({ ssid, password });
		if (this.isClosed) {
			return;
		}
		this.app.log(`set-up: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(ssid)}`);
		if (!isJoined) {
			this.events.onPaused({ state: "failed", message: { text: "notJoined", name: ssid } });
			return;
		}
		const stored = settingText("ssid", this.app.source);
		this.hasLeft ||= stored !== "" && ssid !== stored;
		if (form.finds) {
			this.find(ssid);
		} else {
			this.try(form);
		}
	}

	private find(ssid: string): void {
		this.events.onProgress({ state: "joining", message: { text: "finding" } });
		this.step = this.app.backend.listGateways?.((gateways) => {
			this.step = undefined;
			this.events.onPaused(
				gateways.length === 0
					? { state: "failed", message: { text: "noGateway", name: ssid } }
					: { state: "found", message: { text: "chooseGateway" }, gateways },
			);
		});
	}

	private try({ values, keeps }: SetupForm): void {
		const { backend, failure, log } = this.app;
		if (keeps || failure !== undefined) {
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
		this.step = backend.tryOut(withSettings(values, this.events.settings), onEnd);
	}

	private finish(values: SetupValues, isReached: boolean): void {
		try {
			const restart = this.store(values);
			if (!isReached) {
				this.events.settings.set(...UNREACHED, "yes");
			}
			const text = restart ? "joinedRestarts" : "joinedConnects";
			this.events.onStored({ state: "joined", message: { text, name: values.ssid } }, restart);
		} catch (error) {
			this.events.onPaused({ state: "failed", message: { text: "notStored", detail: String(error) } });
		}
	}

	/** @returns whether a setting has changed that is read when the firmware starts */
	private store(values: SetupValues): boolean {
		const { settings } = this.events;
		const before = currentValues(this.app.source);
		const changed = FIELDS.filter((field) => values[field] !== before[field]);
		const others = changed.filter((field) => field !== "ssid" && field !== "password");
		if (others.length < changed.length) {
			storeNetwork(values, { built: this.app.built, settings });
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
			if (settingText(name, this.app.source) !== "") {
				storeSetting(name, "", this.events.settings);
			}
		}
	}
}

import type { Application } from "../../core/application.js";
import { storeNetwork } from "../../core/settings/known-networks.js";
import { settingText, storeSetting, withSettings } from "../../core/settings/read-setting.js";
import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { PhoneSetup } from "./phone-setup.js";
import { currentValues, FIELDS, type SetupForm, type SetupValues } from "./setup-form.js";

/** A step that takes a while and can be cancelled. Its callback is not called after that. */
interface Step {
	close(): void;
}

/** Set until the stored backend was reached once. */
export const UNREACHED = deepFreeze(["wifi", "unreached"] as const);

/** Tries the forms that a person sends: joins the network, then looks for gateways, or tries the backend and stores the settings. */
export class SetupAttempt {
	private readonly app: Application;
	private readonly setup: PhoneSetup;
	/** The step after joining a network. */
	private step: Step | undefined;
	/** Whether it has joined a network that is not stored: only a restart returns it to the stored one. */
	hasLeft = false;
	private isClosed = false;

	constructor(setup: PhoneSetup) {
		this.app = setup.app;
		this.setup = setup;
	}

	/** Ends the present step. */
	close(): void {
		this.isClosed = true;
		this.step?.close();
		this.step = undefined;
	}

	async join(form: SetupForm): Promise<void> {
		const { ssid, password } = form.values;
		this.setup.onProgress({ state: "joining", message: { text: "joining", name: ssid } });
		const isJoined = await this.setup.accessPoint.join({ ssid, password });
		if (this.isClosed) {
			return;
		}
		this.app.log(`set-up: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(ssid)}`);
		if (!isJoined) {
			this.setup.onPaused({ state: "failed", message: { text: "notJoined", name: ssid } });
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
		this.setup.onProgress({ state: "joining", message: { text: "finding" } });
		this.step = this.app.backend.listGateways?.((gateways) => {
			this.step = undefined;
			this.setup.onPaused(
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
		this.setup.onProgress({ state: "joining", message: { text: "connecting" } });
		const onEnd = (problem: string | undefined): void => {
			this.step = undefined;
			log(`set-up: the backend ${problem === undefined ? "answers" : `cannot be reached: ${problem}`}`);
			if (problem === undefined) {
				this.finish(values, true);
			} else {
				this.setup.onPaused({
					state: "failed",
					message: { text: "notReached", detail: problem },
					canKeep: true,
				});
			}
		};
		this.step = backend.tryOut(withSettings(values, this.setup.settings), onEnd);
	}

	private finish(values: SetupValues, isReached: boolean): void {
		try {
			const restart = this.store(values);
			if (!isReached) {
				this.setup.settings.set(...UNREACHED, "yes");
			}
			const text = restart ? "joinedRestarts" : "joinedConnects";
			this.setup.onStored({ state: "joined", message: { text, name: values.ssid } }, restart);
		} catch (error) {
			this.setup.onPaused({ state: "failed", message: { text: "notStored", detail: String(error) } });
		}
	}

	/** @returns whether a setting has changed that is read when the firmware starts */
	private store(values: SetupValues): boolean {
		const { settings } = this.setup;
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
				storeSetting(name, "", this.setup.settings);
			}
		}
	}
}

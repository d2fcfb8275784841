import type { SettingsStore } from "../../src/core/stored-settings.js";
import type { SettingValue } from "../../src/hardware/hardware.js";

/** Stores a setting as a chip's flash does: erases the old value, then writes the new one. */
type Step = "erase" | "write";

/** A store as the SDK's `preference` on a chip, which a test lets fail, or cuts off from its power. */
export class FailingStore implements SettingsStore {
	readonly values = new Map<string, SettingValue>();
	readonly steps: string[] = [];
	isBroken = false;
	powerFor = Number.POSITIVE_INFINITY;

	get(domain: string, key: string): SettingValue | undefined {
		this.#expectWorking("nvs get fail");
		return this.values.get(`${domain}/${key}`);
	}

	set(domain: string, key: string, value: SettingValue): void {
		this.#expectWorking("nvs set fail");
		this.#step("erase", `${domain}/${key}`, () => this.values.delete(`${domain}/${key}`));
		this.#step("write", `${domain}/${key}`, () => this.values.set(`${domain}/${key}`, value));
	}

	delete(domain: string, key: string): void {
		this.#expectWorking("nvs erase fail");
		this.#step("erase", `${domain}/${key}`, () => this.values.delete(`${domain}/${key}`));
	}

	#expectWorking(message: string): void {
		if (this.isBroken) {
			throw new Error(message);
		}
	}

	#step(step: Step, place: string, act: () => void): void {
		if (this.powerFor === 0) {
			throw new Error("no power");
		}
		this.powerFor -= 1;
		this.steps.push(`${step} ${place}`);
		act();
	}
}

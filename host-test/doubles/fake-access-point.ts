import type { AccessPoint, FoundNetwork, WiFiAccess } from "../../src/hardware/wifi-setup.js";

export class FakeAccessPoint implements AccessPoint {
	readonly address = "192.0.2.7";
	readonly port = 80;
	opened: WiFiAccess | undefined;
	found: readonly FoundNetwork[] = [];
	scans = 0;
	rejoins = 0;
	readonly attempts: WiFiAccess[] = [];
	fault: Error | undefined;
	#settle: (isJoined: boolean) => void = () => {};

	open(access: WiFiAccess): void {
		if (this.fault !== undefined) {
			throw this.fault;
		}
		this.opened = access;
	}

	close(): void {
		this.opened = undefined;
	}

	async scan(): Promise<readonly FoundNetwork[]> {
		this.scans += 1;
		return this.found;
	}

	/** Ends an attempt to rejoin. */
	join(access: WiFiAccess): Promise<boolean> {
		this.attempts.push(access);
		this.#settle(false);
		return new Promise((resolve) => {
			this.#settle = resolve;
		});
	}

	rejoin(): Promise<boolean> {
		this.rejoins += 1;
		return new Promise((resolve) => {
			this.#settle = resolve;
		});
	}

	finish(isJoined: boolean): void {
		this.#settle(isJoined);
	}
}

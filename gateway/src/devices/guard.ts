import { isLoopback } from "../config/listen-address.js";
import type { TokenStore } from "../config/token-store.js";
import type { DeviceHub } from "../servers/device-hub.js";
import type { AuthenticateDevice } from "./credentials.js";

/** Decides which devices come in at one address. */
export class DeviceGuard {
	readonly #address: string;
	readonly #tokens: TokenStore;
	/** By what token a device was let in: its hash. Undefined: none was asked for. */
	readonly #admitted = new Map<string, string | undefined>();

	/** @param address where they are listened for. Beyond loopback every device needs a token. */
	constructor(address: string, tokens: TokenStore) {
		this.#address = address;
		this.#tokens = tokens;
	}

	/** Whether devices have to show a token: beyond loopback always, else as soon as there is one. */
	get wantsToken(): boolean {
		return !isLoopback(this.#address) || this.#tokens.has("device");
	}

	readonly authenticate: AuthenticateDevice = ({ deviceId, secret }) => {
		if (!this.wantsToken) {
			this.#admitted.set(deviceId, undefined);
			return true;
		}
		const token = this.#tokens.verify("device", secret);
		if (token === undefined || token.devices?.includes(deviceId) === false) {
			return false;
		}
		this.#admitted.set(deviceId, token.sha256);
		return true;
	};

	/** Sends away the devices whose token is gone. */
	recheck(hub: DeviceHub): void {
		const valid = new Set(this.#tokens.records.map(({ sha256 }) => sha256));
		for (const [deviceId, sha256] of this.#admitted) {
			const device = hub.get(deviceId);
			if (device === undefined) {
				this.#admitted.delete(deviceId);
			} else if (sha256 === undefined ? this.wantsToken : !valid.has(sha256)) {
				device.close("its token is gone");
			}
		}
	}
}

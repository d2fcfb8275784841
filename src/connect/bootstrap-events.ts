import type { OfferedFirmware } from "./bootstrap-answer.js";
import type { ServedBackend } from "./served-backend.js";

/** Events of the bootstrap. */
export interface BootstrapEvents {
	/**
	 * The backend to connect to: the first time, and whenever another one is served.
	 *
	 * @throws Error that says why it cannot be used
	 */
	onBackend(backend: ServedBackend): void;
	/** The device waits to be bound: text and code to show. Either may be empty. */
	onActivation(code: string, message: string): void;
	/** The device is bound. */
	onActivated(): void;
	/** Firmware is available. Settles if it was not installed; otherwise the device restarts. */
	onFirmware(firmware: OfferedFirmware): Promise<void>;
	/** No backend was found, for this reason. The source keeps trying. */
	onMissing(message: string): void;
	/** A check failed. The next one follows in `retryIn` milliseconds; none if undefined. */
	onFailed(error: Error, retryIn: number | undefined): void;
}

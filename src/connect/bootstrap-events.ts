import type { OfferedFirmware } from "./bootstrap-answer.js";
import type { ServedBackend } from "./served-backend.js";

/** What the bootstrap tells the application. */
export interface BootstrapEvents {
	/**
	 * The backend to connect to: the first time, and whenever another one is served.
	 *
	 * @throws Error that says why it cannot be used
	 */
	onBackend(backend: ServedBackend): void;
	/** The device waits for a person to bind it: text and code to show. Either may be empty. */
	onActivation(code: string, message: string): void;
	/** The device is bound. */
	onActivated(): void;
	/** There is firmware to install. Settles if it was not installed: otherwise the device restarts. */
	onFirmware(firmware: OfferedFirmware): Promise<void>;
	/** There is still no backend to connect to, for this reason. The source goes on by itself. */
	onMissing(message: string): void;
	/** A check failed. Another one follows in `retryIn` milliseconds, if that is not undefined. */
	onFailed(error: Error, retryIn: number | undefined): void;
}

/** Why a call to a device failed without an answer of the device's. Stable: callers may match on it. */
export type DeviceErrorCode =
	/** No answer within the time allowed. */
	| "timeout"
	/** The device went away while the call was under way, or before. */
	| "device-gone"
	/** The caller cancelled. */
	| "cancelled"
	/** The device answered with something that is no answer. */
	| "bad-answer";

export class DeviceError extends Error {
	readonly code: DeviceErrorCode;

	constructor(code: DeviceErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "DeviceError";
		this.code = code;
	}
}

/** Why a call to a device failed without an answer of the device's. Stable: callers may match on it. */
export type DeviceErrorCode =
	/** No answer within the time allowed. */
	| "timeout"
	/** The device went away while the call was under way: it may have happened. Or the device is in no session. */
	| "device-gone"
	/** The device was away, and did not come back in the time that a call waits for it. Nothing was sent. */
	| "device-away"
	/** The gateway knows no device of this name, or knows none any more. Nothing was sent. */
	| "unknown-device"
	/** The device has no tool of this name. Nothing was sent. */
	| "unknown-tool"
	/** The arguments break the tool's schema. Nothing was sent. */
	| "invalid-arguments"
	/** More calls wait for the device than its queue holds. Nothing was sent. */
	| "queue-full"
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
